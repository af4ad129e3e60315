#include "csv.h"

#include <string.h>
#include <strings.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

const char *const csv_file_names[] = {"file", "filename", "file_name", "path", "image", "image_path", NULL};
const char *const csv_class_names[] = {"class_index", "class_id", "label", "class", "index", "target", NULL};

static char *strip(char *text)
{
	text = str_trim(text);
	size_t n = strlen(text);
	if (n > 1 && text[0] == '"' && text[n - 1] == '"') {
		text++;
		n -= 2;
	}
	text[n] = '\0';
	return text;
}

// Behind a cell in quotes, in which separators are letters.
static char *behind_quotes(char *cell)
{
	char *from = cell + strspn(cell, " "), *end = *from == '"' ? strchr(from + 1, '"') : NULL;
	return end ? end : cell;
}

void csv_cut(struct csv_line *c, char *line)
{
	const char *separators = ",;\t ";
	while (*separators && !strchr(line, *separators))
		separators++;
	c->n = 0;
	while (line && c->n < CSV_CELLS_MAX) {
		char *end = *separators ? strchr(behind_quotes(line), *separators) : NULL;
		if (end)
			*end++ = '\0';
		c->at[c->n++] = strip(line);
		line = end;
	}
}

char *csv_first(const char *path)
{
	struct bytes b;
	struct error ignored; // reading it as labels will tell
	if (file_is_dir(path) || file_map(&b, path, &ignored) != STATUS_OK)
		return NULL;
	size_t mark = bytes_mark(&b);
	const char *from = (const char *)b.data + mark, *end = b.size > mark ? memchr(from, '\n', b.size - mark) : NULL;
	size_t n = end ? (size_t)(end - from) : b.size - mark;
	bool text = n > 0 && !memchr(from, '\0', n);
	char *line = text ? xmalloc(n + 1) : NULL;
	if (line) {
		memcpy(line, from, n);
		line[n] = '\0';
	}
	bytes_done(&b);
	return line;
}

bool csv_is_number(const char *text)
{
	double n;
	return str_to_double(text, &n);
}

int csv_column(const struct csv_line *heading, const char *const *names)
{
	for (; *names; names++)
		for (int i = heading->n > 1 && csv_is_number(heading->at[1]); i < heading->n; i++)
			if (strcasecmp(heading->at[i], *names) == 0)
				return i;
	return -1;
}
