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

static int draw_hint(struct canvas *c, const struct key_row *row, int x, int y, int end)
{
	const char *keys = row->keys;
	char name[16];
	keys_text(name, sizeof name, keys_parse(&keys));
	if (x + text_width(name) + 1 + text_width(row->hint) > end)
		return 0;
	canvas_text(c, x, y, 16, ROLE_KEY, name);
	canvas_text(c, x + text_width(name) + 1, y, 16, ROLE_HINT, row->hint);
	return text_width(name) + 1 + text_width(row->hint) + 2;
}

// Whether the action's key does something new here: an inner context may use it otherwise,
// and the key of the view that is shown leads nowhere.
static bool leads_on(enum action a, const struct ui *ui, unsigned contexts)
{
	const char *keys = keys_row(a)->keys;
	return strcmp(keys, view_row(ui->view)->key) != 0 && keys_action(keys_parse(&keys), contexts) == a;
}

// What another task has: classes, something over a picture; where there is none, all of it.
static bool does_nothing(enum action a, const struct ui *ui)
{
	const struct task_report *t = ui->snap->task;
	if (!t)
		return keys_row(a)->context == CTX_TASK;
	return (a == ACTION_task_page && !t->n_classes) || (a == ACTION_task_boxes && !task_has_overlays(t));
}

// Hints: the keys of the moment, those of the innermost context first; the one for help has its place at the right end.
static void draw_hints(struct canvas *c, const struct ui *ui, struct rect r)
{
	unsigned contexts = ui->trial.active ? 1u << CTX_TRIAL : ui_contexts(ui) | 1u << CTX_ANY;
	int x = r.x + 1, end = r.x + r.w - 1;
	if (contexts >> CTX_ANY & 1 && ui->view != VIEW_HELP) {
		end -= 8;
		draw_hint(c, keys_row(ACTION_view_help), end + 2, r.y, r.x + r.w);
	}
	for (int ctx = 0; ctx < CTX_COUNT; ctx++)
		for (int a = 0; contexts >> ctx & 1 && a < ACTION_COUNT; a++) {
			const struct key_row *row = keys_row((enum action)a);
			bool now = (int)row->context == ctx && leads_on((enum action)a, ui, contexts) && !does_nothing((enum action)a, ui);
			if (row->hint[0] && a != ACTION_view_help && now)
				x += draw_hint(c, row, x, r.y, end);
		}
}

// "alone 12.4 → 9.6 dB clipped 0.01 → 0.20 %": what stands now, and what the histogram lets expect.
// Of logits their scores count more than what is clipped of them, which is told where there is room.
static void trial_text(char *out, size_t size, const struct ui *ui, int room)
{
	const struct trial *t = &ui->trial;
	const struct site *site = trial_site(ui);
	char snr[FIGURE], was[FIGURE], clipped[FIGURE], was_clipped[FIGURE], more[3 * FIGURE];
	double now, scores;
	int used;
	if (!site || !t->predicted.known) {
		snprintf(out, size, "no figures to predict from yet");
		return;
	}
	now = site->n_scale == 1 ? (double)site->scale[0] : NAN;
	scores = logits_predict(ui->snap, site, now);
	used = snprintf(out, size, "alone %s → ≈%s dB", format_db(was, figures_snr(&site->layerwise)), format_db(snr, t->predicted.snr_db));
	if (!isnan(scores))
		used += snprintf(out + used, size - (size_t)used, "  scores ≈%s → ≈%s dB", format_db(was, scores),
		    format_db(snr, logits_predict(ui->snap, site, t->scale)));
	snprintf(more, sizeof more, "  clipped %s → ≈%s %%", format_percent(was_clipped, figures_clipped(&site->graphwise)),
	    format_percent(clipped, 100 * t->predicted.clipped));
	if (isnan(scores) || text_width(out) + text_width(more) <= room)
		snprintf(out + used, size - (size_t)used, "%s", more);
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

// "scale 2^-3 → 2^-4  alone ≈ 9.6 dB ..." and the keys of the trial.
static void draw_trial(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct site *site = trial_site(ui);
	enum { SCALES = 15, HINTS = 14 };
	char title[24], from[FIGURE], to[FIGURE], predicted[192], text[320];
	int used;
	trial_title(title, sizeof title, ui);
	trial_text(predicted, sizeof predicted, ui, r.w - text_width(title) - SCALES - HINTS);
	format_scale(from, site && site->n_scale ? (double)site->scale[0] : NAN);
	snprintf(text, sizeof text, "%s %s → %s  %s", title, from, format_scale(to, ui->trial.scale), predicted);
	used = canvas_text(c, r.x + 1, r.y, r.w - 2, ROLE_EDITED, text) + 3;
	draw_hints(c, ui, (struct rect){r.x + used, r.y, r.w - used, 1});
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
	struct rect text = {r.x + 1, r.y, r.w - 2, 1};
	for (const char *p = ui->note; text.w > 0 && text.h < r.y - 2; text.h++) {
		p += text_line(p, text.w);
		p += *p == ' ';
		if (!*p)
			break;
	}
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
