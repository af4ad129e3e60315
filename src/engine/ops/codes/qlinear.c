#include "qlinear.h"

#include "../element.h"
#include "../rule.h"

struct quantizer qlinear_quantizer(enum dtype type, const float *scale, const int32_t *zero, int n, int axis)
{
	struct quantizer q = {.kind = QUANT_LINEAR,
	    .bits = dtype_held(type) == type ? (int)dtype_size(type) * 8 : 4,
	    .rounding = ROUND_HALF_EVEN,
	    .axis = axis,
	    .n = n,
	    .scale = scale,
	    .zero = zero};
	elements_range(type, &q.qmin, &q.qmax);
	return q;
}

enum status qlinear_counts(const struct node *n, const struct tensor *const *in, const int *inputs, int n_inputs,
    int64_t channels, struct error *err)
{
	for (int i = 0; i < n_inputs; i++) {
		const struct tensor *t = rule_input(n, in, inputs[i]);
		int64_t count = t ? shape_count(&t->shape) : 1;
		if (count != 1 && (channels == 0 || count != channels))
			return error_set(err, STATUS_UNSUPPORTED, "input %d has %lld elements, which is not one%s",
			    inputs[i], (long long)count, channels ? " for the tensor or one a channel" : "");
	}
	return STATUS_OK;
}

enum status qlinear_read(
    struct qlinear *q, const struct node *n, const struct tensor *const *in, int scale, int zero, struct error *err)
{
	const struct tensor *z = rule_input(n, in, zero);
	enum status s = qlinear_counts(n, in, (const int[]){scale, zero}, 2, 0, err);
	if (s == STATUS_OK)
		*q = (struct qlinear){*(const float *)in[scale]->data, z ? (int32_t)element_int(z, 0) : 0};
	return s;
}

enum status qlinear_decode(
    struct tensor *x, const struct tensor *codes, const struct qlinear *q, int width, struct error *err)
{
	struct quantizer whole = qlinear_quantizer(codes->type, &q->scale, &q->zero, 1, -1);
	enum status s;
	*x = (struct tensor){.type = DT_F32, .shape = codes->shape};
	s = tensor_alloc(x, NULL, err);
	if (s == STATUS_OK)
		dequantize(x, codes, &whole, width);
	return s;
}

void qlinear_encode(struct tensor *codes, const struct tensor *x, const struct qlinear *q, int width)
{
	struct quantizer whole = qlinear_quantizer(codes->type, &q->scale, &q->zero, 1, -1);
	quantize(codes, x, &whole, width);
}

enum status qlinear_recode(struct tensor *y, const struct node *n, const struct tensor *const *in, int at,
    const struct qlinear *to, int width, struct error *err)
{
	struct tensor x = {0};
	struct qlinear from;
	enum status s = qlinear_read(&from, n, in, at + 1, at + 2, err);
	*y = (struct tensor){.type = in[at]->type, .shape = in[at]->shape};
	if (s == STATUS_OK)
		s = tensor_alloc(y, NULL, err);
	if (s == STATUS_OK)
		s = qlinear_decode(&x, in[at], &from, width, err);
	if (s == STATUS_OK)
		qlinear_encode(y, &x, to, width);
	tensor_drop(&x);
	return s;
}

uint32_t *qlinear_centred(const struct tensor *t, const struct tensor *zero, int64_t run)
{
	int64_t count = tensor_count(t), zeros = zero ? tensor_count(zero) : 1, codes[ELEMENTS_CHUNK];
	uint32_t *y = mem_try_array((size_t)count + 1, sizeof *y);
	run = zeros == 1 ? count : run;
	for (int64_t i = 0, n; y && i < count; i += n) {
		int64_t left = run - i % run, shift = zero ? element_int(zero, i / run % zeros) : 0;
		n = left < ELEMENTS_CHUNK ? left : ELEMENTS_CHUNK;
		elements_load(codes, t->type, t->data, i, 1, n);
		for (int64_t k = 0; k < n; k++)
			y[i + k] = (uint32_t)(codes[k] - shift);
	}
	return y;
}
