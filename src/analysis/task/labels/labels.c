// Which format labels have, what the readers share, and whose classes are whose.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "wnids.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

static void label_done(struct label *label)
{
	for (int k = 0; k < label->n; k++) {
		free(label->truth[k].point);
		rle_free(&label->truth[k].mask);
	}
	free(label->truth);
	free(label->text);
	free(label->file);
	free(label->value);
	*label = (struct label){.known = false};
}

void labels_free(struct labels **lp)
{
	struct labels *l = *lp;
	if (!l)
		return;
	for (int i = 0; i < l->n_samples; i++)
		label_done(&l->label[i]);
	for (int i = 0; i < l->n_classes; i++)
		free(l->name[i]);
	free(l->label);
	free(l->id);
	free(l->name);
	free(l->used);
	free(l->source);
	free(l->stray);
	free(l->class_of);
	skeleton_done(&l->skeleton);
	arrays_free(&l->stack);
	free(l);
	*lp = NULL;
}

// ---- for the readers

int labels_sample(struct labels *l, struct sample_index *x, const char *file)
{
	bool better;
	int sample = sample_index_claim(x, file, &better);
	if (sample < 0 && !l->stray) {
		l->stray = xstrdup(file);
		str_oneline(l->stray);
	}
	if (better)
		label_done(&l->label[sample]); // what was said of another file of that name
	return sample;
}

int labels_add_class(struct labels *l, int id, const char *name)
{
	size_t n = (size_t)l->n_classes + 1;
	l->id = xrealloc(l->id, n * sizeof *l->id);
	l->name = xrealloc(l->name, n * sizeof *l->name);
	l->id[l->n_classes] = id;
	l->name[l->n_classes] = xstrdup(name);
	if (name)
		str_oneline(l->name[l->n_classes]);
	return l->n_classes++;
}

bool labels_is_class(const char *text, int *class)
{
	long long n;
	if (!str_to_int(text, &n) || n < 0 || n >= LABELS_CLASSES_MAX)
		return false;
	*class = (int)n;
	return true;
}

enum status labels_add_box(struct labels *l, int sample, const struct coco_truth *t, struct error *err)
{
	struct label *to = &l->label[sample];
	if (to->n >= LABELS_BOXES_MAX) {
		free(t->point);
		rle_free(&(struct rle *){t->mask});
		return error_set(err, STATUS_UNSUPPORTED, "more than %d boxes in one image", LABELS_BOXES_MAX);
	}
	to->truth = xgrow(to->truth, &to->cap, (size_t)to->n + 1, sizeof *to->truth);
	to->truth[to->n++] = *t;
	return STATUS_OK;
}

enum status labels_set_points(struct labels *l, int n, struct error *err)
{
	if (n > KEYPOINTS_MAX)
		return error_set(err, STATUS_UNSUPPORTED, "more than %d keypoints of one object", KEYPOINTS_MAX);
	if (l->skeleton.n && l->skeleton.n != n)
		return error_set(err, STATUS_FORMAT, "it has %d keypoints, and an object before it %d", n, l->skeleton.n);
	if (!l->skeleton.n)
		skeleton_init(&l->skeleton, n);
	l->kind = LABELS_POSES;
	return STATUS_OK;
}

enum status labels_set_class(struct labels *l, int sample, int class, const char *path, struct error *err)
{
	if (class < 0 || class >= LABELS_CLASSES_MAX)
		return error_set(
		    err, STATUS_FORMAT, "%s: class %d is not in 0..%d", path, class, LABELS_CLASSES_MAX - 1);
	while (l->n_classes <= class)
		labels_add_class(l, l->n_classes, NULL);
	l->label[sample].known = true;
	l->label[sample].class = class;
	return STATUS_OK;
}

bool labels_have_boxes(const struct labels *l)
{
	return l->kind == LABELS_BOXES || l->kind == LABELS_POSES || l->kind == LABELS_OUTLINES || l->kind == LABELS_ROTATED;
}

int labels_class_of_id(const struct labels *l, int id)
{
	int low = 0, high = l->n_classes;
	while (low < high) {
		int middle = (low + high) / 2;
		if (l->id[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->n_classes && l->id[low] == id ? low : -1;
}

// ---- reading

static enum status read_format(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	bool json = false;
	if (!path)
		return labels_read_folders(l, s, err);
	if (labels_refuse_file(path, s, err) != STATUS_OK)
		return err->status;
	if (s->values)
		return labels_read_values(l, path, s, err);
	if (file_is_dir(path) && labels_are_voc(path, s))
		return labels_read_voc(l, path, s, err);
	if (file_is_dir(path) && labels_are_named_lines(path, s))
		return labels_read_named_lines(l, path, s, err);
	if (file_is_dir(path) && labels_are_pictures(path, s)) {
		labels_read_pictures(l, path, s);
		return STATUS_OK;
	}
	if (file_is_dir(path))
		return labels_are_masks(path, s) ? labels_read_masks(l, path, s, err) : labels_read_yolo(l, path, s, err);
	if (str_has_suffix(path, ".jsonl"))
		return labels_read_lines(l, path, s, err);
	if (json_is_file(&json, path, err) != STATUS_OK)
		return err->status;
	if (json)
		return labels_read_coco(l, path, s, err);
	if (s->texts)
		return labels_read_texts(l, path, s, err);
	if (labels_are_faces(path))
		return labels_read_faces(l, path, s, err);
	return labels_are_box_list(path, s) ? labels_read_box_list(l, path, s, err) : labels_read_list(l, path, s, err);
}

static enum status refuse_strays(
    const struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	if (!l->stray || !s->n || !s->file[0])
		return error_set(err, STATUS_NOTFOUND, "%s has labels for none of the %d samples", path, s->n);
	return error_set(err, STATUS_NOTFOUND,
	    "%s has labels for none of the %d samples: it names %s, and the first sample is %s", path, s->n, l->stray,
	    file_base(s->file[0]));
}

static bool has_objects(const struct labels *l)
{
	for (int i = 0; i < l->n_samples; i++)
		if (l->label[i].n)
			return true;
	return false;
}

enum status labels_read(struct labels **out, const char *path, const struct labels_samples *s, struct error *err)
{
	struct labels *l = xcalloc(1, sizeof *l);
	l->n_samples = s->n;
	if (path)
		file_keep(path); // found beside the samples, it may be named by nobody
	l->label = xcalloc((size_t)s->n + 1, sizeof *l->label);
	enum status st = read_format(l, path, s, err);
	for (int i = 0; i < s->n; i++)
		l->n_known += l->label[i].known;
	if (st == STATUS_OK && l->n_known == 0)
		st = refuse_strays(l, path ? path : "folders", s, err);
	if (st == STATUS_OK && labels_have_boxes(l) && !has_objects(l))
		st = error_set(
		    err, STATUS_NOTFOUND, "%s has no object in any of the %d samples: there is nothing to measure", l->source, l->n_known);
	if (st == STATUS_OK && labels_have_boxes(l)) {
		labels_check(l, s);
		labels_fill_outlines(l, s);
		if (s->rotated)
			labels_fill_corners(l);
	}
	if (st != STATUS_OK)
		labels_free(&l);
	*out = l;
	return st;
}

// ---- the model's classes

// The position of a name, or of one that is only spelt otherwise ("storage-tank"); -1: it is not there.
static int find_name(char *const *at, int n, const char *name)
{
	for (int i = 0; name && i < n; i++)
		if (at[i] && strcmp(at[i], name) == 0)
			return i;
	for (int i = 0; name && i < n; i++)
		if (at[i] && names_alike(at[i], name))
			return i;
	return -1;
}

// Returns how many names are found; *moved: of these, at another number.
static int map_names(const struct labels *l, int *map, int n, const struct names *names, int *moved)
{
	int found = 0;
	*moved = 0;
	for (int i = 0; i < n; i++) {
		map[i] = i < names->n ? find_name(l->name, l->n_classes, names->at[i]) : -1;
		found += map[i] >= 0;
		*moved += map[i] >= 0 && map[i] != i;
	}
	return found;
}

// The labels' classes become those of the model; map: from one to the other. They have its numbers then, and `how` says why.
static void renumber(struct labels *l, const int *map, const struct names *names, const char *how)
{
	l->by_name = false;
	l->how = how;
	for (int i = 0; i < l->n_samples; i++)
		if (l->label[i].known)
			l->label[i].class = map[l->label[i].class];
	for (int i = 0; i < l->n_numbers; i++)
		l->class_of[i] = l->class_of[i] < 0 ? l->class_of[i] : map[l->class_of[i]];
	for (int i = 0; i < l->n_classes; i++)
		free(l->name[i]);
	l->n_classes = 0;
	for (int i = 0; i < names->n; i++)
		labels_add_class(l, i, names->at[i]);
}

enum status labels_number(struct labels *l, const struct names *names, struct error *err)
{
	int *map = xcalloc((size_t)l->n_classes + 1, sizeof *map), found = 0, moved = 0, unknown = 0;
	enum status st = STATUS_OK;
	for (int i = 0; i < l->n_classes; i++) {
		map[i] = find_name(names->at, names->n, l->name[i]);
		found += map[i] >= 0;
		moved += map[i] >= 0 && map[i] != i;
		unknown = map[i] < 0 ? i : unknown;
	}
	bool all = found && found == l->n_classes;
	if (all)
		renumber(l, map, names, "by name");
	else if (found && (moved || names->n != l->n_classes))
		st = error_set(err, STATUS_FORMAT, "%s: the model has no class %s", l->source, l->name[unknown]);
	free(map);
	return st;
}

bool labels_number_synsets(struct labels *l)
{
	char *name[IMAGENET_CLASSES] = {0};
	const struct names synsets = {.at = name, .n = IMAGENET_CLASSES};
	int *map = xcalloc((size_t)l->n_classes + 1, sizeof *map), found = 0;
	for (int i = 0; i < l->n_classes; i++) {
		map[i] = wnid_class(l->name[i]);
		found += map[i] >= 0;
	}
	bool all = found && found == l->n_classes;
	for (int i = 0; all && i < l->n_classes; i++)
		name[map[i]] = xstrdup(l->name[i]);
	if (all)
		renumber(l, map, &synsets, "by ImageNet's synsets");
	for (int i = 0; i < IMAGENET_CLASSES; i++)
		free(name[i]);
	free(map);
	return all;
}

// The 80 classes of COCO's detectors have ids 1..90: these ten are not used.
static const int coco_unused[] = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83};
enum { COCO_UNUSED = sizeof coco_unused / sizeof *coco_unused, COCO_IDS = COCO_CLASSES + COCO_UNUSED };

static int coco_id(int class)
{
	int id = class + 1;
	for (int i = 0; i < COCO_UNUSED; i++)
		id += id >= coco_unused[i];
	return id;
}

// Are the category ids COCO's, as far as ids can tell?
static bool has_coco_ids(const struct labels *l)
{
	for (int i = 0; i < COCO_UNUSED; i++)
		if (labels_class_of_id(l, coco_unused[i]) >= 0)
			return false;
	return l->n_classes && l->id[l->n_classes - 1] > COCO_CLASSES;
}

static int id_of_class(int class)
{
	return class;
}

static int id_after_class(int class)
{
	return class + 1;
}

// How a class of the model becomes a category id where neither names nor the number of classes agree with the labels.
static int (*id_rule(const struct labels *l, int n, const char **how))(int)
{
	*how = "are category ids";
	bool beyond = l->n_classes && l->id[l->n_classes - 1] >= n; // as ids these classes would leave out the last one
	if ((n >= COCO_IDS && !beyond) || (l->n_classes && l->id[0] == 0))
		return id_of_class;
	bool coco = n == COCO_CLASSES && has_coco_ids(l);
	*how = coco ? "80 to COCO's 90 category ids" : "are category ids less 1";
	return coco ? coco_id : id_after_class;
}

// By what is known of models that do not name their classes: all names of the labels have to be among these, or at least
// one where nothing but names can tell. As many categories are in order unless some of these names stand elsewhere.
static bool map_known(const struct labels *l, int *map, int n)
{
	struct names known;
	int moved;
	names_known(&known, n);
	int found = map_names(l, map, n, &known, &moved);
	names_done(&known);
	return found > 0 && (l->numbered || (found == l->n_classes && (moved || n != l->n_classes)));
}

// A detector that does not name its classes is taken for one of COCO's 80 where the labels look like some of these: ids with gaps
// alone do not say so.
static int likely_count(const struct labels *l, const struct names *names)
{
	int map[COCO_CLASSES];
	bool gaps = l->n_classes && l->id[l->n_classes - 1] > l->n_classes && l->n_classes < COCO_CLASSES;
	bool coco = gaps && (has_coco_ids(l) || map_known(l, map, COCO_CLASSES));
	return names->n ? names->n : coco ? COCO_CLASSES : l->n_classes;
}

// Of as many categories as the model has classes there are objects: the others, as a 0 that others have above theirs, are none
// of its classes. Returns false where there are fewer or more.
static bool map_used(const struct labels *l, int *map, int n)
{
	int found = 0;
	for (int i = 0; l->used && i < l->n_classes; i++) {
		if (!l->used[i])
			continue;
		if (found < n)
			map[found] = i;
		found++;
	}
	return found == n;
}

int *labels_map(const struct labels *l, int *n, const struct names *names, const char **how)
{
	int moved;
	*n = *n > 0 ? *n : likely_count(l, names);
	int *map = xcalloc((size_t)*n + 1, sizeof *map);
	bool ordered = *n == l->n_classes;
	*how = "by name";
	// The same number of classes, and no name elsewhere: names that are not found are only spelt otherwise.
	if (map_names(l, map, *n, names, &moved) > 0 && (moved || !ordered))
		return map;
	*how = "by the names that so many classes have";
	if (!names->n && map_known(l, map, *n))
		return map;
	*how = "in order of the categories that have objects";
	if (!ordered && map_used(l, map, *n))
		return map;
	*how = "are others than the labels'";
	for (int i = 0; i < *n; i++)
		map[i] = -1;
	if (l->numbered && !ordered)
		return map;
	*how = l->numbered ? "in order of their names" : "in order of the category ids";
	int (*rule)(int) = ordered ? NULL : id_rule(l, *n, how);
	for (int i = 0; i < *n; i++)
		map[i] = ordered ? i : labels_class_of_id(l, rule(i));
	return map;
}
