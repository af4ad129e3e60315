// Every model's float outputs against ONNX Runtime's, on every backend. Files that are quantized already
// follow its order of summation to the bit: a code that differed in one place would be seen.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/npy.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/run.h"
#include "support.h"

static double at(const struct npy *a, int64_t i)
{
	const char *p = (const char *)a->data + i * a->item;
	switch (a->kind) {
	case 'f':
		return a->item == 4 ? *(const float *)p : a->item == 8 ? *(const double *)p : NAN;
	case 'i':
		return a->item == 8 ? (double)*(const int64_t *)p : *(const int32_t *)p;
	default:
		return NAN;
	}
}

static double half(const struct npy *a, int64_t i)
{
	uint16_t h = ((const uint16_t *)a->data)[i];
	int e = (h >> 10) & 31, m = h & 1023;
	double v = e == 0 ? ldexp(m, -24) : ldexp(1024 + m, e - 25);
	return h >> 15 ? -v : v;
}

static double value_at(const struct npy *a, int64_t i)
{
	return a->kind == 'f' && a->item == 2 ? half(a, i) : at(a, i);
}

static const struct npy *member(const struct npz *z, const char *prefix, const char *name)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", prefix, name);
	return support_npz_find(z, full);
}

static void fill(struct tensor *t, const struct value *v, const struct npy *a)
{
	struct error err = {0};
	*t = (struct tensor){.type = v->type, .shape = shape_of(a->rank, a->dim)};
	assert_int_equal(tensor_alloc(t, NULL, &err), STATUS_OK);
	for (int64_t i = 0; i < tensor_count(t); i++)
		if (t->type == DT_F32)
			((float *)t->data)[i] = (float)value_at(a, i);
		else
			((int64_t *)t->data)[i] = (int64_t)value_at(a, i);
}

static double distance(const struct tensor *t, const struct npy *a)
{
	double noise = 0, signal = 0;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		double want = value_at(a, i), have = t->type == DT_F32 ? ((const float *)t->data)[i] : (double)((const int64_t *)t->data)[i];
		noise += (have - want) * (have - want);
		signal += want * want;
	}
	return sqrt(noise / (signal + 1e-30));
}

static struct graph *load(const char *model, const struct npz *z)
{
	struct error err = {0};
	struct graph *g = NULL;
	struct onnx_input_shape shape[8];
	int n = 0;
	for (size_t i = 0; i < z->n && n < 8; i++)
		if (strncmp(z->name[i], "in:", 3) == 0)
			shape[n++] = (struct onnx_input_shape){.name = z->name[i] + 3, .shape = shape_of(z->array[i].rank, z->array[i].dim)};
	if (onnx_load(&g, model, &(struct onnx_options){.shape = shape, .n_shapes = n}, &err) != STATUS_OK)
		fail_msg("%s: %s", model, err.text);
	return g;
}

static void run(const struct graph *g, const struct npz *z, enum kernel_backend b, double tolerance)
{
	struct error err = {0};
	struct tensor in[8], out[8];
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = b, .threads = 2});
	assert_true(g->n_inputs <= 8 && g->n_outputs <= 8);
	for (int i = 0; i < g->n_inputs; i++)
		fill(&in[i], &g->value[g->input[i]], member(z, "in:", g->value[g->input[i]].name));
	if (engine_infer(e, NULL, &(struct inference){.in = in, .want = g->output, .n_want = g->n_outputs, .out = out}, &err) != STATUS_OK)
		fail_msg("%s: %s", g->path, err.text);
	for (int i = 0; i < g->n_outputs; i++) {
		const struct npy *want = member(z, "out:", g->value[g->output[i]].name);
		double d = want ? distance(&out[i], want) : 0;
		if (!(d < tolerance))
			fail_msg("%s on %s: output %s is %g away", g->path, backend_name(b), g->value[g->output[i]].name, d);
		tensor_drop(&out[i]);
	}
	for (int i = 0; i < g->n_inputs; i++)
		tensor_drop(&in[i]);
	engine_free(&e);
}

// The ref backend sums in double, element by element: only for models that it runs in seconds.
#define REF_MACS 400000000

static void check(const char *name, double tolerance, enum kernel_backend last)
{
	char path[256];
	struct npz z;
	struct error err = {0};
	int64_t macs = 0;
	snprintf(path, sizeof path, "models/%s.onnx", name);
	const char *model = support_data(path);
	snprintf(path, sizeof path, "golden/float/%s.npz", name);
	const char *golden = support_data(path);
	if (!model || !golden)
		skip();
	assert_int_equal(npz_read(&z, golden, &err), STATUS_OK);
	struct graph *g = load(model, &z);
	for (int n = 0; n < g->n_nodes; n++)
		macs += graph_macs(g, n);
	for (int b = BACKEND_ONEDNN; b <= (int)last; b++)
		if (b != BACKEND_REF || macs < REF_MACS)
			run(g, &z, (enum kernel_backend)b, tolerance);
	graph_free(&g);
	npz_done(&z);
}

static void check_floats(const char *name, double tolerance)
{
	check(name, tolerance, BACKEND_REF);
}

// Their sums go the same way on every backend.
static void check_codes(const char *name)
{
	check(name, 1e-6, BACKEND_ONEDNN);
}

void test_float_golden__deimv2_atto_320(void **state)
{
	check_floats("deimv2_atto_320", 1e-4);
}

void test_float_golden__mobilenetv2(void **state)
{
	check_floats("mobilenetv2", 1e-4);
}

void test_float_golden__nanodet_m_320(void **state)
{
	check_floats("nanodet_m_320", 1e-4);
}

void test_float_golden__resnet20_cifar10(void **state)
{
	check_floats("resnet20_cifar10", 1e-4);
}

void test_float_golden__resnet20_cifar10_folded(void **state)
{
	check_floats("resnet20_cifar10_folded", 1e-4);
}

void test_float_golden__tinyml_sigma_cifar10_fp32(void **state)
{
	check_floats("tinyml_sigma_cifar10_fp32", 1e-4);
}

void test_float_golden__yolo26n(void **state)
{
	check_floats("yolo26n", 1e-4);
}

void test_float_golden__yolov5n(void **state)
{
	check_floats("yolov5n", 1e-4);
}

void test_float_golden__yolov8n(void **state)
{
	check_floats("yolov8n", 1e-4);
}

void test_float_golden__yolox_nano_416(void **state)
{
	check_floats("yolox_nano_416", 1e-4);
}

void test_float_golden__squeezenet11_fp16(void **state)
{
	check_floats("squeezenet11_fp16", 5e-3);
}

void test_float_golden__tinyml_int8(void **state)
{
	check_codes("tinyml_sigma_cifar10_int8_static");
}

void test_float_golden__mobilenetv2_int8(void **state)
{
	check_codes("mobilenetv2_qdq_miscalibrated");
}

void test_float_golden__yolov8n_int8(void **state)
{
	check_codes("yolov8n_qdq_minmax");
}

void test_float_golden__yolov8n_broken(void **state)
{
	check_codes("yolov8n_qdq_allops_broken");
}

void test_float_golden__deimv2_dynamic_int8(void **state)
{
	check_codes("deimv2_atto_dynint8_degraded");
}
