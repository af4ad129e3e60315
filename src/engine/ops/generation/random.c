// RandomNormal, RandomUniform, what is like a tensor, and Bernoulli. The numbers depend on the seed alone (none: 0):
// the network in float and the quantized one must see the same noise, or their difference would be that of the noise.
#include <math.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"

// The finalizer of splitmix64; the multiplier of the index is its golden ratio.
static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// Number i of a seed, in (0, 1).
static double uniform(float seed, int64_t i)
{
	uint32_t bits;
	memcpy(&bits, &seed, sizeof bits);
	return ((double)(mixed(mixed(bits + 1) + (uint64_t)i * 0x9e3779b97f4a7c15) >> 12) + 0.5) * 0x1p-52;
}

static double normal(float seed, int64_t i)
{
	return sqrt(-2 * log(uniform(seed, 2 * i))) * cos(6.283185307179586 * uniform(seed, 2 * i + 1));
}

static enum dtype type_of(const struct node *n, const struct tensor *const *in)
{
	const struct random_attrs *a = n->attrs;
	return a->dtype ? rule_dtype(a->dtype) : n->n_in ? in[0]->type : DT_F32;
}

enum status random_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct ints *list = &((const struct random_attrs *)n->attrs)->shape;
	enum dtype type = type_of(n, in);
	struct shape y;
	if (type == DT_NONE || (type != DT_F32 && n->op->id != OP_Bernoulli))
		return error_set(err, STATUS_UNSUPPORTED, "elements of this type are not drawn");
	if (!n->n_in && (list->n < 0 || list->n > SHAPE_MAX_RANK || (list->n && !list->at)))
		return error_set(err, STATUS_FORMAT, "attribute shape is missing or too long");
	y = n->n_in ? in[0]->shape : shape_of(list->n, list->at);
	rule_set(&out[0], type, &y);
	return STATUS_OK;
}

enum status random_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct random_attrs *a = n->attrs;
	bool is_normal = n->op->id == OP_RandomNormal || n->op->id == OP_RandomNormalLike;
	float *y = out[0].data;
	(void)in;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		y[i] = is_normal ? (float)((double)a->mean + (double)a->scale * normal(a->seed, i))
		                 : (float)((double)a->low + ((double)a->high - (double)a->low) * uniform(a->seed, i));
	return STATUS_OK;
}

enum status bernoulli_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct random_attrs *a = n->attrs;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++) {
		int64_t one = uniform(a->seed, i) < (double)((const float *)in[0]->data)[i];
		elements_store(out[0].data, out[0].type, i, &one, 1);
	}
	return STATUS_OK;
}
