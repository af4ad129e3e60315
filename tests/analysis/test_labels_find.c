// Labels that nobody names: where they lie beside a data set.
#include "labels_case.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static const char *const arrays[] = {"x/a.npy", "x/b.npy"};

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
	char *found = labels_find(dataset, kind, &three);
	if (path)
		assert_string_equal(found, path);
	else
		assert_null(found);
	free(found);
}

void test_labels_find__are_found_beside_the_data(void **state)
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

// The directory around the images is given: their labels are those beside the folder that all of them are in.
void test_labels_find__of_the_only_folder_with_samples(void **state)
{
	struct str xml = {0}, image[2] = {{0}, {0}};
	const char *root = support_temp("whole_voc"), *file[2];
	char *data = xstrdup(root);
	str_addf(&xml, "%s/Annotations/a.xml", data);
	touch(str_text(&xml));
	str_addf(&image[0], "%s/JPEGImages/a.jpg", data);
	str_addf(&image[1], "%s/JPEGImages/b.jpg", data);
	for (int i = 0; i < 2; i++)
		file[i] = str_text(&image[i]);
	struct labels_samples s = {.file = file, .n = 2};
	char *found = labels_find(data, LABELS_BOXES, &s), *dir = file_dir(str_text(&xml));
	assert_non_null(found);
	assert_string_equal(found, dir);
	free(found);
	file[1] = "elsewhere/b.jpg";
	assert_null(labels_find(data, LABELS_BOXES, &s));
	free(dir);
	free(data);
	str_done(&xml);
	str_done(&image[0]);
	str_done(&image[1]);
	(void)state;
}

// COCO's own directories: train2017 beside annotations/, or in images/ beside it; and what CVAT and Roboflow make of them.
void test_labels_find__annotations_lie_as_coco_has_them(void **state)
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
