// A CSV with a line for each box: a heading that names the columns (Roboflow and TensorFlow: filename,width,height,class,xmin,ymin,
// xmax,ymax; OpenImages), or path,x1,y1,x2,y2,class without one (keras-retinanet), where five empty cells are a picture without
// objects. Corners are pixels of the image or, where both lie in its first pixel, fractions of it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "csv.h"
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define BOX_LIST_FILE_MAX ((size_t)512 << 20)
enum { X1, Y1, X2, Y2, SIDES };

static const char *const side_names[SIDES][5] = {{"xmin", "x_min", "x1", "left", NULL}, {"ymin", "y_min", "y1", "top", NULL},
    {"xmax", "x_max", "x2", "right", NULL}, {"ymax", "y_max", "y2", "bottom", NULL}};
static const char *const more_files[] = {"image_id", "imageid", "image_name", "img", NULL};
static const char *const more_classes[] = {"class_name", "name", "category", "labelname", NULL};

struct columns {
	int file, class, side[SIDES], w, h; // -1: there is none
	bool heading;
};

static int column_of(const struct csv_line *heading, const char *const *names, const char *const *more)
{
	int column = csv_column(heading, names);
	return column < 0 ? csv_column(heading, more) : column;
}

static bool are_numbers(const struct csv_line *c, int first, int n)
{
	for (int i = first; i < first + n; i++)
		if (!csv_is_number(c->at[i]))
			return false;
	return true;
}

// A number at the end may be a class, or one of a list of other numbers: behind two corners of which the second lies beyond the
// first it is a class.
static bool has_corners(const struct csv_line *c)
{
	double v[SIDES];
	for (int i = 0; i < SIDES; i++)
		if (!str_to_double(c->at[1 + i], &v[i]))
			return false;
	return v[X1] < v[X2] && v[Y1] < v[Y2];
}

// false: the first line is not one of such a file.
static bool find_columns(struct columns *to, const struct csv_line *first)
{
	static const char *const width[] = {"width", NULL}, *const height[] = {"height", NULL};
	*to = (struct columns){.file = 0, .side = {1, 2, 3, 4}, .class = 5, .w = -1, .h = -1};
	bool six = first->n == 6, none = six && !*first->at[1] && !*first->at[5];
	bool named = six && are_numbers(first, 1, SIDES) && !csv_is_number(first->at[5]);
	if (none || named || (six && labels_is_class(first->at[5], &(int){0}) && has_corners(first)))
		return true;
	to->heading = true;
	to->file = column_of(first, csv_file_names, more_files);
	to->class = column_of(first, csv_class_names, more_classes);
	to->w = csv_column(first, width);
	to->h = csv_column(first, height);
	bool all = to->file >= 0 && to->class >= 0;
	for (int i = 0; i < SIDES; i++) {
		to->side[i] = csv_column(first, side_names[i]);
		all = all && to->side[i] >= 0;
	}
	return all;
}

bool labels_are_box_list(const char *path, const struct labels_samples *s)
{
	struct csv_line c;
	char *line = csv_first(path);
	(void)s;
	if (!line)
		return false;
	csv_cut(&c, line);
	bool so = find_columns(&(struct columns){0}, &c);
	free(line);
	return so;
}

struct box_list {
	struct labels *l;
	const struct labels_samples *s;
	const char *path;
	struct sample_index *sample;
	struct named_file named;
	struct columns at;
	int line;
	bool decided, by_name; // numbers or names: the first object tells
};

static bool read_class(struct box_list *t, int *class, const char *cell)
{
	if (!t->decided)
		t->by_name = !csv_is_number(cell);
	t->decided = true;
	if (t->by_name)
		return *cell && (*class = labels_class_named(&t->named, cell)) >= 0;
	if (!labels_is_class(cell, class))
		return false;
	while (t->l->n_classes <= *class)
		labels_add_class(t->l, t->l->n_classes, NULL);
	return true;
}

static bool read_sides(double v[SIDES], const struct box_list *t, const struct csv_line *c)
{
	for (int i = 0; i < SIDES; i++)
		if (!str_to_double(c->at[t->at.side[i]], &v[i]) || !isfinite(v[i]))
			return false;
	return v[X1] <= v[X2] && v[Y1] <= v[Y2];
}

static double said_size(const struct csv_line *c, int column)
{
	double v;
	return column >= 0 && column < c->n && str_to_double(c->at[column], &v) && v > 0 ? v : 0;
}

static enum status add_box(struct box_list *t, int sample, int class, double v[SIDES], struct error *err)
{
	int w = 1, h = 1;
	bool fractions = v[X2] <= 1 && v[Y2] <= 1;
	if (fractions && labels_frame(&w, &h, t->s, sample, err) != STATUS_OK)
		return err->status;
	struct coco_truth truth = {.class = class, .box = {v[X1] * w, v[Y1] * h, (v[X2] - v[X1]) * w, (v[Y2] - v[Y1]) * h}};
	truth.area = truth.box.w * truth.box.h;
	return labels_add_box(t->l, sample, &truth, err);
}

static int last_column(const struct columns *c)
{
	int last = c->file > c->class ? c->file : c->class;
	for (int i = 0; i < SIDES; i++)
		last = c->side[i] > last ? c->side[i] : last;
	return last;
}

static enum status read_row(struct box_list *t, char *text, struct error *err)
{
	struct csv_line c;
	double v[SIDES];
	int class = 0;
	csv_cut(&c, text);
	if ((c.n < 2 && !*c.at[0]) || (t->line == 1 && t->at.heading))
		return STATUS_OK;
	bool whole = c.n > last_column(&t->at), none = whole && !*c.at[t->at.side[X1]] && !*c.at[t->at.class];
	if (!whole || (!none && (!read_sides(v, t, &c) || !read_class(t, &class, c.at[t->at.class]))))
		return error_set(err, STATUS_FORMAT, "%s:%d: a line has a file, two corners of which the second lies beyond the first, and a class",
		    t->path, t->line);
	int sample = labels_sample(t->l, t->sample, c.at[t->at.file]);
	if (sample < 0)
		return STATUS_OK;
	struct label *label = &t->l->label[sample];
	label->known = true;
	label->w = said_size(&c, t->at.w);
	label->h = said_size(&c, t->at.h);
	if (none || add_box(t, sample, class, v, err) == STATUS_OK)
		return STATUS_OK;
	return error_prefix(err, "%s:%d", t->path, t->line);
}

static enum status read_rows(struct box_list *t, char *text, struct error *err)
{
	enum status st = STATUS_OK;
	struct csv_line first;
	for (t->line = 1; text && st == STATUS_OK; t->line++) {
		char *end = strchr(text, '\n');
		if (end)
			*end++ = '\0';
		if (t->line == 1) {
			char *copy = xstrdup(text);
			csv_cut(&first, copy);
			find_columns(&t->at, &first);
			free(copy);
		}
		st = read_row(t, text, err);
		text = end;
	}
	return st;
}

enum status labels_read_box_list(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	struct box_list t = {.l = l, .s = s, .path = path};
	l->kind = LABELS_BOXES;
	l->source = xstrdup(path);
	if (file_read_text(&b, path, BOX_LIST_FILE_MAX, err) != STATUS_OK)
		return err->status;
	t.sample = sample_index_new(s);
	t.named = (struct named_file){.l = l, .s = s, .classes = namemap_new()};
	enum status st = read_rows(&t, (char *)b.data, err);
	if (st == STATUS_OK)
		st = sample_index_check(t.sample, path, false, err);
	namemap_free(&t.named.classes);
	sample_index_free(&t.sample);
	bytes_done(&b);
	l->numbered = t.by_name;
	if (t.by_name)
		labels_sort_classes(l);
	return st;
}
