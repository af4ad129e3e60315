// The classes of samples: lists of files, and folders that are named after them.
#include "labels_case.h"

void test_labels_list__columns_and_numbers(void **state)
{
	static const char *const texts[] = {
	    "file,class_index,wnid,name\na.jpg,5,n01,x\n\"d/b.jpg\",0,n02,y\nq.jpg,1,n03,z\n", "a.jpg 5\nb.jpg 0\n",
	    "name;wnid;label\r\na.jpg;n01;5\r\nb.jpg;n02;0\r\n", "a.jpg\t5\n\nb.jpg\t0",
	    ("\xef\xbb\xbf" "a.jpg;5\nC:\\set\\b.jpg;0\n")};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct labels *l = read_ok(write_text("l.csv", texts[i]), &three);
		assert_int_equal(l->kind, LABELS_CLASSES);
		assert_int_equal(l->n_known, 2);
		assert_int_equal(l->label[0].class, 5);
		assert_true(l->label[1].known && l->label[1].class == 0);
		labels_free(&l);
	}
	struct labels *named = read_ok(write_text("named.csv", texts[0]), &three);
	assert_string_equal(named->name[5], "x");
	assert_string_equal(named->name[0], "y");
	assert_true(!named->name[1] && !named->by_name); // numbers say which classes are meant, whatever their names
	labels_free(&named);
	read_bad(write_text("1.csv", "a.jpg,5\nb.jpg,x\n"), &three, "1.csv:2");
	read_bad(write_text("2.csv", "a.jpg,5\nb.jpg,-1\n"), &three, "2.csv:2");
	read_bad(write_text("3.csv", "a.jpg,5\nb.jpg,1000000000\n"), &three, "3.csv:2");
	read_bad(write_text("4.csv", "a.jpg,5\nb.jpg\n"), &three, "4.csv:2");
	read_bad(write_text("5.csv", ""), &three, "none of the 3");
	read_bad(write_text("6.csv", "d,5\ne,1\n"), &three, "it names d, and the first sample is a.jpg");
	read_bad(write_text("7.csv", "a.jpg,5\na.jpg,5\na.jpg,4\n"), &three, "7.csv:3: a.jpg has class 5 above and 4 here");
	read_bad(support_temp_file("9.csv", "a,1\n\0", 5), &three, "9.csv holds no labels");
	read_bad(support_temp_file("8.csv", "\xff\xfe" "a\0", 4), &three, "save it as UTF-8");
}

// Names are classes in their order, as folders are, whether a heading is there or not; samples of others take part in it.
void test_labels_list__may_name_classes(void **state)
{
	static const char *const texts[] = {"file,label\na.jpg,zebra\nb.jpg,ant\nq.jpg,bee\n", "a.jpg,zebra\nb.jpg,ant\nq.jpg,bee\n",
	    "idx;path;label\n7;a.jpg;zebra\n8;b.jpg;ant\n9;q.jpg;bee\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct labels *l = read_ok(write_text("words.csv", texts[i]), &three);
		assert_true(l->n_known == 2 && l->n_classes == 3 && l->by_name);
		assert_true(l->label[0].class == 2 && l->label[1].class == 0);
		assert_string_equal(l->name[0], "ant");
		assert_string_equal(l->name[2], "zebra");
		labels_free(&l);
	}
	struct labels *l = read_ok(write_text("quoted.csv", "a.jpg,\"cat, large\"\n\"b.jpg\",\"dog\"\n"), &three);
	assert_string_equal(l->name[l->label[0].class], "cat, large");
	labels_free(&l);
	read_bad(write_text("twice.csv", "a.jpg,cat\nb.jpg,dog\na.jpg,dog\n"), &three, "twice.csv:3: a.jpg has class cat above and dog here");
	read_bad(write_text("none.csv", "a.jpg,cat\nb.jpg,\n"), &three, "none.csv:2");
}

// A column for each class, as Roboflow writes them; where a line has two classes, or none, they are none of these.
void test_labels_list__may_have_a_column_for_each_class(void **state)
{
	static const struct {
		const char *text;
		int a, b; // classes; a below 0: the second column is the class
	} rows[] = {{"filename, zebra, ant, bee\na.jpg, 0, 0, 1\nb.jpg,1,0,0\n\n", 2, 0}, {"zebra,ant,image\n0,1,a.jpg\r\n1.0,0.0,b.jpg\r\n", 1, 0},
	    {"file,c0,c1,c2\na.jpg,0,1,1\nb.jpg,1,0,0\n", -1, 1}, {"file,c0,c1,c2\na.jpg,0,1,0\nb.jpg,2,0,0\n", -1, 2},
	    {"file,label,c1,c2\na.jpg,0,1,0\nb.jpg,1,0,0\n", -1, 1}, {"file,c0\na.jpg,0\nb.jpg,1\n", -1, 1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct labels *l = read_ok(write_text("flags.csv", rows[i].text), &three);
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
void test_labels_list__one_name_in_several_folders(void **state)
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
void test_labels_list__ids_have_no_ending(void **state)
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

void test_labels_list__folders(void **state)
{
	static const char *const words[] = {"v/dog/1.jpg", "v/cat/1.jpg", "v/dog/2.jpg"}, *const numbers[] = {
	                                                                                      "v/12/1.jpg", "v/3/1.jpg",
	                                                                                      "v/12/2.jpg"};
	struct labels_samples s = {.file = words, .n = 3};
	struct labels *l = read_ok(NULL, &s);
	assert_true(labels_are_folders(&s) && !labels_are_folders(&three));
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
void test_labels_list__folders_have_the_models_numbers(void **state)
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
