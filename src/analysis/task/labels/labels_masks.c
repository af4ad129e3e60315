// A directory of masks, a PNG for each image, whose pixels are numbers of classes. In classes.txt beside them line n names
// number n, the first being 0; "-" is no class.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define NAMES_FILE_MAX ((size_t)1 << 20)

#define CITY_IDS "_gtFine_labelIds.png"

// What the names of images and of their masks end in.
static const struct {
	const char *image, *mask;
} endings[] = {
    {"", ".png"},
    {"", "_mask.png"},
    {"_leftImg8bit", "_gtFine_labelTrainIds.png"}, // Cityscapes
    {"_leftImg8bit", CITY_IDS},                    // as it is downloaded
};

// Of the numbers in Cityscapes' own masks these are the 19 classes that networks are trained for.
static const struct {
	int number;
	const char *name;
} city[] = {{7, "road"}, {8, "sidewalk"}, {11, "building"}, {12, "wall"}, {13, "fence"}, {17, "pole"}, {19, "traffic light"},
    {20, "traffic sign"}, {21, "vegetation"}, {22, "terrain"}, {23, "sky"}, {24, "person"}, {25, "rider"}, {26, "car"}, {27, "truck"},
    {28, "bus"}, {31, "train"}, {32, "motorcycle"}, {33, "bicycle"}};
enum { CITY_CLASSES = sizeof city / sizeof *city, CITY_NUMBERS = 34 };

static char *mask_path(const char *dir, const char *file)
{
	char *path = NULL;
	for (size_t i = 0; i < sizeof endings / sizeof *endings && !path; i++)
		path = labels_partner(dir, file, endings[i].image, endings[i].mask);
	return path;
}

bool labels_are_masks(const char *dir, const struct labels_samples *s)
{
	for (int i = 0; i < s->n; i++) {
		if (!s->file[i])
			continue;
		char *text = labels_beside(dir, s->file[i], ".txt"), *mask = mask_path(dir, s->file[i]);
		bool boxes = file_exists(text), masks = mask;
		free(text);
		free(mask);
		if (boxes || masks)
			return !boxes;
	}
	return false;
}

static void add_number(struct labels *l, const char *name)
{
	bool is_class = strcmp(name, "-") != 0;
	l->class_of = xrealloc(l->class_of, ((size_t)l->n_numbers + 1) * sizeof *l->class_of);
	l->class_of[l->n_numbers] = is_class ? l->n_classes : -1;
	if (is_class)
		labels_add_class(l, l->n_numbers, name);
	l->n_numbers++;
}

static enum status read_names(struct labels *l, const char *path, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, path, NAMES_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	char *end;
	for (char *line = (char *)b.data; *line && st == STATUS_OK; line = end) {
		end = line + strcspn(line, "\r\n");
		char *next = end + (*end == '\r') + (end[*end == '\r'] == '\n');
		*end = '\0';
		if (!*line)
			st =
			    error_set(err, STATUS_FORMAT, "%s:%d: a line names a class, or is - where a number is none", path, l->n_numbers + 1);
		else if (l->n_numbers == LABELS_CLASSES_MAX)
			st = error_set(err, STATUS_UNSUPPORTED, "%s: more than %d classes", path, LABELS_CLASSES_MAX);
		else
			add_number(l, line);
		end = next;
	}
	bytes_done(&b);
	return st;
}

static bool are_of_city(const struct labels *l)
{
	int n = 0;
	for (int i = 0; i < l->n_samples; i++) {
		n += l->label[i].file != NULL;
		if (l->label[i].file && !str_has_suffix(l->label[i].file, CITY_IDS))
			return false;
	}
	return n > 0;
}

static void number_city(struct labels *l)
{
	l->n_numbers = CITY_NUMBERS;
	l->class_of = xcalloc(CITY_NUMBERS, sizeof *l->class_of);
	for (int i = 0; i < CITY_NUMBERS; i++)
		l->class_of[i] = LABELS_NO_CLASS;
	for (int c = 0; c < CITY_CLASSES; c++)
		l->class_of[city[c].number] = labels_add_class(l, city[c].number, city[c].name);
	l->how = "Cityscapes' 19 of its numbers";
}

enum status labels_read_masks(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err)
{
	char *names = file_join(dir, "classes.txt");
	l->kind = LABELS_MASKS;
	l->source = xstrdup(dir);
	for (int i = 0; i < s->n; i++) {
		l->label[i].file = s->file[i] ? mask_path(dir, s->file[i]) : NULL;
		l->label[i].known = l->label[i].file;
	}
	bool named = file_exists(names);
	enum status st = named ? read_names(l, names, err) : STATUS_OK;
	if (!named && are_of_city(l))
		number_city(l);
	free(names);
	return st;
}
