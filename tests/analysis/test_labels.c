// Labels: the formats, what is beside a data set, the mapping of classes, and files that mean no good.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/labels/labels.h"
#include "../engine/data_case.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "support.h"

static const char *const files[] = {"x/a.jpg", "x/b.jpg", "x/c.jpg"};
static const struct labels_samples samples = {.file = files, .n = 3, .w = 64, .h = 48};

static const char *write_text(const char *name, const char *text)
{
	return support_temp_file(name, text, strlen(text));
}

static struct labels *read_ok(const char *path, const struct labels_samples *s)
{
	struct labels *l;
	struct error err = {0};
	if (labels_read(&l, path, s, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

static void read_bad(const char *path, const char *says)
{
	struct labels *l;
	struct error err = {0};
	assert_int_not_equal(labels_read(&l, path, &samples, &err), STATUS_OK);
	assert_null(l);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

// ---- COCO

#define CATEGORIES "\"categories\":[{\"id\":7,\"name\":\"dog\"},{\"id\":3,\"name\":\"cat\"}]"

void test_labels__coco(void **state)
{
	struct labels *l = read_ok(
	    write_text("l.json",
	        "{\"images\":[{\"id\":10,\"file_name\":\"val/b.jpg\"},{\"id\":11,\"file_name\":\"z.jpg\"}],"
	        "\"annotations\":[{\"image_id\":10,\"category_id\":7,\"bbox\":[1,2,30,40],\"area\":500,\"iscrowd\":0},"
	        "{\"image_id\":11,\"category_id\":7,\"bbox\":[1,2,30,40]},"
	        "{\"image_id\":10,\"category_id\":3,\"bbox\":[5,6,7,8],\"iscrowd\":1}]," CATEGORIES "}"),
	    &samples);
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
	    "\"categories\":[{\"id\":3,\"name\":\"cat\"},{\"id\":7,\"name\":\"dog\"},{\"id\":3,\"name\":\"cat\"}]}"), &samples);
	assert_int_equal(l->n_classes, 2);
	assert_int_equal(l->label[1].truth[0].class, 1);
	labels_free(&l);
}

void test_labels__bad_coco_is_refused(void **state)
{
	read_bad(write_text("1.json", "{\"images\":[]}"), "not in COCO's format");
	read_bad(write_text("2.json", "[1,2"), "2.json");
	read_bad(
	    write_text("3.json", "{\"images\":[{\"id\":1}],\"annotations\":[]," CATEGORIES "}"), "images[0] has no file_name");
	read_bad(
	    write_text("4.json", "{\"images\":[{\"id\":1,\"file_name\":\"q.jpg\"}],\"annotations\":[]," CATEGORIES "}"),
	    "none of the 3");
	read_bad(write_text("5.json",
	             "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[],\"categories\":[]}"),
	    "categories");
	read_bad(
	    write_text("6.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":4,"
	        "\"bbox\":[0,0,1,1]}]," CATEGORIES "}"),
	    "6.json: annotations[0]: category 4");
	read_bad(
	    write_text("7.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":3,"
	        "\"bbox\":[0,0,1e999,1]}]," CATEGORIES "}"),
	    "");
	read_bad(
	    write_text("8.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":1,\"category_id\":3,"
	        "\"bbox\":[0,0,-1,1]}]," CATEGORIES "}"),
	    "bbox");
	read_bad(
	    write_text("9.json",
	        "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"annotations\":[],\"categories\":[{\"id\":1e30}]}"),
	    "no whole number");
	read_bad("nowhere/at/all.json", "nowhere/at/all.json");
}

void test_labels__more_boxes_than_an_image_can_hold(void **state)
{
	struct str s = {0};
	str_add(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}]," CATEGORIES ",\"annotations\":[");
	for (int i = 0; i <= LABELS_BOXES_MAX; i++)
		str_addf(&s, "%s{\"image_id\":1,\"category_id\":3,\"bbox\":[0,0,1,1]}", i ? "," : "");
	str_add(&s, "]}");
	read_bad(write_text("many.json", str_text(&s)), "more than");
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
	read_bad(annotation_file("1.json", "", "\"image_id\":\"1\",\"category_id\":3,\"bbox\":[0,0,1,1]"), "no number");
	read_bad(annotation_file("2.json", "", "\"image_id\":1,\"bbox\":[0,0,1,1]"), "no number");
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

// ---- YOLO

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

void test_labels__yolo(void **state)
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

void test_labels__yolo_takes_the_size_from_the_picture(void **state)
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

void test_labels__bad_yolo_is_refused(void **state)
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
	read_bad(yolo_dir("other", "0 0 0 1 1") /* a.txt is there, but so is no a.jpg */, "");
}

// ---- lists and folders

void test_labels__lists(void **state)
{
	static const char *const texts[] = {
	    "file,class_index,wnid,name\na.jpg,5,n01,x\n\"d/b.jpg\",0,n02,y\nq.jpg,1,n03,z\n", "a.jpg 5\nb.jpg 0\n",
	    "name;wnid;label\r\na.jpg;n01;5\r\nb.jpg;n02;0\r\n", "a.jpg\t5\n\nb.jpg\t0",
	    ("\xef\xbb\xbf" "a.jpg;5\nC:\\set\\b.jpg;0\n")};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct labels *l = read_ok(write_text("l.csv", texts[i]), &samples);
		assert_int_equal(l->kind, LABELS_CLASSES);
		assert_int_equal(l->n_known, 2);
		assert_int_equal(l->label[0].class, 5);
		assert_true(l->label[1].known && l->label[1].class == 0);
		labels_free(&l);
	}
	struct labels *named = read_ok(write_text("named.csv", texts[0]), &samples);
	assert_string_equal(named->name[5], "x");
	assert_string_equal(named->name[0], "y");
	assert_true(!named->name[1] && !named->by_name); // numbers say which classes are meant, whatever their names
	labels_free(&named);
	read_bad(write_text("1.csv", "a.jpg,5\nb.jpg,x\n"), "1.csv:2");
	read_bad(write_text("2.csv", "a.jpg,5\nb.jpg,-1\n"), "2.csv:2");
	read_bad(write_text("3.csv", "a.jpg,5\nb.jpg,1000000000\n"), "3.csv:2");
	read_bad(write_text("4.csv", "a.jpg,5\nb.jpg\n"), "4.csv:2");
	read_bad(write_text("5.csv", ""), "none of the 3");
	read_bad(write_text("6.csv", "d,5\ne,1\n"), "it names d, and the first sample is a.jpg");
	read_bad(write_text("7.csv", "a.jpg,5\na.jpg,5\na.jpg,4\n"), "7.csv:3: a.jpg has class 5 above and 4 here");
	read_bad(support_temp_file("9.csv", "a,1\n\0", 5), "9.csv holds no labels");
	read_bad(support_temp_file("8.csv", "\xff\xfe" "a\0", 4), "save it as UTF-8");
}

// Names are classes in their order, as folders are, whether a heading is there or not; samples of others take part in it.
void test_labels__lists_may_name_classes(void **state)
{
	static const char *const texts[] = {"file,label\na.jpg,zebra\nb.jpg,ant\nq.jpg,bee\n", "a.jpg,zebra\nb.jpg,ant\nq.jpg,bee\n",
	    "idx;path;label\n7;a.jpg;zebra\n8;b.jpg;ant\n9;q.jpg;bee\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct labels *l = read_ok(write_text("words.csv", texts[i]), &samples);
		assert_true(l->n_known == 2 && l->n_classes == 3 && l->by_name);
		assert_true(l->label[0].class == 2 && l->label[1].class == 0);
		assert_string_equal(l->name[0], "ant");
		assert_string_equal(l->name[2], "zebra");
		labels_free(&l);
	}
	struct labels *l = read_ok(write_text("quoted.csv", "a.jpg,\"cat, large\"\n\"b.jpg\",\"dog\"\n"), &samples);
	assert_string_equal(l->name[l->label[0].class], "cat, large");
	labels_free(&l);
	read_bad(write_text("twice.csv", "a.jpg,cat\nb.jpg,dog\na.jpg,dog\n"), "twice.csv:3: a.jpg has class cat above and dog here");
	read_bad(write_text("none.csv", "a.jpg,cat\nb.jpg,\n"), "none.csv:2");
}

// A column for each class, as Roboflow writes them; where a line has two classes, or none, they are none of these.
void test_labels__lists_may_have_a_column_for_each_class(void **state)
{
	static const struct {
		const char *text;
		int a, b; // classes; a below 0: the second column is the class
	} rows[] = {{"filename, zebra, ant, bee\na.jpg, 0, 0, 1\nb.jpg,1,0,0\n\n", 2, 0}, {"zebra,ant,image\n0,1,a.jpg\r\n1.0,0.0,b.jpg\r\n", 1, 0},
	    {"file,c0,c1,c2\na.jpg,0,1,1\nb.jpg,1,0,0\n", -1, 1}, {"file,c0,c1,c2\na.jpg,0,1,0\nb.jpg,2,0,0\n", -1, 2},
	    {"file,label,c1,c2\na.jpg,0,1,0\nb.jpg,1,0,0\n", -1, 1}, {"file,c0\na.jpg,0\nb.jpg,1\n", -1, 1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct labels *l = read_ok(write_text("flags.csv", rows[i].text), &samples);
		bool flags = rows[i].a >= 0;
		assert_int_equal(l->label[0].class, flags ? rows[i].a : 0);
		assert_int_equal(l->label[1].class, rows[i].b);
		assert_int_equal(l->by_name, flags);
		if (flags) {
			struct names names;
			struct error err;
			assert_string_equal(l->how, "in order of the columns");
			names_parse(&names, "['ant', 'bee', 'wasp', 'zebra']");
			assert_int_equal(labels_number(l, &names, &err), STATUS_OK);
			assert_string_equal(l->how, "by name");
			assert_int_equal(l->label[0].class, i == 0 ? 1 : 0);
			assert_int_equal(l->label[1].class, 3);
			names_done(&names);
		}
		labels_free(&l);
	}
}

// Names that are used again in every folder are told apart by the folders.
void test_labels__one_name_in_several_folders(void **state)
{
	static const char *const alike[] = {"set/cat/1.jpg", "set/bobcat/1.jpg", "set/dog/1.jpg"};
	const struct labels_samples s = {.file = alike, .n = 3};
	struct labels *l = read_ok(write_text("alike.csv", "bobcat\\1.jpg,6\ncat/1.jpg,5\nbird/1.jpg,9\n/x/set/dog/1.jpg,7\n"), &s);
	for (int i = 0; i < 3; i++)
		assert_true(l->label[i].known && l->label[i].class == 5 + i);
	assert_string_equal(l->stray, "bird/1.jpg");
	labels_free(&l);
}

// An id is a name without its ending: of one sample, not of several.
void test_labels__ids_have_no_ending(void **state)
{
	static const char *const named[] = {"x/1.a.jpg", "x/2.jpg", "x/3.jpg", "x/3.png", "y/4.jpg", "z/4.jpg"};
	const struct labels_samples s = {.file = named, .n = 6};
	struct labels *l = read_ok(write_text("ids.csv", "id,label\n1.a,7\n1,9\ntrain/2,8\n3,5\n3.png,6\n4,1\n"), &s);
	static const int class[] = {7, 8, -1, 6, -1, -1};
	for (int i = 0; i < 6; i++) {
		assert_int_equal(l->label[i].known, class[i] >= 0);
		assert_true(class[i] < 0 || l->label[i].class == class[i]);
	}
	labels_free(&l);
}

void test_labels__folders(void **state)
{
	static const char *const words[] = {"v/dog/1.jpg", "v/cat/1.jpg", "v/dog/2.jpg"}, *const numbers[] = {
	                                                                                      "v/12/1.jpg", "v/3/1.jpg",
	                                                                                      "v/12/2.jpg"};
	struct labels_samples s = {.file = words, .n = 3};
	struct labels *l = read_ok(NULL, &s);
	assert_true(labels_are_folders(&s) && !labels_are_folders(&samples));
	assert_int_equal(l->n_classes, 2);
	assert_string_equal(l->name[0], "cat");
	assert_true(l->label[0].class == 1 && l->label[1].class == 0 && l->label[2].class == 1);
	labels_free(&l);
	s.file = numbers;
	l = read_ok(NULL, &s);
	assert_true(l->label[0].class == 12 && l->label[1].class == 3);
	labels_free(&l);
}

// A folder that is missing may not move those behind it to other classes.
void test_labels__folders_have_the_models_numbers(void **state)
{
	static const struct {
		const char *names;
		enum status status;
		int dog, cat;
	} rows[] = {
	    {"['bird', 'cat', 'dog']", STATUS_OK, 2, 1},
	    {"['dog', 'cat']", STATUS_OK, 0, 1},
	    {"['chat', 'chien']", STATUS_OK, 1, 0}, // spelt otherwise
	    {"['cat', 'hound']", STATUS_OK, 1, 0},
	    {"['bird', 'cat', 'hound']", STATUS_FORMAT, 0, 0},
	    {"", STATUS_OK, 1, 0},
	};
	static const char *const words[] = {"v/dog/1.jpg", "v/cat/1.jpg"};
	const struct labels_samples s = {.file = words, .n = 2};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct labels *l = read_ok(NULL, &s);
		struct names names;
		struct error err = {0};
		names_parse(&names, rows[i].names);
		assert_int_equal(labels_number(l, &names, &err), rows[i].status);
		if (rows[i].status == STATUS_OK) {
			assert_int_equal(l->label[0].class, rows[i].dog);
			assert_int_equal(l->label[1].class, rows[i].cat);
		} else {
			assert_non_null(strstr(err.text, "the model has no class dog"));
		}
		names_done(&names);
		labels_free(&l);
	}
}

// ---- beside a data set

static void touch(const char *path)
{
	struct error err;
	char *dir = file_dir(path);
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	assert_int_equal(file_write(path, "", 0, &err), STATUS_OK);
	free(dir);
}

static void finds(const char *dataset, enum labels_kind kind, const char *path)
{
	char *found = labels_find(dataset, kind, &samples);
	if (path)
		assert_string_equal(found, path);
	else
		assert_null(found);
	free(found);
}

void test_labels__are_found_beside_the_data(void **state)
{
	static const char session[] = "{\n\t\"qtui_session\":\t1}";
	char root[256];
	snprintf(root, sizeof root, "%s", support_temp("found"));
	struct str images = {0}, text = {0}, json = {0}, csv = {0};
	str_addf(&images, "%s/images/val", root);
	str_addf(&text, "%s/labels/val/a.txt", root);
	str_addf(&json, "%s/images/val.json", root);
	str_addf(&csv, "%s/images/val/labels.csv", root);
	finds(str_text(&images), LABELS_BOXES, NULL);
	touch(str_text(&text));
	text.text[text.len - strlen("/a.txt")] = '\0';
	finds(str_text(&images), LABELS_BOXES, text.text);
	touch(str_text(&json));
	assert_int_equal(file_write(str_text(&json), session, strlen(session), &(struct error){0}), STATUS_OK);
	finds(str_text(&images), LABELS_BOXES, text.text); // it has the name of the samples, too
	touch(str_text(&json));
	finds(str_text(&images), LABELS_BOXES, json.text);
	finds(str_text(&images), LABELS_CLASSES, NULL);
	touch(str_text(&csv));
	str_add(&images, "//");
	finds(str_text(&images), LABELS_CLASSES, csv.text);
	str_done(&images);
	str_done(&text);
	str_done(&json);
	str_done(&csv);
}

// ---- the model's classes

static struct labels *classes(int n, const int *id, const char *const *name)
{
	struct labels *l = xcalloc(1, sizeof *l);
	for (int i = 0; i < n; i++)
		labels_add_class(l, id[i], name ? name[i] : NULL);
	return l;
}

static void maps(struct labels *l, int n, const char *names_text, int class, int to)
{
	struct names names;
	const char *how;
	names_parse(&names, names_text);
	int *map = labels_map(l, &n, &names, &how);
	assert_true(class < n);
	assert_int_equal(map[class], to);
	free(map);
	names_done(&names);
}

void test_labels__classes_are_mapped_by_name_number_or_id(void **state)
{
	static const int ids[] = {1, 18, 90}, dense[] = {0, 1, 2}, from_one[] = {1, 2};
	static const char *const names[] = {"person", "dog", "toothbrush"};
	struct labels *l = classes(3, ids, names);
	maps(l, 80, "{0: 'person', 16: 'dog', 79: \"toothbrush\"}", 16, 1);
	maps(l, 80, NULL, 0, 0); // COCO's 80 classes are 90 ids
	maps(l, 80, NULL, 16, 1);
	maps(l, 80, NULL, 79, 2);
	maps(l, 80, NULL, 1, -1);
	maps(l, 91, NULL, 18, 1); // class numbers are ids
	maps(l, 3, NULL, 2, 2);   // as many classes: in order
	maps(l, 3, "['toothbrush', 'dog', 'person']", 0, 2);
	maps(l, 3, "['person', 'hound', 'brush']", 1, 1);
	maps(l, 0, NULL, 79, 2); // nothing known of the model
	labels_free(&l);
	static const int others[] = {1, 12, 85};
	l = classes(3, others, NULL);
	maps(l, 80, NULL, 11, 1); // COCO has no 12
	maps(l, 80, NULL, 79, -1);
	labels_free(&l);
	l = classes(3, dense, NULL);
	maps(l, 80, NULL, 2, 2);
	maps(l, 80, NULL, 3, -1);
	labels_free(&l);
	l = classes(2, from_one, NULL);
	maps(l, 4, NULL, 0, 0);
	maps(l, 4, NULL, 3, -1);
	labels_free(&l);
}

void test_labels__classes_that_are_spelt_otherwise(void **state)
{
	static const int ids[] = {1, 2, 3};
	static const char *const names[] = {"storage-tank", "Storage_Tanks", "ship"};
	struct labels *l = classes(3, ids, names);
	maps(l, 4, "['ship', 'plane', 'storage tank', 'storagetanks']", 0, 2);
	maps(l, 4, "['ship', 'plane', 'storage tank', 'storagetanks']", 1, -1);
	maps(l, 4, "['ship', 'plane', 'storage tank', 'storagetanks']", 2, 0);
	maps(l, 4, "['ship', 'plane', 'storage tank', 'storagetanks']", 3, 1);
	maps(l, 4, "['ship', 'storage', 'tank', 'storage-tank ships']", 1, -1);
	maps(l, 4, "['ship', 'storage', 'tank', 'storage-tank ships']", 3, -1);
	labels_free(&l);
}

// Of a model that does not name its classes the number tells, where the labels' names are what so many classes are called.
void test_labels__classes_are_mapped_by_names_that_are_known(void **state)
{
	static const int dense[] = {0, 1, 2};
	static const char *const coco[] = {"bicycle", "person", "toothbrush"}, *const voc[] = {"aeroplane", "person", "tvmonitor"},
	                         *const mixed[] = {"bicycle", "wombat", "zebra"};
	for (int numbered = 0; numbered < 2; numbered++) {
		struct labels *l = classes(3, dense, coco);
		l->numbered = numbered;
		maps(l, 80, NULL, 0, 1);
		maps(l, 80, NULL, 1, 0);
		maps(l, 80, NULL, 79, 2);
		maps(l, 80, NULL, 2, -1);
		maps(l, 3, NULL, 2, 2);
		labels_free(&l);
		l = classes(3, dense, voc);
		l->numbered = numbered;
		maps(l, 20, NULL, 14, 1);
		maps(l, 20, NULL, 19, 2);
		labels_free(&l);
		l = classes(3, dense, mixed); // numbers of the labels themselves mean something, ours do not
		l->numbered = numbered;
		maps(l, 80, NULL, 0, numbered ? -1 : 0);
		maps(l, 80, NULL, 1, numbered ? 0 : 1);
		maps(l, 80, NULL, 22, numbered ? 2 : -1);
		maps(l, 7, NULL, 0, numbered ? -1 : 0);
		labels_free(&l);
	}
}

// As many classes in the order of their names are not in the model's order, where that is known.
void test_labels__numbers_by_names_are_no_order(void **state)
{
	static const int dense[20] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
	static const char *const voc[20] = {"tvmonitor", "train", "sofa", "sheep", "pottedplant", "person", "motorbike", "horse", "dog",
	    "diningtable", "cow", "chair", "cat", "car", "bus", "bottle", "boat", "bird", "bicycle", "aeroplane"};
	struct labels *l = classes(20, dense, voc);
	for (int numbered = 0; numbered < 2; numbered++) {
		l->numbered = numbered;
		maps(l, 20, NULL, 0, 19);
		maps(l, 20, NULL, 14, 5);
	}
	labels_free(&l);
}

// So are as many categories with ids, if all their names are known: COCO's as a tool that sorts them writes them.
void test_labels__categories_in_another_order_than_is_known(void **state)
{
	static int ids[80];
	const char *name[80];
	struct names coco;
	names_known(&coco, 80);
	for (int turned = 0; turned < 2; turned++) {
		for (int i = 0; i < 80; i++) {
			ids[i] = i + 1;
			name[i] = coco.at[turned ? 79 - i : i];
		}
		struct labels *l = classes(80, ids, name);
		maps(l, 80, NULL, 0, turned ? 79 : 0);
		maps(l, 80, NULL, 16, turned ? 63 : 16);
		labels_free(&l);
		name[3] = "wombat"; // others of their own: their order is what is left
		l = classes(80, ids, name);
		maps(l, 80, NULL, 0, 0);
		labels_free(&l);
	}
	names_done(&coco);
}

void test_labels__names_in_metadata(void **state)
{
	static const char *const bad[] = {
	    "", "person", "{0: 'a'", "{0 'a'}", "{-1: 'a'}", "{99999999: 'a'}", "{0: a}", "['a", "[[[[", "{0: 'a\\"};
	struct names n;
	names_parse(&n, "{1: \"it's\", 0: 'a\\'b'}");
	assert_int_equal(n.n, 2);
	assert_string_equal(n.at[0], "a'b");
	assert_string_equal(n.at[1], "it's");
	names_done(&n);
	names_parse(&n, "['a', 'b',]");
	assert_int_equal(n.n, 2);
	names_done(&n);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		names_parse(&n, bad[i]);
		names_done(&n);
	}
	names_parse(&n, NULL);
	assert_int_equal(n.n, 0);
}

// ---- damaged files

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
	    labels_read(&l, support_temp_file(name, copy, n - (size_t)support_random_int(r, 0, 9)), &samples, &err);
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

void test_labels__damaged_yolo_files_are_read_or_refused(void **state)
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

// ---- keypoints

#define IMAGE "{\"images\":[{\"id\":1,\"file_name\":\"b.jpg\"}],\"annotations\":["
#define PERSON "{\"image_id\":1,\"category_id\":1,\"bbox\":[1,2,30,40]"

void test_labels__coco_with_keypoints(void **state)
{
	struct labels *l = read_ok(write_text("poses.json", IMAGE PERSON ",\"area\":500,\"keypoints\":[5,6,2,0,0,0,7,8,1]},"
	    PERSON ",\"keypoints\":[]}],\"categories\":[{\"id\":1,\"name\":\"person\",\"skeleton\":[[1,3],[3,9],[2,3]]}]}"), &samples);
	assert_int_equal(l->kind, LABELS_POSES);
	assert_int_equal(l->skeleton.n, 3);
	const struct coco_truth *t = l->label[1].truth;
	assert_true(t[0].area == 500 && t[0].point[0].y == 6 && t[0].point[2].v == 1 && t[0].point[1].v == 0);
	assert_null(t[1].point);
	assert_int_equal(l->skeleton.n_bones, 2); // there is no ninth
	assert_true(l->skeleton.bone[1][0] == 1 && l->skeleton.bone[1][1] == 2);
	labels_free(&l);
#define CATEGORY "],\"categories\":[{\"id\":1}]}"
	read_bad(write_text("four.json", IMAGE PERSON ",\"keypoints\":[5,6,2,1]}" CATEGORY), "[x, y, visibility]");
	read_bad(write_text("text.json", IMAGE PERSON ",\"keypoints\":[5,\"6\",2]}" CATEGORY), "keypoints[1] is no number");
	read_bad(write_text("two.json", IMAGE PERSON ",\"keypoints\":[5,6,2]}," PERSON ",\"keypoints\":[5,6,2,7,8,1]}" CATEGORY),
	    "it has 2 keypoints, and an object before it 1");
}

void test_labels__yolo_with_keypoints(void **state)
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

// COCO's own directories: train2017 beside annotations/, or in images/ beside it; and what CVAT and Roboflow make of them.
void test_labels__annotations_lie_as_coco_has_them(void **state)
{
	static const struct {
		const char *dataset, *file;
		enum labels_kind kind;
	} rows[] = {{"val2017", "annotations/person_keypoints_val2017.json", LABELS_POSES},
	    {"val2017/", "annotations/instances_val2017.json", LABELS_BOXES},
	    {"images/val2017", "annotations/instances_val2017.json", LABELS_BOXES},
	    {"images/val2017", "annotations/person_keypoints_val2017.json", LABELS_POSES},
	    {"images", "annotations/instances_default.json", LABELS_BOXES},
	    {"valid", "valid/_annotations.coco.json", LABELS_BOXES}};
	const struct labels_samples s = {.file = arrays, .n = 2};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str root = {0};
		struct error err;
		str_addf(&root, "%s%d", support_temp("coco"), (int)i);
		char *file = file_join(str_text(&root), rows[i].file), *dir = file_dir(file),
		     *data = file_join(str_text(&root), rows[i].dataset);
		assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
		assert_int_equal(file_mkdirs(data, &err), STATUS_OK);
		assert_int_equal(file_write(file, "{}", 2, &err), STATUS_OK);
		char *found = labels_find(data, rows[i].kind, &s);
		assert_non_null(found);
		assert_string_equal(found, file);
		assert_null(labels_find(data, LABELS_CLASSES, &s));
		str_done(&root);
		free(found);
		free(file);
		free(dir);
		free(data);
	}
}
