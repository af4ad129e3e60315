// The table itself, made from ops.def, and the checks that every operator shares.
#include "qtui/engine/op.h"

#include <math.h>
#include <string.h>
#include "attr_specs.h"
#include "rule.h"

#define ONNX ""
#define ML "ai.onnx.ml"
#define MS "com.microsoft"
#define TRT "trt"
#define MAX_ELEMENTS ((int64_t)1 << 40)
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static op_shape_fn checked_shape;

static const struct op table[] = {
#define ROW(opname, dom, version, imin, imax, omin, omax, typ, attributes, rule_fn, eval_fn, bits)                     \
	{.id = OP_##opname,                                                                                            \
	    .name = #opname,                                                                                           \
	    .domain = dom,                                                                                             \
	    .since = version,                                                                                          \
	    .in_min = imin,                                                                                            \
	    .in_max = imax,                                                                                            \
	    .out_min = omin,                                                                                           \
	    .out_max = omax,                                                                                           \
	    .attrs = attributes##_spec,                                                                                \
	    .n_attrs = LEN(attributes##_spec) - 1,                                                                     \
	    .attrs_size = attributes##_size,                                                                           \
	    .shape = checked_shape,                                                                                    \
	    .eval = eval_fn,                                                                                           \
	    .flags = bits,                                                                                             \
	    .types = typ,                                                                                              \
	    .rule = rule_fn},
#include "ops.def"
#undef ROW
};

const struct op *op_rows(int *n)
{
	*n = (int)LEN(table);
	return table;
}

int op_newest(void)
{
	int newest = 0;
	for (size_t i = 0; i < LEN(table); i++)
		if (!*table[i].domain && table[i].since > newest)
			newest = table[i].since;
	return newest;
}

static const char *plain_domain(const char *domain)
{
	return !domain || !strcmp(domain, "ai.onnx") ? ONNX : domain;
}

const struct op *op_find(const char *domain, const char *name, int opset)
{
	const struct op *best = NULL;
	domain = plain_domain(domain);
	for (size_t i = 0; i < LEN(table); i++) {
		const struct op *op = &table[i];
		if (op->since <= opset && (!best || op->since > best->since) && !strcmp(op->name, name) &&
		    !strcmp(op->domain, domain))
			best = op;
	}
	return best;
}

#define BIT(t) (1u << (t))
enum {
	T_I8_U8 = BIT(DT_I8) | BIT(DT_U8),
	T_CODES = T_I8_U8 | BIT(DT_I16) | BIT(DT_U16),
	T_NIBBLES = BIT(DT_I4) | BIT(DT_U4),
	T_SIGNED_INT = BIT(DT_I8) | BIT(DT_I16) | BIT(DT_I32) | BIT(DT_I64),
	T_INT = T_SIGNED_INT | BIT(DT_U8) | BIT(DT_U16) | BIT(DT_U32) | BIT(DT_U64),
	T_NUMBER = T_INT | BIT(DT_F32),
};
// ORDER TYPES: the letters of ops.def.
static const struct {
	char letter;
	unsigned mask;
	const char *text;
} classes[] = {
    {'a', T_NUMBER | BIT(DT_BOOL) | T_NIBBLES, "any type"},
    {'n', T_NUMBER, "a number type"},
    {'s', T_SIGNED_INT | BIT(DT_F32), "a signed number type"},
    {'f', BIT(DT_F32), "float32"},
    {'b', BIT(DT_BOOL), "bool"},
    {'u', T_INT, "an integer type"},
    {'i', BIT(DT_I32) | BIT(DT_I64), "int32 or int64"},
    {'l', BIT(DT_I64), "int64"},
    {'q', T_I8_U8, "int8 or uint8"},
    {'Q', T_CODES, "an 8 or 16 bit integer"},
    {'c', T_CODES | T_NIBBLES | BIT(DT_I32), "an integer of 4, 8 or 16 bits or int32"},
    {'d', T_CODES | T_NIBBLES | BIT(DT_I32) | BIT(DT_F32), "an integer of 4, 8 or 16 bits, int32 or a float"},
};

static enum status check_type(char letter, int i, const struct tensor *const *in, struct error *err)
{
	enum dtype t = in[i]->type;
	if (letter >= '0' && letter <= '9') {
		int j = letter - '0';
		if (j == i || !in[j] || in[j]->type == t)
			return STATUS_OK;
		return error_set(err, STATUS_FORMAT, "input %d is %s, but must have the type of input %d, %s", i,
		    dtype_name(t), j, dtype_name(in[j]->type));
	}
	for (size_t c = 0; c < LEN(classes); c++)
		if (classes[c].letter == letter && !(classes[c].mask & BIT(t)))
			return error_set(err, STATUS_UNSUPPORTED, "input %d is %s, but must be %s", i, dtype_name(t),
			    classes[c].text);
	return STATUS_OK;
}

static enum status check_counts(const struct node *n, struct error *err)
{
	const struct op *op = n->op;
	if (n->n_in < op->in_min || (op->in_max >= 0 && n->n_in > op->in_max))
		return error_set(err, STATUS_FORMAT, "has %d inputs, needs %d to %d", n->n_in, op->in_min, op->in_max);
	if (n->n_out < op->out_min || (op->out_max >= 0 && n->n_out > op->out_max))
		return error_set(
		    err, STATUS_FORMAT, "has %d outputs, needs %d to %d", n->n_out, op->out_min, op->out_max);
	return STATUS_OK;
}

// Dimensions that are not negative, and so few elements, zeros counted as ones, that rules may multiply them freely.
static bool plausible(const struct shape *s)
{
	int64_t count = 1;
	for (int i = 0; i < s->rank; i++) {
		if (s->dim[i] < 0 || s->dim[i] > MAX_ELEMENTS || (s->dim[i] > 1 && count > MAX_ELEMENTS / s->dim[i]))
			return false;
		count *= s->dim[i] > 1 ? s->dim[i] : 1;
	}
	return s->rank <= SHAPE_MAX_RANK;
}

static enum status check_shape(const char *what, int i, const struct shape *s, struct error *err)
{
	char text[160];
	if (plausible(s))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "%s %d has the shape %s, which is not possible", what, i,
	    shape_text(s, text, sizeof text));
}

// An input whose type or shape is not known yet makes the outputs unknown too: STATUS_UNSUPPORTED without a text.
static enum status check_inputs(const struct node *n, const struct tensor *const *in, struct error *err)
{
	size_t last = strlen(n->op->types) - 1;
	for (int i = 0; i < n->n_in; i++) {
		if (!in[i] && i < n->op->in_min)
			return error_set(err, STATUS_FORMAT, "input %d is missing", i);
		if (in[i] && (in[i]->type == DT_NONE || in[i]->shape.rank < 0))
			return rule_pending(err);
	}
	for (int i = 0; i < n->n_in; i++) {
		char letter = n->op->types[(size_t)i < last ? (size_t)i : last];
		enum status s = in[i] ? check_type(letter, i, in, err) : STATUS_OK;
		if (s == STATUS_OK && in[i])
			s = check_shape("input", i, &in[i]->shape, err);
		if (s != STATUS_OK)
			return s;
	}
	return STATUS_OK;
}

static enum status check_outputs(const struct node *n, const struct tensor *out, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = 0; i < n->n_out && s == STATUS_OK; i++)
		if (n->out[i] >= 0)
			s = check_shape("output", i, &out[i].shape, err);
	return s;
}

static enum status checked_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = check_counts(n, err);
	if (s == STATUS_OK)
		s = check_inputs(n, in, err);
	if (s == STATUS_OK)
		s = n->op->rule(n, in, out, err);
	if (s == STATUS_OK)
		s = check_outputs(n, out, err);
	return s;
}

static bool has_results(const struct node *n, const struct tensor *out)
{
	for (int i = 0; i < n->n_out; i++)
		if (out[i].data)
			return true;
	return false;
}

enum status op_finish(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	enum status s = STATUS_OK;
	bool done = has_results(n, out);
	for (int i = 0; i < n->n_out && s == STATUS_OK && !done; i++)
		if (n->out[i] >= 0 || out[i].type)
			s = tensor_alloc(&out[i], NULL, err);
	if (s == STATUS_OK && !done)
		s = n->op->eval(n, in, out, width, err);
	for (int i = 0; i < n->n_out && s != STATUS_OK; i++)
		tensor_drop(&out[i]);
	return s;
}
