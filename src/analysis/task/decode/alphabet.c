// Which characters a network's classes stand for: see ctc.h.
#include <stdlib.h>
#include <string.h>
#include "ctc.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static void read_beside(struct names *out, const char *path)
{
	static const char *const name[] = {"dict.txt", "ppocr_keys_v1.txt", "keys.txt", "classes.txt"};
	char *dir = file_is_dir(path) ? xstrdup(path) : file_dir(path);
	for (size_t i = 0; i < sizeof name / sizeof *name && !out->n; i++) {
		char *file = file_join(dir, name[i]);
		if (file_exists(file))
			names_read(out, file);
		free(file);
	}
	free(dir);
}

void alphabet_find(struct names *out, const struct graph *g, const char *labels)
{
	const char *said = graph_metadata(g, "character");
	names_of_lines(out, said ? said : ""); // a blank is a character like any other
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
