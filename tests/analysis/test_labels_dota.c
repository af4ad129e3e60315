// Labels as text files whose lines name their class: DOTA's and KITTI's.
#include "labels_case.h"

static const char *const files[] = {"images/a.npy", "images/b.npy", "images/c.npy"};

void test_labels_dota__corners_and_names(void **state)
{
	const char *dir = support_temp("dota");
	write_in(dir, "a.txt", "imagesource:GoogleEarth\r\ngsd:0.146\r\n"); // nothing is in the picture, and nothing told by it
	write_in(dir, "b.txt", "imagesource:GoogleEarth\ngsd:null\n"
	    "20.0 10.0 40.0 30.0 30.0 40.0 10.0 20.0 storage-tank 0\r\n"
	    "\n0 0 8 0 8 4 0 4 ship 1\n1 1 2 1 2 2 1 2 plane");
	for (int rotated = 0; rotated < 2; rotated++) {
		const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48, .rotated = rotated};
		struct error err = {0};
		struct labels *l;
		if (labels_read(&l, dir, &samples, &err))
			fail_msg("%s", err.text);
		assert_int_equal(l->kind, rotated ? LABELS_ROTATED : LABELS_BOXES);
		assert_int_equal(l->n_known, 2);
		assert_int_equal(l->n_classes, 3);
		assert_string_equal(l->name[0], "plane");
		assert_string_equal(l->name[1], "ship");
		assert_string_equal(l->name[2], "storage-tank");
		assert_int_equal(l->label[0].n, 0);
		assert_int_equal(l->label[1].n, 3);
		const struct coco_truth *t = l->label[1].truth;
		assert_int_equal(t[0].class, 2);
		assert_true(t[0].box.x == 10 && t[0].box.y == 10 && t[0].box.w == 30 && t[0].box.h == 30);
		assert_float_equal(t[0].area, rotated ? 400 : 900, 1e-3);
		assert_true(!t[0].crowd && t[1].crowd && !t[2].crowd);
		if (rotated)
			assert_true(t[0].point[1].x == 40 && t[0].point[1].y == 30);
		labels_free(&l);
	}
}

void test_labels_dota__what_is_none_is_refused(void **state)
{
	static const char *const first = "0 0 8 0 8 4 0 4 ship 0\n";
	static const struct {
		const char *line, *says;
	} rows[] = {
	    {"0 0 8 0 8 4 0 ship 0", "a.txt:2: a line is"},
	    {"0 0 8 0 8 4 0 4", "a.txt:2: a line is"},
	    {"0 0 8 0 8 4 0 4 5", "a.txt:2: a line is"},
	    {"0 0 8 0 8 4 0 nan ship 0", "a.txt:2: a line is"},
	    {"0 0 8 0 8 4 0 4 ship 0 more", "a.txt:2: a line is"},
	};
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = {0};
		struct labels *l;
		char text[128];
		const char *dir = support_temp("bad");
		snprintf(text, sizeof text, "%s%s\n", first, rows[i].line);
		write_in(dir, "a.txt", text);
		assert_int_equal(labels_read(&l, dir, &samples, &err), STATUS_FORMAT);
		assert_null(l);
		if (!strstr(err.text, rows[i].says))
			fail_msg("%s", err.text);
	}
}

// Lines of YOLO, also with four corners, are not taken for it.
void test_labels_dota__yolo_is_none(void **state)
{
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48, .rotated = true};
	const char *dir = support_temp("yolo");
	write_in(dir, "a.txt", "3 .1 .1 .4 .1 .4 .3 .1 .3\n");
	assert_false(labels_are_named_lines(dir, &samples));
	write_in(dir, "a.txt", "3 .1 .1 .4 .1\n");
	assert_false(labels_are_named_lines(dir, &samples));
	write_in(dir, "a.txt", "10 10 20 10 20 20 10 20 small-vehicle\n");
	assert_true(labels_are_named_lines(dir, &samples));
}

void test_labels_dota__are_found_beside_the_pictures(void **state)
{
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};
	const char *dir = support_temp("train");
	char *images = file_join(dir, "images"), *labels = file_join(dir, "labelTxt");
	write_in(images, "a.npy", "");
	write_in(labels, "a.txt", "0 0 8 0 8 4 0 4 ship 0\n");
	char *found = labels_find(images, LABELS_BOXES, &samples);
	assert_non_null(found);
	assert_string_equal(found, labels);
	free(found);
	free(images);
	free(labels);
}

void test_labels_kitti__names_and_boxes(void **state)
{
	const char *dir = support_temp("kitti");
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};
	struct error err = {0};
	struct labels *l = NULL;
	write_in(dir, "a.txt", "DontCare -1 -1 -10 3.00 4.00 9.00 9.00 -1 -1 -1 -1000 -1000 -1000 -10\n");
	write_in(dir, "b.txt", "Van 0.00 0 -1.57 10.50 20.00 30.00 40.25 1.5 1.6 3.9 1.0 1.7 46.7 -1.5\r\nCar 0 0 0 1 2 11 12\n\n"
	    "DontCare -1 -1 -10 3.00 4.00 9.00 9.00 -1 -1 -1 -1000 -1000 -1000 -10\nCar 0 0 0 1 2 3 4 0 0 0 0 0 0 0 0.97\n");
	if (labels_read(&l, dir, &samples, &err))
		fail_msg("%s", err.text);
	assert_true(l->numbered && l->n_known == 2 && l->n_classes == 2 && l->label[0].n == 0 && l->label[1].n == 3);
	assert_string_equal(l->name[0], "Car");
	const struct coco_truth *t = l->label[1].truth;
	assert_true(t[0].class == 1 && t[0].box.x == 10.5 && t[0].box.y == 20 && t[0].box.w == 19.5 && t[0].box.h == 20.25);
	assert_true(t[1].class == 0 && t[1].box.x == 1 && t[1].box.w == 10 && t[1].area == 100 && !t[1].crowd);
	assert_true(t[2].box.x == 1 && t[2].box.y == 2 && t[2].box.w == 2 && t[2].box.h == 2);
	labels_free(&l);
}

void test_labels_kitti__what_is_none_is_refused(void **state)
{
	static const char *const lines[] = {"Car 1 2 3 4", "Car 1 2 3 4 5 6", "Car 0 0 0 5 2 3 4", "Car 0 0 0 1 2 3 nan", "Car 0 0 0 1 2 3 4 more",
	    "Car"};
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char text[128];
		struct error err = {0};
		struct labels *l = NULL;
		const char *dir = support_temp("bad_kitti");
		snprintf(text, sizeof text, "Car 0 0 0 1 2 3 4\n%s\n", lines[i]);
		write_in(dir, "a.txt", text);
		assert_int_equal(labels_read(&l, dir, &samples, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "a.txt:2: a line is \"class truncated"));
	}
}

void test_labels_kitti__are_found(void **state)
{
	const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};
	const char *root = support_temp("training");
	char *images = file_join(root, "image_2"), *text = file_join(root, "label_2");
	write_in(images, "a.png", "");
	write_in(text, "a.txt", "Car 0 0 0 1 2 3 4\n");
	char *found = labels_find(images, LABELS_BOXES, &samples);
	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
	free(images);
	free(text);
}
