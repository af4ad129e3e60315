// Labels with the outlines of objects, which become masks of their images.
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/labels/labels.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "support.h"

static const char *const files[] = {"x/a.npy", "x/b.npy"};

static struct labels_samples wanted(bool outlines)
{
	return (struct labels_samples){.file = files, .n = 2, .w = 64, .h = 48, .outlines = outlines};
}

static struct labels *read_as(const char *name, const char *text, bool outlines, struct error *err)
{
	struct labels *l;
	struct labels_samples s = wanted(outlines);
	*err = (struct error){0};
	return labels_read(&l, support_temp_file(name, text, strlen(text)), &s, err) == STATUS_OK ? l : NULL;
}

// A data set of two pictures with one annotation after the other, each with this segmentation.
static struct labels *read_coco(const char *segmentation, bool outlines, struct error *err)
{
	struct str s = {0};
	str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.npy\"}],\"categories\":[{\"id\":1}],\"annotations\":[{\"image_id\":1,"
	    "\"category_id\":1,\"bbox\":[4,5,10,20],\"area\":150%s%s}]}", *segmentation ? ",\"segmentation\":" : "", segmentation);
	struct labels *l = read_as("outlines.json", str_text(&s), outlines, err);
	str_done(&s);
	return l;
}

static const struct rle *only_mask(const struct labels *l)
{
	assert_int_equal(l->label[0].n, 1);
	return l->label[0].truth[0].mask;
}

void test_labels_outlines__coco(void **state)
{
	static const struct {
		const char *segmentation;
		int area; // -1: there are no outlines
	} rows[] = {
	    {"[[4,5,14,5,14,25,4,25]]", 200},
	    {"[4,5,14,5,14,25,4,25]", 200},                                 // one part alone
	    {"[[4,5,14,5,14,25,4,25],[10,5,20,5,20,25,10,25]]", 320},       // parts that overlap
	    {"[[4,5,14,5,14,25,4,25],[1,2,3,4]]", 200},                     // two corners have no inside
	    {"{\"size\":[48,64],\"counts\":[100,7,2965]}", 7},
	    {"{\"size\":[48,64],\"counts\":\"T37el2\"}", 7},
	    {"{\"size\":[48,64],\"counts\":\"T37:Kok2\"}", 9},             // 100, 7, 10, 2 and the rest
	    {"[]", -1},
	    {"null", -1},
	    {"[[1,2,3,4]]", -1},
	    {"", -1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err;
		struct labels *l = read_coco(rows[i].segmentation, true, &err);
		if (!l)
			fail_msg("%s: %s", rows[i].segmentation, err.text);
		assert_int_equal(l->kind, rows[i].area < 0 ? LABELS_BOXES : LABELS_OUTLINES);
		assert_true(labels_have_boxes(l));
		assert_int_equal(l->label[0].truth[0].area, 150);
		if (rows[i].area < 0)
			assert_null(only_mask(l));
		else
			assert_int_equal(rle_area(only_mask(l)), rows[i].area);
		labels_free(&l);
		l = read_coco(rows[i].segmentation, false, &err);
		assert_int_equal(l->kind, LABELS_BOXES);
		assert_null(only_mask(l));
		labels_free(&l);
	}
}

void test_labels_outlines__bad_coco_is_refused(void **state)
{
	static const struct {
		const char *segmentation, *says;
	} rows[] = {
	    {"5", "annotations[0]: its segmentation is neither outlines"},
	    {"[[1,2,3]]", "neither"},
	    {"[[1,2,3,4,5,\"x\"]]", "neither"},
	    {"[[1,2,3,4,5,1e999]]", "neither"},
	    {"[\"x\"]", "neither"},
	    {"{\"counts\":[3072]}", "neither"},
	    {"{\"size\":[48,64]}", "neither"},
	    {"{\"size\":[48,64],\"counts\":[1.5,3070.5]}", "neither"},
	    {"{\"size\":[48,64],\"counts\":[100]}", "neither"},
	    {"{\"size\":[48,64],\"counts\":\"zz\"}", "neither"},
	    {"{\"size\":[64,48],\"counts\":[3072]}", "its mask is 48x64, its image 64x48"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err;
		struct labels *l = read_coco(rows[i].segmentation, true, &err);
		if (l || !strstr(err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].segmentation, err.text);
	}
}

// One object has an outline: the box of the other is taken for it, which is said.
void test_labels_outlines__objects_without_one_have_their_box(void **state)
{
	struct error err;
	struct labels *l = read_as("some.json", "{\"images\":[{\"id\":1,\"file_name\":\"a.npy\"}],\"categories\":[{\"id\":1}],\"annotations\":["
	    "{\"image_id\":1,\"category_id\":1,\"bbox\":[4,5,10,20]},"
	    "{\"image_id\":1,\"category_id\":1,\"bbox\":[4,5,10,20],\"segmentation\":[[0,0,5,0,5,5]]}]}", true, &err);
	assert_non_null(l);
	assert_int_equal(l->kind, LABELS_OUTLINES);
	assert_int_equal(rle_area(l->label[0].truth[0].mask), 200);
	char said[512];
	log_line(support_log_count() - 1, said, sizeof said);
	assert_non_null(strstr(said, "1 of 2 objects of "));
	labels_free(&l);
}

// The masks of a huge picture, and an outline that goes to and fro, would take time and memory without end.
void test_labels_outlines__what_is_too_large_is_refused(void **state)
{
	static const double to_and_fro[3][2] = {{-1e9, 0}, {1e9, 0}, {-1e9, 1}};
	struct rle *mask = NULL;
	struct error err;
	assert_int_equal(labels_add_outline(&mask, RLE_SIDE_MAX + 1, 1, to_and_fro, 3, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too large for masks"));
	assert_int_equal(labels_add_outline(&mask, RLE_SIDE_MAX, 1, to_and_fro, 3, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "is longer than any"));
	rle_free(&mask);
	assert_int_equal(labels_add_outline(&mask, 10, 10, to_and_fro, 2, &err), STATUS_OK);
	assert_null(mask);
}

// Text files: fractions of the picture. The area is that of the mask.
void test_labels_outlines__yolo(void **state)
{
	struct error err = {0};
	struct labels *l;
	struct labels_samples s = wanted(true);
	static const char lines[] = "0 .125 .25 .25 .25 .25 .5 .125 .5\n0 .5 .5 .25 .25\n";
	const char *dir = support_temp("text");
	char *path = file_join(dir, "a.txt");
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(file_write(path, lines, strlen(lines), &err), STATUS_OK);
	free(path);
	if (labels_read(&l, dir, &s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l->kind, LABELS_OUTLINES);
	assert_int_equal(l->label[0].n, 2);
	assert_int_equal(rle_area(l->label[0].truth[0].mask), 8 * 12);
	assert_int_equal(l->label[0].truth[0].area, 8 * 12);
	assert_int_equal(l->label[0].truth[0].box.x, 8);
	assert_int_equal(rle_area(l->label[0].truth[1].mask), 16 * 12);
	labels_free(&l);
	s.outlines = false;
	assert_int_equal(labels_read(&l, dir, &s, &err), STATUS_OK);
	assert_int_equal(l->kind, LABELS_BOXES);
	assert_null(l->label[0].truth[0].mask);
	labels_free(&l);
}
