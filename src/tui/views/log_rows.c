#include "qtui/tui/log_rows.h"

#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/tui/text.h"

static void add_row(struct log_rows *l, enum log_level level, bool first, const char *piece, int length)
{
	l->row = xgrow(l->row, &l->rows_cap, (size_t)l->n + 1, sizeof *l->row);
	l->text = xgrow(l->text, &l->text_cap, l->used + (size_t)length + 1, 1);
	l->row[l->n++] = (struct log_row){.level = level, .first = first, .text = l->used};
	memcpy(l->text + l->used, piece, (size_t)length);
	l->used += (size_t)length;
	l->text[l->used++] = '\0';
}

static void break_line(struct log_rows *l, enum log_level level, const char *line)
{
	enum { LEAST = 8 };
	const char *rest = line;
	int room = l->width - LOG_ROWS_MARK - 1;
	do {
		int length = text_line(rest, room > LEAST ? room : LEAST);
		add_row(l, level, rest == line, rest, length);
		rest += length;
		rest += *rest == ' ';
	} while (*rest);
}

void log_rows_refresh(struct log_rows *l, int width)
{
	char line[1024];
	unsigned additions = log_additions();
	if (l->width == width && l->additions == additions)
		return;
	l->width = width;
	l->additions = additions;
	l->n = 0;
	l->used = 0;
	for (int i = 0, level; (level = log_line(i, line, sizeof line)) >= 0; i++)
		break_line(l, (enum log_level)level, line);
}

void log_rows_done(struct log_rows *l)
{
	free(l->row);
	free(l->text);
	*l = (struct log_rows){0};
}
