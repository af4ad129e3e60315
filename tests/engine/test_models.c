// Real models: they load, their shapes are those that another runtime computed, their nodes those that esp-ppq works
// on, and the small ones give the same numbers. Skipped where the data are not there.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"
#include "support.h"

#define MAX_INPUTS 4

static const char *const models[] = {
    "models/deimv2_atto_320",
    "models/deimv2_atto_dynint8_degraded",
    "models/mobilenetv2",
    "models/mobilenetv2_12",
    "models/mobilenetv2_qdq_miscalibrated",
    "models/nanodet_m_320",
    "models/resnet20_cifar10",
    "models/resnet20_cifar10_folded",
    "models/squeezenet11_fp16",
    "models/tinyml_sigma_cifar10_fp32",
    "models/tinyml_sigma_cifar10_int8_static",
    "models/yolo26n",
    "models/yolov5n",
    "models/yolov8n",
    "models/yolov8n_qdq_allops_broken",
    "models/yolov8n_qdq_minmax",
    "models/yolox_nano_416",
    "misc/SINet_Softmax_simple",
    "misc/ch_PP-OCRv4_det_infer",
    "misc/face_detection_front_128x128_barracuda",
    "misc/selfie_segmentation",
    "misc/silero_vad",
    "misc/silero_vad_half",
    "misc/ultraface_rfb_320",
};

static const char *data_path(const char *dir, const char *name, const char *suffix)
{
	char path[256];
	snprintf(path, sizeof path, "%s%s%s", dir, name, suffix);
	return support_data(path);
}

static struct graph *load(const char *model, const struct onnx_options *opt)
{
	const char *path = data_path("", model, ".onnx");
	struct graph *g;
	struct error err;
	if (!path)
		skip();
	if (onnx_load(&g, path, opt, &err))
		fail_msg("%s", err.text);
	return g;
}

static void check_wiring(const struct graph *g)
{
	for (int i = 0; i < g->n_nodes; i++) {
		for (int k = 0; k < g->node[i].n_in; k++)
			assert_true(g->node[i].in[k] < 0 || g->value[g->node[i].in[k]].producer < i);
		for (int k = 0; k < g->node[i].n_out; k++)
			assert_true(g->node[i].out[k] < 0 || g->value[g->node[i].out[k]].producer == i);
	}
	for (int i = 0; i < g->n_values; i++) {
		const struct value *v = &g->value[i];
		assert_int_equal(graph_find_value(g, v->name), i);
		assert_true(v->producer >= 0 || v->constant || v->is_input);
		assert_false(v->constant && key_is_zero(v->content));
		for (int k = 0; k < v->n_consumers; k++)
			assert_in_range(v->consumer[k], 0, g->n_nodes - 1);
	}
}

static void check_origins(const struct graph *g)
{
	int kept = 0;
	for (int i = 0; i < g->n_origins; i++) {
		const struct origin *o = &g->origin[i];
		assert_true(o->node >= -1 && o->node < g->n_nodes);
		kept += o->fate == FATE_KEPT;
		assert_true(o->fate == FATE_KEPT ? g->node[o->node].origin == i : true);
		assert_true(o->fate == FATE_FUSED ? o->node >= 0 : true);
		assert_true(o->fate == FATE_FOLDED ? o->node == -1 : true);
		assert_int_equal(graph_find_node(g, o->name), o->node);
	}
	assert_int_equal(kept, g->n_nodes);
}

void test_models__all_load_and_are_sound(void **state)
{
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		struct graph *g = load(models[i], NULL);
		check_wiring(g);
		check_origins(g);
		graph_free(&g);
	}
}

// A reference run: its inputs as shapes for the loader.
struct reference {
	struct npz z;
	struct onnx_input_shape shape[MAX_INPUTS];
	struct onnx_options opt;
};

static bool reference_read(struct reference *r, const char *model)
{
	const char *path = data_path("golden/float/", strchr(model, '/') + 1, ".npz");
	struct error err;
	*r = (struct reference){.opt.shape = r->shape};
	if (!path)
		return false;
	if (npz_read(&r->z, path, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < r->z.n; i++)
		if (!strncmp(r->z.name[i], "in:", 3) && r->opt.n_shapes < MAX_INPUTS)
			r->shape[r->opt.n_shapes++] = (struct onnx_input_shape){
			    .name = r->z.name[i] + 3, .shape = shape_of(r->z.array[i].rank, r->z.array[i].dim)};
	return true;
}

static const struct npy *reference_array(const struct reference *r, const char *kind, const char *name)
{
	char key[256];
	snprintf(key, sizeof key, "%s:%s", kind, name);
	return support_npz_find(&r->z, key);
}

void test_models__output_shapes_are_the_reference_ones(void **state)
{
	int compared = 0;
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		struct reference r;
		struct graph *g;
		if (!reference_read(&r, models[i]))
			continue;
		g = load(models[i], &r.opt);
		for (int k = 0; k < g->n_outputs; k++) {
			const struct value *v = &g->value[g->output[k]];
			const struct npy *a = reference_array(&r, "out", v->name);
			struct shape s;
			if (!a || v->shape.rank < 0)
				continue;
			s = shape_of(a->rank, a->dim);
			if (!shape_equal(&s, &v->shape))
				fail_msg("%s: output %s", models[i], v->name);
			compared++;
		}
		npz_done(&r.z);
		graph_free(&g);
	}
	if (!compared)
		skip();
	assert_true(compared >= 30);
}

static void check_tensor_shapes(const char *model, int least)
{
	const char *path = data_path("golden/float/", strchr(model, '/') + 1, ".tensors.json");
	struct error err;
	struct graph *g;
	cJSON *j, *t;
	int compared = 0;
	if (!path)
		skip();
	g = load(model, NULL);
	assert_int_equal(json_read(&j, path, &err), STATUS_OK);
	cJSON_ArrayForEach(t, j)
	{
		const cJSON *dims = cJSON_GetObjectItem(t, "shape");
		int id = graph_find_value(g, t->string), rank = cJSON_GetArraySize(dims);
		if (id < 0 || g->value[id].shape.rank < 0)
			continue;
		assert_int_equal(g->value[id].shape.rank, rank);
		for (int i = 0; i < rank; i++)
			assert_int_equal(g->value[id].shape.dim[i], cJSON_GetArrayItem(dims, i)->valueint);
		compared++;
	}
	cJSON_Delete(j);
	graph_free(&g);
	assert_true(compared >= least);
}

void test_models__inner_shapes_are_the_reference_ones(void **state)
{
	check_tensor_shapes("models/yolov5n", 200);
	check_tensor_shapes("models/yolov8n", 200);
	check_tensor_shapes("models/yolo26n", 300);
	check_tensor_shapes("models/mobilenetv2", 90);
	check_tensor_shapes("models/deimv2_atto_320", 400);
}

// Python writes NaN and Infinity, which are not JSON; here only names matter.
static void blank(struct bytes *b, const char *word)
{
	for (uint8_t *p = b->data; (p = (uint8_t *)strstr((char *)p, word));) {
		memset(p, ' ', strlen(word));
		*p = '0';
	}
}

static cJSON *read_run(const char *path)
{
	struct error err;
	struct bytes b;
	cJSON *j;
	assert_int_equal(file_read(&b, path, 64 << 20, &err), STATUS_OK);
	blank(&b, "NaN");
	blank(&b, "Infinity");
	if (json_parse(&j, (const char *)b.data, b.size, path, &err))
		fail_msg("%s", err.text);
	bytes_done(&b);
	return j;
}

// Every operator of the tool's formatted graph is ours, and the other way round. (A Swish is a Sigmoid and a Mul here.)
static void check_names(const char *model, const char *run)
{
	const char *path = data_path("golden/esp-ppq/", run, ".json");
	struct graph *g;
	cJSON *j, *op;
	int same = 0, swishes = 0;
	if (!path)
		skip();
	g = load(model, NULL);
	j = read_run(path);
	cJSON_ArrayForEach(op, cJSON_GetObjectItem(j, "ops"))
	{
		const char *name = json_text(op, "name", ""), *type = json_text(op, "type", "");
		int id = graph_find_node(g, name);
		if (!strcmp(type, "Swish")) {
			swishes++;
			continue;
		}
		if (id < 0 || strcmp(g->node[id].op->name, type) || strcmp(g->node[id].name, name))
			fail_msg("%s: %s (%s) is not there", model, name, type);
		same++;
	}
	assert_int_equal(g->n_nodes, same + 2 * swishes);
	cJSON_Delete(j);
	graph_free(&g);
}

void test_models__nodes_are_those_of_esp_ppq(void **state)
{
	check_names("models/resnet20_cifar10_folded", "resnet20_esp_ESPDL_INT8_n8");
	check_names("models/mobilenetv2_12", "mobilenetv2_esp_ESPDL_INT8_n8");
	check_names("models/yolov8n", "yolov8n_esp_ESPDL_INT8_n8");
}

// The norm of the difference over the norm of the reference.
static double distance(const struct tensor *t, const struct npy *a)
{
	double noise = 0, signal = 1e-30;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		double x = t->type == DT_F32 ? ((float *)t->data)[i] : (double)((int64_t *)t->data)[i];
		double y = a->kind == 'i' ? (double)((int64_t *)a->data)[i]
		           : a->item == 4 ? ((float *)a->data)[i]
		                          : NAN;
		noise += (x - y) * (x - y);
		signal += y * y;
	}
	return sqrt(noise / signal);
}

static void check_numbers(const char *model, double tolerance)
{
	struct reference r;
	struct graph *g;
	struct tensor in[MAX_INPUTS], out[8];
	const struct tensor *list[MAX_INPUTS];
	struct error err;
	if (!reference_read(&r, model))
		skip();
	g = load(model, &r.opt);
	assert_true(g->n_inputs <= MAX_INPUTS && g->n_outputs <= 8);
	for (int i = 0; i < g->n_inputs; i++) {
		const struct value *v = &g->value[g->input[i]];
		const struct npy *a = reference_array(&r, "in", v->name);
		assert_non_null(a);
		in[i] = (struct tensor){.type = v->type, .shape = v->shape, .data = a->data};
		list[i] = &in[i];
	}
	if (graph_eval(g, list, out, 1, &err))
		fail_msg("%s: %s", model, err.text);
	for (int i = 0; i < g->n_outputs; i++) {
		const char *name = g->value[g->output[i]].name;
		const struct npy *a = reference_array(&r, "out", name);
		if (a && !(distance(&out[i], a) <= tolerance))
			fail_msg("%s: output %s differs by %g", model, name, distance(&out[i], a));
		tensor_drop(&out[i]);
	}
	npz_done(&r.z);
	graph_free(&g);
}

void test_models__small_ones_give_the_reference_numbers(void **state)
{
	check_numbers("models/resnet20_cifar10", 1e-4);
	check_numbers("models/tinyml_sigma_cifar10_fp32", 1e-4);
	check_numbers("misc/face_detection_front_128x128_barracuda", 1e-4);
	check_numbers("misc/silero_vad", 1e-4);
}
