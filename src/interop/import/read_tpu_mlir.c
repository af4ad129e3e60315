// tpu-mlir: the quantization table, lines "TENSOR_Type MODE", and the calibration table, lines "TENSOR_Type THRESHOLD
// MIN MAX". An operator goes by its first output and its type; an input of the network by its own name.
#include <stdlib.h>
#include <string.h>
#include "wishes.h"

enum { COLUMNS = 4 };

struct row {
	int line, n;            // n: the words of the line, also those past the last column
	char *word[COLUMNS];
};

// The next line that is no comment, cut into words; false at the end, and where a tail section begins,
// whose lines are of another kind.
static bool next_row(struct row *r, char **text, const char **tail)
{
	while (**text) {
		char *line = *text, *rest = NULL;
		size_t len = strcspn(line, "\n");
		*text += len + (line[len] == '\n');
		line[len] = '\0';
		r->line++;
		if (str_has_prefix(line, "#asym_op") || str_has_prefix(line, "#int4_")) {
			*tail = line;
			return false;
		}
		r->n = 0;
		for (char *w = line[0] == '#' ? NULL : strtok_r(line, " \t\r", &rest); w; w = strtok_r(NULL, " \t\r", &rest), r->n++)
			if (r->n < COLUMNS)
				r->word[r->n] = w;
		if (r->n)
			return true;
	}
	return false;
}

static const struct word modes[] = {{"INT8", PREC_INT8}, {"F32", PREC_FLOAT}, {"F16", WISH_HALF}, {"BF16", WISH_HALF}};

// "W4INT8", "F8E4M3": capitals and digits only, which no name of a tensor in such a list is by chance.
static bool is_mode(const char *word)
{
	return word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0' && strpbrk(word, "0123456789") &&
	       !strchr("0123456789", word[0]);
}

static bool is_qtable_row(const struct row *r)
{
	return r->n == 2 && is_mode(r->word[1]);
}

static bool is_cali_row(const struct row *r)
{
	double x;
	return r->n == COLUMNS && str_to_double(r->word[1], &x) && str_to_double(r->word[2], &x) && str_to_double(r->word[3], &x);
}

static const char *first_line(const char *text)
{
	while (*text == '#' || *text == '\n' || *text == '\r') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

// A table is known by its first line that is no comment, or by its header where there is none.
static bool is_table(const char *text, const char *header, bool (*fits)(const struct row *r))
{
	struct str line = {0};
	struct row r = {0};
	const char *first = first_line(text), *tail = NULL;
	str_addn(&line, first, strcspn(first, "\n"));
	char *copy = str_detach(&line), *rest = copy;
	bool yes = *first ? next_row(&r, &rest, &tail) && fits(&r) : strstr(text, header) != NULL;
	free(copy);
	return yes;
}

// The tensor that the operator's name begins with: cuts the type off, unless the name is a tensor's own.
static const char *tensor_of(const struct graph *g, char *name)
{
	char *type = strrchr(name, '_');
	if (type && graph_find_value(g, name) < 0)
		*type = '\0';
	return name;
}

static void read_mode(struct wishes *w, struct row *r)
{
	int mode = WORD_MEANS(modes, r->word[1]), node;
	if (mode < 0)
		wish_note(w, "line %d: %.120s: the mode %.40s is not known here: INT8, F32, F16 and BF16 are", r->line, r->word[0], r->word[1]);
	else if ((node = node_of_tensor(w, tensor_of(w->g, r->word[0]))) < 0)
		wish_note(w, "line %d: %.120s: the model has no tensor of this name", r->line, r->word[0]);
	else
		wish_precision(w, node, (enum precision)mode);
}

bool read_tpu_mlir_qtable(struct wishes *w, char *text)
{
	struct row r = {0};
	const char *tail = NULL;
	if (!is_table(text, "quantize_mode", is_qtable_row))
		return false;
	while (next_row(&r, &text, &tail)) {
		if (is_qtable_row(&r))
			read_mode(w, &r);
		else
			wish_note(w, "line %d: %.60s: not OPERATOR MODE", r.line, r.word[0]);
	}
	return true;
}

bool read_tpu_mlir_cali(struct wishes *w, char *text)
{
	struct row r = {0};
	const char *tail = NULL;
	double threshold, range[2];
	if (!is_table(text, "threshold", is_cali_row))
		return false;
	while (next_row(&r, &text, &tail)) {
		if (is_cali_row(&r) && str_to_double(r.word[1], &threshold) && str_to_double(r.word[2], &range[0]) &&
		    str_to_double(r.word[3], &range[1]))
			wish_threshold(w, tensor_of(w->g, r.word[0]), threshold, 1e-7, range);
		else
			wish_note(w, "line %d: %.60s: not OPERATOR THRESHOLD MIN MAX", r.line, r.word[0]);
	}
	if (tail)
		wish_note(w, "line %d: %.20s and what follows is not read", r.line, tail);
	return true;
}
