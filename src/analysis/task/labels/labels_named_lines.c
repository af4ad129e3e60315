// A directory of text files, NAME.txt for NAME.png, whose lines name a class, with pixels: DOTA's "x1 y1 x2 y2 x3 y3 x4 y4 class
// difficult", perhaps below "imagesource:..." and "gsd:..."; KITTI's "class truncated occluded alpha x1 y1 x2 y2 ...". Numbers of
// classes are those of the names in order. What is "difficult" counts neither for nor against, as in DOTA's figures, and KITTI's
// DontCare is no object.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"

#define DOTA_FILE_MAX ((size_t)16 << 20)
enum { CORNERS = 4 };

struct object {
	double corner[CORNERS][2];
	char *name; // in the line
	bool difficult;
};

static char *skip_blanks(char *text)
{
	return text + strspn(text, " \t\r");
}

// Behind the name are seven numbers or more, of which the fourth to the seventh are the box. Four alone may well be fractions.
static bool read_box(struct object *o, char *line)
{
	enum { BOX = 4, IN_FRONT = 3, NUMBERS_MAX = 16 };
	double v[NUMBERS_MAX];
	int n = 0;
	o->name = line;
	line += strcspn(line, " \t\r");
	char *end = line;
	for (line = skip_blanks(line); *line && n < NUMBERS_MAX; line = skip_blanks(line)) {
		char *behind;
		v[n] = strtod(line, &behind);
		if (behind == line || !isfinite(v[n++]))
			return false;
		line = behind;
	}
	const double *box = v + IN_FRONT;
	if (*line || n < IN_FRONT + BOX || box[0] > box[2] || box[1] > box[3])
		return false;
	*end = '\0';
	for (int i = 0; i < CORNERS; i++) {
		o->corner[i][0] = box[i == 1 || i == 2 ? 2 : 0];
		o->corner[i][1] = box[i >= 2 ? 3 : 1];
	}
	o->difficult = false;
	return true;
}

static bool read_corners(struct object *o, char *line)
{
	for (int i = 0; i < CORNERS * 2; i++) {
		char *end;
		double v = strtod(line, &end);
		if (end == line || !isfinite(v))
			return false;
		o->corner[i / 2][i % 2] = v;
		line = end;
	}
	o->name = skip_blanks(line);
	size_t n = strcspn(o->name, " \t\r");
	bool named = n > 0 && strspn(o->name, "+-.0123456789") < n; // nine numbers are an outline without its class
	char *behind = skip_blanks(o->name + n), *end;
	o->difficult = strtol(behind, &end, 10) != 0;
	end = skip_blanks(end);
	o->name[n] = '\0';
	return named && !*end;
}

static bool has_name_first(const char *line)
{
	return *line && !strchr("+-.0123456789", *line);
}

// Writes into the line.
static bool read_object(struct object *o, char *line)
{
	return has_name_first(line) ? read_box(o, line) : read_corners(o, line);
}

static bool is_heading(const char *line)
{
	return strncmp(line, "imagesource:", 12) == 0 || strncmp(line, "gsd:", 4) == 0;
}

// The next line that is neither empty nor a heading, without its end; NULL: there is none. *number: of the line.
static char *next_line(char **text, int *number)
{
	while (*text) {
		char *line = *text, *end = strchr(line, '\n');
		*text = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		++*number;
		line = skip_blanks(line);
		if (*line && !is_heading(line))
			return line;
	}
	return NULL;
}

static struct coco_box box_around(const double corner[CORNERS][2])
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
	for (int i = 0; i < CORNERS; i++)
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = fmin(low[axis], corner[i][axis]);
			high[axis] = fmax(high[axis], corner[i][axis]);
		}
	return (struct coco_box){low[0], low[1], high[0] - low[0], high[1] - low[1]};
}

static enum status add_object(const struct named_file *f, const struct object *o, struct error *err)
{
	struct coco_truth t = {.class = labels_class_named(f, o->name), .crowd = o->difficult, .box = box_around(o->corner)};
	if (t.class < 0)
		return error_set(err, STATUS_FORMAT, "there are too many classes");
	t.area = t.box.w * t.box.h;
	if (f->s->rotated)
		labels_take_corners(&t, o->corner);
	return labels_add_box(f->l, f->sample, &t, err);
}

static enum status read_file(const struct named_file *f, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, f->path, DOTA_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	int number = 0;
	char *text = (char *)b.data;
	for (char *line; st == STATUS_OK && (line = next_line(&text, &number));) {
		struct object o;
		const char *form = has_name_first(line) ? "class truncated occluded alpha x1 y1 x2 y2 ..." : "x1 y1 x2 y2 x3 y3 x4 y4 class difficult";
		if (!read_object(&o, line))
			st = error_set(err, STATUS_FORMAT, "a line is \"%s\" in pixels", form);
		else if (strcmp(o.name, "DontCare") != 0)
			st = add_object(f, &o, err);
	}
	bytes_done(&b);
	return st == STATUS_OK ? st : error_prefix(err, "%s:%d", f->path, number);
}

// Does the file hold such an object first? *any: it holds something.
static bool begins_so(const char *path, bool *any)
{
	struct bytes b;
	struct object o;
	struct error ignored; // reading it as labels would tell
	int number = 0;
	if (file_read_text(&b, path, DOTA_FILE_MAX, &ignored) != STATUS_OK)
		return false;
	char *text = (char *)b.data, *line = next_line(&text, &number);
	*any = line != NULL;
	bool so = line && read_object(&o, line);
	bytes_done(&b);
	return so;
}

// The first file that holds something tells.
bool labels_are_named_lines(const char *dir, const struct labels_samples *s)
{
	bool any = false, so = false;
	for (int i = 0; i < s->n && !any; i++) {
		char *path = s->file[i] ? labels_beside(dir, s->file[i], ".txt") : NULL;
		if (path && file_exists(path))
			so = begins_so(path, &any);
		free(path);
	}
	return so;
}

enum status labels_read_named_lines(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err)
{
	return labels_read_named(l, dir, ".txt", s, read_file, err);
}
