#include "qtui/tui/help.h"

#include <stdio.h>
#include <string.h>

#include "qtui/tui/channel_list.h"
#include "qtui/tui/columns.h"
#include "qtui/tui/command.h"
#include "qtui/tui/filter.h"
#include "qtui/tui/keys.h"
#include "qtui/tui/text.h"

enum { HELP_MAX = 320 };
struct help {
	int n;
	struct help_row row[HELP_MAX];
	int view[VIEW_COUNT]; // the section of each; 0: it has none
};

// What is said of views, beside their keys: of their columns and, without a head, of themselves.
static const struct view_says {
	enum view view;
	const char *head, *text;
} view_says[] = {
#define SAYS(view, head, text) {VIEW_##view, head, text},
#include "qtui/tui/view_help.def"
#undef SAYS
};
enum { VIEW_SAYS = sizeof view_says / sizeof *view_says };

static void add(struct help *h, enum help_kind kind, const char *key, const char *text)
{
	struct help_row *r;
	if (h->n == HELP_MAX)
		return;
	r = &h->row[h->n++];
	r->kind = kind;
	snprintf(r->key, sizeof r->key, "%s", key);
	snprintf(r->text, sizeof r->text, "%s", text);
}

static void add_section(struct help *h, const char *title)
{
	if (h->n)
		add(h, HELP_BLANK, "", "");
	add(h, HELP_SECTION, "", title);
}

// "j <Down>" as people read it: "j Down".
static void key_names(char *out, size_t size, const char *keys)
{
	size_t used = 0;
	out[0] = '\0';
	while (*keys && used < size) {
		char name[16];
		int key = keys_parse(&keys);
		if (key == K_NONE)
			break;
		keys_text(name, sizeof name, key);
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "  " : "", name);
		keys += strspn(keys, " ");
	}
}

static void add_key(struct help *h, const struct key_row *row)
{
	char names[64];
	key_names(names, sizeof names, row->keys);
	add(h, HELP_ROW, names, row->help);
}

static bool is_of_view(const struct key_row *row)
{
	for (int v = 0; v < VIEW_COUNT; v++)
		if (!strcmp(row->group, view_row((enum view)v)->title))
			return true;
	return false;
}

// Keys that hold in more than one view.
static void add_keys(struct help *h)
{
	const char *group = "";
	for (int a = 0; a < ACTION_COUNT; a++) {
		const struct key_row *row = keys_row((enum action)a);
		if (is_of_view(row))
			continue;
		if (strcmp(group, row->group))
			add_section(h, row->group);
		group = row->group;
		add_key(h, row);
	}
}

static void add_mouse(struct help *h)
{
	static const struct {
		const char *key, *text;
	} mouse[] = {
		{"click", "To a row, a view or a panel; on a row again: as Enter"},
		{"on a head", "Sort by the column; again: turn the order round"},
		{"on a key", "What stands on the bottom line is pressed"},
		{"wheel", "Up and down in the panel under it"},
		{"Shift", "With it most terminals select text (or --no-mouse)"},
	};
	add_section(h, "Mouse");
	for (size_t i = 0; i < sizeof mouse / sizeof *mouse; i++)
		add(h, HELP_ROW, mouse[i].key, mouse[i].text);
}

static void add_commands(struct help *h)
{
	int n;
	const struct command_row *row = command_rows(&n);
	char usage[64];
	add_section(h, "Commands (every action above has one too, such as :page-down)");
	for (int i = 0; i < n; i++) {
		char name[COMMAND_NAME];
		command_typed(name, row[i].name);
		snprintf(usage, sizeof usage, ":%s %s", name, row[i].usage);
		add(h, HELP_LONG_ROW, usage, row[i].help);
	}
	add(h, HELP_TEXT, "", ":120 goes to row 120 of what is shown. Digits before a key are no count: they are keys themselves.");
	add(h, HELP_TEXT, "", "SELECTION: a node's name, a pattern with * and ? (or name:PATTERN), op:TYPE, A..B (all from A to B), or marked");
	add(h, HELP_TEXT, "", "TENSOR: one of the outputs of a node that has several; a node stands for its first");
}

static void add_filters(struct help *h)
{
	add_section(h, "Filters (all terms must hold)");
	for (int i = 0; filter_help(i); i++)
		add(h, HELP_TEXT, "", filter_help(i));
}

static void add_columns(struct help *h)
{
	char key[64];
	add_section(h, "Columns");
	for (int i = 0; i < COLUMN_COUNT; i++) {
		const struct column_row *row = columns_row((enum column)i);
		snprintf(key, sizeof key, "%s  (%s)", row->name, row->head);
		add(h, HELP_ROW, key, row->help);
	}
}

static void add_channel_columns(struct help *h)
{
	for (int i = 0; i < CHANNEL_COLUMNS; i++)
		add(h, HELP_ROW, channel_column((enum channel_column)i)->head, channel_column((enum channel_column)i)->help);
	add(h, HELP_TEXT, "",
	    "Conspicuous channels: dead, no signal, no SNR; outlier, reaches 4 times as far as the median channel; few codes, its");
	add(h, HELP_TEXT, "",
	    "largest value is below 8 steps; clipped, more than 1 %; shifted, its mean by half a step and a tenth of its error.");
}

static void add_marks(struct help *h)
{
	static const struct {
		const char *key, *text;
	} mark[] = {
		{"●", "SNR below 10 dB: the noise has more than a tenth of the signal's power"},
		{"◐", "10 to 20 dB"},
		{"○", "20 to 30 dB"},
		{"·", "30 dB and more"},
		{"*", "edited by you"},
		{"8→16", "what the next figures will be computed with"},
		{"!", "the target refuses the edit; the detail says why"},
		{"–", "not known, or not quantized"},
		{"~0", "end of a range: not 0, but no grid of it tells them apart"},
		{"5 Log!", "the log has warnings that have not been looked at"},
	};
	add_section(h, "Marks in the list");
	for (size_t i = 0; i < sizeof mark / sizeof *mark; i++)
		add(h, HELP_ROW, mark[i].key, mark[i].text);
	add(h, HELP_TEXT, "", "SNR is 10 log10(signal / noise): 10 dB is N/S 0.1, 20 dB is 0.01. Higher is better.");
	add(h, HELP_TEXT, "", "SNR dB (graphwise): all that comes before is quantized too. alone dB (layerwise): this node only.");
	add(h, HELP_TEXT, "", "For logits the detail also has the SNR of their scores behind the Sigmoid, from the histogram of floats;");
	add(h, HELP_TEXT, "", "scores below .001 do not count. Logits clipped far below zero do no harm, but rule the logits' own SNR.");
	add(h, HELP_TEXT, "", "Dimmed figures are from before the last edit and are being computed again.");
}

static void add_says(struct help *h, enum view v, bool columns)
{
	for (int i = 0; i < VIEW_SAYS; i++)
		if (view_says[i].view == v && columns == (view_says[i].head[0] != '\0'))
			add(h, columns ? HELP_ROW : HELP_TEXT, view_says[i].head, view_says[i].text);
}

// What is seen in a view, the keys that are its own, its columns.
static void add_view(struct help *h, enum view v)
{
	const char *title = view_row(v)->title;
	add_section(h, title);
	h->view[v] = h->n - 1;
	add_says(h, v, false);
	for (int a = 0; a < ACTION_COUNT; a++)
		if (!strcmp(keys_row((enum action)a)->group, title))
			add_key(h, keys_row((enum action)a));
	add_says(h, v, true);
	if (v == VIEW_CHANNELS)
		add_channel_columns(h);
}

static void add_views(struct help *h)
{
	for (int i = 0; i < VIEW_SAYS; i++)
		if (!h->view[view_says[i].view])
			add_view(h, view_says[i].view);
}

static struct help *help(void)
{
	static struct help h;
	if (!h.n) {
		add_keys(&h);
		add_mouse(&h);
		add_columns(&h);
		add_marks(&h);
		add_filters(&h);
		add_views(&h);
		add_commands(&h);
	}
	return &h;
}

int help_count(void)
{
	return help()->n;
}

const struct help_row *help_at(int i)
{
	return &help()->row[i];
}

int help_of_view(enum view v)
{
	return help()->view[v];
}

// As a whole word: a command, a key, a column.
static bool names(const char *key, const char *topic)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t n = strlen(topic);
	for (const char *p = key; n && (p = text_find(p, topic)); p++)
		if ((p == key || !strchr(inside, p[-1])) && (!p[n] || !strchr(inside, p[n])))
			return true;
	return false;
}

int help_find(const char *topic)
{
	struct help *h = help();
	int command = -1, key = -1, section = -1, any = -1;
	topic += topic[0] == ':' && topic[1];
	for (int i = h->n - 1; i >= 0; i--) {
		const struct help_row *r = &h->row[i];
		if (r->kind == HELP_LONG_ROW && names(r->key, topic) && !strncasecmp(r->key + 1, topic, strlen(topic)))
			command = i;
		else if (names(r->key, topic))
			key = i;
		if (r->kind == HELP_SECTION && !strncasecmp(r->text, topic, strlen(topic)))
			section = i;
		if (text_find(r->key, topic) || text_find(r->text, topic))
			any = i;
	}
	return command >= 0 ? command : key >= 0 ? key : section >= 0 ? section : any;
}
