// Where labels lie beside a data set.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

struct place {
	enum labels_kind kind;
	const char *pattern; // of a path: D the data set, P the directory that it is in, Q that of P, R two above Q; B, at the end, D's last component
	const char *as;      // not NULL: the data set's path itself, with this in the place of its last component `pattern`
	bool (*holds)(const char *path, const struct labels_samples *s); // not NULL: only if it says so
};
static const struct place places[] = {
    {LABELS_BOXES, "D/instances.json", NULL, NULL},
    {LABELS_BOXES, "P/instances.json", NULL, NULL},
    {LABELS_BOXES, "D.json", NULL, NULL},
    {LABELS_BOXES, "D/_annotations.coco.json", NULL, NULL}, // Roboflow
    {LABELS_BOXES, "D/_annotations.csv", NULL, labels_are_box_list},
    {LABELS_BOXES, "D/labels.csv", NULL, labels_are_box_list},
    {LABELS_BOXES, "D.csv", NULL, labels_are_box_list},
    {LABELS_BOXES, "P/labels.csv", NULL, labels_are_box_list},
    {LABELS_BOXES, "D/metadata.jsonl", NULL, labels_are_lines_of_boxes}, // Hugging Face
    {LABELS_BOXES, "P/annotations/instances_B", NULL, NULL}, // COCO: train2017, val2017
    {LABELS_BOXES, "Q/annotations/instances_B", NULL, NULL},
    {LABELS_BOXES, "P/annotations/instances_default.json", NULL, NULL}, // CVAT
    {LABELS_BOXES, "images", "labels", NULL},
    {LABELS_BOXES, "P/labels", NULL, NULL},
    {LABELS_BOXES, "D/labels", NULL, NULL},
    {LABELS_BOXES, "JPEGImages", "Annotations", labels_are_voc},
    {LABELS_BOXES, "images", "annotations", labels_are_voc},
    {LABELS_BOXES, "P/Annotations", NULL, labels_are_voc},
    {LABELS_BOXES, "P/annotations", NULL, labels_are_voc},
    {LABELS_BOXES, "images", "labelTxt", labels_are_named_lines},
    {LABELS_BOXES, "P/labelTxt", NULL, labels_are_named_lines},
    {LABELS_BOXES, "image_2", "label_2", labels_are_named_lines}, // KITTI
    {LABELS_BOXES, "D", NULL, labels_are_voc},  // beside the pictures themselves, as labelImg
    {LABELS_BOXES, "D", NULL, labels_are_text}, // and Darknet have them
    {LABELS_POSES, "D/person_keypoints.json", NULL, NULL},
    {LABELS_POSES, "P/person_keypoints.json", NULL, NULL},
    {LABELS_POSES, "P/annotations/person_keypoints_B", NULL, NULL},
    {LABELS_POSES, "Q/annotations/person_keypoints_B", NULL, NULL},
    {LABELS_CLASSES, "D/labels.csv", NULL, NULL},
    {LABELS_CLASSES, "D.csv", NULL, NULL},
    {LABELS_CLASSES, "P/labels.csv", NULL, NULL},
    {LABELS_CLASSES, "D/_classes.csv", NULL, NULL}, // Roboflow
    {LABELS_CLASSES, "D/metadata.csv", NULL, labels_are_list}, // Hugging Face; there may be captions in it
    {LABELS_CLASSES, "D/metadata.jsonl", NULL, labels_are_lines_of_classes},
    {LABELS_CLASSES, "D/val_annotations.txt", NULL, NULL}, // Tiny ImageNet
    {LABELS_CLASSES, "P/val_annotations.txt", NULL, NULL},
    {LABELS_CLASSES, "D/val_map.txt", NULL, labels_are_pairs}, // MLPerf
    {LABELS_CLASSES, "P/val_map.txt", NULL, labels_are_pairs},
    {LABELS_CLASSES, "D.txt", NULL, labels_are_pairs}, // Caffe; lists of paths are called so, too
    {LABELS_CLASSES, "D/val.txt", NULL, labels_are_pairs},
    {LABELS_CLASSES, "P/val.txt", NULL, labels_are_pairs},
    {LABELS_CLASSES, "D/labels.txt", NULL, labels_are_pairs},
    {LABELS_CLASSES, "P/labels.txt", NULL, labels_are_pairs},
    {LABELS_CLASSES, "R/LOC_val_solution.csv", NULL, NULL}, // ImageNet as Kaggle has it
    {LABELS_MASKS, "images", "masks", labels_are_masks},
    {LABELS_MASKS, "images", "annotations", labels_are_masks}, // ADE20K
    {LABELS_MASKS, "leftImg8bit", "gtFine", labels_are_masks}, // Cityscapes
    {LABELS_MASKS, "JPEGImages", "SegmentationClass", labels_are_masks}, // Pascal VOC
    {LABELS_MASKS, "P/masks", NULL, labels_are_masks},
    {LABELS_MASKS, "D/masks", NULL, labels_are_masks},
    {LABELS_MASKS, "images", "labels", labels_are_masks},
    {LABELS_MASKS, "P/labels", NULL, labels_are_masks},
    {LABELS_PICTURES, "LR", "HR", labels_are_pictures},
    {LABELS_PICTURES, "lr", "hr", labels_are_pictures},
    {LABELS_PICTURES, "lq", "gt", labels_are_pictures},
    {LABELS_PICTURES, "input", "target", labels_are_pictures},
    {LABELS_PICTURES, "input", "gt", labels_are_pictures},
    {LABELS_PICTURES, "inputs", "targets", labels_are_pictures},
    {LABELS_PICTURES, "low", "high", labels_are_pictures},   // LOL
    {LABELS_PICTURES, "blur", "sharp", labels_are_pictures}, // GoPro
    {LABELS_PICTURES, "noisy", "clean", labels_are_pictures},
    {LABELS_PICTURES, "P/HR", NULL, labels_are_pictures},
    {LABELS_PICTURES, "P/gt", NULL, labels_are_pictures},
    {LABELS_PICTURES, "P/targets", NULL, labels_are_pictures},
    {LABELS_VALUES, "images", "depth", NULL},
    {LABELS_VALUES, "images", "depths", NULL},
    {LABELS_VALUES, "rgb", "depth", NULL}, // NYU, TUM
    {LABELS_VALUES, "image", "groundtruth_depth", NULL}, // KITTI's selection for validation
    {LABELS_VALUES, "inputs", "targets", NULL},
    {LABELS_VALUES, "input", "target", NULL},
    {LABELS_VALUES, "P/depth", NULL, NULL},
    {LABELS_VALUES, "P/targets", NULL, NULL},
    {LABELS_VALUES, "P/targets.npy", NULL, NULL},
    {LABELS_VALUES, "P/labels.npy", NULL, NULL},
    {LABELS_VALUES, "D/labels.csv", NULL, NULL},
    {LABELS_VALUES, "D.csv", NULL, NULL},
    {LABELS_VALUES, "P/labels.csv", NULL, NULL},
    {LABELS_TEXTS, "D/rec_gt_test.txt", NULL, NULL}, // PaddleOCR
    {LABELS_TEXTS, "D/rec_gt_val.txt", NULL, NULL},
    {LABELS_TEXTS, "D/rec_gt.txt", NULL, NULL},
    {LABELS_TEXTS, "D/gt.txt", NULL, NULL}, // ICDAR
    {LABELS_TEXTS, "D/labels.txt", NULL, NULL},
    {LABELS_TEXTS, "D/labels.csv", NULL, NULL},
    {LABELS_TEXTS, "D.csv", NULL, NULL},
    {LABELS_TEXTS, "P/rec_gt_test.txt", NULL, NULL},
    {LABELS_TEXTS, "P/rec_gt_val.txt", NULL, NULL},
    {LABELS_TEXTS, "P/rec_gt.txt", NULL, NULL},
    {LABELS_TEXTS, "P/gt.txt", NULL, NULL},
    {LABELS_TEXTS, "P/labels.txt", NULL, NULL},
    {LABELS_TEXTS, "P/labels.csv", NULL, NULL},
};

// The data set's path with its last component `name` replaced; NULL where it has none.
static char *replaced(const char *dataset, const char *name, const char *as)
{
	const char *at = NULL;
	size_t n = strlen(name);
	for (const char *p = strstr(dataset, name); p; p = strstr(p + 1, name))
		if ((p == dataset || p[-1] == '/') && (p[n] == '/' || !p[n]))
			at = p;
	if (!at)
		return NULL;
	struct str s = {0};
	str_addn(&s, dataset, (size_t)(at - dataset));
	str_add(&s, as);
	str_add(&s, at + n);
	return str_detach(&s);
}

static char *fill(const struct place *place, const char *dataset)
{
	if (place->as)
		return replaced(dataset, place->pattern, place->as);
	char *base = xstrdup(dataset);
	size_t n = strlen(place->pattern);
	bool named = place->pattern[n - 1] == 'B';
	struct str s = {0};
	static const char above[] = "DPQ.R";
	for (long up = strchr(above, *place->pattern) - above; up; up--) {
		char *outer = file_dir(base);
		free(base);
		base = outer;
	}
	str_add(&s, base);
	str_addn(&s, place->pattern + 1, n - 1 - named);
	if (named)
		str_addf(&s, "%s.json", file_base(dataset));
	free(base);
	return str_detach(&s);
}

static char *trimmed(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	char *copy = xmalloc(n + 1);
	memcpy(copy, path, n);
	copy[n] = '\0';
	return copy;
}

// A session or an analysis of these samples, which may well be called after them.
static bool is_ours(const char *path)
{
	static const char first[] = "\"qtui";
	struct bytes file;
	struct error ignored; // reading it as labels will tell
	size_t at = 0;
	if (!str_has_suffix(path, ".json") || file_map(&file, path, &ignored))
		return false;
	while (at < file.size && file.data[at] && strchr("{ \t\r\n", file.data[at]))
		at++;
	bool ours = file.size - at > sizeof first && memcmp(file.data + at, first, strlen(first)) == 0;
	bytes_done(&file);
	return ours;
}

// Pictures are not their own labels: beside themselves they may have files, but no masks.
static bool is_there(const struct place *p, const char *path, const char *dataset, const struct labels_samples *s)
{
	if (strcmp(path, dataset) == 0 && strcmp(p->pattern, "D") != 0)
		return false;
	return file_exists(path) && !is_ours(path) && (!p->holds || p->holds(path, s));
}

static char *find_beside(const char *from, enum labels_kind kind, const struct labels_samples *s)
{
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *path = places[i].kind == kind ? fill(&places[i], from) : NULL;
		if (path && is_there(&places[i], path, from, s))
			return path;
		free(path);
	}
	return NULL;
}

// The only folder of the data set that holds its samples; heap, NULL: they are in the data set itself, or in several.
static char *only_folder(const char *dataset, const struct labels_samples *s)
{
	char *folder = s->n && s->file[0] ? file_dir(s->file[0]) : NULL, *above = folder ? file_dir(folder) : NULL;
	bool only = above && strcmp(above, dataset) == 0;
	for (int i = 1; only && i < s->n; i++) {
		char *own = s->file[i] ? file_dir(s->file[i]) : NULL;
		only = own && strcmp(own, folder) == 0;
		free(own);
	}
	free(above);
	if (!only) {
		free(folder);
		return NULL;
	}
	return folder;
}

char *labels_find(const char *dataset, enum labels_kind kind, const struct labels_samples *s)
{
	char *from = trimmed(dataset), *found = find_beside(from, kind, s);
	char *folder = found ? NULL : only_folder(from, s);
	if (folder)
		found = find_beside(folder, kind, s);
	free(folder);
	free(from);
	return found;
}
