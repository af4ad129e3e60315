#include "qtui/tui/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/format.h"
#include "qtui/tui/plot.h"
#include "qtui/tui/search.h"
#include "qtui/tui/view_task.h"

void draw_no_run(struct canvas *c, const struct ui *ui, struct rect r)
{
	char text[UI_TEXT];
	snprintf(text, sizeof text, "The run failed: %.400s", ui->snap->error.text);
	if (ui->snap->stage == STAGE_FAILED)
		canvas_paragraph(c, r, ROLE_ERROR, text);
	else
		canvas_paragraph(c, r, ROLE_DIM, snapshot_complete(ui->snap) ? "Being looked for." : "No run is finished yet.");
}

int draw_found(struct canvas *c, const struct ui *ui, int x, int y, int width, enum role role, enum cut cut, const char *text)
{
	char shown[1024], part[1024];
	int start, end, used;
	text_cut(shown, sizeof shown, text, width, cut);
	used = canvas_text(c, x, y, width, role, shown);
	if (search_match(ui, shown, &start, &end)) {
		snprintf(part, sizeof part, "%.*s", start, shown);
		x += text_width(part);
		snprintf(part, sizeof part, "%.*s", end - start, shown + start);
		canvas_text(c, x, y, text_width(part), ROLE_MATCH, part);
	}
	return used;
}

int draw_node_name(struct canvas *c, const struct ui *ui, int x, int y, int width, enum role role, int node)
{
	char name[1024];
	abbrev_cut(name, sizeof name, &ui->layers.names, node, width);
	return draw_found(c, ui, x, y, width, role, CUT_LEFT, name);
}

// Pieces of the top line, the most important first; those for which there is no room are left out.
enum { PIECES = 6, TARGET_WIDTH = 32 };
struct piece {
	char text[96], brief[64]; // brief: in place of the text where that has no room; empty: there is none
	bool unkept; // what stands before it keeps no room for the brief text
	enum role role;
};

// How many samples the figures are of: those of the first run begin with one, while all are calibrated on.
static int samples_shown(const struct snapshot *s)
{
	int least = s->samples_done;
	for (int i = 0; i < s->n_outputs; i++)
		if (s->output[i].known && s->output[i].known < least)
			least = s->output[i].known;
	return least;
}

static int header_pieces(const struct ui *ui, struct piece out[PIECES])
{
	const struct snapshot *s = ui->snap;
	double worst = snapshot_worst_output(s);
	char snr[FIGURE], target[4 * TARGET_WIDTH];
	int n = 0;
	// As editors do, and where there is room on any screen.
	snprintf(out[n].text, sizeof out->text, "%.90s%s", file_base(s->g->path ? s->g->path : "model"), ui->unsaved ? "*" : "");
	out[n++].role = ROLE_BAR_STRONG;
	text_cut(target, sizeof target, s->target, TARGET_WIDTH, CUT_RIGHT);
	snprintf(out[n].text, sizeof out->text, "%.80s %s", target, calib_name(s->method));
	out[n++].role = ROLE_BAR;
	if (s->task) {
		view_task_headline(out[n].text, sizeof out->text, s->task);
		view_task_brief(out[n].brief, sizeof out->brief, s->task);
		out[n++].role = s->task_old ? ROLE_BAR : ROLE_BAR_STRONG;
	}
	if (!isnan(worst)) {
		snprintf(out[n].text, sizeof out->text, "worst output %s", format_decibels(snr, worst));
		snprintf(out[n].brief, sizeof out->brief, "out %s", snr);
		out[n].unkept = true;
		out[n++].role = ROLE_BAR;
	}
	if (s->n_edits || ui->autosave_fails) {
		snprintf(out[n].text, sizeof out->text, "%d edit%s%s", s->n_edits, plural(s->n_edits),
		    ui->autosave_fails ? ", autosave fails" : "");
		if (ui->autosave_fails)
			snprintf(out[n].brief, sizeof out->brief, "%d edit%s!", s->n_edits, plural(s->n_edits));
		out[n++].role = ui->autosave_fails ? ROLE_BAR_BAD : ROLE_BAR;
	}
	if (samples_shown(s) < s->samples)
		snprintf(out[n].text, sizeof out->text, "%d of %d samples", samples_shown(s), s->samples);
	else
		snapshot_samples(s, out[n].text, sizeof out->text);
	if (s->left_out)
		snprintf(out[n].brief, sizeof out->brief, "%d left out", s->left_out);
	out[n++].role = s->left_out ? ROLE_BAR_BAD : ROLE_BAR;
	return n;
}

static bool is_running(enum stage s)
{
	return s == STAGE_LOAD || s == STAGE_CALIBRATE || s == STAGE_MEASURE || s == STAGE_TASK;
}

// Before the task is measured, if there is one, causes are looked for.
static const char *stage_text(const struct snapshot *s)
{
	return s->stage == STAGE_TASK && !s->findings ? "looking for causes" : stage_name(s->stage);
}

// "fix: scales 40 %": each part of a repair has a progress of its own.
static void beside_text(char *out, size_t size, const struct ui *ui, const struct beside *b, double progress)
{
	const char *part = b == &ui->beside[BESIDE_REPAIR] ? ui->repair.text : "";
	int n = (int)strcspn(part, ":"), longest = 24;
	if (n == 0 || n > longest || !strncmp(part, b->name, (size_t)n))
		snprintf(out, size, "%s %3.0f %%", b->name, 100 * progress);
	else
		snprintf(out, size, "%s: %.*s %3.0f %%", b->name, n, part, 100 * progress);
}

// What is going on, at the right end; returns its width.
static int draw_progress(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct snapshot *s = ui->snap;
	char text[128], time[FIGURE], rate[FIGURE];
	const struct beside *beside = is_running(s->stage) ? NULL : beside_first(ui);
	double progress = beside ? background_progress(beside->job) : s->progress;
	bool busy = is_running(s->stage) || beside;
	int gauge = r.w >= 70 ? 10 : 0, w;
	enum role role = s->stage == STAGE_FAILED ? ROLE_BAR_BAD : ROLE_BAR_BUSY;
	if (is_running(s->stage) && s->left >= 0 && r.w >= 90)
		snprintf(text, sizeof text, "%s %3.0f %%  %s/s  %s left", stage_text(s), 100 * s->progress, format_rate(rate, s->rate),
		    format_seconds(time, s->left));
	else if (beside)
		beside_text(text, sizeof text, ui, beside, progress);
	else if (is_running(s->stage))
		snprintf(text, sizeof text, "%s %3.0f %%", stage_text(s), 100 * s->progress);
	else if (s->stage == STAGE_FAILED)
		snprintf(text, sizeof text, "the run failed");
	else if (s->stage == STAGE_CANCELLED)
		snprintf(text, sizeof text, "stopped, r goes on");
	else if (s->dirty && ui->notes_run)
		snprintf(text, sizeof text, "starting");
	else if (s->dirty)
		snprintf(text, sizeof text, "not computed yet, r runs");
	else if (s->stage == STAGE_DONE && r.w < 52)
		snprintf(text, sizeof text, "done"); // how long it took is worth less than the task
	else if (s->stage == STAGE_DONE)
		snprintf(text, sizeof text, "done in %s", format_seconds(time, s->seconds));
	else
		text[0] = '\0';
	w = text_width(text) + 1;
	canvas_text(c, r.x + r.w - w, r.y, w - 1, role, text);
	if (!busy || !gauge)
		return w;
	plot_gauge(c, r.x + r.w - w - gauge - 2, r.y, gauge, progress, ROLE_BAR_BUSY);
	canvas_put(c, r.x + r.w - w - gauge - 3, r.y, U'│', ROLE_BAR);
	canvas_put(c, r.x + r.w - w - 2, r.y, U'│', ROLE_BAR);
	return w + gauge + 4;
}

// Columns that are kept for the brief texts of the pieces behind the i-th;
// 0 where the first piece would get hardly any.
static int kept_room(const struct piece piece[PIECES], int i, int n, int room)
{
	enum { LEAST = 10 };
	int kept = 0;
	for (int k = i + 1; k < n; k++)
		kept += piece[k].brief[0] && !piece[k].unkept ? text_width(piece[k].brief) + 3 : 0;
	return i > 0 || room - kept >= LEAST ? kept : 0;
}

static void draw_header(struct canvas *c, const struct ui *ui)
{
	struct rect r = ui->layout.header;
	struct piece piece[PIECES] = {0};
	int n = header_pieces(ui, piece), x = r.x + 1, right;
	for (int i = 0; i < r.w; i++)
		canvas_put(c, r.x + i, r.y, ' ', ROLE_BAR);
	canvas_ground(c, r, ROLE_BAR);
	right = draw_progress(c, ui, r);
	for (int i = 0; i < n; i++) {
		int room = r.x + r.w - right - x - 1;
		room -= kept_room(piece, i, n, room);
		const char *text = piece[i].brief[0] && text_width(piece[i].text) > room ? piece[i].brief : piece[i].text;
		if (i > 0 && text_width(text) > room)
			continue;
		x += canvas_cut(c, x, r.y, room, piece[i].role, CUT_MIDDLE, text) + 3;
	}
}

// How much of the tabs has room: titles, brief ones, the keys of all views but the current one, that one alone. Brief
// tabs and keys stand closer together. Titles that are all there stay where they are while one goes from view to view.
enum tabs { TABS_WHOLE, TABS_BRIEF, TABS_KEYS, TABS_ONE };

// "1 Layers", "Why", "Why" being opened by its first letter: what comes first is the key.
// False: the view has no tab then.
static bool tab_text(char out[32], const struct ui *ui, enum view v, enum tabs tabs)
{
	const struct view_row *row = view_row(v);
	bool current = v == ui->view, unread = v == VIEW_LOG && !current && log_warnings() > ui->warnings_seen;
	bool whole = tabs == TABS_WHOLE || (current && (tabs != TABS_BRIEF || !row->brief[0]));
	const char *title = whole ? row->title : tabs == TABS_BRIEF ? row->brief : "";
	bool apart = row->key[0] && title[0] != row->key[0];
	if (!current && (!row->brief[0] || tabs == TABS_ONE))
		return false;
	snprintf(out, 32, " %s%s%s%s%s", apart ? row->key : "", apart && title[0] ? " " : "", title, unread ? "!" : "",
	    tabs == TABS_WHOLE ? " " : "");
	return true;
}

// Columns between a tab and the next: the rule is seen through them.
static int tabs_gap(enum tabs tabs)
{
	return tabs == TABS_WHOLE;
}

static int tabs_width(const struct ui *ui, enum tabs tabs)
{
	char text[32];
	int width = 2; // the rule before them, and a blank behind
	for (int v = 0; v < VIEW_COUNT; v++)
		if (tab_text(text, ui, (enum view)v, tabs))
			width += text_width(text) + tabs_gap(tabs);
	return width;
}

// "64 of 233  op:Conv  /cv3  3 in range  3 marked"
static void list_state(char *out, size_t size, const struct ui *ui, int row)
{
	const struct layers *l = &ui->layers;
	int n = view_row(ui->view)->count(ui);
	size_t used = 0;
	if (!n && ui->view == VIEW_TASK && ui->task.open) { // an open sample without rows of its own: where [ and ] are
		row = ui->scroll[VIEW_TASK].cursor;
		n = ui->task.n;
	}
	if (ui->view == VIEW_LAYERS && l->filter)
		used += (size_t)snprintf(out, size, " %s  %d of %d", l->filter_text, l->n, l->total);
	else
		used += (size_t)snprintf(out, size, " %d/%d", n ? row + 1 : 0, n);
	if (ui->search[0] && used < size)
		used += (size_t)snprintf(out + used, size - used, "  /%s", ui->search);
	if (ui->view == VIEW_LAYERS && layers_n_visual(l) && used < size)
		used += (size_t)snprintf(out + used, size - used, "  %*d in range", snprintf(NULL, 0, "%d", l->n), layers_n_visual(l));
	if (ui->view == VIEW_LAYERS && l->n_marked && used < size)
		used += (size_t)snprintf(out + used, size - used, "  %d marked", l->n_marked);
	if (used < size)
		snprintf(out + used, size - used, " ");
}

// What a list is filtered by or searched for says more than tabs do; they say more than where one is in it.
static bool has_state(const struct ui *ui)
{
	return ui->search[0] || (ui->view == VIEW_LAYERS && (ui->layers.filter || ui->layers.n_marked || layers_n_visual(&ui->layers)));
}

static enum tabs tabs_of(const struct ui *ui)
{
	int state = 0;
	enum tabs tabs = TABS_WHOLE;
	char text[512];
	if (has_state(ui)) {
		list_state(text, sizeof text, ui, view_row(ui->view)->count(ui) - 1); // as wide as it gets: moving changes no tabs
		state = text_width(text) + 1;
	}
	while (tabs < TABS_ONE && tabs_width(ui, tabs) + state > ui->layout.panel[PANEL_MAIN].w)
		tabs++;
	return tabs;
}

static int draw_tab(struct canvas *c, const struct ui *ui, enum view v, int x, int y, const char *text)
{
	enum role role = v != ui->view ? ROLE_TITLE : ui->focus == PANEL_MAIN ? ROLE_TITLE_FOCUS : ROLE_STRONG;
	int width = canvas_text(c, x, y, 32, role, text);
	if (v != ui->view)
		canvas_text(c, x + 1, y, 1, ROLE_KEY, view_row(v)->key);
	return width;
}

static int draw_tabs(struct canvas *c, const struct ui *ui, int x, int y)
{
	enum tabs tabs = tabs_of(ui);
	char text[32];
	for (int v = 0; v < VIEW_COUNT; v++)
		if (tab_text(text, ui, (enum view)v, tabs))
			x += draw_tab(c, ui, (enum view)v, x, y, text) + tabs_gap(tabs);
	if (tabs != TABS_WHOLE)
		canvas_put(c, x++, y, ' ', ROLE_TITLE);
	return x;
}

int draw_tab_at(const struct ui *ui, int x)
{
	enum tabs tabs = tabs_of(ui);
	int at = ui->layout.panel[PANEL_MAIN].x + 1;
	char text[32];
	for (int v = 0; v < VIEW_COUNT; v++) {
		if (!tab_text(text, ui, (enum view)v, tabs))
			continue;
		if (x >= at && x < at + text_width(text))
			return v;
		at += text_width(text) + tabs_gap(tabs);
	}
	return -1;
}

// Where one is in the list stands as a whole or not at all: "1/17" in place of "1/177" would be another place.
static void draw_main_title(struct canvas *c, const struct ui *ui)
{
	struct rect r = ui->layout.panel[PANEL_MAIN];
	char state[512];
	int x = draw_tabs(c, ui, r.x + 1, r.y), room = r.x + r.w - 1 - x;
	list_state(state, sizeof state, ui, ui_cursor(ui)->cursor);
	if (text_width(state) <= room || (has_state(ui) && room > 8))
		canvas_right(c, x, r.y, room, ROLE_TITLE, state);
}

static void draw_side_title(struct canvas *c, const struct ui *ui, enum panel p)
{
	struct rect r = ui->layout.panel[p];
	int node = ui_node(ui), used, below;
	char cut[1024], text[1100];
	if (p == PANEL_AROUND)
		snprintf(text, sizeof text, " Neighbourhood ");
	else if (node < 0)
		snprintf(text, sizeof text, " Detail ");
	else {
		abbrev_cut(cut, sizeof cut, &ui->layers.names, node, r.w - 4);
		snprintf(text, sizeof text, " %s ", cut);
	}
	used = canvas_text(c, r.x + 1, r.y, r.w - 2, ui->focus == p ? ROLE_TITLE_FOCUS : ROLE_TITLE, text);
	below = p == PANEL_DETAIL ? view_detail_height(ui, r.w, r.h - 1) - ui->detail_top - (r.h - 1) : 0;
	snprintf(text, sizeof text, " %d more line%s ", below, plural(below));
	if (below > 0 && used + text_width(text) + 3 < r.w)
		canvas_right(c, r.x, r.y, r.w - 1, ROLE_TITLE, text);
}

static void draw_rules(struct canvas *c, const struct ui *ui)
{
	const struct rect *main = &ui->layout.panel[PANEL_MAIN], *detail = &ui->layout.panel[PANEL_DETAIL];
	const struct rect *around = &ui->layout.panel[PANEL_AROUND];
	for (int p = 0; p < PANEL_COUNT; p++)
		if (ui->layout.panel[p].w)
			canvas_line(c, ui->layout.panel[p].x, ui->layout.panel[p].y, ui->layout.panel[p].w, ROLE_RULE);
	if (!main->w || !detail->w || detail->y != main->y)
		return;
	canvas_stroke(c, detail->x - 1, main->y, main->h, ROLE_RULE);
	canvas_put(c, detail->x - 1, main->y, U'┬', ROLE_RULE);
	if (around->w)
		canvas_put(c, detail->x - 1, around->y, U'├', ROLE_RULE);
}

static struct rect inside(struct rect r)
{
	return (struct rect){r.x, r.y + 1, r.w, r.h - 1};
}

typedef void draw_fn(struct canvas *c, const struct ui *ui, struct rect r);

static void draw_panel(struct canvas *c, const struct ui *ui, enum panel p, draw_fn *draw)
{
	struct rect r = inside(ui->layout.panel[p]), old;
	if (!ui->layout.panel[p].w)
		return;
	if (p == PANEL_MAIN)
		draw_main_title(c, ui);
	else
		draw_side_title(c, ui, p);
	old = canvas_clip(c, r);
	draw(c, ui, r);
	canvas_unclip(c, old);
}

static void draw_too_small(struct canvas *c, const struct ui *ui)
{
	char text[64];
	snprintf(text, sizeof text, "qtui needs %dx%d, this is %dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H, ui->w, ui->h);
	canvas_paragraph(c, (struct rect){0, 0, ui->w, ui->h}, ROLE_TEXT, text);
}

void draw_screen(struct canvas *c, const struct ui *ui)
{
	if (ui->layout.too_small) {
		draw_too_small(c, ui);
		return;
	}
	draw_header(c, ui);
	draw_rules(c, ui);
	draw_panel(c, ui, PANEL_MAIN, view_row(ui->view)->draw);
	draw_panel(c, ui, PANEL_DETAIL, view_detail_draw);
	draw_panel(c, ui, PANEL_AROUND, view_around_draw);
	draw_bottom(c, ui, ui->layout.bottom);
}
