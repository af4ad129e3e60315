#include "qtui/tui/search.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool has_upper(const char *s)
{
	for (; *s; s++)
		if (isupper((unsigned char)*s))
			return true;
	return false;
}

void search_set(struct ui *ui, const char *text)
{
	int flags = REG_EXTENDED | (has_upper(text) ? 0 : REG_ICASE);
	if (ui->has_regex)
		regfree(&ui->regex);
	ui->has_regex = false;
	snprintf(ui->search, sizeof ui->search, "%s", text);
	if (*text && str_is_small_regex(ui->search))
		ui->has_regex = regcomp(&ui->regex, ui->search, flags) == 0;
}

bool search_match(const struct ui *ui, const char *text, int *start, int *end)
{
	regmatch_t m;
	const char *at;

	if (!ui->search[0])
		return false;
	if (ui->has_regex) {
		if (regexec(&ui->regex, text, 1, &m, 0) || m.rm_so == m.rm_eo)
			return false;
		*start = (int)m.rm_so;
		*end = (int)m.rm_eo;
		return true;
	}
	at = text_find(text, ui->search);
	if (!at)
		return false;
	*start = (int)(at - text);
	*end = *start + (int)strlen(ui->search);
	return true;
}

int search_row(const struct ui *ui, int from, int by)
{
	const struct view_row *view = view_row(ui->view);
	int n = view->count(ui), start, end;
	char text[1024];
	for (int i = 0; i < n; i++) {
		int row = (((from + i * by) % n) + n) % n;
		view->text(text, sizeof text, ui, row);
		if (search_match(ui, text, &start, &end))
			return row;
	}
	return -1;
}
