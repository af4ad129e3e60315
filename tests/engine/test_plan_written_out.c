// Normalizations in several nodes, which esp-ppq makes one operator of. Expected: its formatter, and its list of what is quantized.
#include "written_out_case.h"
#include "plan_case.h"

static void setup(struct fixture *f, struct onnx_case *c, const char *target)
{
	case_output(c, c->graph, "y");
	case_load(c);
	fixture_plan(f, c->loaded, target, -1);
	c->loaded = NULL;
	case_done(c);
}

static void assert_one(const struct fixture *f, const char *const *part, int n, const char *op_type, bool quantized)
{
	int last;
	for (int i = 0; i < n; i++) {
		bool ends = i == n - 1;
		assert_string_equal(plan_whole(f->p, node(f, part[i]), &last), op_type);
		assert_int_equal(last, node(f, part[n - 1]));
		for (int k = 0; k < f->g->node[node(f, part[i])].n_in; k++) {
			bool outside = f->g->node[node(f, part[i])].in[k] == tensor(f, "front");
			assert_int_equal(in(f, part[i], k)->state, outside && quantized ? SLOT_OVERLAPPED : SLOT_FLOAT);
		}
		assert_int_equal(out(f, part[i])->state, ends && quantized ? SLOT_ACTIVE : SLOT_FLOAT);
		assert_int_equal(f->p->precision[node(f, part[i])], ends && quantized ? PREC_INT8 : PREC_FLOAT);
	}
}

void test_plan_written_out__rms(void **state)
{
	static const char *const part[] = {"square", "mean", "epsilon", "root", "inverse", "norm", "gained"};
	struct onnx_case c;
	struct fixture f;
	for (int i = 0; i < 2; i++) {
		begin(&c);
		rms(&c, "two", i ? "both" : "last");
		setup(&f, &c, "esp32p4");
		assert_one(&f, part, 7, "RMSNormalization", true);
		teardown(&f);
	}
}

// x / root, and x * (1 / root) without an epsilon.
void test_plan_written_out__rms_by_division(void **state)
{
	static const char *const part[] = {"square", "mean", "root", "norm", "gained"},
	                  *const longer[] = {"square", "mean", "root", "inverse", "norm", "gained"};
	struct onnx_case c;
	struct fixture f;
	begin(&c);
	squares(&c, "two", "last");
	case_node(&c, "Sqrt", "root", "m", "r");
	case_node(&c, "Div", "norm", "f r", "n");
	case_node(&c, "Mul", "gained", "n gain", "y");
	setup(&f, &c, "esp32s3");
	assert_one(&f, part, 5, "RMSNormalization", true);
	teardown(&f);
	begin(&c);
	squares(&c, "two", "last");
	case_node(&c, "Sqrt", "root", "m", "r");
	case_node(&c, "Div", "inverse", "one r", "i");
	case_node(&c, "Mul", "norm", "i f", "n");
	case_node(&c, "Mul", "gained", "n gain", "y");
	setup(&f, &c, "esp32");
	assert_one(&f, longer, 6, "RMSNormalization", true);
	teardown(&f);
}

static void assert_none(struct onnx_case *c, const char *target)
{
	struct fixture f;
	int last;
	setup(&f, c, target);
	for (int i = 0; i < f.g->n_nodes; i++)
		assert_null(plan_whole(f.p, i, &last));
	if (target_is_of(f.t, "esp-ppq"))
		assert_int_not_equal(out(&f, "mean")->state, SLOT_FLOAT);
	teardown(&f);
}

void test_plan_written_out__what_is_none(void **state)
{
	struct onnx_case c;
	begin(&c);
	rms(&c, "two", "last");
	assert_none(&c, "xquant"); // which is not esp-ppq's
	begin(&c);
	rms(&c, "three", "last");
	assert_none(&c, "esp32p4");
	begin(&c);
	rms(&c, "two", "middle");
	assert_none(&c, "esp32p4");
	begin(&c);
	rms(&c, "two", "last");
	case_node(&c, "Neg", "more", "m", "z"); // the mean has another reader
	case_output(&c, c.graph, "z");
	assert_none(&c, "esp32p4");
	begin(&c);
	rms(&c, "two", "last");
	case_output(&c, c.graph, "n"); // is to be seen
	assert_none(&c, "esp32p4");
}

// As torch writes normalize(): LpNormalization, which esp-ppq leaves in float.
void test_plan_written_out__lp(void **state)
{
	static const char *const part[] = {"length", "clip", "expand", "norm"};
	struct onnx_case c;
	struct fixture f;
	struct error err;
	begin(&c);
	case_node(&c, "ReduceL2", "length", "f last", "l");
	case_node(&c, "Clip", "clip", "l least", "k");
	case_node(&c, "Expand", "expand", "k shape", "e");
	case_node(&c, "Div", "norm", "f e", "y");
	setup(&f, &c, "esp32p4");
	assert_one(&f, part, 4, "LpNormalization", false);
	assert_int_equal(out(&f, "front")->state, SLOT_ACTIVE);
	assert_int_equal(plan_check_edit(f.p, node(&f, "length"), PREC_INT8, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "does not quantize LpNormalization, of which it is a part"));
	teardown(&f);
}

// The edit of its end is that of all of it: 16 bit reach what it reads, too.
void test_plan_written_out__edits(void **state)
{
	struct onnx_case c;
	struct fixture f;
	struct error err;
	begin(&c);
	rms(&c, "two", "last");
	setup(&f, &c, "esp32p4");
	f.e->precision[node(&f, "gained")] = PREC_INT16;
	plan_free(&f.p);
	assert_int_equal(plan_new(&f.p, f.g, f.t, CALIB_KL, f.e, NULL, &err), STATUS_OK);
	assert_int_equal(f.p->precision[node(&f, "gained")], PREC_INT16);
	assert_int_equal(in(&f, "square", 0)->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "square", 0)->quant.bits, 16);
	assert_int_equal(in(&f, "norm", 0)->quant.bits, 16);
	assert_int_equal(f.p->n_refused, 0);
	assert_int_equal(plan_check_edit(f.p, node(&f, "mean"), PREC_INT16, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "inside of RMSNormalization"));
	assert_non_null(strstr(err.text, "set gained"));
	teardown(&f);
}
