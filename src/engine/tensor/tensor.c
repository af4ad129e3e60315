// Tensors: how much memory they take, and who holds it.
#include <string.h>
#include "cpu.h"
#include "qtui/engine/tensor.h"

int layout_block(void)
{
	return cpu_found() >= CPU_AVX512 ? 16 : 8;
}

int64_t tensor_count(const struct tensor *t)
{
	return shape_count(&t->shape);
}

int64_t tensor_stored(const struct tensor *t)
{
	struct shape s = t->shape;
	int64_t block = layout_block();
	if (t->layout == LAYOUT_BLOCK)
		s.dim[1] = (s.dim[1] + block - 1) / block * block;
	return shape_count(&s);
}

size_t tensor_bytes(const struct tensor *t)
{
	int64_t n = tensor_stored(t);
	return n < 0 ? 0 : (size_t)n * dtype_size(t->type);
}

enum status tensor_alloc(struct tensor *t, atomic_size_t *account, struct error *err)
{
	char text[128];
	if (tensor_stored(t) < 0 || t->type == DT_NONE)
		return error_set(err, STATUS_UNSUPPORTED, "a tensor of shape %s is too large or not known",
		    shape_text(&t->shape, text, sizeof text));
	t->buf = buf_new(tensor_bytes(t), account);
	if (!t->buf)
		return error_set(err, STATUS_NOMEM, "no memory for a %s tensor of shape %s (%.1f MiB)",
		    dtype_name(t->type), shape_text(&t->shape, text, sizeof text), (double)tensor_bytes(t) / 1048576);
	t->data = t->buf->data;
	return STATUS_OK;
}

void tensor_drop(struct tensor *t)
{
	buf_drop(&t->buf);
	memset(t, 0, sizeof *t);
}

enum status tensor_copy(struct tensor *out, const struct tensor *from, struct error *err)
{
	*out = *from;
	out->buf = NULL;
	enum status s = tensor_alloc(out, NULL, err);

	if (s == STATUS_OK)
		memcpy(out->data, from->data, tensor_bytes(from));
	else
		*out = (struct tensor){0};
	return s;
}

struct tensor tensor_share(const struct tensor *t)
{
	if (t->buf)
		buf_take(t->buf);
	return *t;
}
