// An answer is a line of boxes, "x1 y1 x2 y2 score class" each, with semicolons between them.
#include "boxes_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static const char blanks[] = " \t\r";

struct boxes_program {
	struct program *program;
	const struct labels *labels;
	const int *map;
	int n_map;
	struct boxes_limits limits;
	atomic_bool warned; // of a class that the labels do not have
};

struct boxes_program *boxes_program_new(const char *command, const struct labels *l, const int *map, int n, const struct boxes_limits *limits)
{
	struct boxes_program *p = xcalloc(1, sizeof *p);
	*p = (struct boxes_program){.program = program_new(command, "--boxes"), .labels = l, .map = map, .n_map = n, .limits = *limits};
	return p;
}

void boxes_program_free(struct boxes_program **p)
{
	if (*p)
		program_free(&(*p)->program);
	free(*p);
	*p = NULL;
}

const char *boxes_program_command(const struct boxes_program *p)
{
	return program_command(p->program);
}

// The model's number of a class, or the labels' name.
static int class_of(const struct boxes_program *p, const char *text)
{
	const struct labels *l = p->labels;
	long long number;
	int class = str_to_int(text, &number) && number >= 0 && number < p->n_map ? p->map[number] : -1;
	for (int i = 0; class < 0 && i < l->n_classes; i++)
		if (l->name[i] && strcmp(l->name[i], text) == 0)
			class = i;
	return class;
}

// Also nan and inf, which a quantized network may well have.
static bool read_number(double *x, const char *word)
{
	char *end;
	if (str_to_double(word, x))
		return true;
	*x = strtod(word, &end);
	return end > word && !*end && !isfinite(*x);
}

// What comes behind five numbers is the class, whose name may have blanks.
static bool split(double number[5], const char **class, char *text)
{
	char *end = text + strlen(text);
	while (end > text && strchr(blanks, end[-1]))
		*--end = '\0';
	for (int i = 0; i < 5; i++) {
		text += strspn(text, blanks);
		char *word = text;
		text += strcspn(text, blanks);
		if (*text)
			*text++ = '\0';
		if (!read_number(&number[i], word))
			return false;
	}
	*class = text + strspn(text, blanks);
	return **class != '\0';
}

struct reading {
	struct boxes_program *by;
	struct candidates *out;
};

static enum status read_box(const struct reading *r, int index, char *text, struct error *err)
{
	double number[5];
	const char *name;
	char said[61];
	snprintf(said, sizeof said, "%s", text + strspn(text, blanks));
	if (!split(number, &name, text))
		return error_set(err, STATUS_UNSUPPORTED, "box %d of its answer is \"%s\", not x1 y1 x2 y2 score class", index, said);
	for (int i = 0; i < 5; i++)
		if (!isfinite(number[i]))
			return STATUS_OK; // as decoders leave it out
	int class = class_of(r->by, name);
	if (class < 0 && !atomic_exchange(&r->by->warned, true))
		log_warn("--boxes: class %.40s is none of %s: boxes of such classes count nowhere", name, r->by->labels->source);
	if (class < 0 || !(number[4] > r->by->limits.least))
		return STATUS_OK;
	candidates_add(r->out, &(struct candidate){.x1 = (float)number[0], .y1 = (float)number[1], .x2 = (float)number[2],
	    .y2 = (float)number[3], .score = (float)number[4], .class = class});
	return STATUS_OK;
}

enum status boxes_program_parse(struct candidates *out, struct boxes_program *p, char *answer, struct error *err)
{
	const struct reading r = {p, out};
	enum status st = STATUS_OK;
	int index = 1;
	for (char *box = answer, *next; box && st == STATUS_OK; box = next, index++) {
		next = strchr(box, ';');
		if (next)
			*next++ = '\0';
		if (box[strspn(box, blanks)]) // nothing is found, or a semicolon ends the line
			st = read_box(&r, index, box, err);
	}
	if (st == STATUS_OK)
		nms_keep(out, p->limits.iou, p->limits.most);
	return st;
}

static enum status read_answer(void *to, char *answer, struct error *err)
{
	const struct reading *r = to;
	return boxes_program_parse(r->out, r->by, answer, err);
}

enum status boxes_program_read(struct candidates *out, struct boxes_program *p, const struct sample_outputs *of, struct error *err)
{
	struct reading r = {p, out};
	return program_ask(p->program, of, read_answer, &r, err);
}
