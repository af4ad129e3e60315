// WIDER FACE: one file of text, in which the name of a picture is followed by the number of its faces and a line for each, "x y w h blur
// expression illumination invalid occlusion pose" in pixels; of a picture without faces that line is of zeros. An invalid face counts
// neither way, as in its own figures.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"

#define FACES_FILE_MAX ((size_t)256 << 20)
enum { BOX = 4, INVALID = 7, NUMBERS_MAX = 10 };

// The next line that is not empty, without its end; NULL: there is none.
static char *next_line(char **text, int *number)
{
	while (*text) {
		char *line = *text, *end = strchr(line, '\n');
		*text = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		++*number;
		line = str_trim(line);
		if (*line)
			return line;
	}
	return NULL;
}

// How many numbers the line has, NUMBERS_MAX at most; -1: there is something else in it.
static int read_numbers(double v[NUMBERS_MAX], const char *line)
{
	int n = 0;
	while (*line && n < NUMBERS_MAX) {
		char *end;
		v[n] = strtod(line, &end);
		if (end == line || (*end && *end != ' ') || !isfinite(v[n++]))
			return -1;
		line = end + strspn(end, " ");
	}
	return n;
}

// Is it the number of faces of a picture?
static bool read_count(int *n, const char *line)
{
	long long v;
	bool whole = line && str_to_int(line, &v) && v >= 0 && v <= LABELS_BOXES_MAX;
	*n = whole ? (int)v : 0;
	return whole;
}

static bool read_face(struct coco_truth *t, const char *line)
{
	double v[NUMBERS_MAX];
	int n = line ? read_numbers(v, line) : -1;
	if (n < BOX || v[2] < 0 || v[3] < 0)
		return false;
	*t = (struct coco_truth){.box = {v[0], v[1], v[2], v[3]}, .area = v[2] * v[3], .crowd = n > INVALID && v[INVALID] != 0};
	return true;
}

bool labels_are_faces(const char *path)
{
	struct bytes b;
	struct error ignored; // reading it as labels will tell
	int number = 0, n;
	if (file_read_text(&b, path, FACES_FILE_MAX, &ignored) != STATUS_OK)
		return false;
	char *text = (char *)b.data;
	const char *name = next_line(&text, &number);
	double v[NUMBERS_MAX];
	bool counted = name && read_numbers(v, name) < 0 && read_count(&n, next_line(&text, &number));
	const char *face = counted ? next_line(&text, &number) : NULL;
	bool so = counted && (n == 0 || (face && read_face(&(struct coco_truth){.class = 0}, face)));
	bytes_done(&b);
	return so;
}

struct faces {
	struct labels *l;
	struct sample_index *sample;
	char *text, *next; // what lies behind the next line, and that line, NULL at the end
	int line, read;    // numbers of the next line and of the one that was read last
};

static void advance(struct faces *f)
{
	f->read = f->next ? f->line : f->read;
	f->next = next_line(&f->text, &f->line);
}

static enum status read_picture(struct faces *f, struct error *err)
{
	struct coco_truth t;
	int n, at = labels_sample(f->l, f->sample, f->next);
	advance(f);
	bool counted = read_count(&n, f->next);
	advance(f);
	if (!counted)
		return error_set(err, STATUS_FORMAT, "below the name of a picture stands how many faces it has");
	if (at >= 0)
		f->l->label[at].known = true;
	if (n == 0 && read_face(&t, f->next)) // the line of zeros
		advance(f);
	for (int i = 0; i < n; i++) {
		bool whole = read_face(&t, f->next);
		advance(f);
		if (!whole)
			return error_set(err, STATUS_FORMAT, "a face is x y w h, perhaps with blur expression illumination invalid occlusion pose behind");
		if (at >= 0 && labels_add_box(f->l, at, &t, err) != STATUS_OK)
			return err->status;
	}
	return STATUS_OK;
}

enum status labels_read_faces(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	struct faces f = {.l = l};
	l->kind = LABELS_BOXES;
	l->source = xstrdup(path);
	enum status st = file_read_text(&b, path, FACES_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	labels_add_class(l, 0, "face");
	f.sample = sample_index_new(s);
	f.text = (char *)b.data;
	for (advance(&f); f.next && st == STATUS_OK;)
		st = read_picture(&f, err);
	st = st == STATUS_OK ? sample_index_check(f.sample, path, false, err) : error_prefix(err, "%s:%d", path, f.read);
	sample_index_free(&f.sample);
	bytes_done(&b);
	return st;
}
