// Plans against complete runs of esp-ppq and PPQ: every quantizer's state,
// width and dominator, and with the tensors that their observers saw, every scale.
// The graph is made from the run's own list of operators, so that only the planner is tested.
#include "golden_run.h"

static const char *const runs[] = {
	"resnet20_esp_ESPDL_INT8_n8", "resnet20_esp_ESPDL_INT8_n8_minmax", "resnet20_esp_ESPDL_INT8_n8_percentile",
	"resnet20_esp_ESPDL_INT8_n8_mse", "resnet20_esp_ESPDL_INT8_n8_mixed16", "resnet20_esp_ESPDL_INT8_n8_tqt",
	"resnet20_esp_ESPDL_INT8_n8_equalize", "resnet20_esp_ESPDL_INT8_n8_biascorr", "resnet20_esp_ESPDL_INT16_n8",
	"resnet20_esp_ESPDL_S3_INT8_n8", "resnet20_esp_ESPDL_C_INT8_n8", "resnet20_ppq_TRT_INT8_n8",
	"resnet20_ppq_TRT_INT8_n8_equalize", "resnet20_ppq_TRT_INT8_n8_lsq", "resnet20_ppq_PPL_CUDA_INT8_n8", "resnet20_ppq_FPGA_INT8_n8",
	"mobilenetv2_esp_ESPDL_INT8_n8",
	"mobilenetv2_esp_ESPDL_INT8_n8_tqt", "mobilenetv2_esp_ESPDL_INT16_n8", "mobilenetv2_ppq_TRT_INT8_n8",
	"yolov8n_esp_ESPDL_INT8_n8", "yolov8n_ppq_TRT_INT8_n8",
};

void test_plan_golden__structure(void **state)
{
	int found = 0;
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct run r;
		if (!run_open(&r, runs[i], false))
			continue;
		found++;
		int wrong = check_structure(&r);
		if (wrong)
			fail_msg("%s: %d slots differ", runs[i], wrong);
		run_close(&r);
	}
	if (!found)
		skip();
}

// The file of calibration tensors names them "op|o0|tensor".
static const struct npy *observed_tensor(const struct npz *z, const struct run *r, const struct slot *s)
{
	for (size_t i = 0; i < z->n; i++)
		if (strcmp(strrchr(z->name[i], '|') + 1, r->g->value[s->value].name) == 0)
			return &z->array[i];
	return NULL;
}

static void observe(const struct run *r, int i, const struct npy *a, float *scale, int32_t *zero)
{
	int samples = (int)a->dim[0];
	struct tensor x = {.type = DT_F32, .shape = shape_of(a->rank - 1, a->dim + 1)};
	size_t count = (size_t)shape_count(&x.shape);
	struct observer *o = observer_new(r->p, i, samples);
	for (int phase = 0; phase < observer_phases(o); phase++) {
		for (int k = samples - 1; k >= 0; k--) { // the order does not matter
			x.data = (float *)a->data + count * (size_t)k;
			observer_feed(o, phase, k, &x);
		}
	}
	assert_true(observer_finish(o, scale, zero));
	observer_free(&o);
}

static int finish_and_compare(struct run *r, const struct npz *z, double tolerance)
{
	struct error err;
	float scale[128];
	int32_t zero[128];
	assert_in_range(r->p->n_observe, 1, 128);
	for (int i = 0; i < r->p->n_observe; i++) {
		const struct slot *s = &r->p->slot[r->p->observe[i].slot];
		const struct npy *a = observed_tensor(z, r, s);
		if (!a)
			fail_msg("no calibration tensor for %s", r->g->value[s->value].name);
		observe(r, i, a, &scale[i], &zero[i]);
	}
	if (plan_finish(r->p, scale, zero, r->e, &err))
		fail_msg("%s", err.text);
	return check_scales(r, false, tolerance);
}

void test_plan_golden__scales_of_resnet20(void **state)
{
	// The tensors were seen behind the rounded weights of ESPDL_INT8. TensorRT's weights are others, so its float
	// scales are near only; and behind 16-bit weights KL finds another exponent for the 80 logits of Gemm_77.
	static const struct {
		const char *name;
		double tolerance;
		int differ;
	} observed[] = {
		{"resnet20_esp_ESPDL_INT8_n8", 0, 0}, {"resnet20_esp_ESPDL_INT8_n8_minmax", 0, 0},
		{"resnet20_esp_ESPDL_INT8_n8_percentile", 0, 0}, {"resnet20_esp_ESPDL_INT8_n8_mse", 0, 0},
		{"resnet20_esp_ESPDL_S3_INT8_n8", 0, 0}, {"resnet20_esp_ESPDL_C_INT8_n8", 0, 0},
		{"resnet20_ppq_TRT_INT8_n8", .02, 0}, {"resnet20_esp_ESPDL_INT16_n8", 0, 1},
		{"resnet20_esp_ESPDL_INT8_n8_mixed16", 0, 1},
	};
	const char *file = support_data("golden/esp-ppq/resnet20_calib_tensors.npz");
	struct npz z;
	struct error err;
	if (!file)
		skip();
	assert_int_equal(npz_read(&z, file, &err), STATUS_OK);
	for (size_t i = 0; i < sizeof observed / sizeof *observed; i++) {
		struct run r;
		if (!run_open(&r, observed[i].name, false))
			continue;
		int wrong = finish_and_compare(&r, &z, observed[i].tolerance);
		if (wrong != observed[i].differ)
			fail_msg("%s: %d scales differ", observed[i].name, wrong);
		run_close(&r);
	}
	npz_done(&z);
}
