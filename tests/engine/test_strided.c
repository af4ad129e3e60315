// strided_copy against a walk over all indices.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/engine/ops/strided.h"
#include "support.h"

enum { RANK = 4 };

// Array 0 lies in the order of `dim`, array 1 in a random order of it, and one dimension of it may be broadcast.
static void make(struct support_random *r, struct strided *s)
{
	static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 40};
	int order[RANK] = {0, 1, 2, 3};
	int64_t p = 1, q = 1;
	*s = (struct strided){.rank = RANK, .arrays = 2};
	for (int i = 0; i < RANK; i++)
		s->dim[i] = sizes[support_random_int(r, 0, 7)];
	if (support_random_int(r, 0, 3) == 0) { // a long run
		int i = support_random_int(r, 0, RANK - 1);
		for (int k = 0; k < RANK; k++)
			s->dim[k] = k == i ? 1300 : support_random_int(r, 1, 4);
	}
	for (int i = RANK - 1; i > 0; i--) {
		int j = support_random_int(r, 0, i), o = order[i];
		order[i] = order[j];
		order[j] = o;
	}
	for (int i = RANK - 1; i >= 0; i--) {
		s->stride[0][i] = p;
		p *= s->dim[i];
		s->stride[1][order[i]] = q;
		q *= s->dim[order[i]];
	}
	if (support_random_int(r, 0, 4) == 0)
		s->stride[1][support_random_int(r, 0, RANK - 1)] = 0;
}

static int64_t count(const struct strided *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

static void copy_plainly(const struct strided *s, char *dst, const char *src, size_t elem)
{
	for (int64_t k = 0, n = count(s); k < n; k++) {
		int64_t at[2] = {0, 0}, rest = k;
		for (int i = s->rank - 1; i >= 0; rest /= s->dim[i--]) {
			at[0] += rest % s->dim[i] * s->stride[0][i];
			at[1] += rest % s->dim[i] * s->stride[1][i];
		}
		memcpy(dst + (size_t)at[0] * elem, src + (size_t)at[1] * elem, elem);
	}
}

void test_strided__copies_whatever_the_order(void **state)
{
	struct support_random r = {19};
	for (int trial = 0; trial < 400; trial++) {
		struct strided s;
		make(&r, &s);
		size_t elem = (size_t)1 << support_random_int(&r, 0, 3), bytes = (size_t)count(&s) * elem;
		char *x = malloc(bytes), *y = calloc(bytes, 1), *want = calloc(bytes, 1);
		for (size_t i = 0; i < bytes; i++)
			x[i] = (char)support_random_int(&r, 0, 255);
		copy_plainly(&s, want, x, elem);
		strided_copy(&s, y, x, elem);
		assert_memory_equal(y, want, bytes);
		free(x);
		free(y);
		free(want);
	}
}

void test_strided__nothing_to_copy(void **state)
{
	struct strided s = {.rank = 3, .arrays = 2, .dim = {20, 0, 3}, .stride = {{0, 3, 1}, {1, 60, 20}}};
	char x[1] = {1}, y[1] = {2};
	strided_copy(&s, y, x, 1);
	assert_int_equal(y[0], 2);
}
