// Trilu (one triangle of each matrix) and ReverseSequence (the first elements of each sequence turned round).
#include <string.h>
#include "../rule.h"

enum status trilu_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = rule_rank_at_least(in[0], 0, 2, err);
	if (s == STATUS_OK && n->n_in > 1 && in[1] && tensor_count(in[1]) != 1)
		s = error_set(err, STATUS_FORMAT, "k must be one number");
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &in[0]->shape);
	return s;
}

enum status trilu_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t k = n->n_in > 1 && in[1] ? *(const int64_t *)in[1]->data : 0;
	int64_t m = x->dim[x->rank - 2], cols = x->dim[x->rank - 1], rows = cols ? tensor_count(in[0]) / cols : 0;
	bool upper = ((const struct trilu_attrs *)n->attrs)->upper != 0;
	size_t elem = dtype_size(in[0]->type);
	(void)width;
	(void)err;
	k = k < -m ? -m : k > cols ? cols : k;
	for (int64_t r = 0; r < rows; r++) {
		int64_t first = r % m + k + !upper; // of the upper part, or past the lower one
		size_t split = (size_t)(first < 0 ? 0 : first > cols ? cols : first) * elem, end = (size_t)cols * elem;
		char *to = (char *)out[0].data + (size_t)r * end;
		const char *from = (const char *)in[0]->data + (size_t)r * end;
		memcpy(to, from, end);
		memset(upper ? to : to + split, 0, upper ? split : end - split);
	}
	return STATUS_OK;
}

static enum status check_length(const struct tensor *const *in, int64_t b, int64_t times, struct error *err)
{
	int64_t length = ((const int64_t *)in[1]->data)[b];
	return rule_within(length, 0, times) ? STATUS_OK
	                                     : error_set(err, STATUS_FORMAT, "sequence %lld has the length %lld of %lld", (long long)b,
	                                           (long long)length, (long long)times);
}

enum status reverse_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reverse_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	if (x->rank < 2 || !((a->batch_axis == 0 && a->time_axis == 1) || (a->batch_axis == 1 && a->time_axis == 0)))
		return error_set(err, STATUS_FORMAT,
		    "batch_axis and time_axis must be 0 and 1, or 1 and 0, of at least 2 dimensions");
	if (tensor_count(in[1]) != x->dim[a->batch_axis])
		return error_set(err, STATUS_FORMAT, "there must be a length for each of %lld sequences",
		    (long long)x->dim[a->batch_axis]);
	for (int64_t b = 0; in[1]->data && b < x->dim[a->batch_axis]; b++) {
		enum status s = check_length(in, b, x->dim[a->time_axis], err);
		if (s != STATUS_OK)
			return s;
	}
	rule_set(&out[0], in[0]->type, x);
	return STATUS_OK;
}

enum status reverse_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct reverse_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int64_t batches = x->dim[a->batch_axis], times = x->dim[a->time_axis];
	int64_t batch_step = a->batch_axis == 0 ? times : 1, time_step = a->time_axis == 0 ? batches : 1;
	size_t run = (size_t)rule_product(x, 2, x->rank) * dtype_size(in[0]->type);
	(void)width;
	for (int64_t b = 0; b < batches; b++) {
		int64_t length = ((const int64_t *)in[1]->data)[b];
		enum status s = check_length(in, b, times, err);
		if (s != STATUS_OK)
			return s;
		for (int64_t t = 0; run && t < times; t++) {
			int64_t from = t < length ? length - 1 - t : t;
			memcpy((char *)out[0].data + (size_t)(b * batch_step + t * time_step) * run,
			    (const char *)in[0]->data + (size_t)(b * batch_step + from * time_step) * run, run);
		}
	}
	return STATUS_OK;
}
