// Labels as a file in COCO's format: boxes, keypoints, ids, sizes; and damaged files of it and of lists.
#include "labels_case.h"
#include "../engine/data_case.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define CATEGORIES "\"categories\":[{\"id\":7,\"name\":\"dog\"},{\"id\":3,\"name\":\"cat\"}]"

void test_labels__coco(void **state)
{
	struct labels *l = read_ok(
	    write_text("l.json",
	        "{\"images\":[{\"id\":10,\"file_name\":\"val/b.jpg\"},{\"id\":11,\"file_name\":\"z.jpg\"}],"
	        "\"annotations\":[{\"image_id\":10,\"category_id\":7,\"bbox\":[1,2,30,40],\"area\":500,\"iscrowd\":0},"
	        "{\"image_id\":11,\"category_id\":7,\"bbox\":[1,2,30,40]},"
	        "{\"image_id\":10,\"category_id\":3,\"bbox\":[5,6,7,8],\"iscrowd\":1}]," CATEGORIES "}"),
	    &three);
	assert_int_equal(l->kind, LABELS_BOXES);
	assert_int_equal(l->n_known, 1);
	assert_int_equal(l->n_classes, 2);
	assert_int_equal(l->id[0], 3);
	assert_string_equal(l->name[0], "cat");
	assert_true(!l->label[0].known && l->label[1].known);
	assert_int_equal(l->label[1].n, 2);
	const struct coco_truth *t = l->label[1].truth;
	assert_true(t[0].class == 1 && t[0].area == 500 && t[0].box.h == 40 && !t[0].crowd);
	assert_true(t[1].class == 0 && t[1].area == 56 && t[1].crowd);
	assert_int_equal(labels_class_of_id(l, 7), 1);
	assert_int_equal(labels_class_of_id(l, 5), -1);
	labels_free(&l);
}

// A category that is there twice is one class.
void test_labels__coco_with_a_category_twice(void **state)
{
	(void)state;
	struct labels *l = read_ok(write_text("twice.json", "{\"images\":[{\"id\":10,\"file_name\":\"b.jpg\"}],"
	    "\"annotations\":[{\"image_id\":10,\"category_id\":7,\"bbox\":[1,2,30,40]}],"
	    "\"categories\":[{\"id\":3,\"name\":\"cat\"},{\"id\":7,\"name\":\"dog\"},{\"id\":3,\"name\":\"cat\"}]}"), &three);
	assert_int_equal(l->n_classes, 2);
	assert_int_equal(l->label[1].truth[0].class, 1);
	labels_free(&l);
}

void test_labels__bad_coco_is_refused(void **state)
{
	read_bad(write_text("1.json", "{\"images\":[]}"), &three, "not in COCO's format");
	read_bad(write_text("2.json", "[1,2"), &three, "2.json");
	read_bad(
	    write_text("3.json", "{\"images\":[{\"id\":1}],\"annotations\":[]," CATEGORIES "}"), &three, "images[0] has no file_name");
	read_bad(
	    write_text("4.json", "{\"images\":[{\"id\":1,\"file_name\":\"q.jpg\"}],\"annotations\":[]," CATEGORIES "}"), &three,
	    "none of the 3");
	read_bad(write_text("5.json",
	             "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[],\"categories\":[]}"), &three,
	    "categories");
	read_bad(
	    write_text("6.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":4,"
	        "\"bbox\":[0,0,1,1]}]," CATEGORIES "}"), &three,
	    "6.json: annotations[0]: category 4");
	read_bad(
	    write_text("7.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":3,"
	        "\"bbox\":[0,0,1e999,1]}]," CATEGORIES "}"), &three,
	    "");
	read_bad(
	    write_text("8.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":3,"
	        "\"bbox\":[0,0,-1,1]}]," CATEGORIES "}"), &three,
	    "bbox");
	read_bad(
	    write_text("9.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[],\"categories\":[{\"id\":1e30}]}"), &three,
	    "no whole number");
	read_bad("nowhere/at/all.json", &three, "nowhere/at/all.json");
}

void test_labels__more_boxes_than_an_image_can_hold(void **state)
{
	struct str s = {0};
	str_add(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}]," CATEGORIES ",\"annotations\":[");
	for (int i = 0; i <= LABELS_BOXES_MAX; i++)
		str_addf(&s, "%s{\"image_id\":1,\"category_id\":3,\"bbox\":[0,0,1,1]}", i ? "," : "");
	str_add(&s, "]}");
	read_bad(write_text("many.json", str_text(&s)), &three, "more than");
	str_done(&s);
}

static const char *annotation_file(const char *name, const char *image, const char *annotation)
{
	struct str s = {0};
	str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"images\\\\%s\"%s}],\"annotations\":[{%s}]," CATEGORIES "}",
	    "b.png", image, annotation);
	const char *path = write_text(name, str_text(&s));
	str_done(&s);
	return path;
}

// A text where a number is due would leave every object out, and nothing would be said.
void test_labels__an_id_is_a_number(void **state)
{
	read_bad(annotation_file("1.json", "", "\"image_id\":\"1\",\"category_id\":3,\"bbox\":[0,0,1,1]"), &three, "no number");
	read_bad(annotation_file("2.json", "", "\"image_id\":1,\"bbox\":[0,0,1,1]"), &three, "no number");
}

static int warnings(const char *says)
{
	char text[512];
	int n = 0;
	for (int i = 0; i < support_log_count(); i++)
		n += log_line(i, text, sizeof text) >= 0 && strstr(text, says);
	return n;
}

// A picture of 20 x 10 pixels, in a set that was labelled on Windows.
void test_labels__boxes_of_another_picture_are_warned_of(void **state)
{
	static const struct {
		const char *image, *box, *says;
	} rows[] = {
	    {",\"width\":20,\"height\":10", "[0,0,20.5,10]", NULL},
	    {",\"width\":0,\"height\":0", "[1,1,2,2]", NULL},
	    {",\"width\":40,\"height\":20", "[1,1,2,2]", "another size of 1 of 1"},
	    {"", "[10,5,20,10]", "1 of 1 boxes"}, // corners
	};
	const char *picture = case_png("b.png", 20, 10);
	const struct labels_samples one = {.file = &picture, .n = 1};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char annotation[128];
		int all = warnings(""), of_it = rows[i].says ? warnings(rows[i].says) : 0;
		snprintf(annotation, sizeof annotation, "\"image_id\":1,\"category_id\":3,\"bbox\":%s", rows[i].box);
		struct labels *l = read_ok(annotation_file("size.json", rows[i].image, annotation), &one);
		assert_int_equal(l->label[0].n, 1);
		labels_free(&l);
		assert_int_equal(warnings(""), all + (rows[i].says != NULL));
		assert_int_equal(rows[i].says ? warnings(rows[i].says) : 1, of_it + 1);
	}
}

// Arrays are as large as the network's input, whatever was labelled.
void test_labels__boxes_of_the_pictures_that_arrays_were_made_of(void **state)
{
	static const char *const array = "x/b.npy";
	const struct labels_samples one = {.file = &array, .n = 1, .w = 20, .h = 10};
	for (int other = 0; other < 2; other++) {
		const char *size = other ? ",\"width\":40,\"height\":20" : ",\"width\":20,\"height\":10";
		struct str s = {0};
		str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"b.npy\"%s}],\"annotations\":[{%s}]," CATEGORIES "}", size,
		    "\"image_id\":1,\"category_id\":3,\"bbox\":[1,1,8,8]");
		int before = warnings("another size of 1 of 1 samples (first: x/b.npy, which has 20 x 10)");
		struct labels *l = read_ok(write_text("arrays.json", str_text(&s)), &one);
		assert_int_equal(warnings("another size of 1 of 1 samples (first: x/b.npy, which has 20 x 10)"), before + other);
		labels_free(&l);
		str_done(&s);
	}
}

static void read_damaged(const char *name, const char *text, struct support_random *r)
{
	static const char bytes[] = "{}[],:\"-0919eE. \n\t\0\xffxn";
	size_t n = strlen(text);
	char *copy = xmalloc(n + 1);
	memcpy(copy, text, n + 1);
	for (int k = support_random_int(r, 1, 4); k > 0; k--)
		copy[support_random_int(r, 0, (int)n - 1)] = bytes[support_random_int(r, 0, (int)sizeof bytes - 2)];
	struct labels *l;
	struct error err = {0};
	enum status st =
	    labels_read(&l, support_temp_file(name, copy, n - (size_t)support_random_int(r, 0, 9)), &three, &err);
	assert_true(st == STATUS_OK ? l->n_known > 0 : err.text[0] && !l);
	labels_free(&l);
	free(copy);
}

void test_labels__damaged_files_are_read_or_refused(void **state)
{
	struct support_random r = {5};
	for (int i = 0; i < 400; i++) {
		read_damaged("damaged.json",
		    "{\"images\":[{\"id\":10,\"file_name\":\"b.jpg\"}],\"annotations\":[{\"image_id\":10,"
		    "\"category_id\":7,\"bbox\":[1,2,30,40]}]," CATEGORIES "}",
		    &r);
		read_damaged("damaged.csv", "file,class_index\na.jpg,5\nb.jpg,0\nc.jpg,17\n", &r);
	}
}

#define IMAGE "{\"images\":[{\"id\":1,\"file_name\":\"b.jpg\"}],\"annotations\":["
#define PERSON "{\"image_id\":1,\"category_id\":1,\"bbox\":[1,2,30,40]"

void test_labels__coco_with_keypoints(void **state)
{
	struct labels *l = read_ok(write_text("poses.json", IMAGE PERSON ",\"area\":500,\"keypoints\":[5,6,2,0,0,0,7,8,1]},"
	    PERSON ",\"keypoints\":[]}],\"categories\":[{\"id\":1,\"name\":\"person\",\"skeleton\":[[1,3],[3,9],[2,3]]}]}"), &three);
	assert_int_equal(l->kind, LABELS_POSES);
	assert_int_equal(l->skeleton.n, 3);
	const struct coco_truth *t = l->label[1].truth;
	assert_true(t[0].area == 500 && t[0].point[0].y == 6 && t[0].point[2].v == 1 && t[0].point[1].v == 0);
	assert_null(t[1].point);
	assert_int_equal(l->skeleton.n_bones, 2); // there is no ninth
	assert_true(l->skeleton.bone[1][0] == 1 && l->skeleton.bone[1][1] == 2);
	labels_free(&l);
#define CATEGORY "],\"categories\":[{\"id\":1}]}"
	read_bad(write_text("four.json", IMAGE PERSON ",\"keypoints\":[5,6,2,1]}" CATEGORY), &three, "[x, y, visibility]");
	read_bad(write_text("text.json", IMAGE PERSON ",\"keypoints\":[5,\"6\",2]}" CATEGORY), &three, "keypoints[1] is no number");
	read_bad(write_text("two.json", IMAGE PERSON ",\"keypoints\":[5,6,2]}," PERSON ",\"keypoints\":[5,6,2,7,8,1]}" CATEGORY), &three,
	    "it has 2 keypoints, and an object before it 1");
}
