// Names of classes in files: beside the model, and with YOLO's labels, whose lines have numbers alone.
#include "labels_case.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"

static const char *const files[] = {"x/a.npy"};
static const struct labels_samples samples = {.file = files, .n = 1, .w = 64, .h = 64};

static struct labels *must_read(const char *dir)
{
	struct error err = {0};
	struct labels *l = NULL;
	if (labels_read(&l, dir, &samples, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

// The tools that write them put them there.
void test_names__of_text_labels_lie_in_or_above_them(void **state)
{
	static const struct {
		const char *folder, *file, *text;
	} rows[] = {{"labels/val", "labels/val/classes.txt", "nut\nbolt\nperson\n"},
	    {"labels/val", "labels/val/_darknet.labels", "nut\r\nbolt\r\nperson"},
	    {"labels", "classes.txt", "nut\nbolt\nperson\n"},
	    {"data", "obj.names", "nut\nbolt\nperson\n"},
	    {"labels", "data.yaml", "nc: 3\nnames: ['nut', 'bolt', 'person']\n"},
	    {"labels/val", "data.yaml", "train: images/val\nnames:\n  0: nut\n  1: bolt\n  2: person\n"},
	    {"valid/labels", "dataset.yaml", "names:\n- nut\n- bolt\n- person\n"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[32];
		snprintf(name, sizeof name, "named%d", (int)i);
		char *root = xstrdup(support_temp(name)), *dir = file_join(root, rows[i].folder);
		write_in(dir, "a.txt", "1 .5 .5 .5 .5\n");
		write_in(root, rows[i].file, rows[i].text);
		struct labels *l = must_read(dir);
		assert_int_equal(l->n_classes, 3);
		assert_string_equal(l->name[1], "bolt");
		assert_string_equal(l->name[2], "person");
		labels_free(&l);
		free(root);
		free(dir);
	}
	(void)state;
}

// Numbers of a set of its own are not those of COCO's 80 where their names say otherwise.
void test_names__say_which_class_of_the_model_a_number_is(void **state)
{
	char *root = xstrdup(support_temp("subset")), *dir = file_join(root, "labels");
	write_in(dir, "a.txt", "1 .5 .5 .5 .5\n");
	for (int named = 0; named < 2; named++) {
		struct names none = {.n = 0};
		const char *how;
		int n = 80;
		if (named)
			write_in(root, "data.yaml", "names: [dog, person]\n");
		struct labels *l = must_read(dir);
		int *map = labels_map(l, &n, &none, &how);
		assert_int_equal(map[0], named ? 1 : 0);
		assert_int_equal(map[16], named ? 0 : -1);
		free(map);
		labels_free(&l);
	}
	free(root);
	free(dir);
	(void)state;
}

// A file that names fewer than there are is another set's.
void test_names__too_few_are_left_out(void **state)
{
	char *dir = xstrdup(support_temp("few"));
	write_in(dir, "a.txt", "2 .5 .5 .5 .5\n");
	write_in(dir, "classes.txt", "dog\nperson\n");
	struct labels *l = must_read(dir);
	assert_int_equal(l->n_classes, 3);
	for (int i = 0; i < 3; i++)
		assert_null(l->name[i]);
	labels_free(&l);
	free(dir);
	(void)state;
}

// 80 categories of COCO's names in an order of their own are the model's in this order, where a file beside it says so.
void test_names__of_a_model_may_lie_beside_it(void **state)
{
	char *root = xstrdup(support_temp("model")), *path = file_join(root, "net.v2.onnx");
	struct graph g = {.path = path};
	struct names names;
	names_of_model(&names, &g);
	assert_int_equal(names.n, 0);
	write_in(root, "net.names", "of another\n");
	write_in(root, "net.v2.names", "apple\nbanana\n\nzebra\n");
	names_of_model(&names, &g);
	assert_true(names.n == 3 && names.of_file);
	assert_string_equal(names.at[2], "zebra");
	names_done(&names);
	free(root);
	free(path);
	(void)state;
}

void test_names__what_is_no_yaml_names_nothing(void **state)
{
	static const char *const text[] = {"names: [a, b", "names: 7\n", "- a\n- b\n", "names:\n  -1: a\n  x: b\n  100000: c\n", ""};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct names names;
		names_read(&names, support_temp_file("bad.yaml", text[i], strlen(text[i])));
		assert_int_equal(names.n, 0);
		names_done(&names);
	}
	char said[512] = ""; // of the first, which is broken: the others only name nothing
	assert_int_equal(log_line(support_log_count() - 1, said, sizeof said), LOG_WARN);
	assert_non_null(strstr(said, "no names of classes are taken from it"));
	(void)state;
}
