// Weights of few bits against their values written out.
#include <math.h>
#include "node_run.h"

enum { M = 2, K = 19, N = 3, BLOCK = 16, BLOCKS = 2 };

static int code_at(const uint8_t *column, int k, int bits)
{
	int per = 8 / bits;
	return column[k / per] >> (k % per * bits) & ((1 << bits) - 1);
}

static void check(int bits, bool with_zeros, bool with_bias)
{
	struct support_random random = {(uint64_t)bits};
	float x[M * K], scales[N * BLOCKS], bias[N];
	uint8_t codes[N * BLOCKS * BLOCK], zeros[N * BLOCKS];
	int bytes = BLOCK * bits / 8, zero_bytes = (BLOCKS * bits + 7) / 8;
	struct node_run r;
	support_random_floats(&random, x, M * K, -1, 1);
	support_random_floats(&random, scales, N * BLOCKS, 0.1f, 1);
	support_random_floats(&random, bias, N, -1, 1);
	for (int i = 0; i < N * BLOCKS * BLOCK; i++)
		codes[i] = (uint8_t)support_random_int(&random, 0, 255);
	for (int i = 0; i < N * BLOCKS; i++)
		zeros[i] = (uint8_t)support_random_int(&random, 0, 255);
	node_run_init(&r, "com.microsoft", "MatMulNBits", 1, 1);
	*(int64_t *)node_run_field(&r, "K") = K;
	*(int64_t *)node_run_field(&r, "N") = N;
	*(int64_t *)node_run_field(&r, "bits") = bits;
	*(int64_t *)node_run_field(&r, "block_size") = BLOCK;
	node_run_add(&r, DT_F32, SHAPE_OF(M, K), x);
	node_run_add(&r, DT_U8, SHAPE_OF(N, BLOCKS, bytes), codes);
	node_run_add(&r, DT_F32, SHAPE_OF(N * BLOCKS), scales);
	node_run_add(&r, DT_U8, SHAPE_OF(N * zero_bytes), with_zeros ? zeros : NULL);
	node_run_add(&r, DT_I32, SCALAR, NULL);
	node_run_add(&r, DT_F32, SHAPE_OF(N), with_bias ? bias : NULL);
	node_run(&r);
	for (int i = 0; i < M * N; i++) {
		int n = i % N;
		double want = with_bias ? (double)bias[n] : 0;
		for (int k = 0; k < K; k++) {
			int zero = with_zeros ? code_at(zeros + n * zero_bytes, k / BLOCK, bits) : 1 << (bits - 1);
			double w = (code_at(codes + n * BLOCKS * bytes, k, bits) - zero) * (double)scales[n * BLOCKS + k / BLOCK];
			want += (double)x[i / N * K + k] * w;
		}
		assert_true(fabs((double)((const float *)r.out[0].data)[i] - want) < 1e-4 * (1 << bits));
	}
	node_run_done(&r);
}

void test_op_matmulnbits__every_width(void **state)
{
	for (int bits = 2; bits <= 8; bits *= 2) {
		check(bits, false, false);
		check(bits, true, true);
	}
}

// Two columns of three numbers in blocks of four: the second block begins in the second column,
// and a byte's high bits come first.
void test_op_matmulnbits__floats_of_4_bits(void **state)
{
	static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, scales[2] = {3, 6};
	static const uint8_t codes[3] = {0x31, 0xf5, 0x7c};
	static const float want[2][6] = {
	    {3, 1.5f, 0.0052083335f * 3, 1.5f, -0.75f, -2}, {-0.3949175f * 3, -0.18477343f * 3, -0.6961928f * 3, 0, 3, 0.44070983f * 6}};
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct node_run r;
		node_run_init(&r, "com.microsoft", "MatMulBnb4", 1, 1);
		*(int64_t *)node_run_field(&r, "K") = 3;
		*(int64_t *)node_run_field(&r, "N") = 2;
		*(int64_t *)node_run_field(&r, "block_size") = 4;
		*(int64_t *)node_run_field(&r, "quant_type") = kind;
		node_run_add(&r, DT_F32, SHAPE_OF(3, 3), identity);
		node_run_add(&r, DT_U8, SHAPE_OF(3), codes);
		node_run_add(&r, DT_F32, SHAPE_OF(2), scales);
		node_run(&r);
		for (int i = 0; i < 6; i++)
			if (fabsf(((const float *)r.out[0].data)[i] - want[kind][i]) > 1e-6f)
				fail_msg("kind %d: number %d is %g", kind, i, (double)((const float *)r.out[0].data)[i]);
		node_run_done(&r);
	}
}

// g_idx says which block's scale a row has.
void test_op_matmulnbits__rows_name_their_blocks(void **state)
{
	static const float x[4] = {1, 10, 100, 1000}, scales[2] = {1, 2};
	static const uint8_t codes[2] = {0xa9, 0xcb}; // 1, 2, 3, 4 above the middle
	static const int32_t groups[2][4] = {{1, 0, 0, 1}, {0, 0, 0, 2}};
	struct error err;
	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		struct node_run r;
		node_run_init(&r, "com.microsoft", "MatMulNBits", 1, 1);
		*(int64_t *)node_run_field(&r, "K") = 4;
		*(int64_t *)node_run_field(&r, "N") = 1;
		*(int64_t *)node_run_field(&r, "block_size") = 2;
		node_run_add(&r, DT_F32, SHAPE_OF(1, 4), x);
		node_run_add(&r, DT_U8, SHAPE_OF(1, 2, 1), codes);
		node_run_add(&r, DT_F32, SHAPE_OF(2), scales);
		node_run_add(&r, DT_U8, SCALAR, NULL);
		node_run_add(&r, DT_I32, SHAPE_OF(4), groups[wrong]);
		assert_int_equal(node_run_try(&r, &err), wrong ? STATUS_FORMAT : STATUS_OK);
		if (!wrong)
			node_run_floats(&r, 1, (const float[]){2 + 20 + 300 + 8000});
		node_run_done(&r);
	}
}

// Rows 2 and 0 of codes of 4 bits, two blocks of two numbers a row; the zero points of a row share a byte.
void test_op_matmulnbits__gathers_rows_of_blocks(void **state)
{
	static const uint8_t codes[6] = {0x21, 0x43, 0, 0, 0x65, 0x87}, zeros[3] = {0x31, 0, 0x42};
	static const float scales[6] = {1, 10, 0, 0, 100, 1000};
	static const float bare[8] = {-300, -200, -1000, 0, -7, -6, -50, -40}, less[8] = {300, 400, 3000, 4000, 0, 1, 0, 10};
	static const int64_t rows[2] = {2, -3};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct node_run r;
		node_run_init(&r, "com.microsoft", "GatherBlockQuantized", 1, 1);
		*(int64_t *)node_run_field(&r, "block_size") = 2;
		node_run_add(&r, DT_U8, SHAPE_OF(3, 2), codes);
		node_run_add(&r, DT_I64, SHAPE_OF(2), rows);
		node_run_add(&r, DT_F32, SHAPE_OF(3, 2), scales);
		node_run_add(&r, DT_U8, SHAPE_OF(3, 1), i ? zeros : NULL);
		node_run(&r);
		assert_true(shape_equal(&r.out[0].shape, &(struct shape){2, {2, 4}}));
		node_run_floats(&r, 8, i ? less : bare);
		node_run_done(&r);
	}
}
