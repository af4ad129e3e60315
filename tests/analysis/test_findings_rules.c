// Each rule on a network and figures made by hand: Conv, Add, GlobalAveragePool, Softmax.
// Healthy it has no finding; every test plants one fault.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/findings.h"
#include "qtui/engine/op.h"
#include "support.h"

enum { V_X, V_W, V_B, V_A, V_SUM, V_MEAN, V_Y, V_FIRST, N_VALUES };
enum { N_CONV, N_ADD, N_POOL, N_SOFTMAX, N_NODES };
enum { S_A, S_W, S_B, S_X, S_SUM, S_MEAN, S_Y, N_SITES };
enum { CHANNELS = 8 };

struct made {
	struct graph g;
	struct value value[N_VALUES];
	struct node node[N_NODES];
	struct snapshot s;
	struct site site[N_SITES];
	struct node_row row[N_NODES];
	double scale_requested[N_VALUES];
	struct figures output[1];
	struct hist hist[N_SITES];
	float scale[N_SITES], weight[CHANNELS], bias[CHANNELS];
	struct tensor w, b;
};

static const int32_t zero[1] = {0};
static int in_conv[] = {V_X, V_W, V_B}, in_add[] = {V_A, V_X}, in_pool[] = {V_SUM}, in_softmax[] = {V_MEAN};
static int out_of[] = {V_A, V_SUM, V_MEAN, V_Y};
static int read_x[] = {N_CONV, N_ADD}, read_first[] = {N_CONV}, read_a[] = {N_ADD}, read_sum[] = {N_POOL}, read_mean[] = {N_SOFTMAX};
static int output_value[] = {V_Y}, input_value[] = {V_X};

static void set_figures(struct figures *f, double snr)
{
	*f = (struct figures){.known = 8, .pooled = {.snr_db = snr, .nsr = pow(10, -snr / 10), .cosine = 1}};
}

static void set_range(struct made *m, int site, float lo, float hi)
{
	m->site[site].range = (struct tensor_range){lo, hi, 204800, 0};
	m->hist[site] = (struct hist){.lo = lo, .hi = hi};
	for (int i = 0; i < STATS_BINS; i++)
		m->hist[site].bin[i] = 100;
}

static void make_site(struct made *m, int i, enum site_kind kind, int node, int value)
{
	m->scale[i] = 1.0f / 128;
	m->site[i] = (struct site){.kind = kind, .node = node, .value = value, .state = SLOT_ACTIVE, .follows = -1, .bits = 8, .axis = -1,
	    .n_scale = 1, .scale = &m->scale[i], .zero = zero, .qmin = -128, .qmax = 127, .used_levels = 0.9, .hist_float = &m->hist[i]};
	set_figures(&m->site[i].graphwise, 33);
	set_figures(&m->site[i].layerwise, 35);
	set_range(m, i, -1, 1);
}

static void make_graph(struct made *m)
{
	static const char *const name[] = {"x", "w", "b", "a", "sum", "mean", "y", "first"};
	static const char *const op[] = {"Conv", "Add", "GlobalAveragePool", "Softmax"};
	static const struct conv_attrs conv = {.group = 1};
	static const struct axis_attrs softmax = {.axis = -1};
	static const void *const attrs[] = {&conv, NULL, NULL, &softmax};
	struct { int *at, n; } in[] = {{in_conv, 3}, {in_add, 2}, {in_pool, 1}, {in_softmax, 1}},
	    readers[] = {{read_x, 2}, {read_first, 1}, {read_first, 1}, {read_a, 1}, {read_sum, 1}, {read_mean, 1},
	    {NULL, 0}, {NULL, 0}};
	for (int v = 0; v < N_VALUES; v++)
		m->value[v] =
		    (struct value){.name = name[v], .type = DT_F32, .producer = -1, .consumer = readers[v].at, .n_consumers = readers[v].n};
	for (int n = 0; n < N_NODES; n++) {
		m->node[n] = (struct node){.name = op[n],
		    .op = op_find("", op[n], 13),
		    .in = in[n].at,
		    .n_in = in[n].n,
		    .out = &out_of[n],
		    .n_out = 1,
		    .attrs = attrs[n]};
		m->value[out_of[n]].producer = n;
	}
	m->w = (struct tensor){.type = DT_F32, .shape = {4, {CHANNELS, 1, 1, 1}}, .data = m->weight};
	m->b = (struct tensor){.type = DT_F32, .shape = {1, {CHANNELS}}, .data = m->bias};
	for (int c = 0; c < CHANNELS; c++)
		m->weight[c] = 0.5f + 0.05f * (float)c;
	m->value[V_W].constant = &m->w;
	m->value[V_B].constant = &m->b;
	m->value[V_X].is_input = m->value[V_Y].is_output = true;
	m->g = (struct graph){.value = m->value, .n_values = N_VALUES, .node = m->node, .n_nodes = N_NODES, .input = input_value, .n_inputs = 1,
	    .output = output_value, .n_outputs = 1, .opset = 13, .path = "made by hand"};
}

static struct made *make(void)
{
	struct made *m = calloc(1, sizeof *m);
	make_graph(m);
	make_site(m, S_A, SITE_OUTPUT, N_CONV, V_A);
	make_site(m, S_W, SITE_WEIGHT, N_CONV, V_W);
	make_site(m, S_B, SITE_WEIGHT, N_CONV, V_B);
	make_site(m, S_X, SITE_INPUT, N_CONV, V_X);
	make_site(m, S_SUM, SITE_OUTPUT, N_ADD, V_SUM);
	make_site(m, S_MEAN, SITE_OUTPUT, N_POOL, V_MEAN);
	make_site(m, S_Y, SITE_OUTPUT, N_SOFTMAX, V_Y);
	m->scale[S_B] = 1e-5f;
	m->site[S_B].bits = 32;
	m->site[S_B].qmax = INT32_MAX;
	m->row[N_CONV] = (struct node_row){.n_sites = 4, .first_site = S_A};
	m->row[N_ADD] = (struct node_row){.n_sites = 1, .first_site = S_SUM};
	m->row[N_POOL] = (struct node_row){.n_sites = 1, .first_site = S_MEAN};
	m->row[N_SOFTMAX] = (struct node_row){.n_sites = 1, .first_site = S_Y};
	for (int n = 0; n < N_NODES; n++) {
		m->row[n].requested = m->row[n].fused_into = -1;
		m->row[n].quantizable = true;
	}
	m->s = (struct snapshot){.g = &m->g, .stage = STAGE_DONE, .samples = 8, .n_rows = N_NODES, .row = m->row,
	    .scale_requested = m->scale_requested, .n_sites = N_SITES, .site = m->site, .n_outputs = 1, .output = m->output};
	return m;
}

// The fault is found by its name, at its node, and nothing else is; an edit is there when it ought to be.
static void assert_found(struct made *m, enum finding_rule rule, int node, const char *edit)
{
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->at[0].rule, rule);
	assert_int_equal(f->at[0].node[0], node);
	assert_true(f->at[0].n_evidence > 0);
	assert_non_null(f->at[0].text);
	if (edit)
		assert_string_equal(f->at[0].edit, edit);
	else
		assert_null(f->at[0].edit);
	findings_drop(&f);
	free(m);
}

void test_findings_rules__a_healthy_network_has_none(void **state)
{
	struct made *m = make();
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 0);
	findings_drop(&f);
	assert_null(f);
	free(m);
}

void test_findings_rules__a_clipped_tensor(void **state)
{
	struct made *m = make();
	m->scale[S_A] = 1.0f / 512;
	assert_found(m, FINDING_saturation, N_CONV, "scale Conv 2^-7");
}

// The network's input is given its scale by its own name; one that the user set stays.
void test_findings_rules__a_clipped_input(void **state)
{
	for (int locked = 0; locked < 2; locked++) {
		struct made *m = make();
		struct namemap *none = namemap_new();
		m->g.node_by_name = m->g.origin_by_name = none;
		m->scale[S_X] = 1.0f / 512;
		m->site[S_X].locked = locked;
		if (!locked) {
			assert_found(m, FINDING_saturation, N_CONV, "scale x 2^-7");
		} else {
			struct findings *f = findings_new(NULL, &m->s);
			assert_int_equal(f->n, 0);
			findings_drop(&f);
			free(m);
		}
		namemap_free(&none);
	}
}

// Behind a first output that is not quantized. Its scale goes to the tensor that is clipped, by its name.
void test_findings_rules__a_clipped_second_output(void **state)
{
	static int out[] = {V_FIRST, V_A};
	struct made *m = make();
	struct namemap *none = namemap_new();
	m->node[N_CONV].out = out;
	m->node[N_CONV].n_out = 2;
	m->value[V_FIRST].producer = N_CONV;
	m->g.node_by_name = m->g.origin_by_name = none;
	m->scale[S_A] = 1.0f / 512;
	assert_found(m, FINDING_saturation, N_CONV, "scale a 2^-7");
	namemap_free(&none);
}

// What the node loses by its weights is still there on a wider scale: where that is most, the scale is no remedy.
void test_findings_rules__a_clipped_tensor_that_loses_more_by_its_weights(void **state)
{
	struct made *m = make();
	m->scale[S_A] = 1.0f / 512;
	set_figures(&m->site[S_A].layerwise, -3);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 0);
	findings_drop(&f);
	free(m);
}

// 16 bit of which a calibrator left hardly any.
void test_findings_rules__a_clipped_tensor_of_16_bit(void **state)
{
	struct made *m = make();
	struct site *s = &m->site[S_A];
	s->bits = 16;
	s->qmin = -32768;
	s->qmax = 32767;
	m->scale[S_A] = 1.0f / (1 << 21);
	set_range(m, S_A, -1, 1);
	set_figures(&s->layerwise, 0.2);
	struct prediction p = study_predict_scale(&m->s, S_A, 0x1p-15, ZERO_FOLLOWS);
	assert_true(p.known && fabs(p.snr_db - 96.3) < 0.1); // of its own step, which is finer than a bin
	assert_found(m, FINDING_saturation, N_CONV, "scale Conv 2^-15");
}

void test_findings_rules__a_range_set_by_an_outlier(void **state)
{
	struct made *m = make();
	memset(m->hist[S_A].bin, 0, sizeof m->hist[S_A].bin);
	for (int i = 1010; i < 1038; i++)
		m->hist[S_A].bin[i] = 100000;
	m->hist[S_A].bin[STATS_BINS - 1] = 1;
	assert_found(m, FINDING_outlier_range, N_CONV, "scale Conv 2^-11");
}

// Within half of one, and a share of the elements far away.
static void set_far(struct made *m, double share)
{
	m->scale[S_A] = 1.0f / 16;
	set_range(m, S_A, -1, 64);
	double width = 65.0 / STATS_BINS;
	for (int i = 0; i < STATS_BINS; i++)
		m->hist[S_A].bin[i] = fabs(-1 + (i + 0.5) * width) < 0.5 ? 1000000 : 0;
	uint64_t counts[1];
	hist_shrink(&m->hist[S_A], counts, 1);
	m->hist[S_A].bin[STATS_BINS - 1] = (uint32_t)((double)counts[0] * share);
	m->s.scale_requested[V_A] = (double)m->scale[S_A];
}

// Saturation would not offer a wider scale, on which most elements were lost, and may have offered this one:
// a finding against it would only begin a row of edits that take each other back.
void test_findings_rules__a_scale_that_clips_what_is_rare(void **state)
{
	struct made *m = make();
	set_far(m, 0.001);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 0);
	findings_drop(&f);
	free(m);
}

// A wider scale by hand brings more within the range: what has to stay good is still most of the elements.
void test_findings_rules__a_scale_is_not_widened_again_and_again(void **state)
{
	struct made *m = make();
	set_far(m, 0.002);
	m->hist[S_A].bin[STATS_BINS * 21 / 65] = m->hist[S_A].bin[STATS_BINS - 1] * 10; // 20
	m->scale[S_A] = 0.25;
	m->s.scale_requested[V_A] = 0.25;
	m->site[S_A].locked = true;
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 0);
	findings_drop(&f);
	free(m);
}

// The edit is the scale that the gain was predicted of: the calibrated one may clip more.
void test_findings_rules__a_scale_set_by_hand_that_clips(void **state)
{
	struct made *m = make();
	set_far(m, 0.1);
	assert_found(m, FINDING_stale_override, N_CONV, "scale Conv 2^-1");
}

void test_findings_rules__levels_that_are_never_used(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 5);
	m->site[S_A].used_levels = 0.05;
	assert_found(m, FINDING_dead_levels, N_CONV, "set Conv int16");
}

// A histogram that fills the range, or one with all but two elements next to 0.
void test_findings_rules__why_levels_are_never_used(void **state)
{
	(void)state;
	for (int empty = 0; empty < 2; empty++) {
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 5);
		m->site[S_A].used_levels = 0.05;
		m->site[S_A].state = SLOT_PASSIVE; // or clipping the two would be the finding
		for (int i = 1; empty && i < STATS_BINS - 1; i++)
			m->hist[S_A].bin[i] = i == STATS_BINS / 2 ? 1000000 : 0;
		m->hist[S_A].bin[0] = m->hist[S_A].bin[STATS_BINS - 1] = 1;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 1);
		assert_int_equal(f->at[0].rule, FINDING_dead_levels);
		assert_int_equal(strstr(f->at[0].text, "mostly empty") != NULL, empty);
		assert_int_equal(strstr(f->at[0].text, "computed from has few codes") != NULL, !empty);
		findings_drop(&f);
		free(m);
	}
}

void test_findings_rules__channels_that_share_a_scale(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 10);
	for (int c = 1; c < CHANNELS; c++)
		m->weight[c] = 0.01f;
	assert_found(m, FINDING_unequal_channels, N_CONV, "set Conv int16");
}

// Seven codes are few, eight are not.
void test_findings_rules__how_few_codes_a_channel_may_have(void **state)
{
	(void)state;
	for (int few = 0; few < 2; few++) {
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 10);
		for (int c = 1; c < CHANNELS; c++)
			m->weight[c] = (few ? 7 : 8) / 128.0f;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, few);
		findings_drop(&f);
		free(m);
	}
}

void test_findings_rules__a_bias_that_overflows(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 10);
	m->bias[3] = 1e6f;
	assert_found(m, FINDING_bias, N_CONV, "set Conv float");
}

void test_findings_rules__a_bias_that_rounds_away(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 10);
	m->scale[S_B] = 1;
	for (int c = 0; c < CHANNELS; c++)
		m->bias[c] = 0.4f;
	assert_found(m, FINDING_bias, N_CONV, "set Conv int16");
}

// Three quarters of an output step are lost, or a quarter: what moves by less than half a step moves nothing.
void test_findings_rules__a_bias_that_moves_by_less_than_half_a_step(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 10);
		m->scale[S_B] = 2.0f / 128;
		for (int c = 0; c < CHANNELS; c++)
			m->bias[c] = (more ? 0.75f : 0.25f) / 128;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, more);
		findings_drop(&f);
		free(m);
	}
}

void test_findings_rules__a_sum_of_unequal_terms(void **state)
{
	struct made *m = make();
	set_range(m, S_A, -0.005f, 0.005f);
	m->scale[S_A] = 0.005f / 128;
	set_figures(&m->site[S_SUM].graphwise, 10);
	assert_found(m, FINDING_unequal_add, N_ADD, "set Add int16");
}

void test_findings_rules__an_average_at_8_bit(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_MEAN].layerwise, 12);
	assert_found(m, FINDING_average_at_8, N_POOL, "set GlobalAveragePool int16");
}

// As in a LayerNormalization that is written out: what is subtracted is next to nothing, and so is its noise.
void test_findings_rules__a_mean_that_is_subtracted(void **state)
{
	static int read_mean_twice[] = {N_SOFTMAX, N_ADD}, in_sub[] = {V_A, V_MEAN};
	for (int harm = 0; harm < 2; harm++) {
		struct made *m = make();
		m->node[N_SOFTMAX].op = op_find("", "Sub", 13);
		m->node[N_SOFTMAX].in = in_sub;
		m->node[N_SOFTMAX].n_in = 2;
		set_figures(&m->site[S_MEAN].layerwise, 2);
		m->site[S_MEAN].layerwise.pooled.mse = 1e-3;
		set_figures(&m->site[S_Y].layerwise, 30);
		m->site[S_Y].layerwise.pooled.mse = harm ? 1e-5 : 1e-3; // of a signal of .01, or 1
		m->value[V_Y].is_output = true;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, harm);
		if (harm)
			assert_float_equal(f->at[0].damage, 0.1, 1e-9);
		findings_drop(&f);
		m->value[V_MEAN].consumer = read_mean_twice;
		m->value[V_MEAN].n_consumers = 2;
		m->node[N_ADD].op = op_find("", "Mul", 13);
		f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 1); // a factor loses all that its own figure says
		assert_float_equal(f->at[0].damage, pow(10, -0.2), 1e-9);
		findings_drop(&f);
		free(m);
	}
}

// Of the Conv, whose figures are bad, where the node behind it is another one.
static double share_of_conv(const char *behind, float step)
{
	static const struct axis_attrs axis = {.axis = 1};
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 5);
	m->site[S_A].used_levels = 0.05;
	m->node[N_ADD].op = op_find("", behind, 13);
	m->node[N_ADD].attrs = &axis;
	m->scale[S_SUM] = step;
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 1);
	double share = f->at[0].share;
	findings_drop(&f);
	free(m);
	return share;
}

// What is only moved has no noise of its own: that of the nodes that made it is counted there.
// On another grid it is rounded again.
void test_findings_rules__noise_is_counted_once(void **state)
{
	double conv = pow(10, -.5), behind = pow(10, -3.5); // noise over signal; the average behind them is a decision
	assert_float_equal(share_of_conv("Add", 1.0f / 128), conv / (conv + behind), 1e-9);
	assert_float_equal(share_of_conv("Concat", 1.0f / 64), conv / (conv + behind), 1e-9);
	assert_float_equal(share_of_conv("Concat", 1.0f / 128), 1, 1e-9);
}

// The Conv is bad and makes nearly all noise. Where the average behind it has as much, it comes from there;
// where that swallows it, it is held against the Conv no more.
void test_findings_rules__noise_counts_as_far_as_it_reaches_the_outputs(void **state)
{
	static const int way[] = {S_A, S_SUM, S_MEAN, S_Y};
	for (int reaches = 0; reaches < 2; reaches++) {
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 5);
		m->site[S_A].used_levels = 0.05;
		for (int i = 0; i < (reaches ? 4 : 2); i++)
			set_figures(&m->site[way[i]].graphwise, 4);
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 1);
		assert_true(f->at[0].share > 0.9);
		assert_true(reaches ? f->at[0].reach > 0.7 : f->at[0].reach < 0.2);
		findings_drop(&f);
		free(m);
	}
}

// A sum is clipped, and so are its terms: all that it loses is lost before.
void test_findings_rules__a_sum_does_not_lose_what_its_terms_have_lost(void **state)
{
	for (int terms = 0; terms < 2; terms++) {
		struct made *m = make();
		set_figures(&m->site[S_SUM].graphwise, 10);
		set_figures(&m->site[S_SUM].layerwise, 11);
		set_figures(&m->site[S_A].graphwise, terms ? 10 : 30);
		m->site[S_SUM].graphwise.pooled.mse = 0.1;
		m->site[S_A].graphwise.pooled.mse = terms ? 0.1 : 0.001;
		set_figures(&m->site[S_X].graphwise, 40);
		m->site[S_X].graphwise.pooled.mse = 1e-4;
		m->scale[S_SUM] = 1.0f / 512;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 1);
		assert_int_equal(f->at[0].rule, FINDING_saturation);
		assert_true(terms ? f->at[0].reach < 0.01 : f->at[0].reach > 0.05);
		findings_drop(&f);
		free(m);
	}
}

// The Conv makes most noise, and 16 bit for it is most of the work; the scale of what follows costs nothing.
void test_findings_rules__what_costs_nothing_comes_first(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 5);
	set_figures(&m->site[S_A].graphwise, 5);
	m->site[S_A].used_levels = 0.05;
	m->row[N_CONV].macs = 1000;
	m->scale[S_SUM] = 1.0f / 512;
	set_figures(&m->site[S_SUM].layerwise, 8);
	set_figures(&m->site[S_SUM].graphwise, 4);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 2);
	assert_string_equal(f->at[0].edit, "scale Add 2^-7");
	assert_true(f->at[0].wide == 0 && f->at[1].wide == 1);
	assert_true(f->at[0].damage < f->at[1].damage);
	findings_drop(&f);
	free(m);
}

// Of .02 .. 14000 on a step of 128 hundreds of elements are 0, and their logarithm is infinite;
// on the finest of 16 bit still some.
void test_findings_rules__a_logarithm_of_what_rounds_to_zero(void **state)
{
	for (int holds = 0; holds < 2; holds++) {
		struct made *m = make();
		m->node[N_POOL].op = op_find("", "Log", 13);
		m->scale[S_SUM] = 128;
		set_range(m, S_SUM, holds ? 0.5f : 0.02f, 14000);
		set_figures(&m->site[S_SUM].layerwise, -7);
		m->site[S_SUM].used_levels = 0.01;
		assert_found(m, FINDING_rounds_to_zero, N_ADD, holds ? "set Add int16" : "set Add GlobalAveragePool float");
	}
}

void test_findings_rules__a_softmax_at_8_bit(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_Y].layerwise, 12);
	assert_found(m, FINDING_softmax_at_8, N_SOFTMAX, "set Softmax int16");
}

// A TopK, and behind it two products with so many of a hundred multiply-accumulates, one of them poor at 8 bit.
static struct made *make_decoder(int macs)
{
	struct made *m = make();
	m->node[N_CONV].op = op_find("", "TopK", 13);
	m->node[N_ADD].op = m->node[N_POOL].op = op_find("", "MatMul", 13);
	m->row[N_CONV].macs = 100 - macs;
	m->row[N_ADD].macs = macs;
	set_figures(&m->site[S_SUM].layerwise, 15);
	return m;
}

void test_findings_rules__a_decoder_behind_a_selection(void **state)
{
	assert_found(make_decoder(10), FINDING_decoder_at_8, N_ADD, "set Add GlobalAveragePool int16");
}

// There the figures of a tensor compare different elements. What reaches the outputs is what the nodes make alone.
void test_findings_rules__noise_behind_a_selection_is_that_of_nodes_alone(void **state)
{
	struct made *m = make_decoder(10);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 1);
	assert_true(f->at[0].reach > 0.9);
	findings_drop(&f);
	free(m);
}

// More bits for it would cost more than a search spends; and one that keeps its digits is well.
void test_findings_rules__a_decoder_that_is_dear_or_good(void **state)
{
	struct made *dear = make_decoder(20), *good = make_decoder(10);
	set_figures(&good->site[S_SUM].layerwise, 25);
	struct findings *of_dear = findings_new(NULL, &dear->s), *of_good = findings_new(NULL, &good->s);
	assert_int_equal(of_dear->n, 0);
	assert_int_equal(of_good->n, 0);
	findings_drop(&of_dear);
	findings_drop(&of_good);
	free(dear);
	free(good);
}

// The SNR is the mask's. What else the figures of masked logits would give a rule to say is left out.
void test_findings_rules__a_mask_rules_the_step_of_logits(void **state)
{
	struct made *m = make();
	m->node[N_SOFTMAX].in = (int[]){V_SUM};
	m->scale[S_SUM] = 64;
	set_range(m, S_SUM, -1e4f, 1); // without a gap
	struct findings *f = findings_new(NULL, &m->s);
	for (int i = 0; i < f->n; i++)
		assert_int_not_equal(f->at[i].rule, FINDING_masked_logits);
	findings_drop(&f);
	for (int i = 1; i < STATS_BINS - 1; i++)
		m->hist[S_SUM].bin[i] = 0;
	m->site[S_SUM].used_levels = 0.01;
	set_figures(&m->site[S_SUM].layerwise, 10);
	assert_found(m, FINDING_masked_logits, N_SOFTMAX, "set Add Softmax float");
}

// The Conv makes the mask: two values and half of it clipped, which does no harm.
// Its figures stay out of the findings and of the whole.
void test_findings_rules__what_makes_a_mask_is_left_out(void **state)
{
	struct made *m = make();
	m->node[N_SOFTMAX].in = (int[]){V_SUM};
	set_range(m, S_A, -1e4f, 0);
	for (int i = 1; i < STATS_BINS - 1; i++)
		m->hist[S_A].bin[i] = 0;
	m->site[S_A].used_levels = 0.01;
	set_figures(&m->site[S_A].layerwise, 6);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 0);
	assert_true(f->noise < 0.1);
	assert_true(f->hidden[N_CONV] && f->hidden[N_ADD] && !f->hidden[N_SOFTMAX] && !f->hidden[N_POOL]);
	findings_drop(&f);
	free(m);
}

// Two that are not in the sum of the nodes' noise are shares of one whole all the same.
void test_findings_rules__decisions_share_one_whole(void **state)
{
	struct made *m = make();
	set_figures(&m->site[S_MEAN].layerwise, 10);
	set_figures(&m->site[S_Y].layerwise, 10);
	struct findings *f = findings_new(NULL, &m->s);
	double sum = 0;
	assert_int_equal(f->n, 2);
	for (int i = 0; i < f->n; i++)
		sum += f->at[i].share;
	assert_true(sum > 0.9 && sum <= 1);
	findings_drop(&f);
	free(m);
}

// One edit of four scales takes away what four nodes lose:
// it stands in front of what takes away as much as the worst of these.
void test_findings_rules__many_that_are_one_count_together(void **state)
{
	static const int output[] = {S_A, S_SUM, S_MEAN, S_Y};
	struct made *m = make();
	set_figures(&m->site[S_A].layerwise, 0.5);
	m->bias[3] = 1e6f;
	for (int n = 0; n < N_NODES; n++)
		m->scale_requested[out_of[n]] = m->scale[output[n]] = 1.0f / 2048;
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 2);
	assert_int_equal(f->at[0].rule, FINDING_stale_override);
	assert_int_equal(f->at[0].n_nodes, N_NODES);
	assert_int_equal(f->at[1].rule, FINDING_bias);
	assert_true(f->at[0].share > f->at[1].share);
	findings_drop(&f);
	free(m);
}

void test_findings_rules__an_input_that_never_changes(void **state)
{
	struct made *m = make();
	set_range(m, S_X, 0.5f, 0.5f);
	assert_found(m, FINDING_preprocessing, N_CONV, NULL);
}

void test_findings_rules__noise_is_traced_to_where_it_began(void **state)
{
	struct made *m = make();
	static const int way[] = {S_A, S_SUM, S_MEAN, S_Y};
	for (int i = 0; i < 4; i++)
		set_figures(&m->site[way[i]].graphwise, 4 - 0.5 * i);
	set_figures(&m->site[S_A].layerwise, 4);
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->at[0].rule, FINDING_inherited_noise);
	assert_int_equal(f->at[0].n_nodes, 2);
	assert_int_equal(f->at[0].node[1], N_CONV);
	findings_drop(&f);
	free(m);
}

// What is said of the node where it began is not said again of the output.
void test_findings_rules__noise_with_a_cause_is_not_traced(void **state)
{
	struct made *m = make();
	static const int way[] = {S_A, S_SUM, S_MEAN, S_Y};
	for (int i = 0; i < 4; i++)
		set_figures(&m->site[way[i]].graphwise, 4 - 0.5 * i);
	set_figures(&m->site[S_A].layerwise, 4);
	m->site[S_A].used_levels = 0.01;
	assert_found(m, FINDING_dead_levels, N_CONV, "set Conv int16");
}

// Rungs of movers that a Concat joins again: WIDTH to the RUNGS ways lead from the first
// tensor to what follows, which is no decision.
void test_findings_rules__ways_that_meet_again_are_walked_once(void **state)
{
	enum { RUNGS = 4, WIDTH = 1000, NODES = RUNGS * (WIDTH + 1) + 1 };
	struct made *m = make();
	struct value *value = calloc(NODES + 1, sizeof *value);
	struct node *node = calloc(NODES, sizeof *node);
	struct node_row *row = calloc(NODES, sizeof *row);
	int *id = calloc(2 * NODES, sizeof *id);
	static const struct axis_attrs concat;
	for (int i = 0; i < 2 * NODES; i++)
		id[i] = i;
	for (int v = 0; v <= NODES; v++)
		value[v] = (struct value){.name = "v", .type = DT_F32, .producer = v - 1};
	for (int n = 0; n < NODES; n++) {
		int rung = n / (WIDTH + 1), at = n % (WIDTH + 1), top = rung * (WIDTH + 1);
		bool joins = at == WIDTH;
		const char *op = n == NODES - 1 ? "Tanh" : joins ? "Concat" : "Transpose";
		node[n] = (struct node){.name = op, .op = op_find("", op, 13), .attrs = joins ? &concat : NULL, .in = &id[joins ? top + 1 : top],
		    .n_in = joins ? WIDTH : 1, .out = &id[n + 1], .n_out = 1};
		row[n] = (struct node_row){.requested = -1, .calibrator = -1, .fused_into = -1};
		if (joins)
			for (int k = 0; k < WIDTH; k++)
				value[top + 1 + k] =
				    (struct value){.name = "v", .type = DT_F32, .producer = top + k, .consumer = &id[n], .n_consumers = 1};
		else if (at == 0)
			value[top].consumer = &id[n], value[top].n_consumers = n == NODES - 1 ? 1 : WIDTH;
	}
	m->g.value = value;
	m->g.n_values = NODES + 1;
	m->g.node = node;
	m->g.n_nodes = NODES;
	m->g.n_outputs = 0;
	m->s.row = row;
	m->s.n_rows = NODES;
	m->s.n_outputs = 0;
	m->s.n_sites = 1;
	m->site[0].value = m->site[0].node = 0;
	set_figures(&m->site[0].layerwise, 3);
	struct findings *f = findings_new(NULL, &m->s);
	assert_non_null(f);
	findings_drop(&f);
	free(value);
	free(node);
	free(row);
	free(id);
	free(m);
}
