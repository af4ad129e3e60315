// Files that come with labels, or that other tools keep them in: what they are, and what to make of them.
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "csv.h"
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define CLASSES_ALONE \
	"names classes, not objects: give the directory of the text files (labels/...), in which and above which it is looked for"

static const struct {
	const char *ending, *why;
} endings[] = {
    {".yaml", CLASSES_ALONE},
    {".yml", CLASSES_ALONE},
    {".xml", "is one file of XML: give the directory of Pascal VOC's, one for each picture, or export it as COCO JSON (CVAT does both)"},
};

// "file x1,y1,x2,y2,class x1,y1,x2,y2,class ..."
static bool are_boxes_in_a_line(const char *line)
{
	const char *box = strchr(line, ' ');
	int commas = 0;
	if (!box || memchr(line, ',', (size_t)(box - line)))
		return false;
	for (box++; *box && *box != ' ' && *box != '\r'; box++) {
		if (!strchr("0123456789.,-", *box))
			return false;
		commas += *box == ',';
	}
	return commas == 4;
}

static bool are_tracks(const char *text)
{
	enum { TRACK_CELLS = 7 };
	struct csv_line c;
	char *line = xstrdup(text);
	csv_cut(&c, line);
	bool so = c.n >= TRACK_CELLS;
	for (int i = 0; so && i < c.n; i++)
		so = csv_is_number(c.at[i]) || (i == c.n - 1 && !*c.at[i]);
	free(line);
	return so;
}

static enum status refuse_lines(const char *path, struct error *err)
{
	char *line = csv_first(path);
	const char *form = NULL;
	if (line && are_boxes_in_a_line(line))
		form = "has all boxes of a picture in a line (YOLO Keras): export it as COCO JSON or YOLO";
	else if (line && are_tracks(line))
		form = "has lines of numbers alone (of MOT: frame, track and box), which name no file: export it as COCO JSON or YOLO";
	free(line);
	return form ? error_set(err, STATUS_FORMAT, "%s %s", path, form) : STATUS_OK;
}

enum status labels_refuse_file(const char *path, const struct labels_samples *s, struct error *err)
{
	if (file_is_dir(path))
		return STATUS_OK;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (str_has_suffix(path, endings[i].ending))
			return error_set(err, STATUS_USAGE, "%s %s", path, endings[i].why);
	return s->texts || s->values ? STATUS_OK : refuse_lines(path, err);
}

// What tells a tool's JSON: members of the file, or of its first element.
static const struct {
	bool within; // of the first element of the list, or the first member
	const char *key[2], *why;
} forms[] = {
    {true, {"image", "annotations"}, "is CreateML's: export it as COCO JSON, YOLO or Pascal VOC"},
    {true, {"data", "annotations"}, "is Label Studio's own: export it there as COCO or YOLO"},
    {true, {"data", "predictions"}, "is Label Studio's own: export it there as COCO or YOLO"},
    {true, {"image", "label"}, "is Label Studio's own (JSON-MIN): export it there as COCO or YOLO"},
    {true, {"image_id", "bbox"}, "has what a detector found (COCO's results): labels have images, annotations and categories"},
    {true, {"filename", "regions"}, "is the VGG Image Annotator's own: export it there as COCO JSON"},
    {false, {"_via_img_metadata", "_via_settings"}, "is the VGG Image Annotator's own: export it there as COCO JSON"},
    {false, {"shapes", "imagePath"}, "is labelme's: convert the directory to one COCO JSON, to YOLO or to Pascal VOC"},
    {false, {"size", "objects"}, "is Supervisely's: convert the project to COCO JSON, YOLO or Pascal VOC"},
};

enum status labels_refuse_json(const struct cJSON *root, const char *path, struct error *err)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const cJSON *in = forms[i].within ? (root ? root->child : NULL) : root;
		if (cJSON_GetObjectItemCaseSensitive(in, forms[i].key[0]) && cJSON_GetObjectItemCaseSensitive(in, forms[i].key[1]))
			return error_set(err, STATUS_FORMAT, "%s %s", path, forms[i].why);
	}
	return error_set(err, STATUS_FORMAT,
	    "%s is not in COCO's format, with images, annotations and categories: export it so, or make a CSV file,class of classes", path);
}

// NAME.jpg.json of Supervisely, or NAME.json of labelme.
static char *json_of(const char *dir, const char *file)
{
	struct str ending = {0};
	const char *dot = strrchr(file_base(file), '.');
	str_addf(&ending, "%s.json", dot ? dot : "");
	char *path = labels_beside(dir, file, str_text(&ending));
	str_done(&ending);
	if (file_exists(path))
		return path;
	free(path);
	return labels_beside(dir, file, ".json");
}

enum status labels_refuse_dir(const char *dir, const struct labels_samples *s, struct error *err)
{
	for (int i = 0; i < s->n; i++) {
		char *path = s->file[i] ? json_of(dir, s->file[i]) : NULL;
		cJSON *root = NULL;
		enum status st = path && file_exists(path) ? json_read(&root, path, err) : STATUS_OK;
		if (root)
			st = labels_refuse_json(root, path, err);
		cJSON_Delete(root);
		free(path);
		if (st != STATUS_OK)
			return st;
	}
	return error_set(err, STATUS_NOTFOUND, "%s has a text file or a mask for none of the %d samples", dir, s->n);
}
