// Labels as a directory of YOLO's text files: boxes, outlines, keypoints.
#include <math.h>
#include "labels_case.h"

static const char *yolo_dir(const char *name, const char *a)
{
	struct error err;
	const char *dir = support_temp(name);
	char *path = file_join(dir, "a.txt");
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(file_write(path, a, strlen(a), &err), STATUS_OK);
	free(path);
	return dir;
}

static const char *const arrays[] = {"x/a.npy", "x/b.npy"};
static const struct labels_samples array_samples = {.file = arrays, .n = 2, .w = 64, .h = 48};

void test_labels_yolo__boxes_and_outlines(void **state)
{
	struct labels *l = read_ok(yolo_dir("yolo", "2 0.5 0.5 0.25 0.5\r\n\n 0 0 0 1 0 1 1 0 1\n"), &array_samples);
	assert_int_equal(l->n_classes, 3);
	assert_int_equal(l->n_known, 2); // no file: no objects
	assert_int_equal(l->label[0].n, 2);
	const struct coco_truth *t = l->label[0].truth;
	assert_int_equal(t[0].class, 2);
	assert_true(
	    t[0].box.x == 24 && t[0].box.y == 12 && t[0].box.w == 16 && t[0].box.h == 24 && t[0].area == 16 * 24);
	assert_true(t[1].box.x == 0 && t[1].box.w == 64 && t[1].box.h == 48); // an outline
	labels_free(&l);
	l = read_ok(yolo_dir("inside", "0 .25 .5 .75 .5 .5 1\n"), &array_samples);
	t = l->label[0].truth;
	assert_true(t[0].box.x == 16 && t[0].box.y == 24 && t[0].box.w == 32 && t[0].box.h == 24 && t[0].area == 32 * 24);
	labels_free(&l);
}

void test_labels_yolo__takes_the_size_from_the_picture(void **state)
{
	const char *dir = support_data("coco/labels"), *picture = support_data("coco/images/000000000009.jpg");
	if (!dir || !picture)
		skip();
	struct labels_samples s = {.file = &picture, .n = 1};
	struct labels *l = read_ok(dir, &s);
	assert_int_equal(l->label[0].truth[0].class, 45);
	assert_true(fabs(l->label[0].truth[0].box.w - .955609 * 640) < .01);
	labels_free(&l);
}

void test_labels_yolo__bad_files_are_refused(void **state)
{
	static const char *const bad[] = {"1 0.5 0.5 0.5", "x 0 0 1 1", "-1 0 0 1 1", "1.5 0 0 1 1", "99999 0 0 1 1",
	    "1 0 0 nan 1", "1 0 0 -1 1", "1 0 0 1 1 0", "1 0 0 1 0 1 1 0", "1 1e308 0 1e308 1e308"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct labels *l;
		struct error err;
		assert_int_equal(labels_read(&l, yolo_dir("bad", bad[i]), &array_samples, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "a.txt:1"));
	}
	struct labels *none;
	struct error err;
	assert_int_equal(labels_read(&none, yolo_dir("bare", "\n"), &array_samples, &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, "has no object in any of the 2 samples"));
	struct labels *l = read_ok(yolo_dir("mark", "\xef\xbb\xbf" "2 .5 .5 .5 .5\n"), &array_samples);
	assert_int_equal(l->label[0].n, 1); // Windows' Notepad begins with a mark
	labels_free(&l);
	read_bad(yolo_dir("other", "0 0 0 1 1") /* a.txt is there, but so is no a.jpg */, &three, "");
}

void test_labels_yolo__damaged_files_are_read_or_refused(void **state)
{
	struct support_random r = {6};
	static const char text[] = "2 0.5 0.5 0.25 0.5\n0 0 0 1 0 1 1 0 1\n";
	for (int i = 0; i < 400; i++) {
		char copy[sizeof text];
		struct labels *l;
		struct error err = {0};
		memcpy(copy, text, sizeof text);
		copy[support_random_int(&r, 0, sizeof text - 2)] = "-.e9 \nx\t"[support_random_int(&r, 0, 7)];
		enum status st = labels_read(&l, yolo_dir("damaged", copy), &array_samples, &err);
		assert_true(st == STATUS_OK || (err.text[0] && !l));
		labels_free(&l);
	}
}

void test_labels_yolo__with_keypoints(void **state)
{
	struct labels_samples s = {.file = arrays, .n = 2, .w = 64, .h = 48};
	// An even number of numbers is no outline.
	struct labels *l = read_ok(yolo_dir("even", "0 .5 .5 .25 .5 .25 .5 2 0 0 0 .5 1 1\n0 .5 .5 .25 .5\n"), &s);
	assert_int_equal(l->kind, LABELS_POSES);
	assert_int_equal(l->skeleton.n, 3);
	const struct coco_truth *t = l->label[0].truth;
	assert_true(t[0].point[0].x == 16 && t[0].point[0].y == 24 && t[0].point[0].v == 2 && t[0].point[2].y == 48);
	assert_true(fabs(t[0].area - .53 * 16 * 24) < 1e-9);
	assert_true(t[1].area == 16 * 24 && !t[1].point);
	labels_free(&l);
	// An odd one is, but where the model says what its objects have.
	l = read_ok(yolo_dir("odd", "0 .5 .5 .25 .5 .25 .5 -.1 .5\n"), &s);
	assert_int_equal(l->kind, LABELS_BOXES);
	labels_free(&l);
	s.points = s.dims = 2;
	l = read_ok(yolo_dir("odd", "0 .5 .5 .25 .5 .25 .5 -.1 .5\n"), &s);
	assert_int_equal(l->skeleton.n, 2);
	assert_true(l->label[0].truth[0].point[0].v == 1 && l->label[0].truth[0].point[1].v == 0); // beside the image
	labels_free(&l);
	s.points = 0;
	struct error err;
	assert_int_equal(labels_read(&l, yolo_dir("bad", "0 .5 .5 .25 .5 .25 .5 2 0 0 0 .5 1 3\n"), &s, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "a.txt:1: a line is \"class cx cy w h\""));
}
