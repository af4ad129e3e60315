// Labels that could be taken for others without a word: ids of images that are not exact or not their own, and first lines.
#include "labels_case.h"
#include "qtui/base/mem.h"

static char *const pictures[] = {"a.jpg", "b.jpg"};
static const struct labels_samples samples = {.file = (const char *const *)pictures, .n = 2};

static void refuse(const char *name, const char *text, const char *why)
{
	assert_int_equal(read_bad(write_text(name, text), &samples, why), STATUS_FORMAT);
}

static const char *coco(const char *id_a, const char *id_b)
{
	static char text[512];
	snprintf(text, sizeof text, "{\"images\":[{\"id\":%s,\"file_name\":\"a.jpg\"},{\"id\":%s,\"file_name\":\"b.jpg\"}],\"annotations\":["
	    "{\"image_id\":%s,\"category_id\":1,\"bbox\":[1,1,2,2]}],\"categories\":[{\"id\":1,\"name\":\"thing\"}]}", id_a, id_b, id_b);
	return text;
}

void test_labels_ids__of_images_are_exact_and_their_own(void **state)
{
	struct labels *l = read_ok(write_text("good.json", coco("9007199254740991", "9007199254740990")), &samples);
	assert_true(l->label[0].n == 0 && l->label[1].n == 1);
	labels_free(&l);
	refuse("large.json", coco("1700000000000000000", "1700000000000100000"), "image a.jpg has the id 1.7e+18: from 2^53 on ids are not exact");
	refuse("same.json", coco("7", "7"), "images a.jpg and b.jpg have both the id 7");
}

void test_labels_ids__a_wrong_class_is_no_heading(void **state)
{
	refuse("minus.csv", "a.jpg,-1\nb.jpg,3\n", "minus.csv:1");
	struct labels *l = read_ok(write_text("headed.csv", "file,class\na.jpg,1\nb.jpg,3\n"), &samples);
	assert_int_equal(l->label[0].class, 1);
	labels_free(&l);
}

void test_labels_ids__the_class_may_come_first(void **state)
{
	static const char *const text[] = {"label,file\n1,a.jpg\n3,b.jpg\n", "label,name\n1,a.jpg\n3,b.jpg\n", "name,label\na.jpg,1\nb.jpg,3\n",
	    "Filename,Split,Label\na.jpg,7,1\nb.jpg,7,3\n"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		char name[16];
		snprintf(name, sizeof name, "first%d.csv", (int)i);
		struct labels *l = read_ok(write_text(name, text[i]), &samples);
		assert_true(l->n_known == 2 && l->label[0].class == 1 && l->label[1].class == 3);
		labels_free(&l);
	}
}

// Roboflow's files have a category 0 above the others, of which no object is; the model has no such class.
void test_labels_ids__categories_without_objects_are_no_classes(void **state)
{
	static const char text[] = "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"},{\"id\":2,\"file_name\":\"else.jpg\"}],\"categories\":["
	    "{\"id\":0,\"name\":\"pets\"},{\"id\":1,\"name\":\"cat\"},{\"id\":2,\"name\":\"dog\"},{\"id\":3,\"name\":\"hen\"}],\"annotations\":["
	    "{\"image_id\":1,\"category_id\":1,\"bbox\":[1,1,2,2]},{\"image_id\":1,\"category_id\":3,\"bbox\":[1,1,2,2]},"
	    "{\"image_id\":2,\"category_id\":2,\"bbox\":[1,1,2,2]}]}";
	static const struct {
		int n, class, to;
	} want[] = {{3, 0, 1}, {3, 2, 3}, {4, 0, 0}, {4, 3, 3}, {2, 1, 1}, {5, 3, 3}, {5, 4, -1}};
	struct labels *l = read_ok(write_text("above.json", text), &samples);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct names none = {0};
		const char *how;
		int n = want[i].n, *map = labels_map(l, &n, &none, &how);
		assert_int_equal(map[want[i].class], want[i].to);
		assert_int_equal(strcmp(how, "in order of the categories that have objects") == 0, n == 3);
		free(map);
	}
	labels_free(&l);
}

// Ids with gaps are COCO's where names or the ids themselves say so; of 90 classes and ids up to 90 the last would be none's.
void test_labels_ids__gaps_alone_are_not_coco(void **state)
{
	static const struct {
		const char *name[2];
		int id[2], n, classes, class, to;
	} want[] = {
	    {{"bolt", "nut"}, {6, 46}, 0, 2, 1, 1},           // nobody says how many: in order
	    {{"person", "dog"}, {1, 18}, 0, 80, 16, 1},       // COCO's
	    {{"personne", "brosse"}, {1, 90}, 0, 80, 79, 1},  // likewise, in another language
	    {{"personne", "brosse"}, {1, 90}, 90, 90, 89, 1}, // EfficientDet
	    {{"personne", "brosse"}, {1, 90}, 91, 91, 90, 1}, // ids themselves
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"categories\":[{\"id\":%d,\"name\":\"%s\"},"
		    "{\"id\":%d,\"name\":\"%s\"}],\"annotations\":[{\"image_id\":1,\"category_id\":%d,\"bbox\":[1,1,2,2]}]}", want[i].id[0],
		    want[i].name[0], want[i].id[1], want[i].name[1], want[i].id[0]);
		struct labels *l = read_ok(write_text("gaps.json", text), &samples);
		struct names none = {0};
		const char *how;
		int n = want[i].n, *map = labels_map(l, &n, &none, &how);
		assert_int_equal(n, want[i].classes);
		assert_int_equal(map[want[i].class], want[i].to);
		free(map);
		labels_free(&l);
	}
	(void)state;
}

// Of pictures that were converted since, or whose ending is in capitals, the name in front of the ending is theirs.
void test_labels_ids__pictures_may_have_another_ending(void **state)
{
	static const char *const named[] = {"x/1.jpg", "x/2.JPG", "x/3.jpg", "x/3.webp", "x/4.v2.jpg"};
	static const int class[] = {5, 6, -1, -1, 8};
	const char *text = "1.png,5\n2.jpg,6\n3.bmp,7\n4.v2.tif,8\n4.v2.xyz,9\n";
	const struct labels_samples s = {.file = named, .n = 5};
	struct error err = {0};
	struct labels *l = NULL;
	assert_int_equal(labels_read(&l, support_temp_file("endings.csv", text, strlen(text)), &s, &err), STATUS_OK);
	for (int i = 0; i < 5; i++)
		assert_int_equal(l->label[i].known ? l->label[i].class : -1, class[i]);
	labels_free(&l);
	(void)state;
}

// Text files lie in folders that are called as the pictures'.
void test_labels_ids__files_in_folders_as_the_pictures(void **state)
{
	static const char *const nested[] = {"set/images/a/1.npy", "set/images/b/1.npy", "set/images/b/c/1.npy", "set/images/2.npy"};
	const struct labels_samples s = {.file = nested, .n = 4, .w = 8, .h = 8};
	static const char *const folder[] = {"a", "b", "b/c", ""};
	char line[32];
	struct error err = {0};
	struct labels *l = NULL;
	const char *root = support_temp("nested");
	for (int i = 0; i < 4; i++) {
		char *dir = file_join(root, folder[i]);
		snprintf(line, sizeof line, "%d .5 .5 .5 .5\n", i);
		write_in(dir, i == 3 ? "2.txt" : "1.txt", line);
		free(dir);
	}
	assert_int_equal(labels_read(&l, root, &s, &err), STATUS_OK);
	for (int i = 0; i < 4; i++)
		assert_true(l->label[i].n == 1 && l->label[i].truth[0].class == i);
	labels_free(&l);
	(void)state;
}

// What other tools keep labels in is refused with what to do.
void test_labels_ids__forms_of_other_tools_are_named(void **state)
{
	static const struct {
		const char *name, *text, *says;
	} rows[] = {{"set.yaml", "names: [a]\n", "set.yaml names classes, not objects: give the directory"},
	    {"set.yml", "names: [a]\n", "set.yml names classes"},
	    {"metadata.jsonl", "{\"file_name\": \"a.jpg\", \"label\": 1}\n{\"file_name\": \"b.jpg\"}\n", "metadata.jsonl:2: it has no label"},
	    {"annotations.xml", "<annotations/>", "annotations.xml is one file of XML: give the directory"},
	    {"own.json", "{\"a.jpg12\": {\"areas\": []}}", "own.json is not in COCO's format, with images, annotations and categories: export it so"},
	    {"region.json", "{\"a.jpg12\": {\"filename\": \"a.jpg\", \"regions\": []}}", "region.json is the VGG Image Annotator's own: export it"},
	    {"via.json", "{\"_via_settings\": {}, \"_via_img_metadata\": {}}", "via.json is the VGG Image Annotator's own: export it"},
	    {"create.json", "[{\"image\": \"a.jpg\", \"annotations\": []}]", "create.json is CreateML's: export it"},
	    {"studio.json", "[{\"id\": 1, \"data\": {}, \"annotations\": []}]", "studio.json is Label Studio's own: export it"},
	    {"found.json", "[{\"image_id\": 1, \"bbox\": [1, 2, 3, 4], \"score\": 1}]", "found.json has what a detector found"},
	    {"_annotations.txt", "a.jpg 1,2,3,4,0 5,6,7,8,1\nb.jpg 1,2,3,4,0\n", "_annotations.txt has all boxes of a picture in a line (YOLO Keras)"},
	    {"gt.txt", "1,1,912,484,97,109,0,7,1\n2,1,912,484,97,109,0,7,1\n", "gt.txt has lines of numbers alone (of MOT: frame, track"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = {0};
		struct labels *l = NULL;
		assert_true(labels_read(&l, support_temp_file(rows[i].name, rows[i].text, strlen(rows[i].text)), &samples, &err) != STATUS_OK);
		if (!strstr(err.text, rows[i].says))
			fail_msg("%s", err.text);
	}
	(void)state;
}

void test_labels_ids__directories_of_other_tools_are_named(void **state)
{
	static const struct {
		const char *dir, *name, *text, *says;
	} rows[] = {{"labelme", "b.json", "{\"shapes\": [], \"imagePath\": \"b.jpg\"}", "b.json is labelme's: convert the directory"},
	    {"sly", "b.jpg.json", "{\"size\": {}, \"objects\": []}", "b.jpg.json is Supervisely's: convert the project"},
	    {"own", "b.json", "{\"areas\": []}", "b.json is not in COCO's format"},
	    {"none", "else.json", "{}", "none has a text file or a mask for none of the "}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *dir = xstrdup(support_temp(rows[i].dir));
		write_in(dir, rows[i].name, rows[i].text);
		read_bad(dir, &samples, rows[i].says);
		free(dir);
	}
	(void)state;
}

// Frames of several scenes are called alike: a sample is the one of its own scene, whichever comes first.
void test_labels_ids__frames_of_other_scenes_are_not_the_sample(void **state)
{
	static const char *const frames[] = {"/x/seq2/1.npy", "/x/seq2/2.npy"};
	struct labels_samples s = {.file = frames, .n = 2, .w = 8, .h = 8};
	static const char *const order[] = {"seq1", "seq2", "seq3"};
	for (int first = 0; first < 3; first++)
		for (int form = 0; form < 5; form++) {
			const char *scene[3];
			char text[640];
			for (int i = 0; i < 3; i++)
				scene[i] = order[(i + first) % 3];
			if (form == 0)
				snprintf(text, sizeof text,
				    "{\"images\":[{\"id\":0,\"file_name\":\"%s/1.npy\"},{\"id\":1,\"file_name\":\"%s\\\\1.npy\"},{\"id\":2,\"file_name\":\"%s/1.npy\"}],"
				    "\"categories\":[{\"id\":1},{\"id\":2},{\"id\":3}],\"annotations\":[{\"image_id\":0,\"category_id\":%c,\"bbox\":[1,1,2,2]},"
				    "{\"image_id\":1,\"category_id\":%c,\"bbox\":[1,1,2,2]},{\"image_id\":2,\"category_id\":%c,\"bbox\":[1,1,2,2]}]}",
				    scene[0], scene[1], scene[2], scene[0][3], scene[1][3], scene[2][3]);
			else
				snprintf(text, sizeof text, form == 1 ? "file,x1,y1,x2,y2,class\n%s/1.npy,1,1,3,3,%c\n%s/1.npy,1,1,3,3,%c\n%s/1.npy,1,1,3,3,%c\n"
				                                      : "file,class\n%s/1.npy,%c\n%s/1.npy,%c\n%s/1.npy,%c\n",
				    scene[0], scene[0][3], scene[1], scene[1][3], scene[2], scene[2][3]);
			s.texts = form == 3;
			s.values = form == 4;
			struct error err = {0};
			struct labels *l = NULL;
			if (labels_read(&l, support_temp_file("frames", text, strlen(text)), &s, &err) != STATUS_OK)
				fail_msg("%s", err.text);
			const struct label *a = &l->label[0];
			int class = form == 2 ? a->class : form == 3 ? atoi(a->text) : form == 4 ? (int)a->value[0] : a->truth[0].class;
			assert_int_equal(class, form == 0 ? 1 : 2); // the second category, or the number 2
			assert_int_equal(l->label[0].n, form < 2);
			assert_true(l->label[0].known && !l->label[1].known);
			labels_free(&l);
		}
	(void)state;
}

// Where no folder tells, their boxes are not put together.
void test_labels_ids__frames_that_nothing_tells_apart_are_refused(void **state)
{
	refuse("flat.json", "{\"images\":[{\"id\":1,\"file_name\":\"s1/a.jpg\"},{\"id\":2,\"file_name\":\"s2/a.jpg\"}],\"annotations\":[],"
	    "\"categories\":[{\"id\":1}]}", "s1/a.jpg and s2/a.jpg may both be a.jpg: give the samples in folders");
	refuse("flat.csv", "file,x1,y1,x2,y2,class\ns1/a.jpg,1,1,3,3,0\ns2/a.jpg,1,1,3,3,0\n", "s1/a.jpg and s2/a.jpg may both be a.jpg");
	refuse("flat2.csv", "s1/a.jpg,1\ns2/a.jpg,2\n", "s1/a.jpg and s2/a.jpg may both be a.jpg");
	struct labels *l = read_ok(write_text("agreed.csv", "s1/a.jpg,1\ns2/a.jpg,1\nb.jpg,2\n"), &samples);
	assert_int_equal(l->label[0].class, 1);
	labels_free(&l);
	(void)state;
}

// A path from the root on is none below the labels: text beside the picture is not meant.
void test_labels_ids__files_beside_the_pictures_are_others(void **state)
{
	char *images = xstrdup(support_temp("beside")), *text = file_join(images, "labels"), *sample = file_join(images, "a.npy");
	const char *one[] = {sample};
	const struct labels_samples s = {.file = one, .n = 1, .w = 8, .h = 8};
	struct error err = {0};
	struct labels *l = NULL;
	write_in(images, "a.txt", "1 .5 .5 .5 .5\n");
	write_in(text, "a.txt", "0 .5 .5 .5 .5\n");
	for (int upwards = 0; upwards < 2; upwards++) {
		one[0] = upwards ? "../a.npy" : sample;
		assert_int_equal(labels_read(&l, text, &s, &err), STATUS_OK);
		assert_true(l->label[0].n == 1 && l->label[0].truth[0].class == 0);
		labels_free(&l);
	}
	free(images);
	free(text);
	free(sample);
	(void)state;
}
