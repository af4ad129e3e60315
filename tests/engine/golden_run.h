// Complete runs of esp-ppq and PPQ as tests see them: the run's JSON, a graph (made from the run's own
// list of operators, or read from the model), and a plan of ours for it.
#ifndef TESTS_ENGINE_GOLDEN_RUN_H
#define TESTS_ENGINE_GOLDEN_RUN_H

#include <math.h>
#include <stdio.h>
#include "graph_builder.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/npy.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/plan.h"

struct run {
	cJSON *json;
	const cJSON *ops;
	struct graph *g;
	struct target *t;
	enum calib_method method;
	struct edits *e;
	struct plan *p;
};

static inline const char *text_of(const cJSON *obj, const char *key)
{
	return json_text(obj, key, "");
}

static inline struct shape shape_from(const cJSON *list)
{
	struct shape s = {.rank = cJSON_GetArraySize(list)};
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = cJSON_GetArrayItem(list, i)->valueint;
	return s;
}

// Shapes, axes and indices are integers; the run lists them as float slots of unquantized state.
static inline bool is_index(const cJSON *op, const cJSON *tqc)
{
	static const char *const types[] = {"Reshape", "Slice", "Split", "Squeeze", "Unsqueeze", "Gather"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(text_of(op, "type"), types[i]) == 0)
			return strcmp(text_of(tqc, "slot"), "in0") != 0;
	return false;
}

static inline void add_constants(struct builder *b, const cJSON *op)
{
	const cJSON *tqc;
	cJSON_ArrayForEach(tqc, cJSON_GetObjectItem(op, "tqc")) {
		if (!json_bool(tqc, "is_parameter", false))
			continue;
		struct shape s = shape_from(cJSON_GetObjectItem(tqc, "shape"));
		builder_constant(b, text_of(tqc, "var"), is_index(op, tqc) ? DT_I64 : DT_F32, s, NULL);
	}
}

static inline void join(char *out, size_t size, const cJSON *names)
{
	const cJSON *name;
	out[0] = '\0';
	cJSON_ArrayForEach(name, names)
		snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? " " : "", name->valuestring);
}

// A Swish of the run is Sigmoid and Mul here.
static inline void add_swish(struct builder *b, const char *name, const char *x, const char *y)
{
	char inside[256], pair[2400], sigmoid[256];
	snprintf(inside, sizeof inside, "%s/sigmoid_out", name);
	snprintf(sigmoid, sizeof sigmoid, "%s/sigmoid", name);
	snprintf(pair, sizeof pair, "%s %s", x, inside);
	builder_node(b, "Sigmoid", sigmoid, x, inside);
	builder_node(b, "Mul", name, pair, y);
}

static inline void add_op(struct builder *b, const cJSON *op)
{
	char in[2048], out[2048];
	const char *type = text_of(op, "type"), *name = text_of(op, "name");
	add_constants(b, op);
	join(in, sizeof in, cJSON_GetObjectItem(op, "inputs"));
	join(out, sizeof out, cJSON_GetObjectItem(op, "outputs"));
	if (strcmp(type, "Swish") == 0) {
		add_swish(b, name, in, out);
		return;
	}
	int id = builder_node(b, type, name, in, out);
	if (strcmp(type, "Gemm") == 0)
		((struct gemm_attrs *)b->g->node[id].attrs)->trans_b = (int64_t)json_number(cJSON_GetObjectItem(op, "attributes"), "transB", 0);
}

static inline const char *target_for(const char *platform, bool *wide)
{
	static const struct {
		const char *platform, *target;
		bool wide;
	} known[] = {
		{"ESPDL_INT8", "esp32p4", false}, {"ESPDL_INT16", "esp32p4", true}, {"ESPDL_S3_INT8", "esp32s3", false},
		{"ESPDL_C_INT8", "esp32", false}, {"TRT_INT8", "tensorrt", false}, {"PPL_CUDA_INT8", "ppl_cuda", false},
		{"FPGA_INT8", "fpga", false},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		*wide = known[i].wide;
		if (strcmp(known[i].platform, platform) == 0)
			return known[i].target;
	}
	fail_msg("unknown platform %s", platform);
	return NULL;
}

#define ESPDL_INT16 552
static inline void read_edits(struct run *r, bool wide)
{
	r->e = edits_new(r->g);
	for (int i = 0; wide && i < r->g->n_nodes; i++)
		r->e->precision[i] = PREC_INT16;
	const cJSON *setting = cJSON_GetObjectItem(r->json, "setting"), *row;
	const cJSON *table = cJSON_GetObjectItem(cJSON_GetObjectItem(setting, "dispatching_table"), "dispatchings");
	cJSON_ArrayForEach(row, table) {
		int node = namemap_get(r->g->node_by_name, row->string);
		if (node >= 0 && cJSON_IsNumber(row) && row->valueint == ESPDL_INT16)
			r->e->precision[node] = PREC_INT16;
	}
}

// The runs hold NaN where a tensor is constant, which JSON does not have.
static inline cJSON *read_run(const char *file)
{
	struct bytes b;
	struct error err;
	cJSON *json;
	if (file_read(&b, file, 64 << 20, &err))
		fail_msg("%s", err.text);
	for (char *at = (char *)b.data; (at = strstr(at, ":NaN")); at++)
		memcpy(at + 1, "  0", 3);
	if (json_parse(&json, (const char *)b.data, b.size, file, &err))
		fail_msg("%s", err.text);
	bytes_done(&b);
	return json;
}

static inline struct graph *graph_of_run(const struct run *r)
{
	struct builder b = builder_new();
	const cJSON *op;
	cJSON_ArrayForEach(op, r->ops)
		add_op(&b, op);
	return b.g;
}

static inline struct graph *graph_of_model(const struct run *r)
{
	struct graph *g = NULL;
	struct error err;
	const char *path = support_data(text_of(r->json, "model"));
	if (!path)
		skip();
	if (onnx_load(&g, path, &(struct onnx_options){0}, &err))
		fail_msg("%s", err.text);
	return g;
}

// False when the data are not there.
static inline bool run_open(struct run *r, const char *name, bool from_model)
{
	char path[128];
	struct error err;
	bool wide = false;
	snprintf(path, sizeof path, "golden/esp-ppq/%s.json", name);
	const char *file = support_data(path);
	*r = (struct run){0};
	if (!file)
		return false;
	r->json = read_run(file);
	r->ops = cJSON_GetObjectItem(r->json, "ops");
	r->g = from_model ? graph_of_model(r) : graph_of_run(r);
	assert_int_equal(target_load(&r->t, target_for(text_of(r->json, "platform"), &wide), &err), STATUS_OK);
	const cJSON *act = cJSON_GetObjectItem(cJSON_GetObjectItem(r->json, "setting"), "quantize_activation_setting");
	if (!calib_parse(&r->method, json_text(act, "calib_algorithm", "percentile")))
		fail_msg("%s: unknown calibration", name);
	read_edits(r, wide);
	enum status st = plan_new(&r->p, r->g, r->t, r->method, r->e, NULL, &err);
	if (st)
		fail_msg("%s: %s", name, err.text);
	return true;
}

static inline void run_close(struct run *r)
{
	plan_free(&r->p);
	edits_free(&r->e);
	target_free(&r->t);
	graph_free(&r->g);
	cJSON_Delete(r->json);
}

static inline const cJSON *op_named(const struct run *r, const char *name)
{
	const cJSON *op;
	cJSON_ArrayForEach(op, r->ops)
		if (strcmp(text_of(op, "name"), name) == 0)
			return op;
	fail_msg("no operator %s", name);
	return NULL;
}

static inline int value_named(const struct run *r, const char *name)
{
	int value = graph_find_value(r->g, name);
	if (value < 0)
		fail_msg("no tensor %s", name);
	return value;
}

// The node that makes the operator's output; of a Swish that is the Mul.
static inline int node_of(const struct run *r, const cJSON *op)
{
	return r->g->value[value_named(r, cJSON_GetArrayItem(cJSON_GetObjectItem(op, "outputs"), 0)->valuestring)].producer;
}

// "in0" of an operator; of a Swish that is the Sigmoid's.
static inline struct slot *slot_named(const struct run *r, const char *name, const char *slot)
{
	const cJSON *op = op_named(r, name);
	int node = node_of(r, op);
	if (slot[0] == 'o')
		return plan_out(r->p, node, atoi(slot + 3));
	if (strcmp(text_of(op, "type"), "Swish") == 0) {
		int x = value_named(r, cJSON_GetArrayItem(cJSON_GetObjectItem(op, "inputs"), 0)->valuestring);
		const struct node *mul = &r->g->node[node];
		node = r->g->value[mul->in[mul->in[0] == x ? 1 : 0]].producer;
	}
	return plan_in(r->p, node, atoi(slot + 2));
}

static inline enum slot_state state_named(const char *name, bool own, bool bias)
{
	if (strcmp(name, "ACTIVATED") == 0)
		return SLOT_ACTIVE;
	if (strcmp(name, "OVERLAPPED") == 0)
		return SLOT_OVERLAPPED;
	if (strcmp(name, "FP32") == 0)
		return SLOT_FLOAT;
	// The owner of an aligned range calls itself passive there.
	return own && !bias ? SLOT_ACTIVE : SLOT_PASSIVE;
}

static inline int check_slot(const struct run *r, const cJSON *op, const cJSON *tqc)
{
	const char *name = text_of(op, "name"), *dominator = text_of(tqc, "dominator"), *colon = strrchr(dominator, ':');
	const struct slot *s = slot_named(r, name, text_of(tqc, "slot"));
	char owner[256];
	snprintf(owner, sizeof owner, "%.*s", (int)(colon - dominator), dominator);
	const struct slot *d = slot_named(r, owner, colon + 1);
	bool bias = strcmp(text_of(tqc, "slot"), "in2") == 0 && json_number(tqc, "bits", 0) > 16;
	enum slot_state want = state_named(text_of(tqc, "state"), d == s, bias);
	int follows = want == SLOT_FLOAT || d == s ? -1 : (int)(d - r->p->slot);
	// Among the billions of a bias's codes PPQ's platforms leave out the lowest, or have one more: no bias reaches so far.
	int64_t low = s->quant.qmin - (int64_t)json_number(tqc, "qmin", 0), high = s->quant.qmax - (int64_t)json_number(tqc, "qmax", 0);
	if (s->state == want && s->follows == follows &&
	    (want == SLOT_FLOAT || (s->quant.bits == (int)json_number(tqc, "bits", 0) && llabs(low) <= bias && llabs(high) <= bias)))
		return 0;
	print_error("%s %s: state %d follows %d bits %d, expected state %d follows %d (%s) bits %g\n", name,
	    text_of(tqc, "slot"), s->state, s->follows, s->quant.bits, want, follows, dominator, json_number(tqc, "bits", 0));
	return 1;
}

// Scales of a finished plan's slots, parameters left out unless wanted; how many differ by more than `tolerance`.
static inline int check_scale(const struct run *r, const cJSON *op, const cJSON *tqc, bool parameters, double tolerance)
{
	const struct slot *s = slot_named(r, text_of(op, "name"), text_of(tqc, "slot"));
	const cJSON *want = cJSON_GetObjectItem(tqc, "scale");
	if (s->state == SLOT_FLOAT || !cJSON_IsArray(want) || (s->parameter && !parameters))
		return 0;
	int n = cJSON_GetArraySize(want), i = 0;
	double expected = 0, got = 0;
	const cJSON *one;
	cJSON_ArrayForEach(one, want) {
		expected = one->valuedouble;
		got = s->quant.scale[i < s->quant.n ? i : 0];
		if (!(fabs(got - expected) <= fmax(tolerance, 2e-6) * expected))
			break;
		i++;
	}
	if (i == n && s->quant.n == n)
		return 0;
	print_error("%s %s: %d scales, [%d] %.9g; expected %d, %.9g\n", text_of(op, "name"), text_of(tqc, "slot"), s->quant.n, i,
	    got, n, expected);
	return 1;
}

static inline int check_scales(const struct run *r, bool parameters, double tolerance)
{
	const cJSON *op, *tqc;
	int wrong = 0;
	cJSON_ArrayForEach(op, r->ops)
		cJSON_ArrayForEach(tqc, cJSON_GetObjectItem(op, "tqc"))
			wrong += check_scale(r, op, tqc, parameters, tolerance);
	return wrong;
}

static inline int check_structure(const struct run *r)
{
	const cJSON *op, *tqc;
	int wrong = 0;
	cJSON_ArrayForEach(op, r->ops) {
		if (!json_bool(op, "quantable", false)) {
			int node = node_of(r, op);
			wrong += r->p->precision[node] != PREC_FLOAT;
		}
		cJSON_ArrayForEach(tqc, cJSON_GetObjectItem(op, "tqc"))
			wrong += check_slot(r, op, tqc);
	}
	return wrong;
}

#endif
