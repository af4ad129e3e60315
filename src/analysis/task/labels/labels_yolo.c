// A directory of text files, one an image: "class cx cy w h" a line, as fractions of the image, perhaps with keypoints
// "x y" or "x y visibility" behind; or "class x1 y1 x2 y2 x3 y3 ..." with the outline of the object, whose box is taken
// too. No file: no objects.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

enum { NUMBERS_MAX = 4096 }; // on a line: an outline of 2,047 points
#define YOLO_FILE_MAX ((size_t)16 << 20)

struct yolo_line {
	int number; // in the file, from 1
	const char *text, *end;
	double v[NUMBERS_MAX];
	int n;
};

static bool read_numbers(struct yolo_line *line)
{
	const char *text = line->text, *end = line->end;
	line->n = 0;
	for (;;) {
		while (text < end && (*text == ' ' || *text == '\t' || *text == '\r'))
			text++;
		if (text == end)
			return true;
		char *behind;
		double v = strtod(text, &behind);
		if (behind == text || behind > end || !isfinite(v) || line->n == NUMBERS_MAX)
			return false;
		line->v[line->n++] = v;
		text = behind;
	}
}

static void outline_box(double box[4], const struct yolo_line *line)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
	for (int i = 1; i < line->n; i++) {
		int axis = (i - 1) % 2;
		low[axis] = fmin(low[axis], line->v[i]);
		high[axis] = fmax(high[axis], line->v[i]);
	}
	for (int axis = 0; axis < 2; axis++) {
		box[axis] = (low[axis] + high[axis]) / 2;
		box[2 + axis] = high[axis] - low[axis];
	}
}

struct yolo_file {
	const char *path;
	int sample, w, h;
	const struct labels_samples *s;
};

// Do the numbers behind a box look like keypoints with a visibility of 0, 1 or 2?
static bool look_like_points(const struct yolo_line *line)
{
	enum { LEAST = 3 };
	if ((line->n - 5) % 3 || line->n < 5 + 3 * LEAST)
		return false;
	for (int i = 7; i < line->n; i += 3)
		if (line->v[i] != 0 && line->v[i] != 1 && line->v[i] != 2)
			return false;
	return true;
}

// Of a keypoint on this line: 2 or 3, 0 where it has none. What the model's metadata say decides; without them an even
// number of numbers is no outline.
static int point_dims(const struct yolo_line *line, const struct labels_samples *s)
{
	if (s->points && line->n == 5 + s->points * s->dims)
		return s->dims;
	return line->n % 2 == 0 && look_like_points(line) ? 3 : 0;
}

// Five numbers are a box, perhaps with keypoints behind; seven or more, an odd number, an outline.
static bool line_truth(struct coco_truth *t, const struct yolo_line *line, int dims, const struct yolo_file *f)
{
	// An object fills about half of its box; where nothing says more, poses are held against this (Ultralytics).
	const double filled = .53;
	double box[4];
	if (line->n == 5 || dims)
		memcpy(box, line->v + 1, sizeof box);
	else if (line->n >= 7 && line->n % 2)
		outline_box(box, line);
	else
		return false;
	double class = line->v[0];
	if (!(class >= 0 && class < LABELS_CLASSES_MAX && class == floor(class)) || box[2] < 0 || box[3] < 0)
		return false;
	*t = (struct coco_truth){.class = (int)class,
	    .box = {(box[0] - box[2] / 2) * f->w, (box[1] - box[3] / 2) * f->h, box[2] * f->w, box[3] * f->h}};
	t->area = t->box.w * t->box.h * (dims ? filled : 1);
	return isfinite(t->area);
}

// An object with an outline is as large as its mask, or it is a rotated box of four corners.
static enum status line_outline(struct coco_truth *t, const struct yolo_line *line, const struct yolo_file *f, struct error *err)
{
	int n = (line->n - 1) / 2;
	double(*corner)[2] = xcalloc((size_t)n + 1, sizeof *corner);
	for (int i = 0; i < n; i++) {
		corner[i][0] = line->v[1 + 2 * i] * f->w;
		corner[i][1] = line->v[2 + 2 * i] * f->h;
	}
	if (f->s->rotated) {
		if (n == 4)
			labels_take_corners(t, (const double(*)[2])corner);
		free(corner);
		return STATUS_OK;
	}
	enum status st = labels_add_outline(&t->mask, f->w, f->h, (const double(*)[2])corner, n, err);
	free(corner);
	if (st != STATUS_OK)
		rle_free(&t->mask);
	else
		t->area = (double)rle_area(t->mask);
	return st;
}

// Without visibility, a keypoint in front of the image's edge is none.
static struct keypoint *line_points(const struct yolo_line *line, int dims, const struct yolo_file *f)
{
	int n = (line->n - 5) / dims;
	struct keypoint *k = xcalloc((size_t)n, sizeof *k);
	for (int i = 0; i < n; i++) {
		const double *v = line->v + 5 + i * dims;
		bool inside = v[0] >= 0 && v[1] >= 0;
		k[i] = (struct keypoint){(float)(v[0] * f->w), (float)(v[1] * f->h), dims == 3 ? (float)v[2] : (float)inside};
	}
	return k;
}

static enum status read_line(struct labels *l, const struct yolo_file *f, struct yolo_line *line, struct error *err)
{
	struct coco_truth t;
	bool read = read_numbers(line);
	if (read && line->n == 0)
		return STATUS_OK;
	int dims = point_dims(line, f->s);
	if (!read || !line_truth(&t, line, dims, f))
		return error_set(err, STATUS_FORMAT, "%s:%d: a line is \"class cx cy w h\" in fractions of the image",
		    f->path, line->number);
	while (l->n_classes <= t.class)
		labels_add_class(l, l->n_classes, NULL);
	if (dims && labels_set_points(l, (line->n - 5) / dims, err) != STATUS_OK)
		return error_prefix(err, "%s:%d", f->path, line->number);
	if ((f->s->outlines || f->s->rotated) && !dims && line->n > 5 && line_outline(&t, line, f, err) != STATUS_OK)
		return error_prefix(err, "%s:%d", f->path, line->number);
	if (dims)
		t.point = line_points(line, dims, f);
	if (labels_add_box(l, f->sample, &t, err) == STATUS_OK)
		return STATUS_OK;
	return error_prefix(err, "%s:%d", f->path, line->number);
}

static enum status read_text(struct labels *l, const struct yolo_file *f, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, f->path, YOLO_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	struct yolo_line *line = xmalloc(sizeof *line);
	const char *text = (const char *)b.data, *end = text + b.size;
	for (line->number = 1; text < end && st == STATUS_OK; line->number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		line->text = text;
		line->end = stop ? stop : end;
		st = read_line(l, f, line, err);
		text = line->end + 1;
	}
	free(line);
	bytes_done(&b);
	return st;
}

static enum status read_sample(
    struct labels *l, const char *dir, const struct labels_samples *s, int i, int *files, struct error *err)
{
	char *path = labels_beside(dir, s->file[i], ".txt");
	struct yolo_file f = {.path = path, .sample = i, .s = s};
	enum status st = STATUS_OK;
	l->label[i].known = true;
	if (file_exists(path)) {
		++*files;
		st = labels_frame(&f.w, &f.h, s, i, err);
		if (st == STATUS_OK)
			st = read_text(l, &f, err);
	}
	free(path);
	return st;
}

// Beside pictures there may be captions: the first file tells.
bool labels_are_text(const char *dir, const struct labels_samples *s)
{
	int i = labels_lie_in(dir, s, ".txt");
	if (i < 0)
		return false;
	char *path = labels_beside(dir, s->file[i], ".txt");
	struct bytes b;
	struct error ignored; // reading it as labels would tell
	bool numbers = file_read_text(&b, path, YOLO_FILE_MAX, &ignored) == STATUS_OK;
	free(path);
	if (!numbers)
		return false;
	const char *text = (const char *)b.data + strspn((const char *)b.data, " \t\r\n");
	numbers = !*text || (*text >= '0' && *text <= '9');
	bytes_done(&b);
	return numbers;
}

// Names make the numbers those of the model's classes that are called so, as of any other labels.
static void name_classes(struct labels *l, const char *dir)
{
	struct names names;
	char *path;
	names_of_labels(&names, dir, &path);
	if (names.n && names.n < l->n_classes)
		log_warn("%s names %d classes, and there are objects of class %d in %s: it is left out", path, names.n, l->n_classes - 1, dir);
	for (int i = 0; names.n >= l->n_classes && names.n <= LABELS_CLASSES_MAX && i < names.n; i++) {
		if (i == l->n_classes)
			labels_add_class(l, i, NULL);
		l->name[i] = names.at[i] ? xstrdup(names.at[i]) : NULL;
		if (l->name[i])
			str_oneline(l->name[i]);
	}
	names_done(&names);
	free(path);
}

enum status labels_read_yolo(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err)
{
	int files = 0;
	l->kind = LABELS_BOXES;
	l->source = xstrdup(dir);
	for (int i = 0; i < s->n; i++) {
		enum status st = s->file[i] ? read_sample(l, dir, s, i, &files, err) : STATUS_OK;
		if (st != STATUS_OK)
			return st;
	}
	name_classes(l, dir);
	return files ? STATUS_OK : labels_refuse_dir(dir, s, err);
}
