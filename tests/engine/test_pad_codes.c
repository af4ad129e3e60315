// Pad behind a quantized convolution: what it adds stands among the codes, and the values are those of the plain way.
#include <math.h>
#include "onnx_case.h"
#include "plan_case.h"
#include "qtui/engine/run.h"

enum { C = 3, SIZE = 4, WIDE = SIZE + 3 };
static const int64_t pads[8] = {0, 0, 2, 1, 0, 0, 1, 2};

struct pad_case {
	const char *target, *mode;
	int opset;
	float value; // by an input from opset 11 on
	enum dtype type;
	bool in_float; // the Pad, not the convolution
};

static struct graph *padded(struct onnx_case *c, const struct pad_case *k)
{
	struct support_random r = {12};
	float w[C];
	support_random_floats(&r, w, C, -1.0f, 1.0f);
	case_init(c);
	c->opset.version = k->opset;
	case_input(c, "x", FLOAT, DIMS(1, 1, SIZE, SIZE));
	case_floats(c, "w", DIMS(C, 1, 1, 1), w);
	case_node(c, "Conv", "conv", "x w", "h");
	Onnx__NodeProto *n;
	if (k->opset < 11) {
		n = case_node(c, "Pad", "pad", "h", "y");
		case_attr_ints(c, n, "pads", 8, pads);
		case_attr_float(c, n, "value", k->value);
	} else {
		case_ints(c, "pads", 8, pads);
		case_floats(c, "value", 0, NULL, &k->value);
		n = case_node(c, "Pad", "pad", k->value == 0 ? "h pads" : "h pads value", "y");
	}
	case_attr_text(c, n, "mode", k->mode);
	case_output(c, c->graph, "h");
	case_output(c, c->graph, "y");
	case_load(c);
	struct graph *g = c->loaded;
	c->loaded = NULL;
	return g;
}

// Zero points other than 0 where the target has them.
static void plan_padded(struct fixture *f, struct onnx_case *c, const struct pad_case *k)
{
	struct error err;
	float scale[4] = {0x1p-6f, 0x1p-6f, 0x1p-6f, 0x1p-6f};
	int32_t zero[4] = {0};
	fixture_plan(f, padded(c, k), k->target, CALIB_MINMAX);
	f->e->precision[node(f, "pad")] = k->in_float ? PREC_FLOAT : -1;
	fixture_replan(f);
	for (int i = 0; i < 4; i++)
		zero[i] = strcmp(k->target, "onnxruntime") == 0 ? 7 : 0;
	assert_in_range(f->p->n_observe, 1, 4);
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

static float rounded(const struct slot *s, float v)
{
	if (!s || (s->state != SLOT_ACTIVE && s->state != SLOT_PASSIVE))
		return v;
	int32_t zero = s->quant.zero ? s->quant.zero[0] : 0;
	return (float)(quantize_one(&s->quant, 0, v) - zero) * s->quant.scale[0];
}

// Where element i of a padded axis comes from; -1: from nowhere.
static int source(const char *mode, int i, int before)
{
	i -= before;
	if (strcmp(mode, "edge") == 0)
		return i < 0 ? 0 : i < SIZE ? i : SIZE - 1;
	if (strcmp(mode, "reflect") == 0)
		return i < 0 ? -i : i < SIZE ? i : 2 * SIZE - 2 - i;
	if (strcmp(mode, "wrap") == 0)
		return (i + SIZE) % SIZE;
	return i < 0 || i >= SIZE ? -1 : i;
}

static void check_values(const struct fixture *f, const struct pad_case *k, const float *h, const float *y)
{
	bool input = k->opset >= 11 && k->value != 0;
	float added = rounded(out(f, "pad"), input ? rounded(in(f, "pad", 2), k->value) : k->value);
	for (int i = 0; i < C * WIDE * WIDE; i++) {
		int row = source(k->mode, i / WIDE % WIDE, 2), col = source(k->mode, i % WIDE, 1);
		float want = row < 0 || col < 0 ? added : rounded(out(f, "pad"), h[i / (WIDE * WIDE) * SIZE * SIZE + row * SIZE + col]);
		if (y[i] != want)
			fail_msg("%s, %s by %g: element %d is %g, not %g", k->target, k->mode, (double)k->value, i, (double)y[i], (double)want);
	}
}

static void check(const struct pad_case *k)
{
	struct onnx_case c;
	struct fixture f;
	struct error err = {0};
	struct support_random r = {13};
	float x[SIZE * SIZE];
	plan_padded(&f, &c, k);
	support_random_floats(&r, x, SIZE * SIZE, -1.0f, 1.0f);
	struct tensor in = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, 1, SIZE, SIZE}), .data = x}, value[2] = {{0}}, code[2] = {{0}};
	struct engine *e = engine_new(f.g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	struct inference run = {.sim = SIM_FULL, .in = &in, .want = f.g->output, .n_want = 2, .out = value};
	if (engine_infer(e, f.p, &run, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	check_values(&f, k, value[0].data, value[1].data);
	run.codes = true;
	run.out = code;
	if (engine_infer(e, f.p, &run, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(code[1].type, k->type);
	for (int i = 0; i < 2; i++) {
		tensor_drop(&value[i]);
		tensor_drop(&code[i]);
	}
	engine_free(&e);
	teardown(&f);
	case_done(&c);
}

void test_pad_codes__values_and_types(void **state)
{
	static const struct pad_case cases[] = {
	    {"esp32p4", "constant", 13, 0, DT_I8, false},
	    {"esp32p4", "constant", 13, .25f, DT_I8, false},
	    {"esp32p4", "constant", 13, .3f, DT_I8, false},
	    {"esp32p4", "constant", 10, 0, DT_I8, false},
	    {"esp32p4", "constant", 10, -1, DT_I8, false},
	    {"esp32p4", "edge", 13, 0, DT_I8, false},
	    {"esp32p4", "reflect", 10, 0, DT_I8, false},
	    {"a16w8", "constant", 13, 0, DT_I16, false},
	    {"onnxruntime", "constant", 13, 0, DT_U8, false},
	    {"onnxruntime", "constant", 10, 0, DT_U8, false},
	    {"onnxruntime", "constant", 13, .3f, DT_U8, false},
	    {"onnxruntime", "reflect", 13, 0, DT_U8, false},
	    {"tensorrt", "constant", 13, .3f, DT_I8, false},
	    {"esp32p4", "constant", 13, .25f, DT_I8, true},
	    {"esp32p4", "constant", 13, .3f, DT_F32, true}, // between two codes
	    {"esp32p4", "constant", 13, -INFINITY, DT_F32, true},
	    {"esp32p4", "constant", 10, .3f, DT_F32, true},
	    {"esp32p4", "wrap", 13, 0, DT_I8, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(&cases[i]);
}
