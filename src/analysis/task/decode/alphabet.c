// Which characters a network's classes stand for: see ctc.h.
#include <stdlib.h>
#include <string.h>
#include "ctc.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { CHARACTERS_MAX = 100000 };
#define ALPHABET_FILE_MAX ((size_t)4 << 20)

// A line each; a blank is a character like any other, an empty line is none.
static void read_lines(struct names *out, const char *text)
{
	size_t cap = 0;
	*out = (struct names){.n = 0};
	while (*text && out->n < CHARACTERS_MAX) {
		size_t n = strcspn(text, "\r\n");
		if (n) {
			char *line = xmalloc(n + 1);
			memcpy(line, text, n);
			line[n] = '\0';
			out->at = xgrow(out->at, &cap, (size_t)out->n + 1, sizeof *out->at);
			out->at[out->n++] = line;
		}
		text += n;
		text += strspn(text, "\r\n");
	}
}

static void read_beside(struct names *out, const char *path)
{
	static const char *const name[] = {"dict.txt", "ppocr_keys_v1.txt", "keys.txt", "classes.txt"};
	char *dir = file_is_dir(path) ? xstrdup(path) : file_dir(path);
	for (size_t i = 0; i < sizeof name / sizeof *name && !out->n; i++) {
		char *file = file_join(dir, name[i]);
		struct error ignored; // what cannot be read names nothing
		struct bytes b;
		if (file_exists(file) && file_read_text(&b, file, ALPHABET_FILE_MAX, &ignored) == STATUS_OK) {
			read_lines(out, (const char *)b.data);
			bytes_done(&b);
		}
		free(file);
	}
	free(dir);
}

void alphabet_find(struct names *out, const struct graph *g, const char *labels)
{
	const char *said = graph_metadata(g, "character");
	read_lines(out, said ? said : "");
	if (!out->n && labels)
		read_beside(out, labels);
	if (!out->n && g->path)
		read_beside(out, g->path);
}

static bool means_blank(const char *text)
{
	static const char *const word[] = {"blank", "<blank>", "[blank]", "<BLK>", "<pad>", "-"};
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(word[i], text) == 0)
			return true;
	return false;
}

int alphabet_blank(const struct names *a, const struct ctc *c, const int *first)
{
	int64_t more = c->classes - a->n;
	if (more == ALPHABET_MORE || (more == 0 && means_blank(a->at[0])))
		return 0;
	if (more == 0 && means_blank(a->at[a->n - 1]))
		return a->n - 1;
	return ctc_blank(first, c);
}

const char *alphabet_at(const struct names *a, const struct ctc *c, int blank, int class)
{
	int at = class - (c->classes > a->n && blank == 0);
	if (class == CTC_NO_CLASS)
		return "\xef\xbf\xbd";
	return at >= 0 && at < a->n ? a->at[at] : " ";
}
