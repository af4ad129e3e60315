// Labels as Pascal VOC's XML files.
#include "labels_case.h"
#include "qtui/base/mem.h"

static const char *const files[] = {"x/a.npy", "x/b.npy", "x/c.npy"};
static const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};

#define BOX "<bndbox><xmin>11</xmin><ymin>6</ymin><xmax>20</xmax><ymax>40.0</ymax></bndbox>"

void test_labels_voc__boxes_from_one_with_names_in_order(void **state)
{
	struct error err = {0};
	struct labels *l;
	const char *dir = support_temp("voc");
	write_in(dir, "b.xml", "<?xml version=\"1.0\"?>\n<annotation><folder>f</folder><filename>elsewhere.jpg</filename>"
	    "<size><width>64</width><height>48</height></size>"
	    "<object><name> person </name><difficult>0</difficult>" BOX
	    "<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part></object>"
	    "<object><name>cat</name><pose/>" BOX "</object></annotation>");
	write_in(dir, "c.xml", "<annotation><object><difficult>1</difficult><name>bird &amp; co</name>" BOX "</object></annotation>");
	if (labels_read(&l, dir, &samples, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l->kind, LABELS_BOXES);
	assert_int_equal(l->n_known, 2);
	assert_int_equal(l->n_classes, 3);
	assert_string_equal(l->name[0], "bird & co");
	assert_string_equal(l->name[1], "cat");
	assert_string_equal(l->name[2], "person");
	assert_int_equal(l->id[2], 2);
	assert_int_equal(l->label[1].n, 2);
	const struct coco_truth *t = l->label[1].truth;
	assert_int_equal(t[0].class, 2);
	assert_int_equal(t[1].class, 1);
	assert_true(t[0].box.x == 10 && t[0].box.y == 5 && t[0].box.w == 10 && t[0].box.h == 35);
	assert_true(t[0].area == 350 && !t[0].crowd);
	assert_true(l->label[2].truth[0].crowd);
	labels_free(&l);
}

void test_labels_voc__what_is_no_voc_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
	    {"", "no element found"},
	    {"<annotation>", "no element found"},
	    {"<annotation><object></annotation>", "a.xml:1: mismatched tag"},
	    {"<annotation><object>" BOX "</object></annotation>", "a name, and a bndbox"},
	    {"<annotation>\n<object><name>a</name></object></annotation>", "a.xml:2: an object has a name, and a bndbox"},
	    {"<annotation><object><name>a</name><bndbox><xmin>x</xmin></bndbox></object></annotation>", "a number is needed"},
	    {"<annotation><object><name>a</name><bndbox><xmin>5</xmin><ymin>5</ymin><xmax>4</xmax><ymax>9</ymax></bndbox></object></annotation>",
	        "ends before it begins"},
	    {"<!DOCTYPE a [<!ENTITY b \"cccc\">]><annotation>&b;</annotation>", "a document type"},
	    {"<a><b><c><d><e><f><g><h><i/></h></g></f></e></d></c></b></a>", "too deep"},
	};
	const char *dir = support_temp("bad");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = {0};
		struct labels *l;
		write_in(dir, "a.xml", rows[i].text);
		if (labels_read(&l, dir, &samples, &err) == STATUS_OK || !strstr(err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].text, err.text);
	}
	char name[512];
	memset(name, 'n', 400);
	strcpy(name + 400, "</name>" BOX "</object></annotation>");
	struct error err = {0};
	struct labels *l;
	char *text = xcalloc(1, 1024);
	strcat(strcat(text, "<annotation><object><name>"), name);
	write_in(dir, "a.xml", text);
	assert_int_not_equal(labels_read(&l, dir, &samples, &err), STATUS_OK);
	assert_non_null(strstr(err.text, "too long"));
	free(text);
}

// As VOC has them, beside the pictures (labelImg), and text beside the pictures (Darknet), which may be captions instead.
void test_labels_voc__are_found(void **state)
{
	static const char *const dirs[][2] = {
	    {"JPEGImages", "Annotations"}, {"images", "annotations"}, {"pictures", "Annotations"}, {"pictures", "pictures"}};
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		char set[64], at[64];
		snprintf(set, sizeof set, "set%zu/%s", i, dirs[i][0]);
		snprintf(at, sizeof at, "set%zu/%s", i, dirs[i][1]);
		char *data = xstrdup(support_temp(set)), *labels = xstrdup(support_temp(at));
		write_in(data, "readme", "");
		assert_null(labels_find(data, LABELS_BOXES, &samples));
		write_in(labels, "b.xml", "<annotation/>");
		char *found = labels_find(data, LABELS_BOXES, &samples);
		assert_non_null(found);
		assert_string_equal(found, labels);
		free(found);
		free(data);
		free(labels);
	}
	char *data = xstrdup(support_temp("darknet"));
	write_in(data, "b.txt", "a cat on a mat");
	assert_null(labels_find(data, LABELS_BOXES, &samples));
	write_in(data, "b.txt", "0 .5 .5 .1 .1\n");
	char *found = labels_find(data, LABELS_BOXES, &samples);
	assert_string_equal(found, data);
	free(found);
	free(data);
}
