// The attentions: that of ai.onnx against its definition in double, the others against it.
#include <math.h>
#include "node_run.h"

enum { B = 2, H = 4, KV = 2, S = 3, T = 5, D = 4, P = 2 };

struct values {
	float q[B * H * S * D], k[B * KV * T * D], v[B * KV * T * D], mask[S * T];
};

static struct values make(void)
{
	struct support_random r = {11};
	struct values v;
	support_random_floats(&r, (float *)&v, sizeof v / sizeof(float), -2, 2);
	return v;
}

// Element `c` of what query i of head h sees: keys up to i, tanh at 1.5, the mask on top.
static double expected(const struct values *v, int b, int h, int i, int c)
{
	const float *k = v->k + (b * KV + h / (H / KV)) * T * D, *values = v->v + (b * KV + h / (H / KV)) * T * D;
	double sum = 0, total = 0;
	for (int j = 0; j <= i; j++) {
		double dot = 0;
		for (int e = 0; e < D; e++)
			dot += (double)v->q[((b * H + h) * S + i) * D + e] * (double)k[j * D + e];
		double weight = exp(tanh(dot / sqrt(D) / 1.5) * 1.5 + (double)v->mask[i * T + j]);
		total += weight;
		sum += weight * (double)values[j * D + c];
	}
	return sum / total;
}

static void add_qkv(struct node_run *r, const struct values *v)
{
	node_run_add(r, DT_F32, SHAPE_OF(B, H, S, D), v->q);
	node_run_add(r, DT_F32, SHAPE_OF(B, KV, T, D), v->k);
	node_run_add(r, DT_F32, SHAPE_OF(B, KV, T, D), v->v);
}

static void assert_near(const float *y, const float *want, int n)
{
	for (int i = 0; i < n; i++)
		if (!(fabsf(y[i] - want[i]) < 1e-5f))
			fail_msg("element %d is %g, not %g", i, (double)y[i], (double)want[i]);
}

void test_op_attention__is_what_it_is_defined_to_be(void **state)
{
	struct values v = make();
	struct node_run r;
	node_run_init(&r, "", "Attention", 23, 1);
	*(int64_t *)node_run_field(&r, "is_causal") = 1;
	*(float *)node_run_field(&r, "softcap") = 1.5f;
	add_qkv(&r, &v);
	node_run_add(&r, DT_F32, SHAPE_OF(S, T), v.mask);
	node_run(&r);
	for (int p = 0; p < B * H * S * D; p++)
		assert_true(fabs((double)((float *)r.out[0].data)[p] - expected(&v, p / (H * S * D), p / (S * D) % H, p / D % S, p % D)) < 1e-5);
	node_run_done(&r);
}

void test_op_attention__a_query_that_sees_nothing_gets_zeros(void **state)
{
	static const uint8_t mask[S * T] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
	struct values v = make();
	struct node_run r;
	float *y;
	node_run_init(&r, "", "Attention", 23, 1);
	add_qkv(&r, &v);
	node_run_add(&r, DT_BOOL, SHAPE_OF(S, T), mask);
	node_run(&r);
	y = r.out[0].data;
	for (int c = 0; c < D; c++) {
		assert_true(y[c] != 0 && isfinite(y[c]));
		assert_true(y[D + c] == 0);
		assert_true(y[2 * D + c] != 0 && isfinite(y[2 * D + c]));
	}
	node_run_done(&r);
}

// [B, n, rows, D] as [B, rows, n * D].
static void flatten(float *to, const float *from, int n, int rows)
{
	for (int p = 0; p < B * n * rows * D; p++)
		to[((p / (n * rows * D) * rows + p / D % rows) * n + p / (rows * D) % n) * D + p % D] = from[p];
}

void test_op_attention__rank_3_is_rank_4_in_another_order(void **state)
{
	struct values v = make(), flat;
	struct node_run four, three;
	float want[B * H * S * D];
	node_run_init(&four, "", "Attention", 23, 1);
	add_qkv(&four, &v);
	node_run(&four);
	flatten(want, four.out[0].data, H, S);
	flatten(flat.q, v.q, H, S);
	flatten(flat.k, v.k, KV, T);
	flatten(flat.v, v.v, KV, T);
	node_run_init(&three, "", "Attention", 23, 1);
	*(int64_t *)node_run_field(&three, "q_num_heads") = H;
	*(int64_t *)node_run_field(&three, "kv_num_heads") = KV;
	node_run_add(&three, DT_F32, SHAPE_OF(B, S, H * D), flat.q);
	node_run_add(&three, DT_F32, SHAPE_OF(B, T, KV * D), flat.k);
	node_run_add(&three, DT_F32, SHAPE_OF(B, T, KV * D), flat.v);
	node_run(&three);
	assert_near(three.out[0].data, want, B * H * S * D);
	node_run_done(&four);
	node_run_done(&three);
}

// The first P keys of every head, and the others.
static void cut(float *past, float *now, const float *all)
{
	for (int h = 0; h < B * KV; h++) {
		memcpy(past + h * P * D, all + h * T * D, P * D * sizeof(float));
		memcpy(now + h * (T - P) * D, all + (h * T + P) * D, (T - P) * D * sizeof(float));
	}
}

void test_op_attention__the_past_comes_first(void **state)
{
	struct values v = make();
	float past_k[B * KV * P * D], past_v[B * KV * P * D], k[B * KV * (T - P) * D], val[B * KV * (T - P) * D];
	struct node_run whole, parts;
	cut(past_k, k, v.k);
	cut(past_v, val, v.v);
	node_run_init(&whole, "", "Attention", 23, 1);
	add_qkv(&whole, &v);
	node_run(&whole);
	node_run_init(&parts, "", "Attention", 23, 3);
	parts.out_id[1] = 1;
	parts.out_id[2] = 2;
	node_run_add(&parts, DT_F32, SHAPE_OF(B, H, S, D), v.q);
	node_run_add(&parts, DT_F32, SHAPE_OF(B, KV, T - P, D), k);
	node_run_add(&parts, DT_F32, SHAPE_OF(B, KV, T - P, D), val);
	node_run_add(&parts, DT_F32, SCALAR, NULL);
	node_run_add(&parts, DT_F32, SHAPE_OF(B, KV, P, D), past_k);
	node_run_add(&parts, DT_F32, SHAPE_OF(B, KV, P, D), past_v);
	node_run(&parts);
	assert_memory_equal(parts.out[0].data, whole.out[0].data, B * H * S * D * sizeof(float));
	assert_memory_equal(parts.out[1].data, v.k, sizeof v.k);
	assert_memory_equal(parts.out[2].data, v.v, sizeof v.v);
	node_run_done(&whole);
	node_run_done(&parts);
}

// Query i sees the past and the keys up to its own.
void test_op_attention__causal_queries_see_the_past(void **state)
{
	struct values v = make();
	float past_k[B * KV * P * D], past_v[B * KV * P * D], k[B * KV * (T - P) * D], val[B * KV * (T - P) * D];
	uint8_t seen[S * T];
	struct node_run r[2];
	cut(past_k, k, v.k);
	cut(past_v, val, v.v);
	for (int i = 0; i < S * T; i++)
		seen[i] = i % T <= i / T + P;
	for (int causal = 0; causal < 2; causal++) {
		node_run_init(&r[causal], "", "Attention", 23, 1);
		*(int64_t *)node_run_field(&r[causal], "is_causal") = causal;
		node_run_add(&r[causal], DT_F32, SHAPE_OF(B, H, S, D), v.q);
		node_run_add(&r[causal], DT_F32, SHAPE_OF(B, KV, T - P, D), k);
		node_run_add(&r[causal], DT_F32, SHAPE_OF(B, KV, T - P, D), val);
		node_run_add(&r[causal], DT_BOOL, SHAPE_OF(S, T), causal ? NULL : seen);
		node_run_add(&r[causal], DT_F32, SHAPE_OF(B, KV, P, D), past_k);
		node_run_add(&r[causal], DT_F32, SHAPE_OF(B, KV, P, D), past_v);
		node_run(&r[causal]);
	}
	assert_near(r[1].out[0].data, r[0].out[0].data, B * H * S * D);
	node_run_done(&r[0]);
	node_run_done(&r[1]);
}

// qk_matmul_output: scaled products, those that tanh has capped, with the mask on top, and the shares.
void test_op_attention__products_at_every_stage(void **state)
{
	struct values v = make();
	for (int mode = 0; mode < 4; mode++) {
		struct node_run r;
		node_run_init(&r, "", "Attention", 23, 4);
		r.out_id[1] = r.out_id[2] = -1;
		*(int64_t *)node_run_field(&r, "qk_matmul_output_mode") = mode;
		*(float *)node_run_field(&r, "softcap") = 1.5f;
		add_qkv(&r, &v);
		node_run_add(&r, DT_F32, SHAPE_OF(S, T), v.mask);
		node_run(&r);
		for (int row = 0; row < B * H * S; row++) {
			const float *k = v.k + (row / (H * S) * KV + row / S % H / (H / KV)) * T * D;
			double want[4][T], total = 0;
			for (int j = 0; j < T; j++) {
				double dot = 0;
				for (int e = 0; e < D; e++)
					dot += (double)v.q[row * D + e] * (double)k[j * D + e];
				want[0][j] = dot / sqrt(D);
				want[1][j] = tanh(want[0][j] / 1.5) * 1.5;
				want[2][j] = want[1][j] + (double)v.mask[row % S * T + j];
				total += want[3][j] = exp(want[2][j]);
			}
			for (int j = 0; j < T; j++)
				assert_float_equal(((float *)r.out[3].data)[row * T + j], mode == 3 ? want[3][j] / total : want[mode][j], 1e-5);
		}
		node_run_done(&r);
	}
}

// ---- ONNX Runtime's own, all of H heads and S positions

enum { HIDDEN = H * D, IN = 6, COLUMNS = 3 * HIDDEN };

struct projected {
	float x[B * S * IN], w[IN * COLUMNS], bias[COLUMNS], y[3][B * S * HIDDEN];
};

// Queries, keys and values without the bias.
static void project(struct projected *p)
{
	memset(p->y, 0, sizeof p->y);
	for (int i = 0; i < B * S * COLUMNS; i++) {
		int row = i / COLUMNS, column = i % COLUMNS;
		for (int k = 0; k < IN; k++)
			p->y[column / HIDDEN][row * HIDDEN + column % HIDDEN] += p->x[row * IN + k] * p->w[k * COLUMNS + column];
	}
}

static struct projected make_projected(void)
{
	struct support_random r = {5};
	struct projected p;
	support_random_floats(&r, (float *)&p, sizeof p / sizeof(float), -1, 1);
	project(&p);
	return p;
}

static const int32_t padding[B * S] = {1, 1, 0, 0, 1, 1};

// MultiHeadAttention on what is projected, with the bias and the padding.
static void multihead(struct node_run *r, const struct projected *p)
{
	node_run_init(r, "com.microsoft", "MultiHeadAttention", 1, 1);
	*(int64_t *)node_run_field(r, "num_heads") = H;
	for (int i = 0; i < 3; i++)
		node_run_add(r, DT_F32, SHAPE_OF(B, S, HIDDEN), p->y[i]);
	node_run_add(r, DT_F32, SHAPE_OF(COLUMNS), p->bias);
	node_run_add(r, DT_I32, SHAPE_OF(B, S), padding);
	node_run(r);
}

void test_op_attention__multihead_adds_bias_and_padding(void **state)
{
	struct projected p = make_projected(), biased = p;
	bool seen[B * S * S];
	struct node_run one, other;
	for (int part = 0; part < 3; part++)
		for (int i = 0; i < B * S * HIDDEN; i++)
			biased.y[part][i] += p.bias[part * HIDDEN + i % HIDDEN];
	for (int i = 0; i < B * S * S; i++)
		seen[i] = padding[i / (S * S) * S + i % S];
	multihead(&one, &p);
	node_run_init(&other, "", "Attention", 23, 1);
	*(int64_t *)node_run_field(&other, "q_num_heads") = H;
	*(int64_t *)node_run_field(&other, "kv_num_heads") = H;
	for (int i = 0; i < 3; i++)
		node_run_add(&other, DT_F32, SHAPE_OF(B, S, HIDDEN), biased.y[i]);
	node_run_add(&other, DT_BOOL, SHAPE_OF(B, 1, S, S), seen);
	node_run(&other);
	assert_near(one.out[0].data, other.out[0].data, B * S * HIDDEN);
	node_run_done(&one);
	node_run_done(&other);
}

// The bias belongs to what comes now; the past has it already.
void test_op_attention__multihead_behind_a_past(void **state)
{
	struct projected p = make_projected(), biased = p;
	float past[2][B * H * P * D];
	struct support_random random = {12};
	struct node_run one, other;
	support_random_floats(&random, past[0], 2 * B * H * P * D, -1, 1);
	for (int part = 0; part < 3; part++)
		for (int i = 0; i < B * S * HIDDEN; i++)
			biased.y[part][i] += p.bias[part * HIDDEN + i % HIDDEN];
	node_run_init(&one, "com.microsoft", "MultiHeadAttention", 1, 3);
	*(int64_t *)node_run_field(&one, "num_heads") = H;
	*(int64_t *)node_run_field(&one, "unidirectional") = 1;
	node_run_init(&other, "", "Attention", 23, 3);
	*(int64_t *)node_run_field(&other, "q_num_heads") = *(int64_t *)node_run_field(&other, "kv_num_heads") = H;
	*(int64_t *)node_run_field(&other, "is_causal") = 1;
	one.out_id[1] = other.out_id[1] = 1;
	one.out_id[2] = other.out_id[2] = 2;
	for (int i = 0; i < 3; i++) {
		node_run_add(&one, DT_F32, SHAPE_OF(B, S, HIDDEN), p.y[i]);
		node_run_add(&other, DT_F32, SHAPE_OF(B, S, HIDDEN), biased.y[i]);
	}
	node_run_add(&one, DT_F32, SHAPE_OF(COLUMNS), p.bias);
	for (int i = 0; i < 2; i++)
		node_run_add(&one, DT_F32, SCALAR, NULL);
	node_run_add(&other, DT_F32, SCALAR, NULL);
	for (int i = 0; i < 2; i++) {
		node_run_add(&one, DT_F32, SHAPE_OF(B, H, P, D), past[i]);
		node_run_add(&other, DT_F32, SHAPE_OF(B, H, P, D), past[i]);
	}
	node_run(&one);
	node_run(&other);
	for (int o = 0; o < 3; o++) {
		assert_true(shape_equal(&one.out[o].shape, &other.out[o].shape));
		assert_near(one.out[o].data, other.out[o].data, (int)tensor_count(&one.out[o]));
	}
	node_run_done(&one);
	node_run_done(&other);
}

// Rank 5: queries, keys and values of each head side by side.
void test_op_attention__multihead_of_what_is_packed(void **state)
{
	struct projected p = make_projected();
	static float qkv[B * S * COLUMNS], kv[B * S * 2 * HIDDEN];
	struct node_run apart, all, two;
	for (int i = 0; i < B * S * HIDDEN; i++)
		for (int part = 0; part < 3; part++) {
			qkv[(i / D * 3 + part) * D + i % D] = p.y[part][i];
			if (part)
				kv[(i / D * 2 + part - 1) * D + i % D] = p.y[part][i];
		}
	multihead(&apart, &p);
	node_run_init(&all, "com.microsoft", "MultiHeadAttention", 1, 1);
	node_run_init(&two, "com.microsoft", "MultiHeadAttention", 1, 1);
	*(int64_t *)node_run_field(&all, "num_heads") = *(int64_t *)node_run_field(&two, "num_heads") = H;
	node_run_add(&all, DT_F32, SHAPE_OF(B, S, H, 3, D), qkv);
	node_run_add(&two, DT_F32, SHAPE_OF(B, S, HIDDEN), p.y[0]);
	node_run_add(&two, DT_F32, SHAPE_OF(B, S, H, 2, D), kv);
	node_run_add(&all, DT_F32, SCALAR, NULL);
	node_run_add(&all, DT_F32, SCALAR, NULL);
	node_run_add(&two, DT_F32, SCALAR, NULL);
	for (int i = 0; i < 2; i++) {
		node_run_add(i ? &all : &two, DT_F32, SHAPE_OF(COLUMNS), p.bias);
		node_run_add(i ? &all : &two, DT_I32, SHAPE_OF(B, S), padding);
		node_run(i ? &all : &two);
		assert_near(i ? all.out[0].data : two.out[0].data, apart.out[0].data, B * S * HIDDEN);
	}
	node_run_done(&apart);
	node_run_done(&all);
	node_run_done(&two);
}

void test_op_attention__projects_its_input(void **state)
{
	struct projected p = make_projected();
	struct node_run one, other;
	multihead(&one, &p);
	node_run_init(&other, "com.microsoft", "Attention", 1, 1);
	*(int64_t *)node_run_field(&other, "num_heads") = H;
	node_run_add(&other, DT_F32, SHAPE_OF(B, S, IN), p.x);
	node_run_add(&other, DT_F32, SHAPE_OF(IN, COLUMNS), p.w);
	node_run_add(&other, DT_F32, SHAPE_OF(COLUMNS), p.bias);
	node_run_add(&other, DT_I32, SHAPE_OF(B, S), padding);
	node_run(&other);
	assert_near(other.out[0].data, one.out[0].data, B * S * HIDDEN);
	node_run_done(&one);
	node_run_done(&other);
}

void test_op_attention__projects_codes(void **state)
{
	static const float x_scale = 0.02f, w_scale = 0.03f;
	static const uint8_t x_zero = 120;
	static const int8_t w_zero = -3;
	struct projected p = make_projected();
	uint8_t x[B * S * IN];
	int8_t w[IN * COLUMNS];
	struct node_run one, other;
	for (int i = 0; i < B * S * IN; i++) {
		x[i] = (uint8_t)lrintf(p.x[i] / x_scale + x_zero);
		p.x[i] = (float)(x[i] - x_zero) * x_scale;
	}
	for (int i = 0; i < IN * COLUMNS; i++) {
		w[i] = (int8_t)lrintf(p.w[i] / w_scale + w_zero);
		p.w[i] = (float)(w[i] - w_zero) * w_scale;
	}
	project(&p);
	multihead(&one, &p);
	node_run_init(&other, "com.microsoft", "QAttention", 1, 1);
	*(int64_t *)node_run_field(&other, "num_heads") = H;
	node_run_add(&other, DT_U8, SHAPE_OF(B, S, IN), x);
	node_run_add(&other, DT_I8, SHAPE_OF(IN, COLUMNS), w);
	node_run_add(&other, DT_F32, SHAPE_OF(COLUMNS), p.bias);
	node_run_add(&other, DT_F32, SCALAR, &x_scale);
	node_run_add(&other, DT_F32, SCALAR, &w_scale);
	node_run_add(&other, DT_I32, SHAPE_OF(B, S), padding);
	node_run_add(&other, DT_U8, SCALAR, &x_zero);
	node_run_add(&other, DT_I8, SCALAR, &w_zero);
	node_run(&other);
	assert_near(other.out[0].data, one.out[0].data, B * S * HIDDEN);
	node_run_done(&one);
	node_run_done(&other);
}

void test_op_attention__what_does_not_fit_is_refused(void **state)
{
	struct values v = make();
	struct node_run r;
	struct error err;
	node_run_init(&r, "", "Attention", 23, 1);
	add_qkv(&r, &v);
	node_run_add(&r, DT_F32, SHAPE_OF(S, T + 1), v.q);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "mask"));
	node_run_done(&r);
}

// Heads of no elements take no memory, however many queries and keys there are; their products would.
void test_op_attention__queries_of_no_elements_have_no_room_for_their_products(void **state)
{
	static const char *const domain[] = {"", "com.microsoft"}, *const op[] = {"Attention", "MultiHeadAttention"};
	const int64_t many = (int64_t)1 << 31;
	for (int i = 0; i < 2; i++) {
		struct node_run r;
		struct error err;
		node_run_init(&r, domain[i], op[i], 23, 1);
		*(int64_t *)node_run_field(&r, i ? "num_heads" : "q_num_heads") = 1;
		if (!i)
			*(int64_t *)node_run_field(&r, "kv_num_heads") = 1;
		for (int k = 0; k < 3; k++)
			node_run_add(&r, DT_F32, SHAPE_OF(1, many, 0), &many);
		assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
		assert_non_null(strstr(err.text, "too many"));
		node_run_done(&r);
	}
}

// Whole numbers are added as floats are.
void test_op_attention__a_mask_of_integers_is_added(void **state)
{
	static const float floats[] = {0, 1, -2, 3, 0, 0, -4, 1, 2, 0, 5, 0, -1, 0, 2};
	static const int64_t whole[] = {0, 1, -2, 3, 0, 0, -4, 1, 2, 0, 5, 0, -1, 0, 2};
	struct values v = make();
	struct node_run r[2];
	for (int i = 0; i < 2; i++) {
		node_run_init(&r[i], "", "Attention", 23, 1);
		add_qkv(&r[i], &v);
		node_run_add(&r[i], i ? DT_I64 : DT_F32, SHAPE_OF(S, T), i ? (const void *)whole : floats);
		node_run(&r[i]);
	}
	assert_near(r[0].out[0].data, r[1].out[0].data, (int)tensor_count(&r[0].out[0]));
	node_run_done(&r[0]);
	node_run_done(&r[1]);
}

// The same where they come of a product over no elements.
void test_op_attention__projections_without_bound_are_refused(void **state)
{
	const int64_t many = (int64_t)1 << 30;
	struct node_run r;
	struct error err;
	node_run_init(&r, "com.microsoft", "Attention", 1, 1);
	*(int64_t *)node_run_field(&r, "num_heads") = 1;
	*(struct ints *)node_run_field(&r, "qkv_hidden_sizes") = (struct ints){(int64_t[]){many / 2, many / 2, 0}, 3};
	node_run_add(&r, DT_F32, SHAPE_OF(many, 1, 0), &many);
	node_run_add(&r, DT_F32, SHAPE_OF(0, many), &many);
	assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too many"));
	node_run_done(&r);
}

// Keys and values of rank 4 are those of an encoder, which has added their bias.
void test_op_attention__ready_keys_have_their_bias(void **state)
{
	static const float q[2] = {0.3f, -1}, k[4] = {1, 2, -1, 0.5f}, v[4] = {3, 4, 5, -6};
	static const float all[6] = {0.1f, 0.2f, 3, 4, 5, 6}, some[6] = {0.1f, 0.2f};
	struct node_run r[2];
	for (int i = 0; i < 2; i++) {
		node_run_init(&r[i], "com.microsoft", "MultiHeadAttention", 1, 1);
		*(int64_t *)node_run_field(&r[i], "num_heads") = 1;
		node_run_add(&r[i], DT_F32, SHAPE_OF(1, 1, 2), q);
		node_run_add(&r[i], DT_F32, SHAPE_OF(1, 1, 2, 2), k);
		node_run_add(&r[i], DT_F32, SHAPE_OF(1, 1, 2, 2), v);
		node_run_add(&r[i], DT_F32, SHAPE_OF(6), i ? all : some);
		node_run(&r[i]);
	}
	node_run_floats(&r[1], 2, r[0].out[0].data);
	node_run_done(&r[0]);
	node_run_done(&r[1]);
}
