// The story of the loss in order: how much, where, why, what mends it, what that gains, what to do next.
// Its rows are lines of text, broken at the width; keys act on the part that a line belongs to.
#include <stdio.h>
#include <string.h>

#include "qtui/tui/action.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/findings.h"
#include "qtui/tui/prompt.h"
#include "qtui/tui/rows.h"

enum { LEFT = 2, TEXT = 12, LEAST = 8, READABLE = 110 }; // columns of the text: the eye loses its way back from the end of longer lines
static const char what_keys_do[] = "a applies the remedy under the cursor (above the causes: the first) or types the command of a next "
    "step, u takes an edit back, Enter goes to the node; F: all findings, B: blame.";

// A line of the screen: a piece of a part's text.
struct row {
	const struct story_line *line; // NULL: what the keys do
	const char *text;
	int length;
	bool first;                    // of its part
};

static int text_room(const struct ui *ui)
{
	int room = ui->layout.panel[PANEL_MAIN].w - TEXT - 1;
	return room < LEAST ? LEAST : room < READABLE ? room : READABLE;
}

static int n_lines(const struct ui *ui)
{
	return ui->story && ui->story->n ? ui->story->n + 1 : 0;
}

// The row'th line of the screen; with row < 0 *count tells how many there are. Texts are short:
// they are broken anew each time.
static struct row find_row(const struct ui *ui, int row, int *count)
{
	int n = 0;
	for (int i = 0; i < n_lines(ui); i++) {
		const struct story_line *line = i < ui->story->n ? &ui->story->at[i] : NULL;
		const char *text = line ? line->text : what_keys_do;
		for (bool first = true; *text; first = false) {
			int length = text_line(text, text_room(ui));
			if (n++ == row)
				return (struct row){line, text, length, first};
			text += length;
			text += *text == ' ';
		}
	}
	if (count)
		*count = n;
	return (struct row){0};
}

int view_why_count(const struct ui *ui)
{
	int n = 0;
	find_row(ui, -1, &n);
	return n;
}

void view_why_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct row r = find_row(ui, row, NULL);
	snprintf(out, size, "%.*s", r.length, r.text ? r.text : "");
}

// The first row of the part that the row'th line of the screen belongs to, and the first behind it.
static void find_part(const struct ui *ui, int row, int *begin, int *end)
{
	const char *text = find_row(ui, row, NULL).text;
	for (*begin = row; *begin > 0 && !find_row(ui, *begin, NULL).first; --*begin)
		;
	for (*end = row + 1; text && find_row(ui, *end, NULL).text && !find_row(ui, *end, NULL).first; ++*end)
		;
}

// To the next part or the one before, shown whole where it has room; through a longer one by panels.
void view_why_step(struct ui *ui, int by)
{
	struct scroll *s = ui_scroll(ui);
	int page = ui_page(ui, PANEL_MAIN), to, begin, end;
	find_part(ui, s->cursor, &begin, &end);
	if (by > 0)
		to = end > s->top + page ? s->top + page : end;
	else if (begin < s->cursor || begin == 0)
		to = begin;
	else
		find_part(ui, begin - 1, &to, &end);
	if (to >= view_why_count(ui))
		return;
	s->cursor = to;
	find_part(ui, to, &begin, &end);
	if (end > s->top + page)
		s->top = end - page < to ? end - page : to;
}

static void draw_label(struct canvas *c, int x, int y, const struct story_line *line)
{
	char text[32];
	if (line && line->chapter)
		snprintf(text, sizeof text, "%s %d", story_part_name(line->part), line->chapter);
	else
		snprintf(text, sizeof text, "%s", line ? story_part_name(line->part) : "keys");
	canvas_text(c, x, y, TEXT - LEFT - 1, ROLE_HEAD, text);
}

static enum role role_of(const struct story_line *line)
{
	static const enum role role[STORY_PARTS] = {[STORY_LOSS] = ROLE_STRONG, [STORY_WHERE] = ROLE_TEXT, [STORY_CAUSE] = ROLE_TEXT,
		[STORY_REMEDY] = ROLE_NOTE, [STORY_GAIN] = ROLE_TEXT, [STORY_NEXT] = ROLE_TEXT};
	return line ? role[line->part] : ROLE_DIM;
}

// The label stands once for neighbours that have the same.
static bool is_labelled(const struct ui *ui, const struct story_line *line)
{
	if (!line || line == ui->story->at)
		return true;
	return line[-1].part != line->part || line[-1].chapter != line->chapter;
}

void view_why_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	char text[UI_TEXT];
	if (!n_lines(ui))
		draw_no_run(c, ui, (struct rect){r.x + LEFT, r.y, r.w - LEFT - 1, r.h});
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);) {
		struct row row = find_row(ui, at.row, NULL);
		if (row.first && is_labelled(ui, row.line))
			draw_label(c, r.x + LEFT, at.line.y, row.line);
		snprintf(text, sizeof text, "%.*s", row.length, row.text);
		draw_found(c, ui, r.x + TEXT, at.line.y, r.w - TEXT, role_of(row.line), CUT_RIGHT, text);
	}
}

void act_view_why(struct ui *ui)
{
	ui_show(ui, VIEW_WHY);
}

// Of the causes that are told: what is said of all of them is meant when none is under the cursor.
static const struct finding *first_with_edit(const struct ui *ui)
{
	for (int i = 0; i < n_lines(ui) - 1; i++) {
		const struct story_line *line = &ui->story->at[i];
		if (line->finding >= 0 && ui->findings->at[line->finding].edit)
			return &ui->findings->at[line->finding];
	}
	return NULL;
}

// ":blame 30s (qtui search --blame) measures ..." on the command line, to be changed or entered.
static void type_command(struct ui *ui, const char *text)
{
	char command[UI_TEXT];
	const char *end = strstr(text, " (");
	snprintf(command, sizeof command, "%.*s", end ? (int)(end - text) - 1 : 0, text + 1);
	prompt_open(ui, LINE_COMMAND, command);
}

void act_why_apply(struct ui *ui)
{
	const struct story_line *line = find_row(ui, ui_cursor(ui)->cursor, NULL).line;
	const struct finding *first = first_with_edit(ui);
	unsigned edits = ui->edits;
	if (line && line->finding >= 0)
		view_findings_apply(ui, &ui->findings->at[line->finding]);
	else if (line && line->part == STORY_NEXT && line->text[0] == ':')
		type_command(ui, line->text);
	else if (first)
		view_findings_apply(ui, first);
	else
		ui_note(ui,
		    n_lines(ui) ? "no edit mends what is told here: the last lines say what to try" : "nothing is told yet: wait for the run");
	if (ui->edits != edits)
		ui_scroll(ui)->cursor = 0; // the next story is another one, which begins with what this bought
}

void act_why_go(struct ui *ui)
{
	const struct story_line *line = find_row(ui, ui_cursor(ui)->cursor, NULL).line;
	struct error err = {0};
	if (!line || line->node < 0)
		ui_note(ui, "this line is about no single node");
	else if (!ui_go(ui, line->node, &err))
		ui_fail(ui, &err);
}
