// Classes of whole images: a CSV (file,class, or a column for each class), or the folders that the images are in.
#include <stdlib.h>
#include <string.h>
#include "csv.h"
#include "labels.h"
#include "wnids.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/order.h"
#include "qtui/base/str.h"

#define LIST_FILE_MAX ((size_t)64 << 20)

struct list {
	struct labels *l;
	const char *path;
	const char *const *file; // of the samples
	struct sample_index *sample;
	bool begun;   // the columns are known
	bool decided; // numbers or names: the first line behind the heading tells
	bool by_name; // classes are names, in the order of these
	struct named_file named;
	int column; // of the class
	int file_column;
	int name;   // of the class's name, -1: there is none
	bool flags; // each class has a column, which is 1 in the lines of its samples
	int line;
};

// The column of the class is named in a heading, else the second; the file is named there, else the first of the others. Returns
// whether the class is named.
static bool find_columns(struct list *t, const struct csv_line *heading)
{
	static const char *const name[] = {"name", "class_name", "label_name", NULL};
	int column = csv_column(heading, csv_class_names), files = csv_column(heading, csv_file_names);
	t->column = column < 0 ? 1 : column;
	t->file_column = files < 0 || files == t->column ? t->column == 0 : files;
	t->name = csv_column(heading, name);
	t->name = t->name == t->file_column ? -1 : t->name;
	t->begun = true;
	return column >= 0;
}

// The only column of a class that is 1 where the others are 0; -1: it is otherwise.
static int flagged(const struct list *t, const struct csv_line *c)
{
	int found = -1;
	double v;
	for (int i = 0; i < c->n; i++) {
		if (i == t->file_column)
			continue;
		if (!str_to_double(c->at[i], &v) || (v != 0 && v != 1) || (v == 1 && found >= 0))
			return -1;
		found = v == 1 ? i : found;
	}
	return found < 0 ? -1 : found - (found > t->file_column);
}

bool labels_are_list(const char *path, const struct labels_samples *s)
{
	struct csv_line heading;
	char *line = csv_first(path);
	(void)s;
	if (!line)
		return false;
	csv_cut(&heading, line);
	bool so = find_columns(&(struct list){.begun = false}, &heading);
	free(line);
	return so;
}

bool labels_are_pairs(const char *path, const struct labels_samples *s)
{
	struct csv_line c;
	char *line = csv_first(path);
	if (!line)
		return false;
	struct sample_index *x = sample_index_new(s);
	csv_cut(&c, line);
	bool so = c.n == 2 && labels_is_class(c.at[1], &(int){0}) && sample_index_find(x, c.at[0]) >= 0;
	sample_index_free(&x);
	free(line);
	return so;
}

// Is there a column for each class, as Roboflow and Keras write them? Then no column is one of classes, and each line has a 1.
static bool are_flags(const char *text)
{
	struct list t = {.begun = false};
	struct csv_line heading = {.n = 0}, c;
	char *copy = xstrdup(text), *end;
	bool all = true;
	int rows = 0;
	for (char *line = copy; line && all; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		csv_cut(&c, line);
		if (c.n < 2 && !*c.at[0])
			continue;
		if (!t.begun) {
			all = !find_columns(&t, &c) && c.n > 2 && !csv_is_number(c.at[1]);
			heading = c;
			continue;
		}
		all = c.n == heading.n && flagged(&t, &c) >= 0;
		rows++;
	}
	free(copy);
	return all && rows > 0;
}

// Columns are classes in their order, until the model says which it calls so.
static void add_columns(struct list *t, const struct csv_line *heading)
{
	for (int i = 0; i < heading->n; i++)
		if (i != t->file_column)
			labels_add_class(t->l, t->l->n_classes, heading->at[i]);
	t->l->how = "in order of the columns";
}

// Another column than the second may be meant.
static void warn_of_guess(const struct list *t, const struct csv_line *heading)
{
	if (heading->n > 2)
		log_warn("%s: no column is called label, class or class_index: the class is taken from %s, column %d of %d", t->path,
		    heading->at[t->column], t->column + 1, heading->n);
}

// A class of -1 is a wrong one, no heading; nor is the name of a class behind a sample's file.
static bool is_heading(const struct list *t, const struct csv_line *c, bool named)
{
	if (c->n < 2 || csv_is_number(c->at[t->column]))
		return false;
	return named || t->file_column >= c->n || sample_index_find(t->sample, c->at[t->file_column]) < 0;
}

// Returns whether the first line is one.
static bool read_heading(struct list *t, const struct csv_line *c)
{
	bool named = find_columns(t, c), heading = t->flags || is_heading(t, c, named);
	if (t->flags)
		add_columns(t, c);
	else if (heading && !named)
		warn_of_guess(t, c);
	return heading;
}

// Kaggle's list of ImageNet has boxes behind the synset.
static void cut_boxes(char *cell)
{
	size_t n = strcspn(cell, " ");
	if (!cell[n])
		return;
	cell[n] = '\0';
	if (wnid_class(cell) < 0)
		cell[n] = ' ';
}

static bool read_class(struct list *t, int *class, const struct csv_line *c)
{
	char *cell = c->at[t->column];
	if (t->flags)
		return *class = flagged(t, c), *class >= 0;
	cut_boxes(cell);
	if (!t->decided)
		t->by_name = *cell && !csv_is_number(cell);
	t->decided = true;
	if (!t->by_name)
		return labels_is_class(cell, class);
	*class = *cell ? labels_class_named(&t->named, cell) : -1;
	return *class >= 0;
}

// The class of a sample, or that it has another one already.
static enum status add_class(struct list *t, int sample, int class, struct error *err)
{
	const struct label *before = &t->l->label[sample];
	bool differs = before->known && before->class != class;
	if (differs && sample_index_tear(t->sample, sample))
		return STATUS_OK;
	if (differs && t->by_name)
		return error_set(err, STATUS_FORMAT, "%s:%d: %s has class %s above and %s here", t->path, t->line, file_base(t->file[sample]),
		    t->l->name[before->class], t->l->name[class]);
	if (differs)
		return error_set(err, STATUS_FORMAT, "%s:%d: %s has class %d above and %d here", t->path, t->line,
		    file_base(t->file[sample]), before->class, class);
	return labels_set_class(t->l, sample, class, t->path, err);
}

static void name_class(struct labels *l, int class, const char *name)
{
	if (*name && !l->name[class])
		l->name[class] = xstrdup(name);
}

static enum status read_row(struct list *t, char *text, struct error *err)
{
	struct csv_line c;
	int class;
	csv_cut(&c, text);
	if (c.n < 2 && !*c.at[0])
		return STATUS_OK;
	if (!t->begun && read_heading(t, &c))
		return STATUS_OK;
	if (t->column >= c.n || t->file_column >= c.n || !read_class(t, &class, &c))
		return error_set(err, STATUS_FORMAT, "%s:%d: a line is \"file,class\" with a class of 0..%d, or all lines have names of classes",
		    t->path, t->line, LABELS_CLASSES_MAX - 1);
	int sample = labels_sample(t->l, t->sample, c.at[t->file_column]);
	if (sample < 0)
		return STATUS_OK;
	enum status st = add_class(t, sample, class, err);
	if (st == STATUS_OK && t->name >= 0 && t->name < c.n)
		name_class(t->l, class, c.at[t->name]);
	return st;
}

static enum status read_rows(struct list *t, char *text, struct error *err)
{
	enum status st = STATUS_OK;
	for (t->line = 1; text && st == STATUS_OK; t->line++) {
		char *end = strchr(text, '\n');
		if (end)
			*end++ = '\0';
		st = read_row(t, text, err);
		text = end;
	}
	return st;
}

enum status labels_read_list(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	struct list t = {.l = l, .path = path, .file = s->file};
	enum status st = file_read_text(&b, path, LIST_FILE_MAX, err);
	l->kind = LABELS_CLASSES;
	l->source = xstrdup(path);
	if (st != STATUS_OK)
		return st;
	if (memchr(b.data, '\0', b.size)) {
		bytes_done(&b);
		return error_set(err, STATUS_FORMAT,
		    "%s holds no labels: COCO JSON (.json), a directory of YOLO, DOTA or KITTI text files, of Pascal VOC XML or of masks, or CSV is "
		    "needed (arrays are for --task depth and regress)",
		    path);
	}
	t.sample = sample_index_new(s);
	t.named = (struct named_file){.l = l, .s = s, .classes = namemap_new()};
	t.flags = are_flags((const char *)b.data);
	st = read_rows(&t, (char *)b.data, err);
	if (st == STATUS_OK)
		st = sample_index_check(t.sample, path, true, err);
	namemap_free(&t.named.classes);
	sample_index_free(&t.sample);
	bytes_done(&b);
	l->by_name = t.by_name || t.flags;
	if (t.by_name)
		labels_sort_classes(l);
	return st;
}

// ---- folders

// The name of the folder that a file is in; heap.
static char *folder(const char *file)
{
	char *dir = file_dir(file), *name = xstrdup(file_base(dir));
	free(dir);
	return name;
}

// The different folders in order; the caller frees names and array.
static char **folders_of(const struct labels_samples *s, int *n)
{
	char **all = xcalloc((size_t)s->n + 1, sizeof *all);
	int count = 0;
	*n = 0;
	for (int i = 0; i < s->n; i++)
		if (s->file[i])
			all[count++] = folder(s->file[i]);
	qsort(all, (size_t)count, sizeof *all, order_texts);
	for (int i = 0; i < count; i++)
		if (*n && strcmp(all[*n - 1], all[i]) == 0)
			free(all[i]);
		else
			all[(*n)++] = all[i];
	return all;
}

static void free_folders(char **name, int n)
{
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
}

bool labels_are_folders(const struct labels_samples *s)
{
	int n;
	char **name = folders_of(s, &n);
	free_folders(name, n);
	return n > 1;
}

// Folders that are all numbers are the classes; else their order gives the numbers.
static enum status add_folder_classes(struct labels *l, char *const *name, int n, bool *numbers, struct error *err)
{
	int class;
	*numbers = true;
	for (int i = 0; i < n; i++)
		*numbers = *numbers && labels_is_class(name[i], &class);
	if (n > LABELS_CLASSES_MAX)
		return error_set(err, STATUS_UNSUPPORTED,
		    "the samples are in %d folders; at most %d classes are possible", n, LABELS_CLASSES_MAX);
	for (int i = 0; i < n && !*numbers; i++)
		labels_add_class(l, i, name[i]);
	return STATUS_OK;
}

enum status labels_read_folders(struct labels *l, const struct labels_samples *s, struct error *err)
{
	int n;
	bool numbers;
	char **name = folders_of(s, &n);
	struct namemap *order = namemap_new();
	enum status st = add_folder_classes(l, name, n, &numbers, err);
	l->kind = LABELS_CLASSES;
	l->by_name = !numbers;
	l->source = xstrdup("the folders of the samples");
	for (int i = 0; i < n; i++) {
		int class = i;
		if (numbers && !labels_is_class(name[i], &class))
			continue;
		namemap_put(order, name[i], class);
	}
	for (int i = 0; st == STATUS_OK && i < s->n; i++) {
		char *own = s->file[i] ? folder(s->file[i]) : NULL;
		if (own)
			st = labels_set_class(l, i, namemap_get(order, own), l->source, err);
		free(own);
	}
	namemap_free(&order);
	free_folders(name, n);
	return st;
}
