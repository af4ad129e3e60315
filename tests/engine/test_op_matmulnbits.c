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
