// COCO's protocol: against pycocotools on real detections, and by hand where a rule decides.
#include <math.h>
#include <stdlib.h>
#include "../../src/analysis/task/labels/labels.h"
#include "../../src/analysis/task/metric/coco.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "support.h"

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9f is not %.9f", a, b);
}

// One image, one class, all boxes 10 x 10 unless said otherwise.
struct scene {
	struct coco_truth truth[8];
	struct coco_found found[256];
	int n_truths, n_found;
};

static void add_truth(struct scene *s, double x, double size, bool crowd)
{
	s->truth[s->n_truths++] = (struct coco_truth){.box = {x, 0, size, size}, .area = size * size, .crowd = crowd};
}

static void add_found(struct scene *s, double x, double size, double score)
{
	s->found[s->n_found++] = (struct coco_found){.box = {x, 0, size, size}, .score = score};
}

static struct coco_scores score_images(const struct scene *s, int n, const int *weight)
{
	struct coco_image image[4] = {0};
	const struct coco_image *at[4];
	struct coco_scores out = {0};
	for (int i = 0; i < n; i++) {
		coco_image_match(&image[i], s[i].truth, s[i].n_truths, s[i].found, s[i].n_found, &(struct coco_rule){.masks = false});
		at[i] = &image[i];
	}
	struct coco_pool *p = coco_pool_new(at, n, 1);
	coco_pool_score(p, weight, &out);
	coco_pool_free(&p);
	for (int i = 0; i < n; i++)
		coco_image_done(&image[i]);
	return out;
}

static double ap_of(const struct scene *s)
{
	return score_images(s, 1, NULL).figure[COCO_AP];
}

void test_coco__iou_of_crowds_is_over_the_found_box(void **state)
{
	struct coco_box a = {0, 0, 10, 10}, b = {5, 0, 10, 10}, far = {10, 0, 5, 5}, big = {0, 0, 100, 100};
	near(coco_iou(&a, &b, false), 50 / 150., 1e-15);
	near(coco_iou(&a, &b, true), .5, 1e-15);
	near(coco_iou(&a, &far, false), 0, 0);
	near(coco_iou(&a, &big, true), 1, 0);
	near(coco_iou(&a, &big, false), .01, 1e-15);
}

void test_coco__a_perfect_detector_has_ap_1(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_truth(&s, 50, 10, false);
	add_found(&s, 0, 10, .9);
	add_found(&s, 50, 10, .8);
	near(ap_of(&s), 1, 1e-12);
}

void test_coco__a_false_alarm_in_front_halves_precision(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_found(&s, 200, 10, .9);
	add_found(&s, 0, 10, .8);
	near(ap_of(&s), .5, 1e-12);
}

void test_coco__half_of_the_objects_give_51_of_101_recalls(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_truth(&s, 50, 10, false);
	add_found(&s, 0, 10, .9);
	near(ap_of(&s), 51 / 101., 1e-12);
	near(score_images(&s, 1, NULL).figure[COCO_AR_100], .5, 1e-12);
}

// 8 of 10 columns shared: IoU 80 / 120 = .667 passes .50 .55 .60 .65 and no other.
void test_coco__thresholds_in_steps_of_a_twentieth(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_found(&s, 2, 10, .9);
	struct coco_scores out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AP], .4, 1e-12);
	near(out.figure[COCO_AP50], 1, 1e-12);
	near(out.figure[COCO_AP75], 0, 0);
}

void test_coco__a_second_box_on_the_same_object_is_a_false_alarm(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_truth(&s, 50, 10, false);
	add_found(&s, 0, 10, .9);
	add_found(&s, 0, 10, .8);
	add_found(&s, 50, 10, .7);
	near(ap_of(&s), (51 + 50 * 2 / 3.) / 101, 1e-12);
}

void test_coco__boxes_in_a_crowd_count_neither_way_however_many(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_truth(&s, 100, 100, true);
	for (int i = 0; i < 5; i++)
		add_found(&s, 110 + 10 * i, 10, .9);
	add_found(&s, 0, 10, .8);
	near(ap_of(&s), 1, 1e-12);
}

void test_coco__an_object_goes_before_the_crowd_that_covers_it(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 100, true);
	add_truth(&s, 0, 10, false);
	add_found(&s, 1, 10, .9); // .818 of the object, 1 of the crowd
	struct coco_scores out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AP50], 1, 1e-12);
	near(out.figure[COCO_AP], .7, 1e-12);
}

// As far from both objects: the first found box takes the later one, and leaves the second,
// which has that one alone, without.
void test_coco__of_equal_overlaps_the_last_wins(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	add_truth(&s, 4, 10, false);
	add_found(&s, 2, 10, .9); // .667 of each
	add_found(&s, 4, 10, .8);
	near(ap_of(&s), (4 * 51 + 6 * 51 / 2.) / 101 / 10, 1e-12);
}

// 19 of 20 columns are .95, which passes all ten.
void test_coco__the_last_threshold_is_reached(void **state)
{
	struct scene s = {.n_truths = 1, .n_found = 1};
	s.truth[0] = (struct coco_truth){.box = {0, 0, 20, 1}, .area = 20};
	s.found[0] = (struct coco_found){.box = {0, 0, 19, 1}, .score = .9};
	near(ap_of(&s), 1, 1e-12);
}

// 32 x 32 pixels are small and medium.
void test_coco__sizes_meet_at_their_limits(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 32, false);
	add_found(&s, 0, 32, .9);
	struct coco_scores out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AP_SMALL], 1, 1e-12);
	near(out.figure[COCO_AP_MEDIUM], 1, 1e-12);
	assert_true(isnan(out.figure[COCO_AP_LARGE]));
}

void test_coco__sizes_are_judged_by_the_area_of_the_object(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 20, false);   // small
	add_truth(&s, 200, 50, false); // medium
	add_found(&s, 0, 20, .9);
	add_found(&s, 400, 40, .8); // a false alarm of medium size: not held against the small ones
	struct coco_scores out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AP_SMALL], 1, 1e-12);
	near(out.figure[COCO_AP_MEDIUM], 0, 0);
	assert_true(isnan(out.figure[COCO_AP_LARGE]));
	near(out.figure[COCO_AR_SMALL], 1, 0);
}

void test_coco__only_the_best_of_an_image_count_for_ar_1_and_the_best_100_at_all(void **state)
{
	struct scene s = {0};
	add_truth(&s, 0, 10, false);
	for (int i = 0; i < 100; i++)
		add_found(&s, 100 + 20 * i, 10, .9);
	add_found(&s, 0, 10, .1);
	struct coco_scores out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AR_100], 0, 0);
	s.n_found = 0;
	add_found(&s, 500, 10, .9);
	add_found(&s, 0, 10, .1);
	out = score_images(&s, 1, NULL);
	near(out.figure[COCO_AR_1], 0, 0);
	near(out.figure[COCO_AR_10], 1, 0);
}

void test_coco__no_objects_no_figure(void **state)
{
	struct scene s = {0};
	add_found(&s, 0, 10, .9);
	assert_true(isnan(ap_of(&s)));
	s.n_found = 0;
	assert_true(isnan(ap_of(&s)));
}

void test_coco__an_image_drawn_twice_is_an_image_that_is_there_twice(void **state)
{
	struct scene s[3] = {0};
	struct support_random r = {7};
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 6; k++)
			add_truth(&s[i], 40 * k, 10 + 5 * k, false);
		for (int k = 0; k < 40; k++)
			add_found(&s[i], support_random_float(&r, 0, 240), support_random_float(&r, 8, 40),
			    support_random_float(&r, 0, 1));
		for (int k = 0; k < 4; k++)
			add_found(
			    &s[i], 40 * k + support_random_float(&r, 0, 2), 10 + 5 * k, support_random_float(&r, 0, 1));
	}
	s[2] = s[1];
	struct coco_scores twice = score_images(s, 3, NULL), weighted = score_images(s, 2, (const int[]){1, 2});
	struct coco_scores without = score_images(s, 2, (const int[]){1, 0}), one = score_images(s, 1, NULL);
	for (int f = 0; f < COCO_FIGURES; f++) {
		if (isnan(twice.figure[f]))
			assert_true(isnan(weighted.figure[f]));
		else
			near(weighted.figure[f], twice.figure[f], 1e-12);
		if (!isnan(one.figure[f]))
			near(without.figure[f], one.figure[f], 0);
	}
	assert_true(one.figure[COCO_AP] > 0 && one.figure[COCO_AP] < 1);
}

// ---- pycocotools

struct golden {
	struct labels *labels;
	char **file;
	double *id;
	int n;
	struct coco_image *image;
};

static void read_golden_images(struct golden *g, const char *instances)
{
	cJSON *root;
	struct error err;
	const cJSON *image;
	assert_int_equal(json_read(&root, instances, &err), STATUS_OK);
	const cJSON *images = cJSON_GetObjectItemCaseSensitive(root, "images");
	g->file = xcalloc((size_t)cJSON_GetArraySize(images), sizeof *g->file);
	g->id = xcalloc((size_t)cJSON_GetArraySize(images), sizeof *g->id);
	cJSON_ArrayForEach(image, images)
	{
		g->id[g->n] = json_number(image, "id", -1);
		g->file[g->n++] = xstrdup(json_text(image, "file_name", ""));
	}
	cJSON_Delete(root);
	struct labels_samples s = {.file = (const char *const *)g->file, .n = g->n};
	assert_int_equal(labels_read(&g->labels, instances, &s, &err), STATUS_OK);
	assert_int_equal(g->labels->n_known, g->n);
}

static struct coco_found read_found(const struct labels *l, const cJSON *j)
{
	const cJSON *box = cJSON_GetObjectItemCaseSensitive(j, "bbox");
	double v[4];
	for (int i = 0; i < 4; i++)
		v[i] = cJSON_GetArrayItem(box, i)->valuedouble;
	return (struct coco_found){.box = {v[0], v[1], v[2], v[3]},
	    .score = json_number(j, "score", 0),
	    .class = labels_class_of_id(l, (int)json_number(j, "category_id", -1))};
}

static void match_golden(struct golden *g, const char *detections)
{
	cJSON *root;
	struct error err;
	const cJSON *j;
	struct coco_found *found = xcalloc(100000, sizeof *found);
	g->image = xcalloc((size_t)g->n, sizeof *g->image);
	assert_int_equal(json_read(&root, detections, &err), STATUS_OK);
	for (int i = 0; i < g->n; i++) {
		int n = 0;
		cJSON_ArrayForEach(j, root) if (json_number(j, "image_id", -1) == g->id[i]) found[n++] =
		    read_found(g->labels, j);
		coco_image_match(&g->image[i], g->labels->label[i].truth, g->labels->label[i].n, found, n, &(struct coco_rule){.masks = false});
	}
	cJSON_Delete(root);
	free(found);
}

static void compare_golden(const struct golden *g, const struct coco_scores *s, const char *expected)
{
	cJSON *root;
	struct error err;
	int classes = 0;
	assert_int_equal(json_read(&root, expected, &err), STATUS_OK);
	for (int f = 0; f < COCO_FIGURES; f++)
		if (coco_figure_name((enum coco_figure)f, false))
			near(s->figure[f], json_number(root, coco_figure_name((enum coco_figure)f, false), NAN), 1e-6);
	const cJSON *per_class = cJSON_GetObjectItemCaseSensitive(root, "per_class"), *j;
	cJSON_ArrayForEach(j, per_class)
	{
		near(s->ap[labels_class_of_id(g->labels, atoi(j->string))], j->valuedouble, 1e-6);
		classes++;
	}
	for (int c = 0; c < g->labels->n_classes; c++)
		classes -= !isnan(s->ap[c]);
	assert_int_equal(classes, 0);
	cJSON_Delete(root);
}

void test_coco__figures_and_classes_are_those_of_pycocotools(void **state)
{
	struct golden g = {0};
	const char *instances = support_data("coco/instances.json"),
	           *detections = support_data("golden/map/detections_yolov5n.json");
	const char *expected = support_data("golden/map/detections_yolov5n.expected.json");
	if (!instances || !detections || !expected)
		skip();
	read_golden_images(&g, instances);
	match_golden(&g, detections);
	const struct coco_image **at = xcalloc((size_t)g.n, sizeof *at);
	for (int i = 0; i < g.n; i++)
		at[i] = &g.image[i];
	struct coco_pool *p = coco_pool_new(at, g.n, g.labels->n_classes);
	struct coco_scores s = {.ap = xcalloc((size_t)g.labels->n_classes, sizeof *s.ap)};
	coco_pool_score(p, NULL, &s);
	compare_golden(&g, &s, expected);
	near(coco_pool_ap(p, NULL), s.figure[COCO_AP], 0);
	coco_pool_free(&p);
	for (int i = 0; i < g.n; i++) {
		coco_image_done(&g.image[i]);
		free(g.file[i]);
	}
	labels_free(&g.labels);
	free(g.image);
	free(g.file);
	free(g.id);
	free(at);
	free(s.ap);
}

// ---- drawing

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

// Objects with found boxes near them, some of crowds, and boxes where nothing is.
static void random_image(struct coco_image *out, uint64_t *seed)
{
	enum { TRUTHS = 6, FOUND = 30 };
	struct coco_truth truth[TRUTHS];
	struct coco_found found[FOUND];
	for (int i = 0; i < TRUTHS; i++) {
		truth[i] = (struct coco_truth){.box = {(double)(next(seed) % 400), (double)(next(seed) % 400), 50, 60},
		    .area = 3000,
		    .class = (int)(next(seed) % 3),
		    .crowd = next(seed) % 8 == 0};
	}
	for (int i = 0; i < FOUND; i++) {
		const struct coco_truth *near_to = &truth[next(seed) % TRUTHS];
		struct coco_box b = near_to->box;
		b.x += (double)(next(seed) % 40);
		b.y += (double)(next(seed) % 20);
		found[i] = (struct coco_found){b, (double)(next(seed) % 20) / 20, (int)(next(seed) % 4 ? near_to->class : 3), NULL, NULL};
	}
	coco_image_match(out, truth, TRUTHS, found, FOUND, &(struct coco_rule){.masks = false});
}

void test_coco__draws_are_the_pool_to_the_bit(void **state)
{
	enum { IMAGES = 12, DRAWS = 40 };
	struct coco_image image[IMAGES];
	const struct coco_image *at[IMAGES];
	uint64_t seed = 7;
	for (int i = 0; i < IMAGES; i++) {
		random_image(&image[i], &seed);
		at[i] = i == 5 ? NULL : &image[i]; // one that is not measured
	}
	struct coco_pool *p = coco_pool_new(at, IMAGES, 4);
	struct coco_draws *d = coco_draws_new(p);
	double all = coco_draws_ap(d, NULL), least = 1, most = 0;
	assert_true(all > .05 && all < .95 && all == coco_pool_ap(p, NULL));
	for (int draw = 0; draw < DRAWS; draw++) {
		int weight[IMAGES] = {0};
		for (int i = 0; i < IMAGES; i++)
			weight[next(&seed) % IMAGES]++;
		double ap = coco_draws_ap(d, weight);
		assert_true(ap == coco_pool_ap(p, weight));
		least = fmin(least, ap);
		most = fmax(most, ap);
	}
	assert_true(most > least);
	int none[IMAGES] = {0};
	assert_true(isnan(coco_draws_ap(d, none)));
	coco_draws_free(&d);
	coco_pool_free(&p);
	for (int i = 0; i < IMAGES; i++)
		coco_image_done(&image[i]);
}
