// What the tests of findings share: a network and figures made by hand, Conv, Add, GlobalAveragePool and Softmax. Healthy it has
// no finding; every test plants one fault.
#ifndef TESTS_ANALYSIS_FINDINGS_CASE_H
#define TESTS_ANALYSIS_FINDINGS_CASE_H

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

static inline void set_figures(struct figures *f, double snr)
{
	*f = (struct figures){.known = 8, .pooled = {.snr_db = snr, .nsr = pow(10, -snr / 10), .cosine = 1}};
}

static inline void set_range(struct made *m, int site, float lo, float hi)
{
	m->site[site].range = (struct tensor_range){lo, hi, 204800, 0};
	m->hist[site] = (struct hist){.lo = lo, .hi = hi};
	for (int i = 0; i < STATS_BINS; i++)
		m->hist[site].bin[i] = 100;
}

static inline void make_site(struct made *m, int i, enum site_kind kind, int node, int value)
{
	m->scale[i] = 1.0f / 128;
	m->site[i] = (struct site){.kind = kind, .node = node, .value = value, .state = SLOT_ACTIVE, .follows = -1, .bits = 8, .axis = -1,
	    .n_scale = 1, .scale = &m->scale[i], .zero = zero, .qmin = -128, .qmax = 127, .used_levels = 0.9, .hist_float = &m->hist[i]};
	set_figures(&m->site[i].graphwise, 33);
	set_figures(&m->site[i].layerwise, 35);
	set_range(m, i, -1, 1);
}

static inline void make_graph(struct made *m)
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

static inline struct made *make(void)
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
static inline void assert_found(struct made *m, enum finding_rule rule, int node, const char *edit)
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

#endif
