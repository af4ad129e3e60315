// Labels that could be taken for others without a word: ids of images that are not exact or not their own, and first lines.
#include "labels_case.h"

static char *const pictures[] = {"a.jpg", "b.jpg"};
static const struct labels_samples samples = {.file = (const char *const *)pictures, .n = 2};

static struct labels *must_read(const char *name, const char *text)
{
	struct error err = {0};
	struct labels *l = NULL;
	if (labels_read(&l, support_temp_file(name, text, strlen(text)), &samples, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

static void refuse(const char *name, const char *text, const char *why)
{
	struct error err = {0};
	struct labels *l = NULL;
	assert_int_equal(labels_read(&l, support_temp_file(name, text, strlen(text)), &samples, &err), STATUS_FORMAT);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

void test_labels_ids__a_wrong_class_is_no_heading(void **state)
{
	refuse("minus.csv", "a.jpg,-1\nb.jpg,3\n", "minus.csv:1");
	struct labels *l = must_read("headed.csv", "file,class\na.jpg,1\nb.jpg,3\n");
	assert_int_equal(l->label[0].class, 1);
	labels_free(&l);
}

void test_labels_ids__the_class_may_come_first(void **state)
{
	static const char *const text[] = {"label,file\n1,a.jpg\n3,b.jpg\n", "label,name\n1,a.jpg\n3,b.jpg\n", "name,label\na.jpg,1\nb.jpg,3\n"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		char name[16];
		snprintf(name, sizeof name, "first%d.csv", (int)i);
		struct labels *l = must_read(name, text[i]);
		assert_true(l->n_known == 2 && l->label[0].class == 1 && l->label[1].class == 3);
		labels_free(&l);
	}
}
