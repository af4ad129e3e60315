// Where: x where the condition holds, else y; all three are broadcast.
#include "rule.h"
#include "strided.h"

enum status where_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y;
	enum status s = rule_broadcast(&y, &in[0]->shape, &in[1]->shape, err);

	(void)n;
	if (s == STATUS_OK)
		s = rule_broadcast(&y, &y, &in[2]->shape, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[1]->type, &y);
	return s;
}

#define SELECT(type)                                                                                                   \
	for (int64_t i = 0; i < n; i++)                                                                                \
	((type *)y->data)[at[0] + i] = cond[at[1] + i * step[1]] ? ((const type *)in[1]->data)[at[2] + i * step[2]]    \
	                                                         : ((const type *)in[2]->data)[at[3] + i * step[3]]

static void select_run(
    const struct tensor *const *in, struct tensor *y, const int64_t *at, const int64_t *step, int64_t n)
{
	const uint8_t *cond = in[0]->data;
	size_t elem = dtype_size(y->type);

	if (elem == 1)
		SELECT(uint8_t);
	else if (elem == 2)
		SELECT(uint16_t);
	else if (elem == 4)
		SELECT(uint32_t);
	else
		SELECT(uint64_t);
}

enum status where_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct strided s;
	int64_t step[STRIDED_MAX];

	(void)n;
	(void)width;
	(void)err;
	strided_broadcast(
	    &s, &out[0].shape, (const struct shape *const[]){&in[0]->shape, &in[1]->shape, &in[2]->shape}, 3);
	for (int k = 0; k < STRIDED_MAX; k++)
		step[k] = strided_step(&s, k);
	for (int64_t r = 0; r < strided_rows(&s); r++) {
		int64_t at[STRIDED_MAX];
		strided_at(&s, r, at);
		select_run(in, &out[0], at, step, strided_run(&s));
	}
	return STATUS_OK;
}
