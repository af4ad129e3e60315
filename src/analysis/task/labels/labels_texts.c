// The text of each picture: a line "FILE<tab>TEXT" (PaddleOCR), "FILE,TEXT" (ICDAR, with quotes or without) or "FILE TEXT".
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define TEXTS_FILE_MAX ((size_t)256 << 20)

// Blanks around it go, and quotes; a quote within stands behind a backslash or is doubled.
static char *unquote(char *text)
{
	text = str_trim(text);
	size_t n = strlen(text);
	if (n < 2 || text[0] != '"' || text[n - 1] != '"')
		return text;
	text[n - 1] = '\0';
	char *to = ++text, *from = text;
	for (; *from; from++) {
		if ((*from == '\\' || *from == '"') && from[1] == '"')
			from++;
		*to++ = *from;
	}
	*to = '\0';
	return text;
}

static enum status set_text(struct labels *l, struct sample_index *x, int sample, const char *text, const char *path, int line,
    struct error *err)
{
	struct label *to = &l->label[sample];
	bool differs = to->known && strcmp(to->text, text) != 0;
	if (differs && sample_index_tear(x, sample))
		return STATUS_OK;
	if (differs)
		return error_set(err, STATUS_FORMAT, "%s:%d: this sample has another text above", path, line);
	if (!to->known)
		to->text = xstrdup(text);
	to->known = true;
	return STATUS_OK;
}

// ["a.jpg", "b.jpg"]: pictures of one text.
static enum status set_texts(struct labels *l, struct sample_index *x, const char *file, const char *text, const char *path,
    int line, struct error *err)
{
	cJSON *list = *file == '[' ? cJSON_Parse(file) : NULL;
	enum status st = STATUS_OK;
	const cJSON *one = NULL;
	int sample = list ? -1 : labels_sample(l, x, file);
	if (sample >= 0)
		st = set_text(l, x, sample, text, path, line, err);
	cJSON_ArrayForEach(one, list) {
		sample = cJSON_IsString(one) ? labels_sample(l, x, one->valuestring) : -1;
		if (st == STATUS_OK && sample >= 0)
			st = set_text(l, x, sample, text, path, line, err);
	}
	cJSON_Delete(list);
	return st;
}

static bool is_heading(const char *file)
{
	static const char *const word[] = {"file", "filename", "file_name", "image", "img", "path"};
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(word[i], file) == 0)
			return true;
	return false;
}

// Where the file's name ends: at a tab, else at a comma, else at a blank, none of them between quotes.
static size_t end_of_name(const char *line)
{
	size_t quoted = *line == '"';
	while (quoted && line[quoted] && line[quoted] != '"')
		quoted += line[quoted] == '\\' && line[quoted + 1] ? 2 : 1;
	quoted = line[quoted] ? quoted : 0; // it has no end
	for (const char *ends = "\t, "; *ends; ends++) {
		const char *at = strchr(line + quoted, *ends);
		if (at)
			return (size_t)(at - line);
	}
	return strlen(line);
}

static enum status read_line(struct labels *l, struct sample_index *x, char *line, const char *path, int n, struct error *err)
{
	size_t end = end_of_name(line);
	if (!line[end])
		return line[strspn(line, " \r")] ? error_set(err, STATUS_FORMAT, "%s:%d: a line is a file, a tab, comma or blank, and its text",
		                                       path, n)
		                                 : STATUS_OK;
	bool tab = line[end] == '\t';
	line[end] = '\0';
	char *file = unquote(line), *text = line + end + 1;
	if (n == 1 && is_heading(file))
		return STATUS_OK;
	text[strcspn(text, "\r")] = '\0';
	return set_texts(l, x, file, tab ? text : unquote(text), path, n, err);
}

enum status labels_read_texts(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, path, TEXTS_FILE_MAX, err);
	l->kind = LABELS_TEXTS;
	l->source = xstrdup(path);
	if (st != STATUS_OK)
		return st;
	struct sample_index *x = sample_index_new(s);
	char *line = (char *)b.data;
	for (int n = 1; line && st == STATUS_OK; n++) {
		char *end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		st = read_line(l, x, line, path, n, err);
		line = end;
	}
	if (st == STATUS_OK)
		st = sample_index_check(x, path, true, err);
	sample_index_free(&x);
	bytes_done(&b);
	return st;
}
