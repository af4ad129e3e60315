// The evaluations for files that are quantized already, against the bits that ONNX Runtime 1.30
// gives for the same inputs, on every processor level.
#include <math.h>
#include "../../src/engine/tensor/cpu.h"
#include "node_run.h"

enum { N = 13 };

static void fill(float x[N])
{
	for (int i = 0; i < N; i++)
		x[i] = (float)(i * (double)0.73f - (double)4.1f);
	x[N - 1] = 20;
}

static void run(struct node_run *r, const float *want, int64_t n)
{
	struct op ordered = *r->n.op;
	ordered.eval = op_eval_ordered(ordered.id);
	assert_non_null(ordered.eval);
	r->n.op = &ordered;
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		node_run(r);
		assert_int_equal(tensor_count(&r->out[0]), n);
		assert_memory_equal(r->out[0].data, want, (size_t)n * sizeof *want);
		tensor_drop(&r->out[0]);
	}
	cpu_limit(CPU_LEVELS);
	node_run_done(r);
}

static void check(const char *name, const float *x, struct shape shape, const float *want, int64_t n)
{
	struct node_run r;
	node_run_init(&r, "", name, 13, 1);
	node_run_add(&r, DT_F32, shape, x);
	run(&r, want, n);
}

void test_ordered__sigmoid(void **state)
{
	static const float want[N] = {0x1.0b19ap-6f, 0x1.105a9p-5f, 0x1.10d398p-4f, 0x1.08272p-3f, 0x1.e16314p-3f, 0x1.8eb49ap-2f,
	    0x1.239b92p-1f, 0x1.774e6cp-1f, 0x1.b38d44p-1f, 0x1.d811ecp-1f, 0x1.ebf278p-1f, 0x1.f622ep-1f, 1.0f};
	float x[N];
	fill(x);
	check("Sigmoid", x, SHAPE_OF(1, N), want, N);
}

void test_ordered__softmax(void **state)
{
	static const float want[N] = {0x1.2c76cep-35f, 0x1.37be7ap-34f, 0x1.437264p-33f, 0x1.4f96c6p-32f, 0x1.5c2fdap-31f, 0x1.6942p-30f,
	    0x1.76d1fp-29f, 0x1.84e408p-28f, 0x1.937d5ap-27f, 0x1.a2a32cp-26f, 0x1.b25a5cp-25f, 0x1.c2a892p-24f, 0x1.fffff8p-1f};
	float x[N];
	fill(x);
	check("Softmax", x, SHAPE_OF(1, N), want, N);
}

void test_ordered__log(void **state)
{
	static const float want[N] = {0x1.69d618p+0f, 0x1.37c6b4p+0f, 0x1.f2f978p-1f, 0x1.4dfd8ep-1f, 0x1.64418cp-3f, -0x1.8d953ep-1f,
	    -0x1.3ce54ap+0f, 0x1.447326p-6f, 0x1.1e85fap-1f, 0x1.d10748p-1f, 0x1.2a90bcp+0f, 0x1.5f05b4p+0f, 0x1.7f848ap+1f};
	float x[N];
	fill(x);
	for (int i = 0; i < N; i++)
		x[i] = fabsf(x[i]) + 0.01f;
	check("Log", x, SHAPE_OF(1, N), want, N);
}

void test_ordered__sums_along_rows(void **state)
{
	static const float mean = 0x1.75c294p+0f, sum = 0x1.2fae18p+4f;
	const int64_t last = 1;
	struct node_run r;
	float x[N];
	fill(x);
	node_run_init(&r, "", "ReduceMean", 13, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, N), x);
	*(struct ints *)node_run_field(&r, "axes") = (struct ints){(int64_t[]){1}, 1};
	run(&r, &mean, 1);
	node_run_init(&r, "", "ReduceSum", 13, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, N), x);
	node_run_add(&r, DT_I64, SHAPE_OF(1), &last);
	run(&r, &sum, 1);
}

void test_ordered__mean_of_a_plane(void **state)
{
	static const float want[2] = {-0x1.733334p+0f, 0x1.4f5c28p+1f};
	float x[22];
	for (int i = 0; i < 22; i++)
		x[i] = (float)(i * (double)0.37f - (double)3.3f);
	check("GlobalAveragePool", x, SHAPE_OF(1, 2, 1, 11), want, 2);
}

// Along an axis that is not the last they are what the operators are everywhere.
void test_ordered__other_axes(void **state)
{
	struct node_run a, b;
	float x[N];
	fill(x);
	for (int i = 0; i < 2; i++) {
		struct node_run *r = i ? &b : &a;
		node_run_init(r, "", "Softmax", 13, 1);
		*(int64_t *)node_run_field(r, "axis") = 1;
		node_run_add(r, DT_F32, SHAPE_OF(1, N, 1), x);
	}
	node_run(&a);
	run(&b, a.out[0].data, N);
	node_run_done(&a);
}
