// The bottom line: the prompt, a scale that is being tried, a message, or the keys of the moment.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/analysis/logits.h"
#include "qtui/tui/detail.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/figures.h"
#include "qtui/tui/format.h"
#include "qtui/tui/view_task.h"

// A key and what it does, where it stands on the line.
struct hint {
	enum action action;
	int x, width; // width: to its last letter
};
enum { HINTS = 64, HINT_GAP = 2 };

static const char *hint_key(char name[16], enum action a)
{
	const char *keys = keys_row(a)->keys;
	keys_text(name, 16, keys_parse(&keys));
	return name;
}

// What the key does: where the classes are shown, the one for them leads back, and one is opened to its samples.
static const char *hint_text(enum action a, const struct ui *ui)
{
	if (ui->task.page == TASK_PAGE_CLASSES && a == ACTION_task_page)
		return "all samples";
	return ui->task.page == TASK_PAGE_CLASSES && a == ACTION_task_open ? "its samples" : keys_row(a)->hint;
}

static struct hint hint_of(enum action a, const struct ui *ui, int x)
{
	char name[16];
	return (struct hint){a, x, text_width(hint_key(name, a)) + 1 + text_width(hint_text(a, ui))};
}

// Whether the action's key does something new here: an inner context may use it otherwise,
// and the key of the view that is shown leads nowhere.
static bool leads_on(enum action a, const struct ui *ui, unsigned contexts)
{
	const char *keys = keys_row(a)->keys;
	return strcmp(keys, view_row(ui->view)->key) != 0 && keys_action(keys_parse(&keys), contexts) == a;
}

// What another task has: classes, something over a picture; where there is no task, all of it.
static bool does_nothing(enum action a, const struct ui *ui)
{
	const struct task_report *t = ui->snap->task;
	if (!t)
		return keys_row(a)->context == CTX_TASK;
	return (a == ACTION_task_open && !ui->task.n) || (a == ACTION_task_page && !t->n_classes) ||
	    (a == ACTION_task_boxes && !task_has_overlays(t));
}

// A list that has the screen for itself shows nothing of what Enter leads to: that stands first, and for it what can wait is left out.
static bool hides_detail(const struct ui *ui)
{
	return ui_rows_are_nodes(ui) && ui_node(ui) >= 0 && ui->focus == PANEL_MAIN && !ui->layout.panel[PANEL_DETAIL].w;
}

static bool has_no_place(enum action a, const struct ui *ui)
{
	return a == ACTION_view_help || a == ACTION_enter || (hides_detail(ui) && (a == ACTION_mark || a == ACTION_filter_edit));
}

// The keys of the moment that there is room for, those of the innermost context first; the one for help has its place at
// the right end. How many there are.
static int place_hints(struct hint out[HINTS], const struct ui *ui, struct rect r)
{
	unsigned contexts = ui->trial.active ? 1u << CTX_TRIAL : ui_contexts(ui) | 1u << CTX_ANY;
	int n = 0, x = r.x + 1, end = r.x + r.w - 1;
	if (contexts >> CTX_ANY & 1 && ui->view != VIEW_HELP) {
		end -= 8;
		out[n++] = hint_of(ACTION_view_help, ui, end + 2);
	}
	if (contexts >> CTX_ANY & 1 && hides_detail(ui)) {
		out[n++] = hint_of(ACTION_enter, ui, x);
		x += out[n - 1].width + HINT_GAP;
	}
	for (int ctx = 0; ctx < CTX_COUNT; ctx++)
		for (int a = 0; contexts >> ctx & 1 && a < ACTION_COUNT && n < HINTS; a++) {
			const struct key_row *row = keys_row((enum action)a);
			bool now = (int)row->context == ctx && leads_on((enum action)a, ui, contexts) && !does_nothing((enum action)a, ui);
			struct hint h = hint_of((enum action)a, ui, x);
			if (!row->hint[0] || has_no_place((enum action)a, ui) || !now || x + h.width > end)
				continue;
			out[n++] = h;
			x += h.width + HINT_GAP;
		}
	return n;
}

static void draw_hints(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct hint hint[HINTS];
	int n = place_hints(hint, ui, r);
	for (int i = 0; i < n; i++) {
		char name[16];
		int used = canvas_text(c, hint[i].x, r.y, 16, ROLE_KEY, hint_key(name, hint[i].action));
		canvas_text(c, hint[i].x + used + 1, r.y, 16, ROLE_HINT, hint_text(hint[i].action, ui));
	}
}

static void add_if_it_fits(char *out, size_t size, const char *more, int room)
{
	size_t n = strlen(out);
	if (text_width(out) + text_width(more) <= room)
		snprintf(out + n, size - n, "%s", more);
}

// "alone 12.4 → 9.6 dB clipped 0.01 → 0.20 %": what stands now, and what the histogram lets expect.
// Each as far as there is room beside the keys, the first shorter or not at all; of logits their scores count more than what is clipped of them.
static void trial_text(char *out, size_t size, const struct ui *ui, int room)
{
	const struct trial *t = &ui->trial;
	const struct site *site = trial_site(ui);
	char snr[FIGURE], was[FIGURE], clipped[FIGURE], was_clipped[FIGURE], more[3 * FIGURE];
	double now, scores;
	if (!site || !t->predicted.known) {
		out[0] = '\0';
		add_if_it_fits(out, size, "no figures to predict from yet", room);
		return;
	}
	now = site->n_scale == 1 ? (double)site->scale[0] : NAN;
	scores = logits_predict(ui->snap, site, now);
	snprintf(more, sizeof more, "alone %s → ≈%s dB", format_db(was, figures_snr(&site->layerwise)), format_db(snr, t->predicted.snr_db));
	out[0] = '\0';
	add_if_it_fits(out, size, more, room);
	snprintf(more, sizeof more, "≈%s dB", snr);
	if (!out[0])
		add_if_it_fits(out, size, more, room);
	snprintf(more, sizeof more, "  scores ≈%s → ≈%s dB", format_db(was, scores), format_db(snr, logits_predict(ui->snap, site, t->scale)));
	if (!isnan(scores))
		add_if_it_fits(out, size, more, room);
	snprintf(more, sizeof more, "  clipped %s → ≈%s %%", format_percent(was_clipped, figures_clipped(&site->graphwise)),
	    format_percent(clipped, 100 * t->predicted.clipped));
	add_if_it_fits(out, size, more, room);
}

// "scale", and of which output where the node has several, or of an input.
static const char *trial_title(char *out, size_t size, const struct ui *ui)
{
	int number = detail_output_number(ui->snap->g, ui->trial.value);
	if (ui->snap->g->value[ui->trial.value].producer < 0)
		snprintf(out, size, "scale of input");
	else if (number)
		snprintf(out, size, "scale of output %d", number);
	else
		snprintf(out, size, "scale");
	return out;
}

// "scale 2^-3 → 2^-4  alone ≈ 9.6 dB ...", and where the keys of the trial stand behind it.
static struct rect trial_line(char text[320], const struct ui *ui, struct rect r)
{
	const struct site *site = trial_site(ui);
	enum { SCALES = 15, KEYS = 14, GAP = 3 };
	char title[24], from[FIGURE], to[FIGURE], predicted[192];
	trial_title(title, sizeof title, ui);
	trial_text(predicted, sizeof predicted, ui, r.w - text_width(title) - SCALES - KEYS);
	format_scale(from, site && site->n_scale ? (double)site->scale[0] : NAN);
	snprintf(text, 320, "%s %s → %s  %s", title, from, format_scale(to, ui->trial.scale), predicted);
	int used = (text_width(text) < r.w - 2 ? text_width(text) : r.w - 2) + GAP;
	return (struct rect){r.x + used, r.y, r.w - used, 1};
}

static void draw_trial(struct canvas *c, const struct ui *ui, struct rect r)
{
	char text[320];
	struct rect keys = trial_line(text, ui, r);
	canvas_text(c, r.x + 1, r.y, r.w - 2, ROLE_EDITED, text);
	draw_hints(c, ui, keys);
}

static const char *prompt_label(char *out, size_t size, const struct ui *ui)
{
	static const char *const label[LINE_KINDS] = {[LINE_COMMAND] = ":", [LINE_SEARCH] = "/"};
	char title[24];
	int n = 1;
	if (ui->line.kind == LINE_SCALE)
		free(edit_selection(ui, &n));
	if (n > 1)
		snprintf(out, size, "scale of %d nodes: ", n);
	else if (ui->line.kind == LINE_SCALE)
		snprintf(out, size, "%.23s: ", trial_title(title, sizeof title, ui));
	else
		snprintf(out, size, "%s", label[ui->line.kind]);
	return out;
}

// The part of the line that keeps its cursor in sight.
static void draw_prompt(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct line *l = &ui->line;
	char head[LINE_TEXT], side[192] = "", label[32];
	int x = r.x + canvas_text(c, r.x, r.y, r.w, ROLE_PROMPT, prompt_label(label, sizeof label, ui));
	int room = r.x + r.w - x - 1, before;
	const char *from = l->text;
	snprintf(head, sizeof head, "%.*s", l->point, l->text);
	before = text_width(head);
	while (before > room && *from) {
		uint32_t g = text_next(&from);
		before -= text_glyph_width(g);
	}
	if (l->kind == LINE_SCALE && ui->trial.active)
		trial_text(side, sizeof side, ui, room - text_width(l->text) - 4);
	else if (l->kind == LINE_SCALE && !l->text[0])
		snprintf(side, sizeof side, "2^-4, a number, or auto");
	else if (ui->note[0])
		snprintf(side, sizeof side, "%.150s", ui->note);
	for (int w = 0; *from && w < room;) {
		uint32_t g = text_next(&from);
		canvas_put(c, x + w, r.y, g, ROLE_TEXT);
		w += text_glyph_width(g);
	}
	if (text_width(l->text) + text_width(side) + 3 < room)
		canvas_right(c, x, r.y, room, ROLE_EDITED, side);
	c->cursor_x = x + before;
	c->cursor_y = r.y;
}

// What Tab found, in columns above the prompt.
static void draw_matches(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct line *l = &ui->line;
	int widest = 1, columns, rows, shown, width;
	for (int i = 0; i < l->n_matches; i++)
		widest = text_width(l->match[i]) > widest ? text_width(l->match[i]) : widest;
	columns = (r.w - 2) / (widest + 2) > 0 ? (r.w - 2) / (widest + 2) : 1;
	rows = (l->n_matches + columns - 1) / columns;
	if (rows > r.y - 3)
		rows = r.y - 3;
	canvas_clear(c, (struct rect){r.x, r.y - rows, r.w, rows}, ROLE_BAR);
	shown = l->n_matches > rows * columns ? rows * columns - 1 : l->n_matches; // the last place says how many are left
	width = widest < r.w - 2 ? widest : r.w - 2;
	for (int i = 0; i < shown; i++)
		canvas_cut(c, r.x + 1 + i / rows * (widest + 2), r.y - rows + i % rows, width, ROLE_BAR, CUT_LEFT, l->match[i]);
	if (shown >= 0 && shown < l->n_matches)
		canvas_textf(c, r.x + 1 + (columns - 1) * (widest + 2), r.y - 1, r.w, ROLE_BAR, "and %d more", l->n_matches - shown);
}

// A message that is too long for the bottom line takes what it needs of those above.
static void draw_note(struct canvas *c, const struct ui *ui, struct rect r)
{
	int lines = text_lines(ui->note, r.w - 2), most = r.y - 2;
	struct rect text = {r.x + 1, r.y, r.w - 2, lines < most ? lines : most};
	text.h = text.h < 1 ? 1 : text.h;
	text.y -= text.h - 1;
	if (text.h > 1)
		canvas_clear(c, (struct rect){r.x, text.y, r.w, text.h}, ROLE_BAR);
	canvas_paragraph(c, text, ui->note_role, ui->note);
}

void draw_bottom(struct canvas *c, const struct ui *ui, struct rect r)
{
	if (ui->line.kind) {
		draw_prompt(c, ui, r);
		if (ui->line.n_matches)
			draw_matches(c, ui, r);
	} else if (ui->trial.active) {
		draw_trial(c, ui, r);
	} else if (ui->note[0]) {
		draw_note(c, ui, r);
	} else {
		draw_hints(c, ui, r);
	}
}

enum action draw_hint_at(const struct ui *ui, int x)
{
	struct hint hint[HINTS];
	char text[320];
	if (ui->line.kind || (ui->note[0] && !ui->trial.active))
		return ACTION_NONE;
	int n = place_hints(hint, ui, ui->trial.active ? trial_line(text, ui, ui->layout.bottom) : ui->layout.bottom);
	for (int i = 0; i < n; i++)
		if (x >= hint[i].x && x < hint[i].x + hint[i].width)
			return hint[i].action;
	return ACTION_NONE;
}
