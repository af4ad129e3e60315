// Tuned weights: least squares and rounding against what is known, and whole networks.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tune/tune_impl.h"
#include "support.h"
#include "qtui/engine/onnx.h"

enum { ROWS = 600, K = 12, M = 3 };

// Rows whose columns go together, and what the weights leave undone there: r = change * x + shift, and noise.
static void add_rows(struct moments *s, struct support_random *random, const double *change, double shift, float noise)
{
	static float x[ROWS * K], r[ROWS * M];
	for (int j = 0; j < ROWS; j++) {
		float common = support_random_normal(random);
		for (int i = 0; i < K; i++)
			x[j * K + i] = common + 0.3f * support_random_normal(random) + 0.5f;
		for (int c = 0; c < M; c++) {
			double left = shift + (double)(noise * support_random_normal(random));
			for (int i = 0; i < K; i++)
				left += change[c * K + i] * (double)x[j * K + i];
			r[j * M + c] = (float)left;
		}
	}
	assert_true(moments_alloc(s, K, M));
	moments_add_rows(s, x, K, r, M, ROWS);
}

struct fitting {
	struct moments half[2];
	struct fit_grid grid[M];
	double weight[M * K], now[M * K], bias[M], change[M * K];
	struct fit_task task;
};

static void prepare(struct fitting *f, float scale, float noise, double shift)
{
	struct support_random random = {7};
	for (int c = 0; c < M; c++)
		f->grid[c] = (struct fit_grid){.scale = scale, .lo = -127, .hi = 127, .held = {-1, c == 1 ? 4 : -1}};
	for (int i = 0; i < M * K; i++) {
		f->weight[i] = (double)support_random_float(&random, -1, 1);
		f->now[i] = rint(f->weight[i] / (double)scale) * (double)scale;
		f->change[i] = 0.1 * (double)support_random_normal(&random);
	}
	for (int c = 0; c < M; c++)
		f->bias[c] = 0;
	add_rows(&f->half[0], &random, f->change, shift, noise);
	add_rows(&f->half[1], &random, f->change, shift, noise);
	f->task =
	    (struct fit_task){.fit = &f->half[0], .judge = &f->half[1], .grid = f->grid, .weight = f->weight, .now = f->now, .bias = f->bias};
}

static void drop(struct fitting *f, struct fit_result *r)
{
	moments_done(&f->half[0]);
	moments_done(&f->half[1]);
	fit_done(r);
}

// The error that a result has on the judging half, output by output.
static void errors_of(const struct fitting *f, const double *weight, const double *bias, double *out)
{
	double d[M * K], room[M * K];
	for (int i = 0; i < M * K; i++)
		d[i] = weight[i] - f->weight[i];
	moments_error(out, &f->half[1], d, bias, room);
}

void test_tune__finds_what_is_left(void **state)
{
	struct fitting f;
	struct fit_result r;
	double total = 0, left[M];
	prepare(&f, 1.0f / 64, 0, 0.25);
	assert_true(fit_weights(&r, &f.task));
	assert_int_equal(r.changed, M);
	errors_of(&f, r.weight, r.bias, left);
	for (int c = 0; c < M; c++)
		total += left[c];
	assert_true(r.before > 500 * total); // what remains is rounding
	assert_true(r.after < r.before);
	drop(&f, &r);
}

void test_tune__stays_on_the_grid(void **state)
{
	struct fitting f;
	struct fit_result r;
	prepare(&f, 1.0f / 8, 0.1f, 0);
	for (int c = 0; c < M; c++) {
		f.grid[c].lo = -7;
		f.grid[c].hi = 6;
	}
	for (int i = 0; i < M * K; i++)
		f.now[i] = fmin(fmax(f.now[i], -0.875), 0.75);
	assert_true(fit_weights(&r, &f.task));
	for (int i = 0; i < M * K; i++) {
		double code = r.weight[i] * 8;
		assert_true(code == rint(code) && code >= -7 && code <= 6);
	}
	assert_true(r.weight[K + 4] == f.now[K + 4]); // held
	drop(&f, &r);
}

// Rounding that knows of its neighbours, without anything to make good for: better than to the nearest.
void test_tune__rounds_together(void **state)
{
	struct fitting f;
	struct fit_result r;
	double left[M], total = 0;
	prepare(&f, 1.0f / 4, 0, 0);
	moments_done(&f.half[0]);
	moments_done(&f.half[1]);
	struct support_random random = {8};
	double none[M * K] = {0};
	add_rows(&f.half[0], &random, none, 0, 0);
	add_rows(&f.half[1], &random, none, 0, 0);
	assert_true(fit_weights(&r, &f.task));
	errors_of(&f, r.weight, r.bias, left);
	for (int c = 0; c < M; c++)
		total += left[c];
	assert_true(total < r.before / 3);
	drop(&f, &r);
}

// What one half teaches and the other contradicts is not taken.
void test_tune__never_worse_where_it_is_judged(void **state)
{
	struct fitting f;
	struct fit_result r;
	double before[M], after[M], opposite[M * K];
	prepare(&f, 1.0f / 64, 0.5f, 0.5);
	moments_done(&f.half[1]);
	struct support_random random = {9};
	for (int i = 0; i < M * K; i++)
		opposite[i] = i < K ? f.change[i] : -f.change[i];
	add_rows(&f.half[1], &random, opposite, -0.5, 0.5f);
	assert_true(fit_weights(&r, &f.task));
	errors_of(&f, f.now, f.bias, before);
	errors_of(&f, r.weight, r.bias, after);
	for (int c = 0; c < M; c++)
		assert_true(after[c] <= before[c] * (1 + 1e-9));
	drop(&f, &r);
}

// Inputs that are always zero, and one row only: no sum has a solution of its own, and nothing may break.
void test_tune__sums_without_a_solution(void **state)
{
	struct fitting f;
	struct fit_result r;
	prepare(&f, 1.0f / 64, 0, 0);
	for (int i = 0; i < 2; i++) {
		moments_done(&f.half[i]);
		float x[K] = {0}, left[M] = {0.5f, 0.5f, 0.5f};
		assert_true(moments_alloc(&f.half[i], K, M));
		moments_add_rows(&f.half[i], x, K, left, M, 1);
	}
	assert_true(fit_weights(&r, &f.task));
	for (int i = 0; i < M * K; i++)
		assert_true(isfinite(r.weight[i]));
	for (int c = 0; c < M; c++)
		assert_true(isfinite(r.bias[c]));
	drop(&f, &r);
}

void test_tune__no_memory(void **state)
{
	struct fitting f;
	struct fit_result r;
	prepare(&f, 1.0f / 64, 0, 0);
	for (long n = 1; n < 6; n++) {
		mem_fail_at(n);
		assert_false(fit_weights(&r, &f.task));
		mem_fail_at(0);
	}
	moments_done(&f.half[0]);
	moments_done(&f.half[1]);
}

// ---- a network

struct network {
	struct graph *g;
	struct target *target;
	struct dataset *d;
	struct engine *e;
	struct edits *edits;
	struct plan *p;
	struct observer **observer;
	int phase;
};

static void feed(void *arg, const struct sighting *s)
{
	struct network *w = arg;
	struct rep x = {0};
	struct error err = {0};
	assert_int_equal(rep_to_float(&x, s->rep[SIM_WEIGHTS], 1, &err), STATUS_OK);
	for (int i = 0; i < w->p->n_observe; i++)
		if (w->p->observe[i].value == s->value && w->phase < observer_phases(w->observer[i]))
			observer_feed(w->observer[i], w->phase, s->sample, &x.t);
	rep_drop(&x);
}

static void calibrate(struct network *w, int samples)
{
	struct error err = {0};
	bool *want = xcalloc((size_t)w->g->n_values + 1, 1);
	float *scale = xcalloc((size_t)w->p->n_observe + 1, sizeof *scale);
	int32_t *zero = xcalloc((size_t)w->p->n_observe + 1, sizeof *zero);
	w->observer = xcalloc((size_t)w->p->n_observe + 1, sizeof *w->observer);
	for (int i = 0; i < w->p->n_observe; i++) {
		w->observer[i] = observer_new(w->p, i, samples);
		want[w->p->observe[i].value] = true;
	}
	for (w->phase = 0; w->phase < OBSERVER_PHASES; w->phase++) {
		struct pass pass = {.plan = w->p, .want = {[SIM_WEIGHTS] = want}, .last = samples, .visit = feed, .arg = w};
		assert_int_equal(engine_pass(w->e, &pass, &err), STATUS_OK);
	}
	for (int i = 0; i < w->p->n_observe; i++) {
		assert_true(observer_finish(w->observer[i], &scale[i], &zero[i]));
		observer_free(&w->observer[i]);
	}
	assert_int_equal(plan_finish(w->p, scale, zero, w->edits, &err), STATUS_OK);
	free(w->observer);
	free(scale);
	free(zero);
	free(want);
}

static void plan_again(struct network *w)
{
	struct error err = {0};
	plan_free(&w->p);
	assert_int_equal(plan_new(&w->p, w->g, w->target, CALIB_MINMAX, w->edits, NULL, &err), STATUS_OK);
	calibrate(w, 8);
}

static void network_open(struct network *w, const char *target, int threads)
{
	struct error err = {0};
	struct dataset_options data = {.samples = 8};
	*w = (struct network){0};
	if (onnx_load(&w->g, "examples/digits.onnx", &(struct onnx_options){0}, &err) || target_load(&w->target, target, &err) ||
	    dataset_open(&w->d, "examples/calib", w->g, &data, &err))
		fail_msg("%s", err.text);
	w->e = engine_new(w->g, w->d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = threads, .memory = 64 << 20});
	w->edits = edits_new(w->g);
	plan_again(w);
}

static void network_close(struct network *w)
{
	plan_free(&w->p);
	edits_free(&w->edits);
	engine_free(&w->e);
	dataset_free(&w->d);
	target_free(&w->target);
	graph_free(&w->g);
}

static struct tuning *tune_with(struct network *w, const struct tune_options *o, struct tune_row *rows, int *n)
{
	struct tuner *t = NULL;
	struct error err = {0};
	if (tuner_open(&t, w->e, w->p, o, &err))
		fail_msg("%s", err.text);
	*n = tuner_nodes(t);
	if (tuner_run(t, 0, *n, rows, &err))
		fail_msg("%s", err.text);
	struct tuning *out = tuner_state(t);
	tuner_free(&t);
	return out;
}

static struct tuning *tune(struct network *w, int samples, struct tune_row *rows, int *n)
{
	return tune_with(w, &(struct tune_options){.samples = samples}, rows, n);
}

void test_tune__a_network(void **state)
{
	struct network w;
	struct tune_row row[64];
	int n;
	double before = 0, after = 0;
	network_open(&w, "esp32p4", SUPPORT_WIDTH(2));
	struct tuning *t = tune(&w, 4, row, &n);
	assert_true(n > 4 && n <= 64 && tuning_count(t) > 2);
	for (int i = 0; i < n; i++) {
		assert_true(row[i].after <= row[i].before && row[i].signal > 0 && row[i].changed <= row[i].outputs);
		before += row[i].before / row[i].signal;
		after += row[i].after / row[i].signal;
	}
	assert_true(after < 0.98 * before);
	tuning_drop(&t);
	network_close(&w);
}

void test_tune__threads_change_nothing(void **state)
{
	struct key k[2];
	for (int i = 0; i < 2; i++) {
		struct network w;
		struct tune_row row[64];
		int n;
		network_open(&w, "esp32p4", i ? SUPPORT_WIDTH(3) : 1);
		struct tuning *t = tune(&w, 4, row, &n);
		k[i] = tuning_key(t);
		tuning_drop(&t);
		network_close(&w);
	}
	assert_true(key_equal(k[0], k[1]));
}

// The tuned weights become the graph's; returns its own values, to be put back.
// Samples that are named are those, in their places: the first four by their numbers give what the first four give, and others
// something else.
void test_tune__samples_that_are_chosen(void **state)
{
	static const int first[] = {0, 1, 2, 3}, others[] = {1, 3, 4, 6};
	const int *const sample[] = {NULL, first, others};
	struct network w;
	struct key k[3];
	network_open(&w, "esp32p4", 1);
	for (int i = 0; i < 3; i++) {
		struct tune_row row[64];
		int n;
		plan_again(&w); // without what was tuned before
		struct tuning *t = tune_with(&w, &(struct tune_options){.sample = sample[i], .samples = 4}, row, &n);
		k[i] = tuning_key(t);
		tuning_drop(&t);
	}
	assert_true(key_equal(k[0], k[1]));
	assert_false(key_equal(k[0], k[2]));
	network_close(&w);
}

static struct value *swap_constants(struct network *w, const struct tuning *t)
{
	struct value *own = xcalloc((size_t)w->g->n_values + 1, sizeof *own);
	memcpy(own, w->g->value, (size_t)w->g->n_values * sizeof *own);
	for (int k = 0; k < tuning_count(t); k++) {
		struct value *v = &w->g->value[w->g->node[tuning_at(t, k)->node].in[1]];
		v->constant = &tuning_at(t, k)->weight;
		v->content = tuning_at(t, k)->weight_key;
	}
	return own;
}

// A float model with the tuned constants has the same scales, and the tuned codes on them.
void test_tune__scales_stay(void **state)
{
	static const char *const target[] = {"esp32p4", "tensorrt", "a8w8"};
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct network w;
		struct tune_row row[64];
		struct plan *again = NULL;
		struct error err = {0};
		int n;
		network_open(&w, target[i], 1);
		struct tuning *t = tune(&w, 4, row, &n);
		assert_true(tuning_count(t) > 0);
		struct value *own = swap_constants(&w, t);
		assert_int_equal(plan_new(&again, w.g, w.target, CALIB_MINMAX, w.edits, NULL, &err), STATUS_OK);
		for (int k = 0; k < tuning_count(t); k++) {
			int slot = w.p->first_in[tuning_at(t, k)->node] + 1;
			assert_true(key_equal(quantizer_key(&again->slot[slot].quant), tuning_at(t, k)->grid));
		}
		plan_free(&again);
		memcpy(w.g->value, own, (size_t)w.g->n_values * sizeof *own);
		free(own);
		tuning_drop(&t);
		network_close(&w);
	}
}

void test_tune__left_aside_on_another_grid(void **state)
{
	struct network w;
	struct tune_row row[64];
	struct plan *wide = NULL;
	struct error err = {0};
	int n;
	network_open(&w, "esp32p4", 1);
	struct edits *e = edits_copy(w.edits);
	e->tuning = tune(&w, 4, row, &n);
	int node = tuning_at(e->tuning, 0)->node;
	assert_ptr_not_equal(plan_constant(w.p, w.p->first_in[node] + 1), w.g->value[w.g->node[node].in[1]].constant);
	e->precision[node] = PREC_INT16;
	assert_false(edits_equal(e, w.edits));
	assert_int_equal(plan_new(&wide, w.g, w.target, CALIB_MINMAX, e, NULL, &err), STATUS_OK);
	assert_ptr_equal(plan_constant(wide, wide->first_in[node] + 1), w.g->value[w.g->node[node].in[1]].constant);
	plan_free(&wide);
	edits_free(&e);
	network_close(&w);
}

// The model's own weights, each with a grid that is coarser by a quarter than what the plan finds.
static struct tuning *coarser(const struct network *w)
{
	struct tuning *t = tuning_new();
	struct error err = {0};
	for (int i = 0; i < w->g->n_nodes; i++) {
		const struct slot *s = w->g->node[i].op->id == OP_Conv ? plan_in(w->p, i, 1) : NULL;
		if (!s || s->state != SLOT_ACTIVE)
			continue;
		struct tuned one = {.node = i};
		struct quantizer q = s->quant;
		int64_t n = q.n;
		one.scale = (struct tensor){.type = DT_F32, .shape = shape_of(1, &n)};
		one.zero = (struct tensor){.type = DT_I32, .shape = shape_of(1, &n)};
		if (tensor_alloc(&one.scale, NULL, &err) || tensor_alloc(&one.zero, NULL, &err) ||
		    tensor_copy(&one.weight, w->g->value[s->value].constant, &err) ||
		    tensor_copy(&one.bias, w->g->value[w->g->node[i].in[2]].constant, &err))
			fail_msg("%s", err.text);
		for (int c = 0; c < n; c++) {
			((float *)one.scale.data)[c] = q.scale[c] * 1.25f;
			((int32_t *)one.zero.data)[c] = 0;
		}
		q.scale = one.scale.data;
		q.zero = one.zero.data;
		one.grid = quantizer_key(&q);
		one.weight_key = tensor_key(&one.weight);
		one.bias_key = tensor_key(&one.bias);
		tuning_put(t, &one);
	}
	return t;
}

// Weights that bring their grid have it in the plan, observers see the plan's own, and a tuner stays on it.
void test_tune__weights_that_bring_their_grid(void **state)
{
	static const char *const target[] = {"tensorrt", "onnxruntime", "a8w8"}; // a scale for each channel, or one
	struct tune_row row[64];
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct network w;
		int n;
		network_open(&w, target[i], 1);
		struct tuning *brought = coarser(&w);
		int node = tuning_at(brought, 0)->node, slot = w.p->first_in[node] + 1;
		float own = w.p->slot[slot].quant.scale[0];
		w.edits->tuning = tuning_take(brought);
		plan_again(&w);
		assert_true(w.p->slot[slot].quant.scale[0] == own * 1.25f);
		assert_true(w.p->slot[slot].locked);
		const struct quantizer *seen = plan_calibration_quantizer(w.p, slot);
		assert_true(!seen || seen->scale[0] == own);
		struct tuning *tuned = tune(&w, 4, row, &n);
		assert_int_equal(tuning_count(tuned), tuning_count(brought));
		assert_false(key_equal(tuning_key(tuned), tuning_key(brought)));
		for (int k = 0; k < tuning_count(tuned); k++) {
			assert_true(key_equal(tuning_at(tuned, k)->grid, tuning_at(brought, k)->grid));
			assert_memory_equal(
			    tuning_at(tuned, k)->scale.data, tuning_at(brought, k)->scale.data, tensor_bytes(&tuning_at(brought, k)->scale));
		}
		tuning_drop(&tuned);
		tuning_drop(&brought);
		network_close(&w);
	}
}

// Through the file beside a session and back.
void test_tune__grids_in_a_file(void **state)
{
	struct network w;
	struct tuning *back = NULL;
	struct error err = {0};
	const char *path = support_temp("grids.onnx");
	struct bytes file = {0};
	network_open(&w, "tensorrt", 1);
	struct tuning *t = coarser(&w);
	if (onnx_save_tuned(path, w.g, t, &err) || onnx_read_tuned(&back, w.g, path, &err) || file_read(&file, path, 64 << 20, &err))
		fail_msg("%s", err.text);
	assert_true(key_equal(tuning_key(t), tuning_key(back)));
	for (int k = 0; k < tuning_count(t); k++)
		assert_memory_equal(tuning_at(t, k)->scale.data, tuning_at(back, k)->scale.data, tensor_bytes(&tuning_at(t, k)->scale));
	tuning_drop(&back);
	static const char *const broken[] = {"7f800000", "00000000", "bf800000", "0000000z"}; // infinite, none, negative, no number
	uint8_t *scale = NULL;
	for (size_t i = 0; i + 8 < file.size && !scale; i++)
		if (file.data[i] == ',' && file.data[i + 9] == ':' && file.data[i + 10] == '0')
			scale = file.data + i + 1;
	assert_non_null(scale);
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		memcpy(scale, broken[i], 8);
		path = support_temp_file("broken.onnx", (const char *)file.data, file.size);
		assert_int_equal(onnx_read_tuned(&back, w.g, path, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "it was tuned for another model"));
	}
	bytes_done(&file);
	tuning_drop(&t);
	network_close(&w);
}

// Of two sizes of memory that leave the same nodes alone the larger holds more of the wanted outputs: what is fitted is the same. And
// with as much as is said to let all be fitted, all are.
void test_tune__memory_changes_nothing(void **state)
{
	enum { MB = 1 << 20, SIZES = 2 };
	static const size_t size[SIZES] = {6 * MB, 7 * MB};
	struct network w;
	struct key k[SIZES];
	int n[SIZES], left[SIZES], most;
	size_t memory;
	struct error err = {0};
	network_open(&w, "esp32p4", 1);
	for (int i = 0; i < SIZES; i++) {
		struct tuner *t = NULL;
		struct tune_row row[64];
		plan_again(&w);
		assert_int_equal(tuner_open(&t, w.e, w.p, &(struct tune_options){.samples = 8, .memory = size[i]}, &err), STATUS_OK);
		n[i] = tuner_nodes(t);
		left[i] = tuner_left(t, &most, &memory);
		assert_int_equal(tuner_run(t, 0, n[i], row, &err), STATUS_OK);
		struct tuning *tuned = tuner_state(t);
		k[i] = tuning_key(tuned);
		tuning_drop(&tuned);
		tuner_free(&t);
	}
	assert_true(n[0] > 8 && n[0] == n[1] && left[0] > 0 && left[0] == left[1]);
	assert_true(key_equal(k[0], k[1]));
	struct tuner *t = NULL;
	assert_int_equal(tuner_open(&t, w.e, w.p, &(struct tune_options){.samples = 8, .memory = memory}, &err), STATUS_OK);
	assert_int_equal(tuner_left(t, &most, &memory), 0);
	assert_int_equal(tuner_nodes(t), n[0] + left[0]);
	tuner_free(&t);
	network_close(&w);
}

void test_tune__bounds(void **state)
{
	struct network w;
	struct tuner *t = NULL;
	struct error err = {0};
	atomic_bool stop = true;
	network_open(&w, "esp32p4", 1);
	assert_int_equal(tuner_open(&t, w.e, w.p, &(struct tune_options){.samples = 1}, &err), STATUS_REFUSED);
	assert_int_equal(tuner_open(&t, w.e, w.p, &(struct tune_options){.samples = 4, .memory = 1024}, &err), STATUS_OK);
	assert_int_equal(tuner_nodes(t), 0); // nothing fits
	int node;
	size_t memory;
	assert_true(tuner_left(t, &node, &memory) > 8 && memory > 1024);
	tuner_free(&t);
	assert_int_equal(tuner_open(&t, w.e, w.p, &(struct tune_options){.samples = 4, .cancel = &stop}, &err), STATUS_CANCELLED);
	network_close(&w);
}
