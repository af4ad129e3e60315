// Completion for the command line: what can stand at the cursor, one candidate after another.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/analysis/task.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/order.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"
#include "qtui/interop/export.h"
#include "qtui/tui/command.h"
#include "qtui/tui/filter.h"
#include "qtui/tui/help.h"

struct names {
	char **at;
	size_t n, cap;
};

static void add(struct names *l, const char *prefix, const char *name)
{
	size_t len = strlen(prefix) + strlen(name) + 1;
	l->at = xgrow(l->at, &l->cap, l->n + 1, sizeof *l->at);
	l->at[l->n] = xmalloc(len);
	snprintf(l->at[l->n++], len, "%s%s", prefix, name);
}

static void clear(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i]);
	free(l->at);
	*l = (struct names){0};
}

static void add_typed(struct names *l, const char *name)
{
	char typed[COMMAND_NAME];
	command_typed(typed, name);
	add(l, "", typed);
}

static void add_commands(struct names *l)
{
	int n;
	const struct command_row *row = command_rows(&n);
	for (int i = 0; i < n; i++)
		add_typed(l, row[i].name);
	for (int a = 0; a < ACTION_COUNT; a++)
		add_typed(l, keys_row((enum action)a)->name);
}

static void add_nodes(struct names *l, const struct ui *ui)
{
	for (int i = 0; i < ui->snap->g->n_nodes; i++)
		add(l, "", ui->snap->g->node[i].name);
}

static void add_operators(struct names *l, const struct ui *ui)
{
	for (int i = 0; i < ui->snap->g->n_nodes; i++)
		add(l, "op:", ui->snap->g->node[i].op->name);
}

static void add_selections(struct names *l, const struct ui *ui)
{
	add_nodes(l, ui);
	add(l, "", "marked");
	add_operators(l, ui);
}

// Those of a filter; what a figure is held against follows.
static void add_terms(struct names *l, const struct ui *ui)
{
	add_operators(l, ui);
	for (int i = 0; filter_word(i); i++)
		add(l, "", filter_word(i));
	for (int c = 0; c < COLUMN_COUNT; c++) {
		char term[64];
		const struct column_row *row = columns_row((enum column)c);
		snprintf(term, sizeof term, "%s%s", row->name, row->value ? "<" : "~");
		add(l, "", term);
	}
}

// And the tensors that need a name of their own.
static void add_outputs(struct names *l, const struct ui *ui)
{
	const struct graph *g = ui->snap->g;
	add_selections(l, ui);
	for (int v = 0; v < g->n_values; v++)
		if (!g->value[v].constant && graph_goes_by_own_name(g, v))
			add(l, graph_find_node(g, g->value[v].name) >= 0 ? STUDY_TENSOR : "", g->value[v].name);
}

static void add_columns(struct names *l, const struct ui *ui)
{
	(void)ui;
	for (int c = 0; c < COLUMN_COUNT; c++)
		add(l, "", columns_row((enum column)c)->name);
}

static void add_targets(struct names *l, const struct ui *ui)
{
	int n;
	char **name = target_list(&n);
	(void)ui;
	for (int i = 0; i < n; i++) {
		add(l, "", name[i]);
		free(name[i]);
	}
	free(name);
}

// Behind a target's name and a comma.
static void add_members(struct names *l, const char *word)
{
	const char *comma = strrchr(word, ',');
	char prefix[TARGET_NAME], member[128];
	int n;
	if (!comma)
		return;
	snprintf(prefix, sizeof prefix, "%.*s", (int)(comma - word + 1), word);
	char **name = target_member_names(&n);
	for (int i = 0; i < n; i++) {
		snprintf(member, sizeof member, "%s=", name[i]);
		add(l, prefix, member);
		free(name[i]);
	}
	free(name);
}

static void add_formats(struct names *l, const struct ui *ui)
{
	int n;
	const struct export_format *row = export_rows(&n);
	(void)ui;
	for (int i = 0; i < n; i++)
		add(l, "", row[i].name);
}

static void add_theme(void *arg, const char *name)
{
	add(arg, "", name);
}

static void add_themes(struct names *l, const struct ui *ui)
{
	(void)ui;
	theme_each(add_theme, l);
}

static void add_decoders(struct names *l, const struct ui *ui)
{
	(void)ui;
	for (int i = 0; task_decoder_name(i); i++)
		add(l, "", task_decoder_name(i));
}

static void add_preparation(struct names *l, const struct ui *ui)
{
	static const char *const option[] = {"--color", "--mean", "--resize", "--std"};
	(void)ui;
	for (size_t i = 0; i < sizeof option / sizeof *option; i++)
		add(l, "", option[i]);
}

static void add_topics(struct names *l, const struct ui *ui)
{
	(void)ui;
	for (int i = 0; i < help_count(); i++)
		if (help_at(i)->kind == HELP_SECTION && !strchr(help_at(i)->text, ' '))
			add(l, "", help_at(i)->text);
}

// A directory with its slash: what is in it comes next.
static void add_file(struct names *l, const char *prefix, const char *dir, const char *name)
{
	char *path = str_format("%s/%s", dir, name), *shown = str_format("%s%s", name, file_is_dir(path) ? "/" : "");
	add(l, prefix, shown);
	free(path);
	free(shown);
}

// Files of the directory that the word names.
static void add_files(struct names *l, const char *word)
{
	const char *slash = strrchr(word, '/');
	char *dir, prefix[1024];
	struct dirent *e;
	DIR *d;
	snprintf(prefix, sizeof prefix, "%.*s", slash ? (int)(slash - word + 1) : 0, word);
	dir = file_at_home(prefix[0] ? prefix : ".");
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_file(l, prefix, dir, e->d_name);
	if (d)
		closedir(d);
	free(dir);
}

static void add_variants(struct names *l, const struct ui *ui)
{
	for (int i = 0; ui->study && i < study_variants(ui->study); i++)
		add(l, "", study_variant_name(ui->study, i));
	add(l, "", "now");
}

static void add_kind(struct names *l, const struct ui *ui, enum completion kind, const char *word)
{
	static void (*const adders[COMPLETE_KINDS])(struct names * l, const struct ui *ui) = {
	    [COMPLETE_SELECTION] = add_selections,
	    [COMPLETE_OUTPUT] = add_outputs,
	    [COMPLETE_NODE] = add_nodes,
	    [COMPLETE_COLUMN] = add_columns,
	    [COMPLETE_TERM] = add_terms,
	    [COMPLETE_TARGET] = add_targets,
	    [COMPLETE_FORMAT] = add_formats,
	    [COMPLETE_THEME] = add_themes,
	    [COMPLETE_VARIANT] = add_variants,
	    [COMPLETE_SIDE] = add_variants,
	    [COMPLETE_TOPIC] = add_topics,
	    [COMPLETE_DECODER] = add_decoders,
	    [COMPLETE_PREPARATION] = add_preparation,
	};
	if (kind == COMPLETE_FILE || kind == COMPLETE_SIDE)
		add_files(l, word);
	if (kind == COMPLETE_TARGET)
		add_members(l, word);
	if (adders[kind])
		adders[kind](l, ui);
}

void command_choices(struct str *out, const struct ui *ui, enum completion kind)
{
	enum { FEW = 20 };
	struct names l = {0};
	if (kind == COMPLETE_FORMAT || kind == COMPLETE_TARGET || kind == COMPLETE_THEME || kind == COMPLETE_COLUMN)
		add_kind(&l, ui, kind, "");
	for (size_t i = 0; i < l.n && i < FEW; i++)
		str_addf(out, "%s%s", i ? ", " : ": ", l.at[i]);
	clear(&l);
}

static const struct command_row *command_of(const char *text)
{
	size_t len = strcspn(text, " ");
	int n;
	const struct command_row *row = command_rows(&n);
	for (int i = 0; i < n; i++) {
		char name[COMMAND_NAME];
		command_typed(name, row[i].name);
		if (strlen(name) == len && !memcmp(name, text, len))
			return &row[i];
		if (row[i].brief[0] && strlen(row[i].brief) == len && !memcmp(row[i].brief, text, len))
			return &row[i];
	}
	return NULL;
}

static int words_before(const char *text, int start)
{
	int n = 0;
	for (int i = 0; i < start; i++)
		n += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
	return n;
}

// The alternatives of an argument that are to be typed as they stand: "agree" and "none" of "[DIR|agree|none]".
static void add_alternatives(struct names *l, const char *argument, size_t length)
{
	const char *end = argument + length;
	for (const char *p = argument; p < end;) {
		char word[COMMAND_NAME];
		size_t n = strcspn(p, " []|,");
		snprintf(word, sizeof word, "%.*s", (int)n, p);
		if (n > 0 && *p >= 'a' && *p <= 'z' && n == strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789"))
			add(l, "", word);
		p += n + 1;
	}
}

// Of the argument at this place, and of those behind it while they may be left out; behind the last: of the last.
static void add_literals(struct names *l, const char *usage, int place)
{
	for (bool optional = true; optional && *usage; place--) {
		size_t n = strcspn(usage, " ");
		const char *next = usage + n + strspn(usage + n, " ");
		if (place <= 0 || !*next) {
			add_alternatives(l, usage, n);
			optional = usage[0] == '[' && usage[n - 1] == ']';
		}
		usage = next;
	}
}

static void gather(struct names *l, const struct ui *ui, const char *text, int start)
{
	const struct command_row *row = command_of(text);
	int before = words_before(text, start);
	if (before == 0)
		add_commands(l);
	else if (row && before == 1)
		add_kind(l, ui, row->first, text + start);
	else if (row)
		add_kind(l, ui, row->last, text + start);
	if (row && before > 0)
		add_literals(l, row->usage, before - 1);
}

// Readline asks for one candidate after another; they are gathered at the first.
char *command_complete(void *arg, const char *text, int start, int i)
{
	static struct names l;
	static size_t next;
	if (i == 0) {
		clear(&l);
		next = 0;
		gather(&l, arg, text, start);
		if (l.n)
			qsort(l.at, l.n, sizeof *l.at, order_texts);
	}
	for (; next < l.n; next++)
		if (str_has_prefix(l.at[next], text + start) && (next == 0 || strcmp(l.at[next], l.at[next - 1])))
			return xstrdup(l.at[next++]);
	clear(&l);
	return NULL;
}
