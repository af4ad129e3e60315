// The study on the shipped model: figures, edits, undo, what is computed again and what is not, and sessions.
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tensor/cpu.h"
#include "qtui/analysis/session.h"
#include "qtui/analysis/traffic.h"
#include "qtui/base/file.h"
#include "studies.h"

#define MODEL "examples/digits.onnx"
#define CALIB "examples/calib"
#define HEAD_CONV "/model.12/cv3.1/cv3.1.1/cv3.1.1.0/conv/Conv"
#define CLASS_CONV "/model.12/cv3.0/cv3.0.2/Conv"
enum { SAMPLES = 3 };

static struct study *open_study(int threads, size_t memory)
{
	return open_for_test((struct study_options){.model = MODEL,
	    .calib = CALIB,
	    .target = "esp32p4",
	    .method = CALIB_MINMAX,
	    .threads = threads,
	    .memory = memory,
	    .backend = BACKEND_ONEDNN,
	    .data = {.samples = SAMPLES}});
}

static int node(const struct study *st, const char *name)
{
	int n = graph_find_node(study_graph(st), name);
	assert_true(n >= 0);
	return n;
}

static void set(struct study *st, const char *name, int precision)
{
	struct error err = {0};
	int n = node(st, name);
	assert_int_equal(study_set(st, &n, 1, precision, NULL, &err), STATUS_OK);
}

// Every figure that both snapshots show is the same to the bit.
static void assert_same_figures(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->n_sites, b->n_sites);
	for (int i = 0; i < a->n_sites; i++) {
		const struct figures *x[] = {&a->site[i].graphwise, &a->site[i].layerwise},
		                     *y[] = {&b->site[i].graphwise, &b->site[i].layerwise};
		assert_int_equal(a->site[i].value, b->site[i].value);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(x[k]->known, y[k]->known);
			assert_memory_equal(&x[k]->pooled.nsr, &y[k]->pooled.nsr, sizeof(double));
			assert_memory_equal(&x[k]->nsr_mean, &y[k]->nsr_mean, sizeof(double));
			assert_memory_equal(&x[k]->pooled.mse, &y[k]->pooled.mse, sizeof(double));
		}
	}
}

static void assert_same_histograms(const struct snapshot *x, const struct snapshot *y)
{
	for (int i = 0; i < x->n_sites; i++) {
		const struct hist *a[] = {x->site[i].hist_float, x->site[i].hist_quant}, *b[] = {y->site[i].hist_float, y->site[i].hist_quant};
		for (int k = 0; k < 2; k++)
			if (a[k] ? !b[k] || memcmp(a[k]->bin, b[k]->bin, sizeof a[k]->bin) != 0 : b[k] != NULL)
				fail_msg("%s: another histogram", x->g->value[x->site[i].value].name);
		assert_true(x->site[i].used_levels == y->site[i].used_levels);
	}
}

void test_study__every_site_has_its_figures(void **state)
{
	struct study *st = open_study(2, 0);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->stage, STAGE_DONE);
	assert_true(s->n_sites > 50);
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		assert_int_equal(site->graphwise.known, site->kind == SITE_WEIGHT ? 1 : SAMPLES);
		assert_true(site->graphwise.pooled.exact || isfinite(site->graphwise.pooled.snr_db));
		assert_true(site->range.n > 0);
		if (site->kind == SITE_OUTPUT) {
			assert_true(site->layerwise.known == SAMPLES);
			assert_non_null(site->hist_float);
			assert_non_null(site->hist_quant);
		}
	}
	snapshot_drop(&s);
	study_close(&st);
}

// Who waits for the descriptor and takes each snapshot hears of the end, too.
void test_study__the_descriptor_tells_that_a_run_is_over(void **state)
{
	enum { HANGS_MS = 60000 };
	struct study *st = open_study(2, 0);
	study_run(st);
	while (study_running(st)) {
		assert_int_equal(poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, HANGS_MS), 1);
		struct snapshot *s = study_snapshot(st);
		snapshot_drop(&s);
	}
	study_close(&st);
}

void test_study__histograms_count_every_element(void **state)
{
	struct study *st = open_study(1, 0);
	struct snapshot *s = run_study(st);
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		double f = 0, q = 0;
		for (int b = 0; site->kind == SITE_OUTPUT && b < STATS_BINS; b++) {
			f += site->hist_float->bin[b];
			q += site->hist_quant->bin[b];
		}
		if (site->kind == SITE_OUTPUT) {
			assert_true(f == site->range.n);
			assert_true(q == site->range.n);
		}
	}
	snapshot_drop(&s);
	study_close(&st);
}

// With one reading of what is observed and with two.
void test_study__same_bits_for_any_threads_and_memory(void **state)
{
	static const enum calib_method method[] = {CALIB_MINMAX, CALIB_KL, CALIB_MSE, CALIB_PERCENTILE};
	for (int i = 0; i < 4; i++) {
		struct error err = {0};
		struct study *a = open_study(1, 0), *b = open_study(2, (size_t)1 << 20);
		assert_int_equal(study_set_method(a, method[i], &err), STATUS_OK);
		assert_int_equal(study_set_method(b, method[i], &err), STATUS_OK);
		struct snapshot *x = run_study(a), *y = run_study(b);
		assert_same_figures(x, y);
		snapshot_drop(&x);
		snapshot_drop(&y);
		study_close(&a);
		study_close(&b);
	}
}

// What is in the memo has the bits that it would have had: tensors that one target computes in one step and another asks
// for each, histograms that one joins from their parts and another counts.
void test_study__same_bits_behind_another_target(void **state)
{
	static const char *const target[] = {"onnxruntime", "tensorrt", "xquant", "esp32p4"};
	struct error err = {0};
	struct study *moved = open_study(2, 0);
	wait_for_run(moved);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(study_set_target(moved, target[i], &err), STATUS_OK);
		assert_int_equal(study_set_method(moved, CALIB_MINMAX, &err), STATUS_OK);
		struct study *fresh = open_study(1, 0);
		if (strcmp(target[i], "esp32p4") != 0)
			assert_int_equal(study_set_target(fresh, target[i], &err), STATUS_OK);
		assert_int_equal(study_set_method(fresh, CALIB_MINMAX, &err), STATUS_OK);
		struct snapshot *x = run_study(moved), *y = run_study(fresh);
		assert_same_figures(x, y);
		assert_same_histograms(x, y);
		snapshot_drop(&x);
		snapshot_drop(&y);
		study_close(&fresh);
	}
	study_close(&moved);
}

// What was counted for a first look does not mix with what all samples give.
void test_study__a_first_look_leaves_no_trace(void **state)
{
	struct study_options o = {.model = MODEL, .calib = CALIB, .target = "esp32p4", .method = CALIB_KL, .threads = 2,
	    .backend = BACKEND_ONEDNN, .data = {.samples = SAMPLES}};
	struct study *watched = open_for_test(o);
	o.batch = true;
	struct study *unwatched = open_for_test(o);
	struct snapshot *x = run_study(watched), *y = run_study(unwatched);
	assert_true(x->computed > y->computed);
	assert_same_figures(x, y);
	assert_same_histograms(x, y);
	snapshot_drop(&x);
	snapshot_drop(&y);
	study_close(&watched);
	study_close(&unwatched);
}

// Integers are the same on every processor, floats to rounding: here and there it moves a code.
void test_study__a_processor_without_vectors_shows_the_same_figures(void **state)
{
	struct study *a = open_study(1, 0), *b = open_study(1, 0);
	struct snapshot *x = run_study(a);
	cpu_limit(CPU_PLAIN);
	struct snapshot *y = run_study(b);
	cpu_limit(CPU_LEVELS);
	assert_int_equal(x->n_sites, y->n_sites);
	for (int i = 0; i < x->n_sites; i++) {
		assert_true(fabs(x->site[i].graphwise.pooled.nsr - y->site[i].graphwise.pooled.nsr) <= 0.01 * x->site[i].graphwise.pooled.nsr);
		assert_true(fabs(x->site[i].layerwise.pooled.nsr - y->site[i].layerwise.pooled.nsr) <= 0.01 * x->site[i].layerwise.pooled.nsr);
	}
	snapshot_drop(&x);
	snapshot_drop(&y);
	study_close(&a);
	study_close(&b);
}

static void count_downstream(const struct graph *g, int from, int *out)
{
	bool *hit = calloc((size_t)g->n_nodes, 1);
	hit[from] = true;
	*out = 0;
	for (int n = from; n < g->n_nodes; n++) {
		for (int i = 0; i < g->node[n].n_in && !hit[n]; i++) {
			int v = g->node[n].in[i];
			hit[n] = v >= 0 && g->value[v].producer >= 0 && hit[g->value[v].producer];
		}
		*out += hit[n];
	}
	free(hit);
}

void test_study__an_edit_computes_only_downstream(void **state)
{
	struct study *st = open_study(2, 0);
	struct snapshot *first = run_study(st);
	int full = first->computed, downstream;
	count_downstream(study_graph(st), node(st, HEAD_CONV), &downstream);
	set(st, HEAD_CONV, PREC_INT16);
	struct snapshot *second = run_study(st);
	// Each downstream node at most once a sample under each simulation.
	assert_true(second->computed > 0);
	assert_true(second->computed <= downstream * SAMPLES * SIM_COUNT);
	assert_true(second->computed * 4 < full);
	const struct site *now = snapshot_output(second, node(st, HEAD_CONV)), *then = snapshot_output(first, node(st, HEAD_CONV));
	assert_int_equal(now->bits, 16);
	assert_int_equal(then->bits, 8);
	assert_true(now->layerwise.pooled.snr_db > then->layerwise.pooled.snr_db + 20);
	assert_memory_equal(&now->before.pooled.nsr, &then->graphwise.pooled.nsr, sizeof(double));
	snapshot_drop(&first);
	snapshot_drop(&second);
	study_close(&st);
}

// Node results that a calibration computes; nothing is kept between samples or phases.
static int calibration_computes(const char *target, enum calib_method m)
{
	struct study *st = open_for_test((struct study_options){.model = MODEL, .calib = CALIB, .target = target, .method = (int)m,
	    .threads = 2, .memory = 1, .backend = BACKEND_ONEDNN, .calibrate_only = true, .data = {.samples = SAMPLES}});
	struct snapshot *s = run_study(st);
	int computed = s->computed;
	snapshot_drop(&s);
	study_close(&st);
	return computed;
}

// Nothing but its own range depends on the last Concat, and that is its parts':
// who wants ranges alone does not even make it.
void test_study__a_concat_is_not_read_for_its_range(void **state)
{
	static const char rules[] = "{\"name\": \"ranks\", \"title\": \"ranks of every sample\", \"base\": \"onnxruntime\", "
	    "\"calibration\": {\"percentile_of\": \"samples\"}}";
	struct error err = {0};
	const char *own = support_temp("ranks.json");
	assert_int_equal(file_write(own, rules, sizeof rules - 1, &err), STATUS_OK);
	int ranks = calibration_computes(own, CALIB_PERCENTILE), ranges = calibration_computes("onnxruntime", CALIB_MINMAX);
	assert_int_equal(ranks - ranges, SAMPLES);
	// once for the ranges, once for the counts, which need the tensor itself
	assert_int_equal(calibration_computes("onnxruntime", CALIB_KL), ranges + ranks);
	assert_int_equal(calibration_computes("onnxruntime", CALIB_PERCENTILE), ranges + ranks);
}

// What a picture became is kept, so that the network is computed anew although it has gone.
void test_study__a_picture_is_decoded_once(void **state)
{
	struct error err = {0};
	struct bytes jpeg;
	char *path = xstrdup(support_temp("decoded_once.jpg"));
	assert_int_equal(file_read(&jpeg, "examples/calib/000.jpg", SIZE_MAX, &err), STATUS_OK);
	assert_int_equal(file_write(path, jpeg.data, jpeg.size, &err), STATUS_OK);
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx",
	    .calib = path,
	    .target = "esp32p4",
	    .method = CALIB_KL,
	    .threads = 2,
	    .memory = (size_t)512 << 20,
	    .task = {.none = true}});
	struct snapshot *first = run_study(st);
	assert_int_equal(remove(path), 0);
	int *conv, n;
	assert_int_equal(study_select(st, "op:Conv", NULL, &conv, &n, &err), STATUS_OK);
	assert_int_equal(study_set(st, conv, n, PREC_INT16, NULL, &err), STATUS_OK);
	free(conv);
	struct snapshot *second = run_study(st);
	assert_true(second->computed > 0 && second->output[0].pooled.snr_db != first->output[0].pooled.snr_db);
	snapshot_drop(&first);
	snapshot_drop(&second);
	study_close(&st);
	bytes_done(&jpeg);
	free(path);
}

void test_study__undo_and_redo_compute_nothing(void **state)
{
	struct study *st = open_study(2, 0);
	struct snapshot *first = run_study(st);
	set(st, CLASS_CONV, PREC_INT16);
	struct snapshot *edited = run_study(st);
	assert_true(undoes(st));
	struct snapshot *undone = run_study(st);
	assert_int_equal(undone->computed, 0);
	assert_same_figures(first, undone);
	assert_true(redoes(st));
	struct snapshot *redone = run_study(st);
	assert_int_equal(redone->computed, 0);
	assert_same_figures(edited, redone);
	assert_false(redoes(st));
	struct snapshot *all[] = {first, edited, undone, redone};
	for (int i = 0; i < 4; i++)
		snapshot_drop(&all[i]);
	study_close(&st);
}

static struct traffic traffic_with(struct study *st, const char *name, int precision)
{
	struct traffic t;
	set(st, name, precision);
	struct snapshot *s = run_study(st);
	assert_true(traffic_of(&t, s));
	snapshot_drop(&s);
	return t;
}

// A convolution between others: what it reads is converted, and so is what reads it; its weights take twice the bytes.
void test_study__an_edit_has_its_traffic(void **state)
{
	struct study *st = open_study(2, 0);
	struct traffic none = traffic_with(st, HEAD_CONV, PREC_INT8), wide = traffic_with(st, HEAD_CONV, PREC_INT16),
		       plain = traffic_with(st, HEAD_CONV, PREC_FLOAT);
	int n = node(st, HEAD_CONV);
	const struct graph *g = study_graph(st);
	double weights = (double)tensor_count(g->value[g->node[n].in[1]].constant),
	       made = (double)shape_count(&g->value[g->node[n].out[0]].shape);
	assert_int_equal(none.conversions, 0);
	assert_int_equal(wide.conversion[PREC_INT8][PREC_INT16], 1);
	assert_int_equal(wide.conversion[PREC_INT16][PREC_INT8], 1);
	assert_int_equal(plain.conversion[PREC_INT8][PREC_FLOAT], 1);
	assert_int_equal(plain.conversion[PREC_FLOAT][PREC_INT8], 1);
	assert_true(wide.weights - none.weights >= weights && wide.weights - none.weights < 1.2 * weights); // and its bias
	assert_true(plain.activations - none.activations == 3 * made);
	assert_true(plain.weights_float == none.weights_float && none.weights < none.weights_float / 3.5);
	study_close(&st);
}

void test_study__a_scale_is_used_and_locked(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2, 0);
	int n = node(st, CLASS_CONV);
	assert_int_equal(scale_node(st, n, 0x1p-4, &err), STATUS_OK);
	struct snapshot *s = run_study(st);
	const struct site *site = snapshot_output(s, n);
	assert_true(site->locked);
	assert_true(site->scale[0] == 0x1p-4f);
	assert_int_equal(scale_node(st, n, 0.07, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "2^-4"));
	snapshot_drop(&s);
	study_close(&st);
}

void test_study__float_everywhere_is_exact(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2, 0);
	int *nodes, n;
	assert_int_equal(study_select(st, "*", NULL, &nodes, &n, &err), STATUS_OK);
	assert_int_equal(study_set(st, nodes, n, PREC_FLOAT, NULL, &err), STATUS_OK);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->n_sites, 0);
	assert_int_equal(s->output[0].known, SAMPLES);
	assert_true(s->output[0].pooled.exact);
	free(nodes);
	snapshot_drop(&s);
	study_close(&st);
}

// What makes the network's output has, in float, that output's figures: they are measured apart.
void test_study__a_node_in_float_shows_the_noise_that_it_passes_on(void **state)
{
	struct study *st = open_study(2, 0);
	const struct graph *g = study_graph(st);
	int last = g->value[g->output[0]].producer;
	struct snapshot *quantized = run_study(st);
	set(st, g->node[last].name, PREC_FLOAT);
	struct snapshot *s = run_study(st);
	const struct site *site = snapshot_made(s, last);
	assert_null(snapshot_output(s, last));
	assert_non_null(site);
	assert_int_equal(site->kind, SITE_FLOAT);
	assert_int_equal(site->bits, 0);
	assert_int_equal(site->graphwise.known, SAMPLES);
	assert_true(site->graphwise.pooled.nsr > 0);
	assert_memory_equal(&site->graphwise.pooled.nsr, &s->output[0].pooled.nsr, sizeof(double));
	assert_int_equal(site->layerwise.known, 0);
	assert_memory_equal(&site->before.pooled.nsr, &snapshot_output(quantized, last)->graphwise.pooled.nsr, sizeof(double));
	assert_non_null(site->hist_float);
	assert_non_null(site->hist_quant);
	assert_false(study_predict_scale(s, s->row[last].first_site, 0x1p-4, ZERO_FOLLOWS).known);
	study_run(st);
	struct snapshot *again = run_study(st);
	assert_int_equal(again->computed, 0);
	snapshot_drop(&quantized);
	snapshot_drop(&s);
	snapshot_drop(&again);
	study_close(&st);
}

// A Split writes what it has read: on a finer grid than that its elements lie on the coarse one still.
void test_study__a_finer_scale_brings_nothing_back(void **state)
{
	struct study *st = open_for_test((struct study_options){.model = MODEL, .calib = CALIB, .target = "xint8", .method = -1, .threads = 2,
	    .backend = BACKEND_ONEDNN, .data = {.samples = SAMPLES}});
	struct error err = {0};
	int split = node(st, "/model.12/Split_1");
	struct snapshot *now = run_study(st);
	const struct site *s = &now->site[now->row[split].first_site];
	double finer = ldexp((double)s->scale[0], -2);
	struct prediction same = study_predict_scale(now, now->row[split].first_site, (double)s->scale[0], ZERO_FOLLOWS);
	struct prediction p = study_predict_scale(now, now->row[split].first_site, finer, ZERO_FOLLOWS);
	assert_float_equal(same.snr_db, figures_snr(&s->layerwise), 1);
	assert_int_equal(scale_node(st, split, finer, &err), STATUS_OK);
	struct snapshot *then = run_study(st);
	s = &then->site[then->row[split].first_site];
	assert_float_equal(s->scale[0], finer, 0);
	assert_float_equal(p.snr_db, figures_snr(&s->layerwise), 1);
	snapshot_drop(&now);
	snapshot_drop(&then);
	study_close(&st);
}

void test_study__a_session_shows_its_numbers_before_anything_ran(void **state)
{
	struct error err = {0};
	const char *path = support_temp("session.json");
	struct study *st = open_study(2, 0);
	set(st, CLASS_CONV, PREC_INT16);
	assert_int_equal(scale_node(st, node(st, "/model.12/cv3.1/cv3.1.2/Conv"), 0x1p-3, &err), STATUS_OK);
	assert_true(undoes(st));
	struct snapshot *before = run_study(st);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	struct session *se = NULL;
	struct study_options o = {.method = -1, .backend = BACKEND_ONEDNN, .threads = 1};
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	session_options(se, &o);
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	struct snapshot *after = run_study(st);
	assert_int_equal(after->computed, 0);
	assert_same_figures(before, after);
	int current;
	assert_int_equal(study_steps(st, &current), 2);
	assert_int_equal(current, 1);
	assert_string_equal(study_step(st, 0), "set " CLASS_CONV " int16");
	assert_true(redoes(st));
	snapshot_drop(&before);
	snapshot_drop(&after);
	study_close(&st);
	session_free(&se);
}

void test_study__cancel_keeps_the_program_sane(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2, 0);
	study_run(st);
	study_cancel(st);
	enum status status = study_wait(st, &err);
	assert_true(status == STATUS_CANCELLED || status == STATUS_OK);
	struct snapshot *s = run_study(st);
	assert_int_equal(s->stage, STAGE_DONE);
	snapshot_drop(&s);
	study_close(&st);
}

void test_study__a_selection_names_what_it_misses(void **state)
{
	struct error err = {0};
	struct study *st = open_study(1, 0);
	int *nodes = NULL, n;
	assert_int_equal(study_select(st, "op:Conv", NULL, &nodes, &n, &err), STATUS_OK);
	assert_true(n > 10);
	free(nodes);
	assert_int_equal(study_select(st, "op:*Pool", NULL, &nodes, &n, &err), STATUS_OK);
	assert_string_equal(study_graph(st)->node[nodes[0]].op->name, "MaxPool");
	free(nodes);
	assert_int_equal(study_select(st, "/model.12/cv3.0/cv3.0.2/Conw", NULL, &nodes, &n, &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, CLASS_CONV));
	assert_int_equal(study_select(st, "/model.12/Split../model.12/Concat_4", NULL, &nodes, &n, &err), STATUS_OK);
	assert_true(n > 3);
	free(nodes);
	assert_int_equal(study_select(st, "nothing*here", NULL, &nodes, &n, &err), STATUS_NOTFOUND);
	assert_int_equal(study_select(st, "name:*/Conv", NULL, &nodes, &n, &err), STATUS_OK); // as a filter has it
	int named = n;
	free(nodes);
	assert_int_equal(study_select(st, "*/Conv", NULL, &nodes, &n, &err), STATUS_OK);
	assert_int_equal(n, named);
	free(nodes);
	assert_int_equal(study_select(st, "snr<=10", NULL, &nodes, &n, &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, "snr<=10 is a condition"));
	study_close(&st);
}
