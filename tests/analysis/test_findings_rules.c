// Each rule by itself: it finds the fault that it is for, at its node, and nothing else.
#include "findings_case.h"

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

// exp(step) is no double.
void test_findings_rules__a_step_of_logits_beyond_all_measure(void **state)
{
	struct made *m = make();
	m->scale[S_MEAN] = 1e20f;
	set_range(m, S_MEAN, -1e22f, 1e22f);
	set_figures(&m->site[S_MEAN].layerwise, 20);
	struct findings *f = findings_new(NULL, &m->s);
	int i = 0;
	while (i < f->n && f->at[i].rule != FINDING_coarse_logits)
		i++;
	assert_true(i < f->n);
	assert_non_null(strstr(f->at[i].text, "on a step of 1e+20: one step changes a ratio of probabilities by more than 1e+300."));
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

// Three causes at one node: what an input loses, what a bias, and weights of which hardly anything is left to explain.
// Each has its own part, and the largest comes first, though the scale of the input would cost nothing.
void test_findings_rules__causes_at_one_node_have_their_own_parts(void **state)
{
	(void)state;
	struct made *m = make();
	static const int made[] = {S_A, S_SUM, S_MEAN, S_Y};
	struct namemap *none = namemap_new();
	m->g.node_by_name = m->g.origin_by_name = none;
	for (int i = 0; i < 4; i++)
		set_figures(&m->site[made[i]].graphwise, 3);
	set_figures(&m->output[0], 3);
	set_figures(&m->site[S_A].layerwise, 3);
	set_figures(&m->site[S_X].layerwise, 25);
	m->scale[S_X] = 1.0f / 512;
	for (int c = 1; c < CHANNELS; c++)
		m->weight[c] = 7 / 128.0f;
	m->bias[3] = 1e6f;
	m->site[S_A].layerwise.pooled.mse = 1.001 * pow(1e6 - INT32_MAX * (double)m->scale[S_B], 2) / CHANNELS;
	struct findings *f = findings_new(NULL, &m->s);
	assert_int_equal(f->n, 2);
	assert_int_equal(f->at[0].rule, FINDING_bias);
	assert_int_equal(f->at[1].rule, FINDING_saturation);
	assert_true(f->at[0].reach > 0.9 && f->at[1].reach < 0.01);
	assert_true(fabs(f->at[1].part - pow(10, -2.2)) < 1e-6);
	findings_drop(&f);
	namemap_free(&none);
	free(m);
}

// Behind an activation that runs with the node the noise of its bias is a bound: nothing is taken from other causes.
void test_findings_rules__a_bias_in_front_of_an_activation_explains_no_other_cause_away(void **state)
{
	(void)state;
	for (int fused = 0; fused < 2; fused++) {
		static int first[] = {V_FIRST};
		struct made *m = make();
		set_figures(&m->site[S_A].layerwise, 3);
		for (int c = 1; c < CHANNELS; c++)
			m->weight[c] = 7 / 128.0f;
		m->bias[3] = 1e6f;
		m->site[S_A].layerwise.pooled.mse = 1;
		if (fused)
			m->node[N_CONV].out = first;
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, 1 + fused);
		findings_drop(&f);
		free(m);
	}
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

// Many small elements, and few beyond the range: by energy the scale should be wider, which leaves nothing of the small ones.
void test_findings_rules__a_logarithm_of_what_is_clipped(void **state)
{
	(void)state;
	for (int log = 0; log < 2; log++) {
		struct made *m = make();
		m->node[N_POOL].op = op_find("", log ? "Log" : "Abs", 13);
		set_range(m, S_SUM, 0, 4);
		for (int i = 0; i < STATS_BINS; i++) {
			double at = 4.0 * i / STATS_BINS;
			m->hist[S_SUM].bin[i] = at > 0.005 && at < 0.012 ? 50000 : at > 0.1 && at < 0.9 ? 200 : at > 2 ? 10 : 0;
		}
		set_figures(&m->site[S_SUM].layerwise, 8);
		struct findings *f = findings_new(NULL, &m->s);
		assert_int_equal(f->n, !log);
		if (!log)
			assert_int_equal(f->at[0].rule, FINDING_saturation);
		findings_drop(&f);
		free(m);
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

void test_findings_rules__an_input_that_never_changes(void **state)
{
	struct made *m = make();
	set_range(m, S_X, 0.5f, 0.5f);
	assert_found(m, FINDING_preprocessing, N_CONV, NULL);
}
