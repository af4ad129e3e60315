// Stacks of samples, as CALIB takes them, for qtui run.
#include "stack.h"

#include <string.h>

int64_t stack_height(const struct shape *input, const struct shape *array)
{
	bool in_front = array->rank == input->rank + 1, in_batch = array->rank == input->rank && input->rank > 0 && input->dim[0] == 1;
	if (input->rank < 0 || !(in_front || in_batch))
		return 0;
	for (int i = in_batch; i < input->rank; i++)
		if (array->dim[i + in_front] != input->dim[i])
			return 0;
	return array->dim[0];
}

struct tensor stack_sample(const struct tensor *stack, const struct shape *input, int64_t k)
{
	struct tensor one = {.type = stack->type, .shape = *input};
	one.data = (char *)stack->data + (size_t)k * tensor_bytes(&one);
	return one;
}

static enum status make_stack(struct tensor *stack, const struct tensor *one, int64_t n, const char *name, struct error *err)
{
	bool batch = one->shape.rank > 0 && one->shape.dim[0] == 1;
	*stack = (struct tensor){.type = one->type, .shape = {.rank = one->shape.rank + !batch, .dim = {n}}};
	if (stack->shape.rank > SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "%s: rank %d leaves no room for a stack of samples: give one at a time", name,
		    one->shape.rank);
	memcpy(&stack->shape.dim[1], &one->shape.dim[batch], (size_t)(stack->shape.rank - 1) * sizeof one->shape.dim[0]);
	if (shape_count(&stack->shape) < 0)
		return error_set(err, STATUS_UNSUPPORTED, "%s of %lld samples is too large: give fewer at a time", name, (long long)n);
	return tensor_alloc(stack, NULL, err);
}

enum status stack_put(struct tensor *stack, const struct tensor *one, int64_t k, int64_t n, const char *name, struct error *err)
{
	if (k == 0 && make_stack(stack, one, n, name, err) != STATUS_OK)
		return err->status;
	if (stack_height(&one->shape, &stack->shape) != n || stack->type != one->type)
		return error_set(err, STATUS_UNSUPPORTED, "%s has another shape for sample %lld than for those before it: give one at a time", name,
		    (long long)k);
	size_t bytes = tensor_bytes(one);
	if (bytes)
		memcpy((char *)stack->data + (size_t)k * bytes, one->data, bytes);
	return STATUS_OK;
}
