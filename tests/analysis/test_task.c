// Tasks end to end: the demo's detector, a classifier, agreement without labels; the order of samples, forgetting,
// intervals.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "support.h"

struct bench {
	struct graph *g;
	struct dataset *d;
	struct engine *e;
	struct task *t;
};

// A name for outputs that are added by hand.
static struct task_net *quantized(struct task *t)
{
	return task_net(t, (struct key){1, 2});
}

static struct task_net *float_net(struct task *t)
{
	return task_net(t, task_key(t, NULL));
}

static int known_samples(struct task *t, const struct task_net *n, int samples)
{
	int known = 0;
	for (int i = 0; i < samples; i++)
		known += task_net_has(t, n, i);
	return known;
}

static void must(enum status st, const struct error *err)
{
	if (st != STATUS_OK)
		fail_msg("%s", err->text);
}

static void bench_open(
    struct bench *b, const char *model, const char *data, const struct preprocess *pre, const struct task_options *opt)
{
	struct error err = {0};
	struct dataset_options all = {.pre = pre ? *pre : (struct preprocess){.bgr = false}};
	*b = (struct bench){0};
	must(onnx_load(&b->g, model, &(struct onnx_options){0}, &err), &err);
	must(dataset_open(&b->d, data, b->g, &all, &err), &err);
	must(task_open(&b->t, b->g, b->d, opt, &err), &err);
	b->e = engine_new(b->g, b->d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 2});
}

static void bench_close(struct bench *b)
{
	task_free(&b->t);
	engine_free(&b->e);
	dataset_free(&b->d);
	graph_free(&b->g);
}

static void bench_run(struct bench *b, int first, int last)
{
	struct error err = {0};
	must(task_run(b->t, b->e, &(struct task_pass){.first = first, .last = last}, &err), &err);
}

// The first `n` files of a directory as a list beside nothing; heap.
static char *list_of(const char *dir, int n, const char *name)
{
	struct error err;
	struct file_list files;
	struct str s = {0};
	char cwd[4096];
	assert_non_null(realpath(dir, cwd));
	must(file_list_dir(&files, dir, &err), &err);
	for (size_t i = 0, k = 0; i < files.n && k < (size_t)n; i++)
		if (str_has_suffix(files.name[i], ".jpg")) {
			str_addf(&s, "%s/%s\n", cwd, files.name[i]);
			k++;
		}
	file_list_done(&files);
	char *path = xstrdup(support_temp_file(name, s.text, s.len));
	str_done(&s);
	return path;
}

static const struct task_options detect = {.kind = -1, .labels = "examples/val.json"};

static double figure(struct task *t, const char *name, enum task_variant v)
{
	struct task_report *r = task_report(t, float_net(t), quantized(t), 0);
	double value = NAN;
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].name, name) == 0)
			value = r->figure[i].value[v];
	task_report_drop(&r);
	return value;
}

// Categories are the model's classes by their names, in whatever order the labels number them.
void test_task__categories_in_another_order(void **state)
{
	double ap[2];
	for (int turned = 0; turned < 2; turned++) {
		struct error err = {0};
		struct bench b;
		cJSON *j = NULL, *item;
		must(json_read(&j, "examples/val.json", &err), &err);
		cJSON_ArrayForEach(item, cJSON_GetObjectItem(j, "categories"))
			if (turned)
				cJSON_SetNumberValue(cJSON_GetObjectItem(item, "id"), 100 - cJSON_GetObjectItem(item, "id")->valuedouble);
		cJSON_ArrayForEach(item, cJSON_GetObjectItem(j, "annotations")) if (turned)
		    cJSON_SetNumberValue(cJSON_GetObjectItem(item, "category_id"), 100 - cJSON_GetObjectItem(item, "category_id")->valuedouble);
		char *text = cJSON_PrintUnformatted(j);
		const char *labels = support_temp_file("labels.json", text, strlen(text));
		bench_open(&b, "examples/digits.onnx", "examples/val", NULL, &(struct task_options){.kind = -1, .labels = labels});
		bench_run(&b, 0, 8);
		ap[turned] = figure(b.t, "AP", TASK_FLOAT);
		bench_close(&b);
		cJSON_free(text);
		cJSON_Delete(j);
	}
	assert_true(ap[0] > .3 && ap[1] == ap[0]);
}

// Boxes of images that are no squares come back out of the square that they were placed in.
void test_task__boxes_of_images_that_were_padded(void **state)
{
	struct bench b;
	const char *model = support_data("models/yolov8n.onnx"), *images = support_data("coco/images"),
	           *labels = support_data("coco/instances.json");
	if (!model || !images || !labels)
		skip();
	char *list = list_of(images, 12, "padded.txt");
	bench_open(&b, model, list, NULL, &(struct task_options){.kind = -1, .labels = labels});
	bench_run(&b, 0, 12);
	assert_true(figure(b.t, "AP", TASK_FLOAT) > .7);
	bench_close(&b);
	free(list);
}

// Boxes in fractions of samples that are arrays in files of their own are fractions of the input.
void test_task__text_labels_of_arrays(void **state)
{
	static const char line[] = "3 .5 .5 .25 .5\n";
	struct error err = {0};
	struct bench b;
	const char *dir = support_temp("arrays");
	char *array = file_join(dir, "a.npy"), *text = file_join(dir, "a.txt");
	float *zeros = xcalloc(3 * 160 * 160, sizeof *zeros);
	struct tensor t = {.type = DT_F32, .shape = shape_of(4, (const int64_t[]){1, 3, 160, 160}), .data = zeros};
	must(file_mkdirs(dir, &err), &err);
	must(array_write(&t, 0, array, &err), &err);
	must(file_write(text, line, strlen(line), &err), &err);
	bench_open(&b, "examples/digits.onnx", array, NULL, &(struct task_options){.kind = -1, .labels = dir});
	struct task_look *l = task_look_new(b.t, float_net(b.t), quantized(b.t), (struct key){1, 2}, 0, .25);
	assert_int_equal(l->n_truths, 1);
	assert_true(l->truth[0].w == 40 && l->truth[0].h == 80 && l->truth[0].x == 60);
	task_look_drop(&l);
	bench_close(&b);
	free(zeros);
	free(array);
	free(text);
}

// Boxes must score more than is asked for.
void test_task__boxes_below_the_score_do_not_count(void **state)
{
	double ap[2];
	for (int strict = 0; strict < 2; strict++) {
		struct bench b;
		bench_open(&b, "examples/digits.onnx", "examples/val", NULL, &(struct task_options){.kind = -1, .score = strict ? .95 : 0});
		bench_run(&b, 0, 8);
		ap[strict] = figure(b.t, "AP50", TASK_FLOAT);
		bench_close(&b);
	}
	assert_true(ap[0] > .5 && ap[1] < ap[0] / 2);
}

// The figure that examples/README.md gives for these 100 images.
void test_task__the_demo_has_its_published_map(void **state)
{
	struct bench b;
	bench_open(&b, "examples/digits.onnx", "examples/val", NULL, &(struct task_options){.kind = -1});
	assert_int_equal(task_kind(b.t), TASK_DETECT);
	bench_run(&b, 0, 100);
	assert_true(fabs(figure(b.t, "AP", TASK_FLOAT) - .7449) < 2e-4);
	assert_true(fabs(figure(b.t, "AP50", TASK_FLOAT) - .9502) < 2e-4);
	assert_true(isnan(figure(b.t, "AP_large", TASK_FLOAT)));
	assert_true(isnan(figure(b.t, "AP", TASK_QUANT)));
	char note[512];
	task_note(b.t, note, sizeof note);
	assert_non_null(strstr(note, "examples/val.json (100 of 100 samples, 10 classes); decoder yolov8"));
	bench_close(&b);
}

void test_task__figures_do_not_depend_on_the_order_of_samples(void **state)
{
	struct bench a, b;
	char *list = list_of("examples/val", 12, "list.txt");
	bench_open(&a, "examples/digits.onnx", list, NULL, &detect);
	bench_open(&b, "examples/digits.onnx", list, NULL, &detect);
	bench_run(&a, 0, 12);
	double part;
	bench_run(&b, 6, 12);
	part = figure(b.t, "AP", TASK_FLOAT);
	bench_run(&b, 0, 8);
	struct task_report *x = task_report(a.t, float_net(a.t), NULL, 0), *y = task_report(b.t, float_net(b.t), NULL, 0);
	assert_int_equal(y->samples[TASK_FLOAT], 12);
	assert_true(part != x->figure[0].value[TASK_FLOAT]);
	for (int i = 0; i < x->n_figures; i++)
		assert_memory_equal(&x->figure[i].value[TASK_FLOAT], &y->figure[i].value[TASK_FLOAT], sizeof(double));
	assert_int_equal(x->n_classes, 10);
	for (int c = 0; c < x->n_classes; c++)
		assert_int_equal(x->class[c].objects, y->class[c].objects);
	task_report_drop(&x);
	task_report_drop(&y);
	bench_close(&a);
	bench_close(&b);
	free(list);
}

// Outputs as the engine gives them, for adding by hand; a "quantized" variant is made by a change.
static void infer(struct bench *b, int sample, struct tensor *out)
{
	struct error err = {0};
	struct tensor in[4];
	must(dataset_load(b->d, sample, in, NULL, &err), &err);
	must(engine_infer(b->e, NULL, &(struct inference){.in = in, .want = b->g->output, .n_want = b->g->n_outputs, .out = out}, &err), &err);
	for (int i = 0; i < b->g->n_inputs; i++)
		tensor_drop(&in[i]);
}

static void scale_scores(struct tensor *t, float by)
{
	float *x = t->data;
	int64_t cells = t->shape.dim[2];
	for (int64_t i = 4 * cells; i < 14 * cells; i++)
		x[i] *= by;
}

void test_task__what_quantization_costs_and_where(void **state)
{
	struct bench b;
	struct error err = {0};
	struct task_interval interval, again;
	char *list = list_of("examples/val", 10, "list.txt");
	bench_open(&b, "examples/digits.onnx", list, NULL, &detect);
	assert_false(task_interval(b.t, float_net(b.t), quantized(b.t), 50, 1, &interval));
	for (int i = 0; i < 10; i++) {
		struct tensor f = {0}, q = {0};
		infer(&b, i, &f);
		infer(&b, i, &q);
		scale_scores(&q, i == 4 ? 0 : 1); // sample 4 loses everything
		must(task_add(b.t, float_net(b.t), i, &(struct task_said){&f, &f, NULL}, &err), &err);
		must(task_add(b.t, quantized(b.t), i, &(struct task_said){&q, &f, NULL}, &err), &err);
		tensor_drop(&f);
		tensor_drop(&q);
	}
	struct task_report *r = task_report(b.t, float_net(b.t), quantized(b.t), 0);
	assert_int_equal(r->n_samples, 10);
	assert_int_equal(r->sample[0].sample, 4);
	assert_true(r->sample[0].value[TASK_FLOAT] > .5 && r->sample[0].value[TASK_QUANT] == 0);
	assert_true(r->sample[1].value[TASK_FLOAT] == r->sample[1].value[TASK_QUANT]);
	assert_true(r->figure[0].value[TASK_QUANT] < r->figure[0].value[TASK_FLOAT]);
	assert_true(task_interval(b.t, float_net(b.t), quantized(b.t), 200, 1, &interval) &&
	    task_interval(b.t, float_net(b.t), quantized(b.t), 200, 1, &again));
	assert_true(interval.difference == again.difference && interval.low == again.low && interval.high == again.high);
	assert_int_equal(interval.samples, again.samples);
	assert_true(
	    fabs(interval.difference - (r->figure[0].value[TASK_QUANT] - r->figure[0].value[TASK_FLOAT])) < 1e-12);
	assert_true(interval.low <= interval.difference && interval.difference <= interval.high &&
	            interval.low < interval.high);
	assert_true(interval.high <= 0);
	task_report_drop(&r);
	bench_close(&b);
	free(list);
}

// ---- looks

static struct task_look *look_at(struct bench *b, int sample, float before, float after)
{
	struct error err = {0};
	struct tensor f = {0}, q = {0};
	infer(b, sample, &f);
	infer(b, sample, &q);
	scale_scores(&f, before);
	scale_scores(&q, after);
	must(task_add(b->t, float_net(b->t), sample, &(struct task_said){&f, &f, NULL}, &err), &err);
	must(task_add(b->t, quantized(b->t), sample, &(struct task_said){&q, &f, NULL}, &err), &err);
	tensor_drop(&f);
	tensor_drop(&q);
	return task_look_new(b->t, float_net(b->t), quantized(b->t), (struct key){1, 2}, sample, .25);
}

static void all_are(const struct task_look *l, enum task_change_kind kind, int n)
{
	assert_int_equal(l->n_changes, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(l->change[i].kind, kind);
}

void test_task__what_was_missed_what_appeared_what_moved(void **state)
{
	struct bench b;
	char *list = list_of("examples/val", 3, "list.txt");
	bench_open(&b, "examples/digits.onnx", list, NULL, &detect);
	struct task_look *l = task_look_new(b.t, float_net(b.t), quantized(b.t), (struct key){1, 2}, 1, .25);
	assert_false(l->known);
	assert_true(l->n_truths > 0 && l->n_changes == 0 && strstr(l->file, l->name));
	int truths = l->n_truths;
	for (int i = 0; i < truths; i++) // the digits' classes have their names
		assert_true(strlen(l->class_name[l->truth[i].class]) == 1);
	task_look_drop(&l);
	l = look_at(&b, 1, 1, 1);
	assert_true(l->known && l->n_boxes[TASK_FLOAT] >= truths);
	all_are(l, CHANGE_MOVED, 0);
	int found = l->n_boxes[TASK_FLOAT];
	task_look_drop(&l);
	l = look_at(&b, 1, 1, .75f);
	all_are(l, CHANGE_MOVED, found);
	assert_true(l->change[0].right && l->change[0].iou > .999);
	assert_true(fabs((double)l->change[0].box[TASK_QUANT].score - .75 * (double)l->change[0].box[TASK_FLOAT].score) < 1e-5);
	task_look_drop(&l);
	l = look_at(&b, 1, 1, .1f); // what is left is under .25, and is said
	all_are(l, CHANGE_MISSED, found);
	assert_true(l->change[0].box[TASK_QUANT].score > .05f && l->change[0].box[TASK_QUANT].score < .1f);
	task_look_drop(&l);
	l = look_at(&b, 1, 0, 1);
	all_are(l, CHANGE_APPEARED, found);
	assert_true(l->change[0].box[TASK_FLOAT].score == 0);
	task_look_drop(&l);
	bench_close(&b);
	free(list);
}

void test_task__quantized_by_a_plan(void **state)
{
	struct study *s;
	struct task *t;
	struct error err = {0};
	char *list = list_of("examples/val", 8, "list.txt");
	struct study_options opt = {.model = "examples/digits.onnx",
	    .calib = list,
	    .method = -1,
	    .data = {.samples = 8},
	    .threads = 2,
	    .calibrate_only = true};
	must(study_open(&s, &opt, &err), &err);
	study_run(s);
	must(study_wait(s, &err), &err);
	struct snapshot *snap = study_snapshot(s);
	assert_non_null(snapshot_plan(snap));
	const struct dataset *d = study_dataset(s);
	struct engine *e = engine_new(study_graph(s), d, &(struct engine_options){.threads = 2});
	must(task_open(&t, study_graph(s), d, &detect, &err), &err);
	atomic_int done = 0;
	struct task_pass p = {.plan = snapshot_plan(snap), .last = 8, .done = &done};
	must(task_run(t, e, &p, &err), &err);
	assert_int_equal(done, 8);
	double f = task_score(t, float_net(t), 0, 8), q = task_score(t, task_net(t, task_key(t, p.plan)), 0, 8);
	assert_true(f > .6 && q < f - .1);
	// A network that was seen before is known: nothing runs.
	must(task_run(t, NULL, &p, &err), &err);
	assert_int_equal(done, 16);
	assert_int_equal(known_samples(t, task_net(t, task_key(t, p.plan)), 8), 8);
	atomic_bool cancel = true;
	p.cancel = &cancel;
	assert_int_equal(task_run(t, e, &p, &err), STATUS_CANCELLED);
	task_free(&t);
	engine_free(&e);
	snapshot_drop(&snap);
	study_close(&s);
	free(list);
}

static void read_along(void *arg, const struct sighting *s)
{
	task_gather_see(arg, s);
}

// What another pass shows is as good as a pass of the task's own: nothing is left to run.
void test_task__outputs_are_read_beside_another_pass(void **state)
{
	struct bench own, beside;
	struct error err = {0};
	char *list = list_of("examples/val", 4, "list.txt");
	bench_open(&own, "examples/digits.onnx", list, NULL, &detect);
	bench_open(&beside, "examples/digits.onnx", list, NULL, &detect);
	struct task_pass part = {.first = 1, .last = 4};
	struct task_gather *c = task_gather_new(beside.t, &part);
	assert_true(task_gather_wants(c, TASK_FLOAT) && !task_gather_wants(c, TASK_QUANT));
	bool *want = xcalloc((size_t)beside.g->n_values, sizeof *want);
	for (int i = 0; i < beside.g->n_outputs; i++)
		want[beside.g->output[i]] = true;
	must(engine_pass(beside.e, &(struct pass){.want = {[SIM_FLOAT] = want}, .last = 4, .visit = read_along, .arg = c}, &err), &err);
	task_gather_free(&c);
	assert_int_equal(known_samples(beside.t, float_net(beside.t), 4), 3);
	must(task_run(beside.t, NULL, &part, &err), &err);
	bench_run(&own, 1, 4);
	assert_true(task_score(own.t, float_net(own.t), 1, 4) > .5);
	assert_float_equal(task_score(beside.t, float_net(beside.t), 1, 4), task_score(own.t, float_net(own.t), 1, 4), 0);
	free(want);
	bench_close(&own);
	bench_close(&beside);
	free(list);
}

// ---- classification

static const struct preprocess cifar = {.mean = {125.307f, 122.961f, 113.8575f},
    .std = {51.5865f, 50.847f, 51.255f},
    .mean_set = true,
    .std_set = true,
    .color_set = true,
    .resize_set = true};

void test_task__top_1_of_a_classifier(void **state)
{
	struct bench b;
	const char *model = support_data("models/resnet20_cifar10.onnx"), *data = support_data("cifar10");
	if (!model || !data)
		skip();
	bench_open(&b, model, data, &cifar, &(struct task_options){.kind = -1});
	assert_int_equal(task_kind(b.t), TASK_CLASSIFY);
	bench_run(&b, 0, 120); // airplanes and automobiles
	struct task_report *r = task_report(b.t, float_net(b.t), quantized(b.t), 0);
	assert_string_equal(r->figure[0].name, "top1");
	assert_true(r->figure[0].value[TASK_FLOAT] > .7 && r->figure[1].value[TASK_FLOAT] > .95);
	assert_int_equal(r->class[0].objects, 60);
	double mean = (r->class[0].value[TASK_FLOAT] + r->class[1].value[TASK_FLOAT]) / 2;
	assert_true(fabs(mean - r->figure[0].value[TASK_FLOAT]) < 1e-12);
	assert_true(isnan(r->class[2].value[TASK_FLOAT]));
	task_report_drop(&r);
	bench_close(&b);
}

static void add_scores(struct bench *b, int sample, const float f[10], const float q[10])
{
	struct error err = {0};
	struct tensor a = {.type = DT_F32, .shape = shape_of(2, (const int64_t[]){1, 10}), .data = (void *)f}, c = a;
	c.data = (void *)q;
	must(task_add(b->t, float_net(b->t), sample, &(struct task_said){&a, &a, NULL}, &err), &err);
	must(task_add(b->t, quantized(b->t), sample, &(struct task_said){&c, &a, NULL}, &err), &err);
}

void test_task__ranks_by_hand(void **state)
{
	struct bench b;
	const char *model = support_data("models/resnet20_cifar10.onnx"), *data = support_data("cifar10");
	if (!model || !data)
		skip();
	bench_open(&b, model, data, &cifar, &(struct task_options){.kind = TASK_CLASSIFY});
	static const float right[10] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, fifth[10] = {5, 9, 8, 7, 6, 4, 3, 2, 1, 0};
	static const float sixth[10] = {4, 9, 8, 7, 6, 5, 3, 2, 1, 0}, flat[10] = {0};
	float bad[10] = {0};
	bad[0] = NAN;
	add_scores(&b, 0, right, fifth);
	add_scores(&b, 1, right, sixth);
	add_scores(&b, 2, right, flat); // of equals the first
	add_scores(&b, 3, right, bad);
	assert_true(figure(b.t, "top1", TASK_FLOAT) == 1 && figure(b.t, "top5", TASK_FLOAT) == 1);
	assert_true(figure(b.t, "top1", TASK_QUANT) == .25 && figure(b.t, "top5", TASK_QUANT) == .5);
	bench_close(&b);
}

// ---- without labels

void test_task__agreement_without_labels(void **state)
{
	struct bench b;
	const char *model = support_data("models/resnet20_cifar10.onnx"), *data = support_data("cifar10");
	if (!model || !data)
		skip();
	bench_open(&b, model, data, &cifar, &(struct task_options){.kind = TASK_AGREE});
	static const float f[10] = {3, 4}, same[10] = {6, 8}, other[10] = {4, 3};
	add_scores(&b, 0, f, same);
	assert_true(figure(b.t, "cosine", TASK_QUANT) == 1 && figure(b.t, "same_top1", TASK_QUANT) == 1);
	assert_true(fabs(figure(b.t, "snr_db", TASK_QUANT)) < 1e-9); // noise as large as the signal
	add_scores(&b, 1, f, other);
	assert_true(fabs(figure(b.t, "cosine", TASK_QUANT) - (1 + .96) / 2) < 1e-12);
	assert_true(figure(b.t, "same_top1", TASK_QUANT) == .5);
	assert_true(fabs(figure(b.t, "snr_db", TASK_QUANT) - 10 * log10(50 / 27.)) < 1e-9);
	struct task_interval interval;
	assert_true(task_interval(b.t, float_net(b.t), quantized(b.t), 50, 1, &interval)); // from the float network's 1
	assert_true(fabs(interval.difference - ((1 + .96) / 2 - 1)) < 1e-12);
	assert_true(isnan(figure(b.t, "cosine", TASK_FLOAT)));
	struct task_report *r = task_report(b.t, float_net(b.t), quantized(b.t), 0);
	assert_int_equal(r->sample[0].sample, 1);
	task_report_drop(&r);
	static const float far[10] = {INFINITY, 3, 4}, nothing[10] = {0}; // infinities in both say nothing, and zeros agree with zeros
	add_scores(&b, 2, far, far);
	add_scores(&b, 3, nothing, nothing);
	assert_true(fabs(figure(b.t, "cosine", TASK_QUANT) - (1 + .96 + 1 + 1) / 4) < 1e-12);
	bench_close(&b);
}

void test_task__a_message_names_all_kinds(void **state)
{
	struct error err;
	assert_int_equal(task_kind_unknown("--task", "sing", &err), STATUS_USAGE);
	for (int k = 0; k < TASK_KINDS; k++)
		assert_non_null(strstr(err.text, task_kind_name((enum task_kind)k)));
}

// ---- refusals

static void refused(const struct task_options *opt, enum status status, const char *says)
{
	struct graph *g;
	struct dataset *d;
	struct task *t;
	struct error err = {0};
	char *list = list_of("examples/val", 2, "list.txt");
	must(onnx_load(&g, "examples/digits.onnx", &(struct onnx_options){0}, &err), &err);
	must(dataset_open(&d, list, g, &(struct dataset_options){0}, &err), &err);
	assert_int_equal(task_open(&t, g, d, opt, &err), status);
	assert_null(t);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	dataset_free(&d);
	graph_free(&g);
	free(list);
}

void test_task__what_does_not_fit_is_said(void **state)
{
	refused(&(struct task_options){.kind = TASK_DETECT}, STATUS_NOTFOUND, "--labels");
	refused(
	    &(struct task_options){.kind = TASK_CLASSIFY, .labels = "examples/val.json"}, STATUS_USAGE, "holds boxes");
	refused(&(struct task_options){.kind = -1, .labels = "examples/val.json", .decoder = "yolo"}, STATUS_NOTFOUND,
	    "yolov8");
	refused(&(struct task_options){.kind = -1, .labels = "examples/val.json", .decoder = "detr"},
	    STATUS_UNSUPPORTED, "does not fit");
	refused(&(struct task_options){.kind = -1, .labels = "examples/none.json"}, STATUS_IO, "none.json");
}
