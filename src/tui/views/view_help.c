// The rows of help.h, broken at the width: a line of the screen is a piece of a row's left side and one of its text.
#include <stdio.h>
#include <string.h>

#include "qtui/tui/draw.h"
#include "qtui/tui/help.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/text.h"
#include "qtui/tui/ui.h"

enum { SHORT = 26, LONG = 43, LEAST = 8 }; // columns of the left side; of what is broken
enum { BROAD = 96 }; // columns in which no row of a key or a command is broken

struct piece {
	const struct help_row *row;
	int entry, n;                   // n: which line of the row
	const char *key, *text;
	int key_length, text_length;
};

static int left_columns(const struct help_row *row, int width)
{
	int keys = row->kind == HELP_LONG_ROW ? LONG : SHORT;
	return keys < width * 9 / 20 ? keys : width * 9 / 20;
}

static bool has_keys(const struct help_row *row)
{
	return row->kind == HELP_ROW || row->kind == HELP_LONG_ROW;
}

static int text_room(const struct help_row *row, int width)
{
	int room = has_keys(row) ? width - left_columns(row, width) - 1 : width - (row->kind == HELP_TEXT ? 4 : 2);
	return room > LEAST ? room : LEAST;
}

static int key_room(const struct help_row *row, int width)
{
	int room = left_columns(row, width) - 4;
	return room > LEAST ? room : LEAST;
}

static const char *behind(const char *text, int length)
{
	text += length;
	return text + strspn(text, " ");
}

// To the next piece of the row; false when there is none.
static bool next_piece(struct piece *l, int width)
{
	l->key = behind(l->key, l->key_length);
	l->text = behind(l->text, l->text_length);
	l->key_length = text_line(l->key, key_room(l->row, width));
	l->text_length = text_line(l->text, text_room(l->row, width));
	l->n++;
	return *l->key || *l->text;
}

static struct piece first_piece(int entry, int width)
{
	const struct help_row *row = help_at(entry);
	return (struct piece){.row = row,
	    .entry = entry,
	    .key = row->key,
	    .text = row->text,
	    .key_length = text_line(row->key, key_room(row, width)),
	    .text_length = text_line(row->text, text_room(row, width))};
}

int help_columns(int width)
{
	return width < 2 * BROAD ? 1 : width / BROAD;
}

static int column_width(const struct ui *ui)
{
	int width = ui->layout.panel[PANEL_MAIN].w;
	return width / help_columns(width);
}

// To the line below, of the same row or the next; false at the end.
static bool next_line(struct piece *l, int width)
{
	if (next_piece(l, width))
		return true;
	if (l->entry + 1 == help_count())
		return false;
	*l = first_piece(l->entry + 1, width);
	return true;
}

// The line with this number, or the first of this entry; returns its number, or how many lines there are.
static int find_line(struct piece *found, const struct ui *ui, int number, int entry)
{
	int n = 0, width = column_width(ui);
	*found = first_piece(0, width);
	do {
		if (n == number || found->entry == entry)
			return n;
		n++;
	} while (next_line(found, width));
	return n;
}

int view_help_count(const struct ui *ui)
{
	struct piece l;
	return find_line(&l, ui, -1, -1);
}

void help_open(struct ui *ui, int row)
{
	struct piece l;
	int line;
	ui_show(ui, VIEW_HELP);
	ui_arrange(ui); // lines depend on the width, which other views share with panels
	line = find_line(&l, ui, -1, row);
	ui->scroll[VIEW_HELP] = (struct scroll){.cursor = line, .top = line};
}

// A search looks at whole rows of the help: it finds text that is broken over lines at the first of these.
void view_help_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct piece l;
	find_line(&l, ui, row, -1);
	snprintf(out, size, "%s %s", l.n ? "" : l.row->key, l.n ? "" : l.row->text);
}

static void draw_line(struct canvas *c, const struct ui *ui, struct rect r, const struct piece *l)
{
	char key[sizeof l->row->key], text[sizeof l->row->text];
	int keys = left_columns(l->row, r.w);
	snprintf(key, sizeof key, "%.*s", l->key_length, l->key);
	snprintf(text, sizeof text, "%.*s", l->text_length, l->text);
	switch (l->row->kind) {
	case HELP_SECTION:
		canvas_text(c, r.x + 1, r.y, r.w - 2, ROLE_HEAD_SORT, text);
		break;
	case HELP_ROW:
	case HELP_LONG_ROW:
		canvas_text(c, r.x + 3, r.y, keys - 4, ROLE_KEY, key);
		draw_found(c, ui, r.x + keys, r.y, r.w - keys - 1, ROLE_TEXT, CUT_RIGHT, text);
		break;
	case HELP_TEXT:
		draw_found(c, ui, r.x + 3, r.y, r.w - 4, ROLE_DIM, CUT_RIGHT, text);
		break;
	case HELP_BLANK:
		break;
	}
}

void view_help_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct piece l;
	find_line(&l, ui, ui_cursor(ui)->top, -1);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at); next_line(&l, at.line.w))
		draw_line(c, ui, at.line, &l);
}
