// Transpose against its definition, for shapes that are turned in tiles and for those that are not.
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"
#include "support.h"
#include "../../src/engine/ops/attrs.h"

static void fill(struct tensor *t)
{
	uint8_t *p = t->data;
	for (size_t i = 0; i < tensor_bytes(t); i++)
		p[i] = (uint8_t)(i * 2654435761u >> 13);
}

// Element `to` of y is the element of x whose index along perm[d] is that of `to` along d.
static int64_t source(const struct tensor *x, const struct tensor *y, const int64_t *perm, int64_t to)
{
	int64_t index[SHAPE_MAX_RANK], from = 0;
	for (int d = y->shape.rank - 1; d >= 0; d--) {
		index[perm[d]] = to % y->shape.dim[d];
		to /= y->shape.dim[d];
	}
	for (int d = 0; d < x->shape.rank; d++)
		from = from * x->shape.dim[d] + index[d];
	return from;
}

static void check(enum dtype type, int rank, const int64_t *dim, int64_t *perm, int width)
{
	struct error err = {0};
	struct transpose_attrs attrs = {.perm = {perm, rank}};
	struct node n = {.name = (char *)"turn", .op = op_find("", "Transpose", 13), .in = (int[]){0}, .n_in = 1,
	    .out = (int[]){1}, .n_out = 1, .attrs = &attrs};
	struct tensor x = {.type = type, .shape = shape_of(rank, dim)}, y = {0};
	const struct tensor *in[] = {&x};
	size_t elem = dtype_size(type);
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	fill(&x);
	assert_int_equal(n.op->shape(&n, in, &y, &err), STATUS_OK);
	assert_int_equal(tensor_alloc(&y, NULL, &err), STATUS_OK);
	assert_int_equal(n.op->eval(&n, in, &y, width, &err), STATUS_OK);
	for (int64_t i = 0; i < tensor_count(&y); i++)
		assert_memory_equal((char *)y.data + (size_t)i * elem, (char *)x.data + (size_t)source(&x, &y, perm, i) * elem, elem);
	tensor_drop(&x);
	tensor_drop(&y);
}

void test_transpose__any_type_and_permutation(void **state)
{
	static const enum dtype types[] = {DT_U8, DT_I16, DT_F32, DT_I64};
	static const int64_t dims[][5] = {{1, 3, 13, 5, 21}, {2, 9, 70, 1, 8}, {3, 8, 8, 2, 67}, {1, 1, 130, 85, 2}};
	struct support_random r = {77};
	for (int i = 0; i < 60; i++) {
		int64_t perm[5] = {0, 1, 2, 3, 4};
		for (int k = 4; k > 0; k--) {
			int other = (int)support_random_int(&r, 0, k);
			int64_t t = perm[k];
			perm[k] = perm[other];
			perm[other] = t;
		}
		check(types[i % 4], 5, dims[i / 4 % 4], perm, 1 + i % 2);
	}
}

void test_transpose__empty_and_single(void **state)
{
	check(DT_F32, 2, (int64_t[]){0, 9}, (int64_t[]){1, 0}, 1);
	check(DT_F32, 2, (int64_t[]){1, 1}, (int64_t[]){1, 0}, 1);
	check(DT_F32, 2, (int64_t[]){64, 8}, (int64_t[]){1, 0}, 2);
}
