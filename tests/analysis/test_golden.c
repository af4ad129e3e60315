// Whole analyses against complete runs of esp-ppq and PPQ: every scale that a slot owns, and NSR and cosine of every
// tensor that both measure (formulas and conditions: the golden files' own `full` table, means over 8 images).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/isolate.h"
#include "qtui/base/json.h"
#include "qtui/base/npy.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/onnx.h"
#include "support.h"

enum { IMAGES = 8 };

struct golden {
	const char *model, *inputs, *file, *target;
	enum calib_method method;
	int precision; // of all nodes, -1: the target's
	int isolated;  // rows of the layerwise table that must be compared; 0: none is made, it takes too long
	int equalized; // the tool equalized the weights first, with this opt_level; 0: it did not
	double bias;   // its bias_multiplier there; 0: without including_bias
	bool on_edge;  // a code of the run hangs on the last bits of its float sums: where it differs, the exact network may decide
	struct {
		const char *node; // whose calibration has two scales that are as good, as test_plan_network shows; NULL: none has
		double golden, other;
	} tie;
};

static void run_study(struct study *st, const struct golden *g)
{
	struct error err = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s: %s", g->model, err.text);
}

static struct snapshot *analyse(struct study **st, const struct golden *g, enum kernel_backend backend, const char *model,
    const char *inputs)
{
	struct error err = {0};
	struct study_options o = {.model = model, .calib = inputs, .target = g->target, .method = (int)g->method, .skip_layerwise = true,
	    .backend = backend, .data = {.samples = IMAGES}};
	if (study_open(st, &o, &err) != STATUS_OK)
		fail_msg("%s: %s", g->model, err.text);
	if (g->precision >= 0) {
		int *nodes, n;
		assert_int_equal(study_select(*st, "*", NULL, &nodes, &n, &err), STATUS_OK);
		assert_int_equal(study_set(*st, nodes, n, g->precision, NULL, &err), STATUS_OK);
		free(nodes);
	}
	run_study(*st, g);
	return study_snapshot(*st);
}

static const struct site *site_of(const struct snapshot *s, const char *tensor)
{
	int v = graph_find_value(s->g, tensor);
	for (int i = 0; v >= 0 && i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && s->site[i].value == v)
			return &s->site[i];
	return NULL;
}

// With the golden scale where the calibrator took the other one.
static void settle_tie(struct study *st, struct snapshot **s, const struct golden *g)
{
	struct error err = {0};
	int node = graph_find_node((*s)->g, g->tie.node);
	assert_true(node >= 0);
	const struct site *site = site_of(*s, (*s)->g->value[(*s)->g->node[node].out[0]].name);
	assert_true(site && (site->scale[0] == g->tie.golden || site->scale[0] == g->tie.other));
	if (site->scale[0] == g->tie.golden)
		return;
	struct scale_edit e = {graph_output((*s)->g, node), g->tie.golden, ZERO_FOLLOWS};
	assert_int_equal(study_scales(st, &e, 1, &err), STATUS_OK);
	run_study(st, g);
	snapshot_drop(s);
	*s = study_snapshot(st);
}

// Scales of all output slots that have one of their own.
static int compare_scales(const struct snapshot *s, const cJSON *golden)
{
	const cJSON *op, *tqc;
	int n = 0;
	cJSON_ArrayForEach(op, cJSON_GetObjectItemCaseSensitive(golden, "ops"))
	{
		cJSON_ArrayForEach(tqc, cJSON_GetObjectItemCaseSensitive(op, "tqc"))
		{
			const char *state = json_text(tqc, "state", "");
			const cJSON *scale = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(tqc, "scale"), 0);
			const struct site *site = site_of(s, json_text(tqc, "var", ""));
			if (strncmp(json_text(tqc, "slot", ""), "out", 3) != 0 || !scale || !site ||
			    (strcmp(state, "ACTIVATED") != 0 && strcmp(state, "PASSIVE") != 0))
				continue;
			if (!(fabs(site->scale[0] / scale->valuedouble - 1) <= 1e-5))
				fail_msg("%s: scale %g, golden %g", json_text(tqc, "var", ""), site->scale[0], scale->valuedouble);
			n++;
		}
	}
	return n;
}

static bool is_near(double x, double y, double relative)
{
	return fabs(x - y) <= relative * y + 1e-9;
}

// A tensor of zeros has no cosine.
static bool is_like(double x, double y)
{
	return fabs(x - y) <= 1e-4 || (isnan(x) && isnan(y));
}

// `exact`: the network with sums in double, which a run on an edge may follow; else NULL.
static int compare_figures(const struct snapshot *s, const struct snapshot *exact, const cJSON *golden)
{
	const cJSON *row;
	int n = 0;
	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(golden, "full"))
	{
		const struct site *site = site_of(s, json_text(row, "var", ""));
		double nsr = json_number(row, "nsr", NAN), cosine = json_number(row, "cosine", NAN);
		if (!site)
			continue;
		const struct site *same = exact ? site_of(exact, json_text(row, "var", "")) : NULL;
		bool as_exact = same && is_near(site->graphwise.nsr_mean, same->graphwise.nsr_mean, 1e-4) &&
		    fabs(site->graphwise.cosine_mean - same->graphwise.cosine_mean) <= 1e-6;
		assert_int_equal(site->graphwise.known, IMAGES);
		if (!as_exact && (!is_near(site->graphwise.nsr_mean, nsr, 0.01) || !is_like(site->graphwise.cosine_mean, cosine)))
			fail_msg("%s: NSR %g (golden %g), cosine %g (golden %g)", json_text(row, "var", ""), site->graphwise.nsr_mean, nsr,
			    site->graphwise.cosine_mean, cosine);
		n++;
	}
	return n;
}

static const struct figures *isolated_figures(const struct isolation *i, const struct snapshot *s, const char *op)
{
	char name[128];
	snprintf(name, sizeof name, "%s", op);
	char *tail = strstr(name, "_quant"); // of names in a file that was dequantized, which the tool keeps
	int node = graph_find_node(s->g, name);
	if (node < 0 && tail) {
		*tail = '\0';
		node = graph_find_node(s->g, name);
	}
	return node >= 0 ? &i->node[node] : NULL;
}

// The tool's layerwise table: each computing operator alone, at the network's outputs. Its sums are float32.
static int compare_isolated(struct study *st, const struct snapshot *s, const cJSON *golden)
{
	const cJSON *row;
	struct error err = {0};
	atomic_int done = 0;
	int n = 0;
	assert_int_equal(isolate_nodes(st, s, NULL, &done, &err), STATUS_OK);
	assert_int_equal(atomic_load(&done), isolate_count(s));
	const struct isolation *isolation = study_isolation(st, s);
	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(golden, "layerwise"), "snr"))
	{
		const struct figures *f = isolated_figures(isolation, s, row->string);
		if (!f)
			continue;
		assert_int_equal(f->known, IMAGES);
		if (!(fabs(f->nsr_mean - row->valuedouble) <= 0.01 * row->valuedouble + 1e-9))
			fail_msg("%s: NSR %g at the outputs, golden %g", row->string, f->nsr_mean, row->valuedouble);
		n++;
	}
	return n;
}

// The model with weights equalized as the tool's run has them.
static const char *equalized_model(const char *model, const struct golden *as)
{
	struct error err = {0};
	struct graph *g = NULL;
	struct equalization e;
	struct equalize_options opt = EQUALIZE_DEFAULT;
	const char *path = support_temp("equalized.onnx");
	opt.sums = as->equalized == 2;
	opt.bias = as->bias;
	if (onnx_load(&g, model, &(struct onnx_options){0}, &err) != STATUS_OK || equalize(&e, g, &opt, &err) != STATUS_OK ||
	    onnx_save_tuned(path, g, e.weights, &err) != STATUS_OK)
		fail_msg("%s: %s", model, err.text);
	equalization_done(&e);
	graph_free(&g);
	return path;
}

static void check_with(const struct golden *g, const char *inputs, int least)
{
	struct error err = {0};
	struct study *st = NULL, *exact_st = NULL;
	cJSON *golden = NULL;
	char name[256];
	snprintf(name, sizeof name, "models/%s.onnx", g->model);
	const char *model = support_data(name);
	snprintf(name, sizeof name, "golden/esp-ppq/%s.json", g->file);
	const char *file = support_data(name);
	if (!model || !file || !inputs)
		skip();
	if (g->equalized)
		model = equalized_model(model, g);
	assert_int_equal(json_read(&golden, file, &err), STATUS_OK);
	struct snapshot *s = analyse(&st, g, BACKEND_ONEDNN, model, inputs), *exact = NULL;
	if (g->tie.node)
		settle_tie(st, &s, g);
	if (g->on_edge)
		exact = analyse(&exact_st, g, BACKEND_REF, model, inputs);
	assert_true(compare_scales(s, golden) >= least);
	assert_true(compare_figures(s, exact, golden) >= least);
	if (g->isolated)
		assert_true(compare_isolated(st, s, golden) >= g->isolated);
	cJSON_Delete(golden);
	snapshot_drop(&s);
	snapshot_drop(&exact);
	study_close(&st);
	study_close(&exact_st);
}

static void check(const struct golden *g, int least)
{
	check_with(g, support_data(g->inputs), least);
}

#define RESNET "resnet20_cifar10_folded", "golden/esp-ppq/inputs_resnet20.npy"
#define MOBILENET "mobilenetv2_12", "golden/esp-ppq/inputs_mobilenetv2.npy"

void test_golden__resnet20_kl(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT8_n8", "esp32p4", CALIB_KL, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_minmax(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT8_n8_minmax", "esp32p4", CALIB_MINMAX, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_percentile(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT8_n8_percentile", "esp32p4", CALIB_PERCENTILE, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_mse(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT8_n8_mse", "esp32p4", CALIB_MSE, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_int16(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT16_n8", "esp32p4", CALIB_KL, PREC_INT16, .isolated = 22}, 30);
}

void test_golden__resnet20_esp32s3(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_S3_INT8_n8", "esp32s3", CALIB_KL, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_esp32(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_C_INT8_n8", "esp32", CALIB_KL, -1, .isolated = 22}, 30);
}

void test_golden__resnet20_tensorrt(void **state)
{
	check(&(struct golden){RESNET, "resnet20_ppq_TRT_INT8_n8", "tensorrt", CALIB_PERCENTILE, -1, .isolated = 22, .on_edge = true}, 20);
}

void test_golden__resnet20_equalized(void **state)
{
	check(&(struct golden){RESNET, "resnet20_esp_ESPDL_INT8_n8_equalize", "esp32p4", CALIB_KL, -1, .equalized = 2}, 30);
}

void test_golden__resnet20_equalized_tensorrt(void **state)
{
	check(&(struct golden){RESNET, "resnet20_ppq_TRT_INT8_n8_equalize", "tensorrt", CALIB_PERCENTILE, -1, .equalized = 1, .on_edge = true},
	    20);
}

void test_golden__resnet20_ppl_cuda(void **state)
{
	check(&(struct golden){RESNET, "resnet20_ppq_PPL_CUDA_INT8_n8", "ppl_cuda", CALIB_PERCENTILE, -1, .isolated = 22, .on_edge = true}, 30);
}

// Its Gemm is float: nothing that is quantized comes before it, and nothing behind.
void test_golden__resnet20_fpga(void **state)
{
	check(&(struct golden){RESNET, "resnet20_ppq_FPGA_INT8_n8", "fpga", CALIB_PERCENTILE, -1, .isolated = 21, .equalized = 1, .bias = 0.5},
	    30);
}

void test_golden__mobilenetv2_kl(void **state)
{
	check(&(struct golden){MOBILENET, "mobilenetv2_esp_ESPDL_INT8_n8", "esp32p4", CALIB_KL, -1, .isolated = 53}, 60);
}

// The file keeps bytes; the run saw them divided by 255.
static const char *yolov8n_inputs(void)
{
	struct npy a;
	struct error err = {0};
	const char *bytes = support_data("golden/esp-ppq/inputs_yolov8n_u8.npy"), *path = support_temp("yolov8n.npy");
	if (!bytes)
		return NULL;
	assert_int_equal(support_npy_read(&a, bytes, &err), STATUS_OK);
	struct npy f = a;
	f.kind = 'f';
	f.item = 4;
	f.data = malloc(a.size * sizeof(float));
	f.size = a.size * sizeof(float);
	for (size_t i = 0; i < a.size; i++)
		((float *)f.data)[i] = (float)((const uint8_t *)a.data)[i] / 255.0f;
	assert_int_equal(npy_write(&f, path, &err), STATUS_OK);
	npy_done(&a);
	npy_done(&f);
	return path;
}

void test_golden__yolov8n_kl(void **state)
{
	check_with(&(struct golden){"yolov8n", NULL, "yolov8n_esp_ESPDL_INT8_n8", "esp32p4", CALIB_KL, -1,
	    .tie = {"/model.22/cv2.2/cv2.2.1/conv/Conv", .golden = 0.25, .other = 0.5}}, yolov8n_inputs(), 100);
}
