// Findings, the most harmful first; above them the one under the cursor in full:
// what, the evidence, the remedy, the edit.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/findings.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/text.h"

enum { X_NUMBER = 2, X_RULE = 6, X_TEXT = 25 };

// What stands above the list, on screens of at least so many rows: the lines that a part may have, on a small one those of the
// sentence and the edit. Lines that one has no need of are for the others, in this order.
enum part { EDIT, SENTENCE, REMEDY, EVIDENCE, PARTS };
static const struct head {
	int rows, lines[PARTS], all;
} heads[] = {{30, {3, 3, 2, 2}, 11}, {24, {3, 3, 1, 1}, 9}, {16, {1, 3, 1, 1}, 7}, {0, {1, 3, 0, 0}, 4}};

static const struct head *head_of(const struct ui *ui)
{
	const struct head *h = heads;
	while (ui->h < h->rows)
		h++;
	return h;
}

int view_findings_head(const struct ui *ui)
{
	return head_of(ui)->all;
}

int view_findings_count(const struct ui *ui)
{
	return ui->findings ? ui->findings->n : 0;
}

void view_findings_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct finding *f = &ui->findings->at[row];
	snprintf(out, size, "%s %s", finding_name(f->rule), f->text);
}

static const struct finding *under_cursor(const struct ui *ui)
{
	int row = ui_cursor(ui)->cursor;
	return row < view_findings_count(ui) ? &ui->findings->at[row] : NULL;
}

// " (+9.2 dB here, about 12 % of the noise at the outputs)"
static const char *worth(const struct finding *f, char *out, size_t size)
{
	char gain[32] = "", share[48] = "";
	if (isfinite(f->gain_db))
		snprintf(gain, sizeof gain, "%+.1f dB here", f->gain_db);
	if (f->reach < 0.001)
		snprintf(share, sizeof share, "less than 0.1 %% of the noise at the outputs");
	else if (isfinite(f->reach))
		snprintf(share, sizeof share, "about %.*f %% of the noise at the outputs", f->reach < 0.1, 100 * f->reach);
	const char *between = gain[0] && share[0] ? ", " : "";
	bool any = gain[0] || share[0];
	snprintf(out, size, "%s%s%s%s%s", any ? " (" : "", gain, between, share, any ? ")" : "");
	return out;
}

// The nodes that there is `room` for, at least one, what they are given, and what that is worth.
static void add_edit(struct str *edit, struct str *all, const struct finding *f, int room)
{
	char worth_text[112];
	str_clear(edit);
	str_clear(all);
	str_add(edit, "a applies :");
	study_add_step(edit, f->edit, room);
	str_addf(all, "%s%s", str_text(edit), worth(f, worth_text, sizeof worth_text));
}

// On a single line that has no room for one node, the middle of its name is cut.
static void draw_edit(struct canvas *c, struct rect r, const struct finding *f)
{
	enum { AND_MORE = 30 }; // columns for what comes behind the first nodes: "and 20 more percentile"
	int room = r.w * r.h - AND_MORE;
	struct str edit = {0}, all = {0};
	do {
		add_edit(&edit, &all, f, room);
		room -= r.w / 4 + 1;
	} while (room > 0 && text_lines(str_text(&all), r.w) > r.h);
	if (r.h > 1 || text_width(str_text(&edit)) <= r.w)
		canvas_paragraph(c, r, ROLE_NOTE, str_text(&all));
	else
		canvas_cut(c, r.x, r.y, r.w, ROLE_NOTE, CUT_MIDDLE, str_text(&edit));
	str_done(&edit);
	str_done(&all);
}

static void share_lines(int lines[PARTS], const struct head *h, const int need[PARTS])
{
	int spare = 0;
	for (int i = 0; i < PARTS; i++) {
		lines[i] = need[i] < h->lines[i] ? need[i] : h->lines[i];
		spare += h->lines[i] - lines[i];
	}
	for (int i = 0; i < PARTS; i++) {
		int more = need[i] - lines[i] < spare ? need[i] - lines[i] : spare;
		lines[i] += more;
		spare -= more;
	}
	lines[EDIT] += spare; // for more of its nodes
}

// One below the other: the evidence above the remedy that it is for.
static void draw_whole(struct canvas *c, struct rect r, const struct finding *f, const struct head *h)
{
	static const enum part order[] = {SENTENCE, EVIDENCE, REMEDY};
	static const enum role role[PARTS] = {[SENTENCE] = ROLE_TEXT, [EVIDENCE] = ROLE_DIM, [REMEDY] = ROLE_TEXT};
	struct str text[PARTS] = {0}, edit = {0};
	int need[PARTS], lines[PARTS];
	str_add(&text[SENTENCE], f->text);
	for (int i = 0; i < f->n_evidence; i++)
		str_addf(&text[EVIDENCE], "%s%s %.4g", i ? ", " : "", f->evidence[i].name, f->evidence[i].value);
	if (f->advice)
		str_addf(&text[REMEDY], "remedy: %s", f->advice);
	if (f->edit)
		add_edit(&edit, &text[EDIT], f, 0);
	for (int i = 0; i < PARTS; i++)
		need[i] = text_lines(str_text(&text[i]), r.w);
	share_lines(lines, h, need);
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		r.y += canvas_paragraph(c, (struct rect){r.x, r.y, r.w, lines[order[i]]}, role[order[i]], str_text(&text[order[i]]));
	if (f->edit)
		draw_edit(c, (struct rect){r.x, r.y, r.w, lines[EDIT]}, f);
	for (int i = 0; i < PARTS; i++)
		str_done(&text[i]);
	str_done(&edit);
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct finding *f = &ui->findings->at[row];
	canvas_textf(c, r.x + X_NUMBER, r.y, 4, ROLE_DIM, "%2d", row + 1);
	canvas_text(c, r.x + X_RULE, r.y, X_TEXT - X_RULE - 1, ROLE_TEXT, finding_name(f->rule));
	draw_found(c, ui, r.x + X_TEXT, r.y, r.w - X_TEXT - 1, ROLE_TEXT, CUT_RIGHT, f->text);
}

void view_findings_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct finding *f = under_cursor(ui);
	if (!f) {
		struct rect where = {r.x + X_NUMBER, r.y, r.w - X_NUMBER - 1, r.h};
		if (ui->findings)
			canvas_paragraph(c, where, ROLE_DIM, "No findings: nothing here explains a loss.");
		else
			draw_no_run(c, ui, where);
		return;
	}
	int head = view_findings_head(ui);
	draw_whole(c, (struct rect){r.x + X_NUMBER, r.y, r.w - X_NUMBER - 1, head}, f, head_of(ui));
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, at.row);
}

// ---- what can be done with a finding

void act_view_findings(struct ui *ui)
{
	ui_show(ui, VIEW_FINDINGS);
}

void act_finding_apply(struct ui *ui)
{
	view_findings_apply(ui, under_cursor(ui));
}

void view_findings_apply(struct ui *ui, const struct finding *f)
{
	struct error err = {0};
	char *edit = f && f->edit ? xstrdup(f->edit) : NULL; // the next findings are others
	if (!edit)
		ui_note(ui, f ? "no edit mends this one: %s" : "there is no finding", f && f->advice ? f->advice : "look at its nodes");
	else if (ui->snap->dirty || ui->snap->findings != ui->findings)
		ui_note(ui, "these findings are from before the last edit: wait for the run");
	else if (study_command(ui->study, edit, &err))
		ui_fail(ui, &err);
	else if (edit_taken(ui, &err))
		edit_note(ui, "", edit);
	free(edit);
}

void act_finding_go(struct ui *ui)
{
	const struct finding *f = under_cursor(ui);
	struct error err = {0};
	if (!f || !f->n_nodes)
		ui_note(ui, f ? "this finding is about no single node" : "there is no finding");
	else if (!ui_go(ui, f->node[0], &err))
		ui_fail(ui, &err);
}
