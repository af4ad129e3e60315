// Matrix products of every backend against the definition.
#include "kernel_case.h"

struct matmul_case {
	struct matmul_task t;
	float *a, *w, *bias;
};

static struct matmul_case matmul_case_new(struct support_random *r, int64_t m, int64_t n, int64_t k)
{
	struct matmul_case c = {.t = {.batch = support_random_int(r, 1, 3), .m = m, .n = n, .k = k, .alpha = 1.0f}};
	c.t.trans_a = support_random_int(r, 0, 1);
	c.t.trans_b = support_random_int(r, 0, 1);
	c.t.stride_a = support_random_int(r, 0, 3) ? m * k : 0;
	c.t.stride_b = support_random_int(r, 0, 1) ? n * k : 0;
	c.t.alpha = support_random_int(r, 0, 1) ? 1.0f : 0.3f;
	c.t.act.kind = support_random_int(r, 0, 1) ? ACT_NONE : ACT_SWISH;
	c.a = random_floats(r, c.t.batch * m * k, 1.0f);
	c.w = random_floats(r, c.t.batch * k * n, 3.0f / sqrtf((float)k));
	c.bias = random_floats(r, n, 1.0f);
	c.t.bias = support_random_int(r, 0, 1) ? c.bias : NULL;
	return c;
}

static void matmul_case_free(struct matmul_case *c)
{
	free(c->a);
	free(c->w);
	free(c->bias);
}

static float one_product(const struct matmul_case *c, int64_t b, int64_t i, int64_t j)
{
	const struct matmul_task *t = &c->t;
	const float *a = c->a + b * t->stride_a, *w = c->w + b * t->stride_b;
	double sum = 0;
	for (int64_t p = 0; p < t->k; p++)
		sum += (double)a[t->trans_a ? p * t->m + i : i * t->k + p] * w[t->trans_b ? j * t->k + p : p * t->n + j];
	sum = sum * t->alpha + (t->bias ? t->bias[j] : 0);
	return (float)(t->act.kind == ACT_SWISH ? sum / (1 + exp(-sum)) : sum);
}

// With the second operand constant or given when it runs, at three widths.
static void check_matmul(struct matmul_case *c, enum kernel_backend b, bool constant)
{
	int64_t m = c->t.m, n = c->t.n;
	size_t bytes = (size_t)(c->t.batch * m * n) * sizeof(float);
	float *first = NULL;
	struct kernel *k;
	struct error err;
	c->t.weight = constant ? c->w : NULL;
	assert_int_equal(kernel_matmul(&k, b, &c->t, &err), STATUS_OK);
	assert_true(!constant || kernel_bytes(k) >= (size_t)(n * c->t.k) * sizeof(float));
	for (int width = 1; width <= SUPPORT_WIDTH(3); width++) {
		float *y = guarded_new(bytes);
		run_kernel(k, c->a, constant ? NULL : c->w, NULL, y, width);
		if (first) {
			assert_memory_equal(y, first, bytes);
			guarded_free(y, bytes);
		} else {
			first = y;
		}
	}
	for (int64_t i = 0; i < c->t.batch * m * n; i += c->t.batch * m * n > 5000 ? 97 : 1)
		assert_close(&first[i], &(float){one_product(c, i / n / m, i / n % m, i % n)}, 1, 2e-5f);
	guarded_free(first, bytes);
	kernel_free(&k);
}

static void check_size(struct support_random *r, int64_t m, int64_t n, int64_t k)
{
	for (int b = 0; b < BACKEND_COUNT; b++) {
		struct matmul_case c = matmul_case_new(r, m, n, k);
		check_matmul(&c, (enum kernel_backend)b, true);
		check_matmul(&c, (enum kernel_backend)b, false);
		matmul_case_free(&c);
	}
}

void test_kernel_matmul__random_sizes(void **state)
{
	struct support_random r = {11};
	for (int i = 0; i < 40; i++)
		check_size(&r, support_random_int(&r, 1, 40), support_random_int(&r, 1, 40), support_random_int(&r, 1, 60));
}

// One matrix times a constant one, whose weights the backends may pack.
void test_kernel_matmul__rows_against_a_constant(void **state)
{
	struct support_random r = {13};
	static const int size[][3] = {{49, 96, 64}, {200, 512, 512}, {1, 1024, 257}, {50, 520, 511}, {7, 256, 1030}};
	for (size_t i = 0; i < sizeof size / sizeof *size; i++)
		for (int b = 0; b < BACKEND_COUNT; b++) {
			struct matmul_case c = matmul_case_new(&r, size[i][0], size[i][1], size[i][2]);
			c.t.batch = 1;
			c.t.trans_a = false;
			c.t.alpha = 1.0f;
			check_matmul(&c, (enum kernel_backend)b, true);
			matmul_case_free(&c);
		}
}

// Single rows and columns, and results of several tiles with a rest.
void test_kernel_matmul__edges_of_tiles(void **state)
{
	struct support_random r = {12};
	static const int size[][3] = {{1, 1000, 64}, {300, 1, 33}, {128, 1024, 8}, {129, 1025, 9}, {257, 40, 16}, {1, 1, 1}};
	for (size_t i = 0; i < sizeof size / sizeof *size; i++)
		check_size(&r, size[i][0], size[i][1], size[i][2]);
}
