// "segmentation" of COCO's annotations: outlines of an object's parts, or runs of its pixels.
#include <math.h>
#include <stdlib.h>
#include <cjson/cJSON.h>
#include "labels.h"
#include "qtui/base/mem.h"

static enum status no_mask(struct error *err)
{
	return error_set(err, STATUS_FORMAT, "its segmentation is neither outlines [x, y, x, y, ...] nor runs of the image's pixels");
}

static enum status read_outline(struct rle **mask, int w, int h, const cJSON *list, struct error *err)
{
	int n = cJSON_GetArraySize(list), at = 0;
	const cJSON *item;
	if (!cJSON_IsArray(list) || n % 2)
		return no_mask(err);
	double(*corner)[2] = xcalloc((size_t)n / 2 + 1, sizeof *corner);
	enum status st = STATUS_OK;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
			st = no_mask(err);
		else
			corner[at / 2][at % 2] = item->valuedouble;
		at++;
	}
	if (st == STATUS_OK)
		st = labels_add_outline(mask, w, h, (const double(*)[2])corner, n / 2, err);
	free(corner);
	return st;
}

static bool read_counts(struct rle *m, const cJSON *list)
{
	uint32_t *run = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *run);
	const cJSON *item;
	int n = 0;
	bool whole = true;
	cJSON_ArrayForEach(item, list)
	{
		double v = cJSON_IsNumber(item) ? item->valuedouble : -1;
		whole = whole && v >= 0 && v <= RLE_PIXELS_MAX && v == floor(v);
		run[n++] = whole ? (uint32_t)v : 0;
	}
	whole = whole && rle_runs(m, run, n);
	free(run);
	return whole;
}

// {"size": [h, w], "counts": [..] or "text"}
static enum status read_runs(struct rle **mask, int w, int h, const cJSON *j, struct error *err)
{
	const cJSON *size = cJSON_GetObjectItemCaseSensitive(j, "size"), *counts = cJSON_GetObjectItemCaseSensitive(j, "counts");
	const cJSON *high = cJSON_GetArrayItem(size, 0), *wide = cJSON_GetArrayItem(size, 1);
	if (!cJSON_IsNumber(high) || !cJSON_IsNumber(wide))
		return no_mask(err);
	if (wide->valuedouble != w || high->valuedouble != h)
		return error_set(err, STATUS_FORMAT, "its mask is %gx%g, its image %dx%d", wide->valuedouble, high->valuedouble, w, h);
	struct rle one = {.w = w, .h = h};
	bool fits = rle_fits(w, h) && (cJSON_IsString(counts) ? rle_text(&one, counts->valuestring) : read_counts(&one, counts));
	if (fits)
		*mask = rle_copy(&one);
	rle_done(&one);
	return fits ? STATUS_OK : no_mask(err);
}

enum status labels_read_segmentation(struct rle **mask, const cJSON *j, int w, int h, struct error *err)
{
	const cJSON *item;
	enum status st = STATUS_OK;
	if (!j || cJSON_IsNull(j))
		return STATUS_OK;
	if (cJSON_IsObject(j))
		st = read_runs(mask, w, h, j, err);
	else if (!cJSON_IsArray(j))
		st = no_mask(err);
	else if (cJSON_IsNumber(j->child))
		st = read_outline(mask, w, h, j, err); // one part, not in a list of parts
	else
		cJSON_ArrayForEach(item, j)
			st = st == STATUS_OK ? read_outline(mask, w, h, item, err) : st;
	if (st != STATUS_OK)
		rle_free(mask);
	return st;
}
