// Comparisons and logic, with broadcasting: And, Or, Xor, Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
#include "../element.h"
#include "../rule.h"
#include "binary.h"

enum status compare_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y, b;
	enum status s = binary_shapes(&y, &b, n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_BOOL, &y);
	return s;
}

enum relation { LESS = 1, EQUAL = 2, MORE = 4 };

// The relations for which a comparison holds; 0 for logic.
static const unsigned holds_for[OP_COUNT] = {
    [OP_Equal] = EQUAL,
    [OP_Less] = LESS,
    [OP_LessOrEqual] = LESS | EQUAL,
    [OP_Greater] = MORE,
    [OP_GreaterOrEqual] = MORE | EQUAL,
};

static int64_t logic(enum op_id id, bool a, bool b)
{
	return id == OP_And ? a && b : id == OP_Or ? a || b : a != b;
}

// NaN is in no relation to anything.
#define IS_EQUAL(a, b)         ((a) == (b))
#define IS_LESS(a, b)          ((a) < (b))
#define IS_LESS_OR_EQUAL(a, b) ((a) <= (b))
#define IS_MORE(a, b)          ((a) > (b))
#define IS_MORE_OR_EQUAL(a, b) ((a) >= (b))
#define RELATIONS(name, from)                                                                                          \
	PAIR_RUN(name##_equal, from, uint8_t, IS_EQUAL)                                                                \
	PAIR_RUN(name##_less, from, uint8_t, IS_LESS)                                                                  \
	PAIR_RUN(name##_less_or_equal, from, uint8_t, IS_LESS_OR_EQUAL)                                                \
	PAIR_RUN(name##_more, from, uint8_t, IS_MORE)                                                                  \
	PAIR_RUN(name##_more_or_equal, from, uint8_t, IS_MORE_OR_EQUAL)                                                \
	static void name(unsigned holds, const from *a, int64_t sa, const from *b, int64_t sb, uint8_t *y, int64_t n)  \
	{                                                                                                              \
		static void (*const by_relation[])(const from *, int64_t, const from *, int64_t, uint8_t *, int64_t) = { \
		    [EQUAL] = name##_equal, [LESS] = name##_less, [LESS | EQUAL] = name##_less_or_equal,               \
		    [MORE] = name##_more, [MORE | EQUAL] = name##_more_or_equal};                                      \
		by_relation[holds](a, sa, b, sb, y, n);                                                                \
	}
RELATIONS(compare_floats, float)
RELATIONS(compare_narrow, int32_t)
RELATIONS(compare_wide, int64_t)

// A run of a comparison of the usual types; false for others, and for logic.
static bool relation_run(enum op_id id, const struct strided *s, const int64_t at[STRIDED_MAX], const struct tensor *const *in,
    struct tensor *out)
{
	unsigned holds = holds_for[id];
	int64_t n = strided_run(s), sa = strided_step(s, 1), sb = strided_step(s, 2);
	const void *a = in[0]->data, *b = in[1]->data;
	uint8_t *y = (uint8_t *)out->data + at[0];
	if (holds && in[0]->type == DT_F32)
		compare_floats(holds, (const float *)a + at[1], sa, (const float *)b + at[2], sb, y, n);
	else if (holds && in[0]->type == DT_I32)
		compare_narrow(holds, (const int32_t *)a + at[1], sa, (const int32_t *)b + at[2], sb, y, n);
	else if (holds && in[0]->type == DT_I64)
		compare_wide(holds, (const int64_t *)a + at[1], sa, (const int64_t *)b + at[2], sb, y, n);
	else
		return false;
	return true;
}

static void compare_ints(enum op_id id, int64_t *a, const int64_t *b, int64_t n, bool is_unsigned)
{
	unsigned holds = holds_for[id];
	for (int64_t i = 0; holds == EQUAL && i < n; i++)
		a[i] = a[i] == b[i];
	for (int64_t i = 0; holds != EQUAL && i < n; i++) {
		bool less = is_unsigned ? (uint64_t)a[i] < (uint64_t)b[i] : a[i] < b[i];
		unsigned relation = a[i] == b[i] ? EQUAL : less ? LESS : MORE;
		a[i] = holds ? (holds & relation) != 0 : logic(id, a[i] != 0, b[i] != 0);
	}
}

// Logic of bytes, each of which is true or false.
static bool logic_run(enum op_id id, const struct strided *s, const int64_t at[STRIDED_MAX], const struct tensor *const *in, struct tensor *out)
{
	int64_t n = strided_run(s), sa = strided_step(s, 1), sb = strided_step(s, 2);
	const uint8_t *a = (const uint8_t *)in[0]->data + at[1], *b = (const uint8_t *)in[1]->data + at[2];
	uint8_t *y = (uint8_t *)out->data + at[0];
	if (holds_for[id] || in[0]->type != DT_BOOL || in[1]->type != DT_BOOL || sa != 1 || sb != 1)
		return false;
	if (id == OP_And)
		EACH((a[i] != 0) & (b[i] != 0))
	else if (id == OP_Or)
		EACH((a[i] != 0) | (b[i] != 0))
	else
		EACH((a[i] != 0) ^ (b[i] != 0))
	return true;
}

static void int_run(enum op_id id, const struct strided *s, const int64_t at[STRIDED_MAX],
    const struct tensor *const *in, struct tensor *y)
{
	int64_t run = strided_run(s), sa = strided_step(s, 1), sb = strided_step(s, 2), a[ELEMENTS_CHUNK],
	        b[ELEMENTS_CHUNK];
	for (int64_t from = 0; from < run; from += ELEMENTS_CHUNK) {
		int64_t m = run - from < ELEMENTS_CHUNK ? run - from : ELEMENTS_CHUNK;
		elements_load(a, in[0]->type, in[0]->data, at[1] + from * sa, sa, m);
		elements_load(b, in[1]->type, in[1]->data, at[2] + from * sb, sb, m);
		compare_ints(id, a, b, m, elements_unsigned(in[0]->type));
		elements_store(y->data, DT_BOOL, at[0] + from, a, m);
	}
}

enum status compare_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct shape y, b;
	struct strided s;
	enum status st = binary_shapes(&y, &b, n, in, err);
	(void)width;
	if (st != STATUS_OK)
		return st;
	strided_broadcast(&s, &y, (const struct shape *const[]){&in[0]->shape, &b}, 2);
	for (int64_t r = 0; r < strided_rows(&s); r++) {
		int64_t at[STRIDED_MAX];
		strided_at(&s, r, at);
		if (!relation_run(n->op->id, &s, at, in, &out[0]) && !logic_run(n->op->id, &s, at, in, &out[0]))
			int_run(n->op->id, &s, at, in, &out[0]);
	}
	return STATUS_OK;
}
