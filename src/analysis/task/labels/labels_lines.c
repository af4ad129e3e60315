// metadata.jsonl of Hugging Face: a line of JSON for each sample, {"file_name": "a.jpg", "label": 3}, or with boxes in pixels,
// {"file_name": "a.jpg", "objects": {"bbox": [[x, y, width, height], ...], "categories": [3, ...]}} ("category" also). Classes are
// numbers from 0, or all of them names.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "csv.h"
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"

#define LINES_FILE_MAX ((size_t)512 << 20)

struct lines {
	struct labels *l;
	struct sample_index *sample;
	struct named_file named;
	bool decided, by_name; // numbers or names: the first class tells
};

static const cJSON *member(const cJSON *of, const char *name, const char *or)
{
	const cJSON *j = cJSON_GetObjectItemCaseSensitive(of, name);
	return j ? j : cJSON_GetObjectItemCaseSensitive(of, or);
}

static bool read_class(struct lines *t, int *class, const cJSON *j)
{
	if (!t->decided)
		t->by_name = cJSON_IsString(j);
	t->decided = true;
	if (t->by_name)
		return cJSON_IsString(j) && (*class = labels_class_named(&t->named, j->valuestring)) >= 0;
	double v = cJSON_IsNumber(j) ? j->valuedouble : -1;
	if (!(v >= 0 && v < LABELS_CLASSES_MAX && v == floor(v)))
		return false;
	*class = (int)v;
	while (t->l->n_classes <= *class)
		labels_add_class(t->l, t->l->n_classes, NULL);
	return true;
}

static bool read_box(struct coco_truth *t, const cJSON *j)
{
	double v[4];
	for (int i = 0; i < 4; i++) {
		const cJSON *item = cJSON_GetArrayItem(j, i);
		v[i] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
	}
	*t = (struct coco_truth){.box = {v[0], v[1], v[2], v[3]}, .area = v[2] * v[3]};
	return cJSON_GetArraySize(j) == 4 && isfinite(v[0]) && isfinite(v[1]) && isfinite(t->area) && v[2] >= 0 && v[3] >= 0;
}

static enum status read_boxes(struct lines *t, int sample, const cJSON *objects, struct error *err)
{
	const cJSON *boxes = cJSON_GetObjectItemCaseSensitive(objects, "bbox"), *classes = member(objects, "categories", "category");
	const cJSON *class = cJSON_IsArray(classes) ? classes->child : NULL, *box;
	if (!cJSON_IsArray(boxes) || !cJSON_IsArray(classes) || cJSON_GetArraySize(boxes) != cJSON_GetArraySize(classes))
		return error_set(err, STATUS_FORMAT, "its objects have not as many categories as bbox");
	cJSON_ArrayForEach(box, boxes)
	{
		struct coco_truth truth;
		int number = 0;
		if (!read_box(&truth, box) || !read_class(t, &number, class))
			return error_set(err, STATUS_FORMAT, "a bbox is [x, y, width, height], and categories are numbers from 0, or all of them names");
		truth.class = number;
		if (sample >= 0 && labels_add_box(t->l, sample, &truth, err) != STATUS_OK)
			return err->status;
		class = class->next;
	}
	if (sample >= 0)
		t->l->label[sample].known = true;
	return STATUS_OK;
}

static enum status read_label(struct lines *t, int sample, const cJSON *label, const char *path, struct error *err)
{
	int class;
	if (!read_class(t, &class, label))
		return error_set(err, STATUS_FORMAT, "it has no label, which is a number from 0, or in all lines a name");
	if (sample < 0)
		return STATUS_OK;
	const struct label *before = &t->l->label[sample];
	if (!before->known || before->class == class)
		return labels_set_class(t->l, sample, class, path, err);
	return sample_index_tear(t->sample, sample) ? STATUS_OK : error_set(err, STATUS_FORMAT, "its sample has another label above");
}

static enum status read_line(struct lines *t, const char *text, size_t n, const char *path, int number, struct error *err)
{
	char where[32];
	cJSON *root = NULL;
	snprintf(where, sizeof where, "line %d", number);
	enum status st = json_parse(&root, text, n, where, err);
	if (st != STATUS_OK)
		return error_prefix(err, "%s", path);
	const char *file = json_text(root, "file_name", NULL);
	int sample = file ? labels_sample(t->l, t->sample, file) : -1;
	if (!file)
		st = error_set(err, STATUS_FORMAT, "it has no file_name");
	else if (t->l->kind == LABELS_BOXES)
		st = read_boxes(t, sample, cJSON_GetObjectItemCaseSensitive(root, "objects"), err);
	else
		st = read_label(t, sample, cJSON_GetObjectItemCaseSensitive(root, "label"), path, err);
	cJSON_Delete(root);
	return st == STATUS_OK ? st : error_prefix(err, "%s:%d", path, number);
}

// Has the first line that member? Then all are taken to be such.
static bool begins_with(const char *path, const char *name)
{
	char *line = csv_first(path);
	cJSON *root = line ? cJSON_Parse(line) : NULL;
	bool has = cJSON_GetObjectItemCaseSensitive(root, name);
	cJSON_Delete(root);
	free(line);
	return has;
}

bool labels_are_lines_of_boxes(const char *path, const struct labels_samples *s)
{
	(void)s;
	return begins_with(path, "objects");
}

bool labels_are_lines_of_classes(const char *path, const struct labels_samples *s)
{
	(void)s;
	return begins_with(path, "label");
}

enum status labels_read_lines(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct bytes b;
	struct lines t = {.l = l};
	l->kind = labels_are_lines_of_boxes(path, s) ? LABELS_BOXES : LABELS_CLASSES;
	l->source = xstrdup(path);
	enum status st = file_read_text(&b, path, LINES_FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	t.sample = sample_index_new(s);
	t.named = (struct named_file){.l = l, .s = s, .classes = namemap_new()};
	const char *text = (const char *)b.data;
	for (int number = 1; *text && st == STATUS_OK; number++) {
		size_t n = strcspn(text, "\n");
		if (strspn(text, " \t\r") < n)
			st = read_line(&t, text, n, path, number, err);
		text += n + (text[n] == '\n');
	}
	if (st == STATUS_OK)
		st = sample_index_check(t.sample, path, l->kind == LABELS_CLASSES, err);
	namemap_free(&t.named.classes);
	sample_index_free(&t.sample);
	bytes_done(&b);
	l->numbered = t.by_name && l->kind == LABELS_BOXES;
	l->by_name = t.by_name && l->kind == LABELS_CLASSES;
	if (t.by_name)
		labels_sort_classes(l);
	return st;
}
