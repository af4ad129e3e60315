// COCO JSON: images, annotations, categories. Annotations of images that are no samples are passed over.
#include <math.h>
#include <stdlib.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"

static const double EXACT = 9007199254740992; // 2^53: whole numbers below are exact as a double

struct image_id {
	double id;
	int sample;
	const char *file; // as it is called there
	int w, h; // of the picture, once it was asked for; 0: not yet
};
struct reader {
	struct labels *l;
	const struct labels_samples *s;
	const char *path;
	struct image_id *image; // by rising id
	size_t n_images, cap;
};

static int by_id(const void *a, const void *b)
{
	double x = ((const struct image_id *)a)->id, y = ((const struct image_id *)b)->id;
	return (x > y) - (x < y);
}

static struct image_id *find_image(const struct reader *r, double id)
{
	struct image_id key = {.id = id};
	return r->n_images ? bsearch(&key, r->image, r->n_images, sizeof key, by_id) : NULL;
}

static enum status check_ids(const struct reader *r, struct error *err)
{
	for (size_t i = 1; i < r->n_images; i++) {
		const struct image_id *a = &r->image[i - 1], *b = &r->image[i];
		if (a->id == b->id && a->sample != b->sample)
			return error_set(err, STATUS_FORMAT, "%s: images %s and %s have both the id %.17g, so that no box is of one of them", r->path,
			    file_base(r->s->file[a->sample]), file_base(r->s->file[b->sample]), a->id);
	}
	return STATUS_OK;
}

// An image may have been taken for a sample before another one was seen that it is rather.
static void keep_claims(struct reader *r, const struct sample_index *sample)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->n_images; i++)
		if (sample_index_is_claim(sample, r->image[i].sample, r->image[i].file))
			r->image[kept++] = r->image[i];
	r->n_images = kept;
}

static enum status read_images(struct reader *r, const cJSON *images, const struct labels_samples *s, struct error *err)
{
	struct sample_index *sample = sample_index_new(s);
	const cJSON *image;
	enum status st = STATUS_OK;
	int n = 0;
	cJSON_ArrayForEach(image, images)
	{
		const char *file = json_text(image, "file_name", NULL);
		double id = json_number(image, "id", NAN);
		if (!file || isnan(id)) {
			st = error_set(err, STATUS_FORMAT, "%s: images[%d] has no file_name, or an id that is no number",
			    r->path, n);
			break;
		}
		int at = labels_sample(r->l, sample, file);
		n++;
		if (at < 0)
			continue;
		if (!(fabs(id) < EXACT)) { // others are no sample's: their annotations find none
			st = error_set(err, STATUS_FORMAT, "%s: image %s has the id %.17g: from 2^53 on ids are not exact, number the images from 1", r->path,
			    file, id);
			break;
		}
		r->image = xgrow(r->image, &r->cap, r->n_images + 1, sizeof *r->image);
		r->image[r->n_images++] = (struct image_id){.id = id, .sample = at, .file = file};
		r->l->label[at].known = true;
		r->l->label[at].w = json_number(image, "width", 0);
		r->l->label[at].h = json_number(image, "height", 0);
	}
	keep_claims(r, sample);
	if (st == STATUS_OK)
		st = sample_index_check(sample, r->path, false, err);
	sample_index_free(&sample);
	if (r->n_images)
		qsort(r->image, r->n_images, sizeof *r->image, by_id);
	return st == STATUS_OK ? check_ids(r, err) : st;
}

struct category {
	int id;
	const char *name;
};

static int by_category(const void *a, const void *b)
{
	int x = ((const struct category *)a)->id, y = ((const struct category *)b)->id;
	return (x > y) - (x < y);
}

static enum status read_category(struct category *out, const struct reader *r, const cJSON *j, struct error *err)
{
	double id = json_number(j, "id", NAN);
	if (!(id >= 0 && id <= INT32_MAX && id == floor(id)))
		return error_set(err, STATUS_FORMAT, "%s: a category whose id is no whole number", r->path);
	*out = (struct category){.id = (int)id, .name = json_text(j, "name", NULL)};
	return STATUS_OK;
}

// A model's class becomes the first category of its name.
static void warn_of_twins(const struct reader *r)
{
	const struct labels *l = r->l;
	struct namemap *seen = namemap_new();
	for (int i = 0; i < l->n_classes; i++) {
		int before = l->name[i] ? namemap_get(seen, l->name[i]) : -1;
		if (before >= 0)
			log_warn("%s: categories %d and %d are both called %s: where classes go by name, objects of the second count as missed; give them "
			         "one id", r->path, l->id[before], l->id[i], l->name[i]);
		else if (l->name[i])
			namemap_put(seen, l->name[i], i);
	}
	namemap_free(&seen);
}

static enum status read_categories(struct reader *r, const cJSON *categories, struct error *err)
{
	int n = cJSON_GetArraySize(categories), at = 0;
	const cJSON *j;
	enum status st = STATUS_OK;
	if (n < 1 || n > LABELS_CLASSES_MAX)
		return error_set(
		    err, STATUS_FORMAT, "%s: it needs 1 to %d categories, and has %d", r->path, LABELS_CLASSES_MAX, n);
	struct category *c = xcalloc((size_t)n, sizeof *c);
	cJSON_ArrayForEach(j, categories)
	{
		st = read_category(&c[at++], r, j, err);
		if (st != STATUS_OK)
			break;
	}
	qsort(c, (size_t)at, sizeof *c, by_category);
	for (int i = 0; st == STATUS_OK && i < at; i++)
		if (i == 0 || c[i].id != c[i - 1].id)
			labels_add_class(r->l, c[i].id, c[i].name);
	warn_of_twins(r);
	free(c);
	return st;
}

static bool read_box(struct coco_box *out, const cJSON *j)
{
	double v[4];
	int n = 0;
	const cJSON *item;
	cJSON_ArrayForEach(item, j)
	{
		if (n == 4 || !cJSON_IsNumber(item) || !isfinite(item->valuedouble))
			return false;
		v[n++] = item->valuedouble;
	}
	if (n != 4 || v[2] < 0 || v[3] < 0)
		return false;
	*out = (struct coco_box){v[0], v[1], v[2], v[3]};
	return true;
}

// "keypoints": x, y and visibility of each; a list without elements is none.
static enum status read_points(struct keypoint **out, struct reader *r, const cJSON *list, struct error *err)
{
	int n = cJSON_GetArraySize(list), at = 0;
	const cJSON *item;
	if (n == 0)
		return STATUS_OK;
	if (n % 3)
		return error_set(err, STATUS_FORMAT, "its keypoints are not [x, y, visibility] for each");
	if (labels_set_points(r->l, n / 3, err) != STATUS_OK)
		return err->status;
	struct keypoint *k = xcalloc((size_t)n / 3, sizeof *k);
	cJSON_ArrayForEach(item, list)
	{
		float *to = at % 3 == 0 ? &k[at / 3].x : at % 3 == 1 ? &k[at / 3].y : &k[at / 3].v;
		*to = cJSON_IsNumber(item) ? (float)item->valuedouble : NAN;
		if (!isfinite(*to)) {
			free(k);
			return error_set(err, STATUS_FORMAT, "keypoints[%d] is no number", at);
		}
		at++;
	}
	*out = k;
	return STATUS_OK;
}

static bool is_point(const cJSON *j, int n)
{
	return cJSON_IsNumber(j) && j->valuedouble >= 1 && j->valuedouble <= n;
}

// A category's "skeleton": pairs of keypoints, numbered from 1. One that is not whole is passed over: it is only drawn.
static void read_bones(struct skeleton *s, const cJSON *pairs)
{
	int n = cJSON_GetArraySize(pairs), used = 0;
	const cJSON *pair;
	if (!s->n || n == 0)
		return;
	int(*bone)[2] = xcalloc((size_t)n, sizeof *bone);
	cJSON_ArrayForEach(pair, pairs)
	{
		const cJSON *from = cJSON_GetArrayItem(pair, 0), *to = cJSON_GetArrayItem(pair, 1);
		if (!is_point(from, s->n) || !is_point(to, s->n))
			continue;
		bone[used][0] = (int)from->valuedouble - 1;
		bone[used++][1] = (int)to->valuedouble - 1;
	}
	free(s->bone);
	s->bone = bone;
	s->n_bones = used;
}

static void find_frame(const struct reader *r, struct image_id *image)
{
	const struct label *label = &r->l->label[image->sample];
	struct error ignored; // who loads the sample will tell
	if (labels_frame(&image->w, &image->h, r->s, image->sample, &ignored) == STATUS_OK)
		return;
	image->w = label->w > 0 && label->w <= RLE_SIDE_MAX ? (int)label->w : 0;
	image->h = label->h > 0 && label->h <= RLE_SIDE_MAX ? (int)label->h : 0;
}

static enum status read_mask(struct rle **mask, const struct reader *r, struct image_id *image, const cJSON *j, struct error *err)
{
	if (!r->s->outlines)
		return STATUS_OK;
	if (!image->w)
		find_frame(r, image);
	return labels_read_segmentation(mask, j, image->w, image->h, err);
}

// A rotated box is an outline of four corners, in a list of parts or not.
static void read_corners(struct coco_truth *t, const cJSON *outline)
{
	double corner[4][2] = {{0}};
	int n = 0;
	const cJSON *list = cJSON_GetArraySize(outline) == 1 ? outline->child : outline, *item;
	bool numbers = cJSON_IsArray(list) && cJSON_GetArraySize(list) == 8;
	cJSON_ArrayForEach(item, list)
	{
		numbers = numbers && cJSON_IsNumber(item) && isfinite(item->valuedouble);
		if (numbers)
			corner[n / 2][n % 2] = item->valuedouble;
		n++;
	}
	if (numbers)
		labels_take_corners(t, (const double(*)[2])corner);
}

static enum status read_annotation(struct reader *r, const cJSON *j, struct error *err)
{
	struct coco_truth t = {0};
	double image_id = json_number(j, "image_id", NAN), id = json_number(j, "category_id", NAN);
	if (isnan(image_id) || isnan(id))
		return error_set(err, STATUS_FORMAT, "its image_id or category_id is no number");
	struct image_id *image = find_image(r, image_id);
	if (!image)
		return STATUS_OK;
	t.class = id >= 0 && id <= INT32_MAX ? labels_class_of_id(r->l, (int)id) : -1;
	if (t.class < 0)
		return error_set(err, STATUS_FORMAT, "category %g is not among the categories", id);
	if (!read_box(&t.box, cJSON_GetObjectItemCaseSensitive(j, "bbox")))
		return error_set(err, STATUS_FORMAT, "its bbox is not [x, y, width, height]");
	const cJSON *crowd = cJSON_GetObjectItemCaseSensitive(j, "iscrowd");
	t.crowd = cJSON_IsTrue(crowd) || (cJSON_IsNumber(crowd) && crowd->valuedouble != 0);
	t.area = json_number(j, "area", t.box.w * t.box.h);
	if (r->s->rotated)
		read_corners(&t, cJSON_GetObjectItemCaseSensitive(j, "segmentation"));
	else if (read_points(&t.point, r, cJSON_GetObjectItemCaseSensitive(j, "keypoints"), err) != STATUS_OK)
		return err->status;
	if (read_mask(&t.mask, r, image, cJSON_GetObjectItemCaseSensitive(j, "segmentation"), err) != STATUS_OK) {
		free(t.point);
		return err->status;
	}
	return labels_add_box(r->l, image->sample, &t, err);
}

static void note_class(struct labels *l, const cJSON *annotation)
{
	double id = json_number(annotation, "category_id", NAN);
	int class = id >= 0 && id <= INT32_MAX ? labels_class_of_id(l, (int)id) : -1;
	if (class >= 0)
		l->used[class] = true;
}

static enum status read_annotations(struct reader *r, const cJSON *annotations, struct error *err)
{
	const cJSON *j;
	int n = 0;
	r->l->used = xcalloc((size_t)r->l->n_classes + 1, sizeof *r->l->used);
	cJSON_ArrayForEach(j, annotations)
	{
		note_class(r->l, j);
		enum status st = read_annotation(r, j, err);
		if (st != STATUS_OK)
			return error_prefix(err, "%s: annotations[%d]", r->path, n);
		n++;
	}
	return STATUS_OK;
}

enum status labels_read_coco(struct labels *l, const char *path, const struct labels_samples *s, struct error *err)
{
	struct reader r = {.l = l, .s = s, .path = path};
	cJSON *root = NULL;
	enum status st = json_read(&root, path, err);
	const cJSON *images = cJSON_GetObjectItemCaseSensitive(root, "images");
	const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(root, "annotations");
	const cJSON *categories = cJSON_GetObjectItemCaseSensitive(root, "categories"), *category;
	if (st == STATUS_OK && (!cJSON_IsArray(images) || !cJSON_IsArray(annotations)))
		st = labels_refuse_json(root, path, err);
	if (st == STATUS_OK)
		st = read_images(&r, images, s, err);
	if (st == STATUS_OK)
		st = read_categories(&r, categories, err);
	l->kind = LABELS_BOXES;
	if (st == STATUS_OK)
		st = read_annotations(&r, annotations, err);
	cJSON_ArrayForEach(category, categories)
		read_bones(&l->skeleton, cJSON_GetObjectItemCaseSensitive(category, "skeleton"));
	l->source = xstrdup(path);
	cJSON_Delete(root);
	free(r.image);
	return st;
}
