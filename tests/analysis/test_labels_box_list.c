// A CSV with a line for each box, and lists that lie where others' tools put them.
#include "labels_case.h"
#include "qtui/base/mem.h"

static char *const files[] = {"x/a.npy", "x/b.npy", "x/c.npy"};
static const struct labels_samples samples = {.file = (const char *const *)files, .n = 3, .w = 100, .h = 50};

static void check(const char *text, const char *first, const char *second, double x, double y, double w, double h)
{
	struct error err = {0};
	struct labels *l = NULL;
	if (labels_read(&l, support_temp_file("boxes.csv", text, strlen(text)), &samples, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(l->kind, LABELS_BOXES);
	assert_true(l->label[0].n == 2 && l->label[1].known && l->label[1].n == 0 && !l->label[2].known);
	const struct coco_truth *t = l->label[0].truth;
	const struct coco_box *b = &t[1].box;
	assert_true(b->x == x && b->y == y && b->w == w && b->h == h && t[1].area == w * h);
	assert_int_equal(l->numbered, first != NULL);
	if (first) {
		assert_string_equal(l->name[t[0].class], first);
		assert_string_equal(l->name[t[1].class], second);
		assert_true(t[0].class > t[1].class); // in order of the names
	} else {
		assert_true(t[0].class == 2 && t[1].class == 0 && l->n_classes == 3);
	}
	labels_free(&l);
}

void test_labels_box_list__columns_are_named_or_known(void **state)
{
	check("filename,width,height,class,xmin,ymin,xmax,ymax\na.png,100,50,van,1,2,3,4\na.png,100,50,big car,10,20,40,45\nb.png,100,50,,,,,\n", "van",
	    "big car", 10, 20, 30, 25);
	check("x/a.npy,1,2,3,4,van\r\nx/a.npy,10,20,40,45,car\r\nx/b.npy,,,,,\r\n", "van", "car", 10, 20, 30, 25);
	check("b.npy,,,,,\na.npy,1,2,3,4,van\na.npy,10,20,40,45,car\n", "van", "car", 10, 20, 30, 25);
	check("ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\na,x,/m/2,1,0,1,0,1\na,x,/m/1,1,.25,.5,.5,1\nb,x,,,,,,\n", "/m/2", "/m/1", 25,
	    25, 25, 25);
	check("\xef\xbb\xbf" "filename,class,xmin,ymin,xmax,ymax\na.npy,2,1,2,3,4\na.npy,0,10,20,40,45\nb.npy,,,,,\n", NULL, NULL, 10, 20, 30, 25);
	check("x/a.npy,1,2,3,4,2\nx/a.npy,10,20,40,45,0\nx/b.npy,,,,,\n", NULL, NULL, 10, 20, 30, 25);
	check("image_id;x1;y1;x2;y2;class_id\na;1;2;3;4;2\na;10;20;40;45;0\nb;;;;;\n", NULL, NULL, 10, 20, 30, 25);
	(void)state;
}

void test_labels_box_list__what_is_no_box_is_refused(void **state)
{
	static const char *const text[] = {"a.npy,1,2,3,4,car\na.npy,5,2,3,4,car\n", "a.npy,1,2,3,4,car\na.npy,1,2,3,nan,car\n",
	    "a.npy,1,2,3,4,car\na.npy,1,2,3,4,\n", "a.npy,1,2,3,4,car\na.npy,1,2,3\n"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct error err = {0};
		struct labels *l = NULL;
		assert_int_equal(labels_read(&l, support_temp_file("bad.csv", text[i], strlen(text[i])), &samples, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "bad.csv:2: a line has a file, two corners"));
	}
	(void)state;
}

// WIDER FACE: a picture without faces has a line of zeros, in files that others wrote none; an invalid face counts neither way.
void test_labels_box_list__faces_lie_below_their_picture(void **state)
{
	static const char *const text[] = {"0--Parade/d.jpg\n1\n5 5 6 6 0 0 0 0 0 0 \nx/a.npy\n2\n1 2 3 4 1 0 0 0 2 0 \n10 20 30 25 0 0 0 1 0 0\n"
	    "b.npy\n0\n0 0 0 0 0 0 0 0 0 0 \n", "b.npy\r\n0\r\na.npy\r\n2\r\n1 2 3 4\r\n10 20 30 25 0 0 0 1\r\n"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct labels *l = read_ok(write_text("faces.txt", text[i]), &samples);
		assert_true(l->kind == LABELS_BOXES && l->n_classes == 1 && strcmp(l->name[0], "face") == 0);
		assert_true(l->label[0].n == 2 && l->label[1].known && l->label[1].n == 0 && !l->label[2].known);
		const struct coco_truth *t = l->label[0].truth;
		assert_true(!t[0].crowd && t[1].crowd && t[1].box.x == 10 && t[1].box.w == 30 && t[1].box.h == 25 && t[1].area == 750);
		labels_free(&l);
	}
	(void)state;
}

void test_labels_box_list__faces_that_are_none_are_refused(void **state)
{
	read_bad(write_text("f1.txt", "a.npy\n1\n1 2 3 4\nb.npy\nx\n"), &samples, "f1.txt:5: below the name of a picture stands");
	read_bad(write_text("f2.txt", "a.npy\n2\n1 2 3 4\nb.npy\n1\n1 2 3 4\n"), &samples, "f2.txt:4: a face is x y w h");
	read_bad(write_text("f3.txt", "a.npy\n1\n1 2 3 4\nb.npy\n1\n"), &samples, "f3.txt:5: a face is x y w h");
	(void)state;
}

// metadata.jsonl of Hugging Face.
void test_labels_box_list__lines_of_json(void **state)
{
	struct labels *l = read_ok(write_text("classes.jsonl",
	    "{\"file_name\": \"c.npy\", \"label\": 2}\n\n{\"label\": 0, \"file_name\": \"x/a.npy\"}\r\n"), &samples);
	assert_true(l->kind == LABELS_CLASSES && !l->by_name && l->n_classes == 3 && l->n_known == 2);
	assert_true(l->label[0].class == 0 && l->label[2].class == 2);
	labels_free(&l);
	l = read_ok(write_text("names.jsonl",
	    "{\"file_name\": \"c.npy\", \"label\": \"dog\"}\n{\"file_name\": \"a.npy\", \"label\": \"cat\"}"), &samples);
	assert_true(l->by_name && l->n_classes == 2 && l->label[0].class == 0 && l->label[2].class == 1 && strcmp(l->name[1], "dog") == 0);
	labels_free(&l);
	l = read_ok(write_text("boxes.jsonl",
	    "{\"file_name\": \"a.npy\", \"objects\": {\"bbox\": [[1, 2, 3, 4], [10, 20, 30, 25]], \"categories\": [1, 0]}}\n"
	    "{\"file_name\": \"b.npy\", \"objects\": {\"bbox\": [], \"category\": []}}\n"), &samples);
	assert_true(l->kind == LABELS_BOXES && !l->numbered && l->n_classes == 2 && l->label[0].n == 2 && l->label[1].known && !l->label[2].known);
	const struct coco_truth *t = l->label[0].truth;
	assert_true(t[0].class == 1 && t[1].class == 0 && t[1].box.x == 10 && t[1].box.h == 25 && t[1].area == 750);
	labels_free(&l);
	(void)state;
}

void test_labels_box_list__lines_of_json_are_refused(void **state)
{
	static const char *const rows[][2] = {{"{\"file_name\": \"a.npy\"", "bad.jsonl: line 1"}, {"[1]", "bad.jsonl:1: it has no file_name"},
	    {"{\"file_name\": \"a.npy\", \"label\": 1.5}", "bad.jsonl:1: it has no label"},
	    {"{\"file_name\": \"a.npy\", \"label\": 1}\n{\"file_name\": \"a.npy\", \"label\": 2}", "bad.jsonl:2: its sample has another label"},
	    {"{\"file_name\": \"a.npy\", \"objects\": {\"bbox\": [[1, 2, 3, 4]], \"categories\": []}}", "bad.jsonl:1: its objects have not as many"},
	    {"{\"file_name\": \"a.npy\", \"objects\": {\"bbox\": [[1, 2, 3]], \"categories\": [1]}}", "bad.jsonl:1: a bbox is [x, y, width, height]"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		read_bad(write_text("bad.jsonl", rows[i][0]), &samples, rows[i][1]);
	(void)state;
}

static void find_in(const char *root, const char *dataset, enum labels_kind kind, const char *file)
{
	char *data = file_join(root, dataset), *want = file ? file_join(root, file) : NULL, *found = labels_find(data, kind, &samples);
	if (want)
		assert_non_null(found);
	assert_true(want ? strcmp(found, want) == 0 : !found);
	free(data);
	free(want);
	free(found);
}

void test_labels_box_list__lists_lie_where_tools_put_them(void **state)
{
	static const char box[] = "filename,class,xmin,ymin,xmax,ymax\n";
	static const struct {
		const char *dataset, *folder, *name, *text;
		enum labels_kind kind;
		bool found;
	} rows[] = {{"valid", "valid", "_annotations.csv", box, LABELS_BOXES, true}, {"valid", "valid", "labels.csv", box, LABELS_BOXES, true},
	    {"valid", "valid", "labels.csv", "file,class\n", LABELS_BOXES, false},
	    {"valid", "valid", "_classes.csv", "filename,cat,dog\n", LABELS_CLASSES, true},
	    {"test", "test", "metadata.csv", "file_name,label\n", LABELS_CLASSES, true},
	    {"test", "test", "metadata.csv", "file_name,text\n", LABELS_CLASSES, false},
	    {"test", "test", "metadata.jsonl", "{\"file_name\": \"a\", \"label\": 1}\n", LABELS_CLASSES, true},
	    {"test", "test", "metadata.jsonl", "{\"file_name\": \"a\", \"objects\": {}}\n", LABELS_BOXES, true},
	    {"test", "test", "metadata.jsonl", "{\"file_name\": \"a\", \"text\": \"b\"}\n", LABELS_CLASSES, false},
	    {"val/images", "val", "val_annotations.txt", "a.JPEG\tn01440764\t0\t0\t9\t9\n", LABELS_CLASSES, true},
	    {"val", "val", "val_annotations.txt", "a.JPEG\tn01440764\t0\t0\t9\t9\n", LABELS_CLASSES, true},
	    {"val", "", "val.txt", "a.JPEG 65\nb.JPEG 970\n", LABELS_CLASSES, true}, {"val", "", "val.txt", "val/a.JPEG\nval/b.JPEG\n", LABELS_CLASSES,
	    false},
	    {"val", "", "val.txt", "else.JPEG 65\n", LABELS_CLASSES, false}, {"set", "set", "val_map.txt", "a.npy\t65\n", LABELS_CLASSES, true},
	    {"ILSVRC/Data/CLS-LOC/val", "", "LOC_val_solution.csv", "ImageId,PredictionString\n", LABELS_CLASSES, true}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[32], *root, *data, *folder, *file;
		struct error err;
		snprintf(name, sizeof name, "lists%d", (int)i);
		root = xstrdup(support_temp(name));
		data = file_join(root, rows[i].dataset);
		folder = file_join(root, rows[i].folder);
		file = *rows[i].folder ? file_join(rows[i].folder, rows[i].name) : xstrdup(rows[i].name);
		assert_int_equal(file_mkdirs(data, &err), STATUS_OK);
		write_in(folder, rows[i].name, rows[i].text);
		find_in(root, rows[i].dataset, rows[i].kind, rows[i].found ? file : NULL);
		free(root);
		free(data);
		free(folder);
		free(file);
	}
	(void)state;
}

void test_labels_box_list__boxes_behind_a_synset_are_no_part_of_it(void **state)
{
	const char *text = "ImageId,PredictionString\na,n01440764 1 2 3 4 n01440764 5 6 7 8 \nb,n01443537 1 2 3 4\nc,n01440764 9 9 9 9\n";
	struct error err = {0};
	struct labels *l = NULL;
	assert_int_equal(labels_read(&l, support_temp_file("solution.csv", text, strlen(text)), &samples, &err), STATUS_OK);
	assert_int_equal(l->n_classes, 2);
	assert_true(labels_number_synsets(l));
	assert_true(l->label[0].class == 0 && l->label[1].class == 1 && l->label[2].class == 0);
	labels_free(&l);
	(void)state;
}
