// The whole way of esp-ppq's and PPQ's runs: the model file, our weights' scales, our calibration of the network with rounded
// weights, and every scale that comes out. Runs through the plain interpreter of the operators, so only on the small network.
#include "golden_run.h"

// Constants as observers shall see them behind: rounded, where the plan says so. One copy a slot.
static void round_constants(const struct run *r, struct tensor *constant)
{
	struct error err;
	for (int i = 0; i < r->p->n_slots; i++) {
		const struct quantizer *q = plan_calibration_quantizer(r->p, i);
		if (!q)
			continue;
		const struct tensor *x = r->g->value[r->p->slot[i].value].constant;
		constant[i] = (struct tensor){ .type = DT_F32, .shape = x->shape };
		assert_int_equal(tensor_alloc(&constant[i], NULL, &err), STATUS_OK);
		fake_quantize(&constant[i], x, q, 1);
	}
}

static const struct tensor *input_of(const struct run *r, const struct tensor *value, const struct tensor *constant,
    int node, int i)
{
	int id = r->g->node[node].in[i];
	if (id < 0)
		return NULL;
	const struct tensor *rounded = &constant[r->p->first_in[node] + i];
	if (rounded->data)
		return rounded;
	return r->g->value[id].constant ? r->g->value[id].constant : &value[id];
}

static void run_node(const struct run *r, struct tensor *value, const struct tensor *constant, int id)
{
	const struct node *n = &r->g->node[id];
	const struct tensor *in[16];
	struct tensor out[16] = { 0 };
	struct error err = { 0 };
	assert_true(n->n_in <= 16 && n->n_out <= 16);
	for (int i = 0; i < n->n_in; i++)
		in[i] = input_of(r, value, constant, id, i);
	if (n->op->shape(n, in, out, &err))
		fail_msg("%s: %s", n->name, err.text);
	for (int i = 0; i < n->n_out; i++)
		assert_int_equal(tensor_alloc(&out[i], NULL, &err), STATUS_OK);
	if (n->op->eval(n, in, out, 1, &err))
		fail_msg("%s: %s", n->name, err.text);
	for (int i = 0; i < n->n_out; i++)
		value[n->out[i]] = out[i];
}

static void run_sample(const struct run *r, const struct npy *input, int sample, const struct tensor *constant,
    struct observer **observer, int phase)
{
	struct tensor *value = xcalloc((size_t)r->g->n_values, sizeof *value);
	struct tensor *x = &value[r->g->input[0]];
	*x = (struct tensor){ .type = DT_F32, .shape = r->g->value[r->g->input[0]].shape };
	x->data = (float *)input->data + sample * tensor_count(x);
	for (int i = 0; i < r->g->n_nodes; i++)
		run_node(r, value, constant, i);
	for (int i = 0; i < r->p->n_observe; i++)
		if (phase < observer_phases(observer[i]))
			observer_feed(observer[i], phase, sample, &value[r->p->observe[i].value]);
	x->data = NULL;
	for (int i = 0; i < r->g->n_values; i++)
		tensor_drop(&value[i]);
	free(value);
}

static void calibrate(const struct run *r, const struct npy *input, float *scale, int32_t *zero)
{
	int samples = (int)input->dim[0], phases = 1;
	struct tensor *constant = xcalloc((size_t)r->p->n_slots, sizeof *constant);
	struct observer **observer = xcalloc((size_t)r->p->n_observe, sizeof(struct observer *));
	round_constants(r, constant);
	for (int i = 0; i < r->p->n_observe; i++) {
		observer[i] = observer_new(r->p, i, samples);
		phases = observer_phases(observer[i]) > phases ? 2 : phases;
	}
	for (int phase = 0; phase < phases; phase++)
		for (int k = 0; k < samples; k++)
			run_sample(r, input, k, constant, observer, phase);
	for (int i = 0; i < r->p->n_observe; i++) {
		struct error err;
		if (observer_finish(observer[i], &scale[i], &zero[i], &err))
			fail_msg("%s", err.text);
		observer_free(&observer[i]);
	}
	for (int i = 0; i < r->p->n_slots; i++)
		tensor_drop(&constant[i]);
	free(constant);
	free(observer);
}

static int calibrate_and_compare(struct run *r, const struct npy *input)
{
	struct error err;
	float *scale = xcalloc((size_t)r->p->n_observe, sizeof *scale);
	int32_t *zero = xcalloc((size_t)r->p->n_observe, sizeof *zero);
	calibrate(r, input, scale, zero);
	if (plan_finish(r->p, scale, zero, r->e, &err))
		fail_msg("%s", err.text);
	free(scale);
	free(zero);
	return check_scales(r, true, 2e-5);
}

void test_plan_network__resnet20_from_file_to_scales(void **state)
{
	static const char *const runs[] = {
		"resnet20_esp_ESPDL_INT8_n8", "resnet20_esp_ESPDL_INT8_n8_minmax", "resnet20_esp_ESPDL_INT8_n8_percentile",
		"resnet20_esp_ESPDL_INT8_n8_mse", "resnet20_esp_ESPDL_INT8_n8_mixed16", "resnet20_esp_ESPDL_INT16_n8",
		"resnet20_esp_ESPDL_S3_INT8_n8", "resnet20_esp_ESPDL_C_INT8_n8", "resnet20_ppq_TRT_INT8_n8",
	};
	const char *file = support_data("golden/esp-ppq/inputs_resnet20.npy");
	struct npy input;
	struct error err;
	if (!file)
		skip();
	assert_int_equal(npy_read(&input, file, &err), STATUS_OK);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct run r;
		if (!run_open(&r, runs[i], true))
			continue;
		int wrong = check_structure(&r) + calibrate_and_compare(&r, &input);
		if (wrong)
			fail_msg("%s: %d slots differ", runs[i], wrong);
		run_close(&r);
	}
	npy_done(&input);
}
