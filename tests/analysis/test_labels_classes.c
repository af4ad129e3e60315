// The classes of labels as the model numbers and names them.
#include "labels_case.h"
#include "qtui/base/mem.h"

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

void test_labels_classes__are_mapped_by_name_number_or_id(void **state)
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

void test_labels_classes__that_are_spelt_otherwise(void **state)
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
void test_labels_classes__are_mapped_by_names_that_are_known(void **state)
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
void test_labels_classes__numbers_by_names_are_no_order(void **state)
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
void test_labels_classes__categories_in_another_order_than_is_known(void **state)
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

void test_labels_classes__names_in_metadata(void **state)
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
