// How findings weigh the noise: counted once, where it arose, and as far as it reaches the outputs; what comes first.
#include "findings_case.h"

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
void test_findings_noise__noise_is_counted_once(void **state)
{
	double conv = pow(10, -.5), behind = pow(10, -3.5); // noise over signal; the average behind them is a decision
	assert_float_equal(share_of_conv("Add", 1.0f / 128), conv / (conv + behind), 1e-9);
	assert_float_equal(share_of_conv("Concat", 1.0f / 64), conv / (conv + behind), 1e-9);
	assert_float_equal(share_of_conv("Concat", 1.0f / 128), 1, 1e-9);
}

// The Conv is bad and makes nearly all noise. Where the average behind it has as much, it comes from there;
// where that swallows it, it is held against the Conv no more.
void test_findings_noise__noise_counts_as_far_as_it_reaches_the_outputs(void **state)
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
void test_findings_noise__a_sum_does_not_lose_what_its_terms_have_lost(void **state)
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

// The Conv makes most noise, and 16 bit for it is most of the work; the scale of what follows costs nothing, and comes first
// unless next to nothing arises there.
void test_findings_noise__what_costs_nothing_comes_first(void **state)
{
	for (int little = 0; little < 2; little++) {
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 5);
		set_figures(&m->site[S_A].graphwise, 5);
		m->site[S_A].used_levels = 0.05;
		m->row[N_CONV].macs = 1000;
		m->scale[S_SUM] = 1.0f / 512;
		set_figures(&m->site[S_SUM].layerwise, little ? 18 : 8);
		for (int i = S_SUM; i <= S_Y; i++)
			set_figures(&m->site[i].graphwise, 4);
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 2);
		const struct finding *scale = &f->at[little], *bits = &f->at[!little];
		assert_string_equal(scale->edit, "scale Add 2^-7");
		assert_true(scale->wide == 0 && bits->wide == 1);
		assert_true(scale->damage < bits->damage && scale->reach > 0.01);
		findings_drop(&f);
		free(m);
	}
}

// Two that are not in the sum of the nodes' noise are shares of one whole all the same.
void test_findings_noise__decisions_share_one_whole(void **state)
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
void test_findings_noise__many_that_are_one_count_together(void **state)
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

void test_findings_noise__noise_is_traced_to_where_it_began(void **state)
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
	assert_non_null(strstr(f->at[0].text,
	    "has 2.5 dB but would have 35.0 dB alone: the noise is there since Conv, 3 nodes upstream (4.0 dB, alone"));
	findings_drop(&f);
	m->site[S_Y].layerwise = (struct figures){.known = 8, .pooled = {.snr_db = NAN, .nsr = 0, .exact = true}};
	f = findings_new(NULL, &m->s);
	assert_non_null(strstr(f->at[0].text, "has 2.5 dB but would have no noise alone: the noise"));
	findings_drop(&f);
	free(m);
}

// What is said of the node where it began is not said again of the output.
void test_findings_noise__noise_with_a_cause_is_not_traced(void **state)
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
void test_findings_noise__ways_that_meet_again_are_walked_once(void **state)
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
