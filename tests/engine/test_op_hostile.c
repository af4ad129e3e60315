// Every row of the operator table with inputs and attributes as a malformed or malicious model may have them: whatever
// comes, a shape rule answers with shapes or an error, and an evaluation keeps to the memory it was given (ASan
// watches).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support.h"

#include "qtui/engine/op.h"

#define ROUNDS 500           // per row
#define MAX_OUTPUT (1 << 20) // bytes that are evaluated
#define MAX_IO 9

static const int64_t odd_ints[] = {
    INT64_MIN,
    INT64_MAX,
    INT32_MIN,
    INT32_MAX,
    (int64_t)1 << 40,
    -1000,
    1000,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    9,
    10,
    13,
    16,
    64,
};
static const float odd_floats[] = {
    0.0f, 0.5f, 1.0f, -1.0f, 2.0f, -0.25f, 1e30f, -1e30f, 1e-40f, INFINITY, -INFINITY, NAN, 255.5f};
static const char *const texts[] = {
    "",
    "garbage",
    "SAME_UPPER",
    "SAME_LOWER",
    "VALID",
    "NOTSET",
    "nearest",
    "linear",
    "cubic",
    "bilinear",
    "half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "floor",
    "ceil",
    "round_prefer_ceil",
    "stretch",
    "not_larger",
    "not_smaller",
    "constant",
    "reflect",
    "edge",
    "wrap",
    "add",
    "mul",
    "min",
    "max",
    "none",
    "tanh",
    "LEFT",
    "RIGHT",
    "DCR",
    "CRD",
    "forward",
    "reverse",
    "bidirectional",
    "Relu",
    "Sigmoid Tanh Relu",
    "Affine",
    "ij,jk->ik",
    "...ij,...jk->...ik",
    "ii->i",
    "i,j->ij",
    "->",
    ",,",
    "ab,bc",
    "zeros",
    "border",
    "reflection",
    "avg",
    "output_half_pixel",
};
#define PICK(r, a) (a)[support_random_int(r, 0, (int)(sizeof(a) / sizeof((a)[0])) - 1)]

struct sample { // a node with everything that it points to
	struct node node;
	struct tensor in[MAX_IO], out[MAX_IO], attr_tensor;
	const struct tensor *input[MAX_IO];
	int in_id[MAX_IO], out_id[MAX_IO];
	void *attrs;
	void *block[64]; // to free
	int blocks;
	struct shape usual; // the shape that most inputs have
};

static void *keep(struct sample *s, size_t size)
{
	void *p = xcalloc(1, size + 1);
	assert_true(s->blocks < 64);
	s->block[s->blocks++] = p;
	return p;
}

static int64_t any_int(struct support_random *r)
{
	return support_random_int(r, 0, 3) ? support_random_int(r, -2, 4) : PICK(r, odd_ints);
}

static float any_float(struct support_random *r)
{
	return support_random_int(r, 0, 3) ? support_random_float(r, -3, 3) : PICK(r, odd_floats);
}

static enum dtype any_type(struct support_random *r, const struct sample *s, const char *types, int i)
{
	size_t last = strlen(types) - 1;
	char letter = types[(size_t)i < last ? (size_t)i : last];
	static const enum dtype codes[] = {DT_I8, DT_U8}, narrow[] = {DT_I8, DT_U8, DT_I4, DT_U4};
	if (support_random_int(r, 0, 15) == 0)
		return (enum dtype)support_random_int(r, DT_F32, DT_COUNT - 1);
	if (letter >= '0' && letter <= '9' && letter - '0' < i)
		return s->in[letter - '0'].type;
	switch (letter) {
	case 'b':
		return DT_BOOL;
	case 'l':
		return DT_I64;
	case 'j':
		return DT_I32;
	case 'i':
		return support_random_int(r, 0, 1) ? DT_I64 : DT_I32;
	case 'u':
	case 'n':
		return support_random_int(r, 0, 2) && letter == 'n' ? DT_F32 : DT_U8;
	case 'q':
	case 'Q':
		return PICK(r, codes);
	case 'c':
	case 'd':
		return PICK(r, narrow);
	case 'a':
		return support_random_int(r, 0, 1) ? DT_F32 : (enum dtype)support_random_int(r, DT_F32, DT_COUNT - 1);
	default:
		return DT_F32;
	}
}

static struct shape any_shape(struct support_random *r, const struct sample *s)
{
	const struct shape *u = &s->usual;
	struct shape t = *u;
	switch (support_random_int(r, 0, 11)) {
	case 0:
		return (struct shape){.rank = 0};
	case 1:
		return (struct shape){.rank = 1, .dim = {1}};
	case 2:
		return (struct shape){.rank = 1, .dim = {u->rank > 1 ? u->dim[1] : 2}};
	case 3:
		return (struct shape){.rank = 1, .dim = {u->rank}};
	case 4:
		return (struct shape){.rank = 2, .dim = {u->rank > 1 ? u->dim[1] : 2, support_random_int(r, 1, 4)}};
	case 5:
		t.rank = support_random_int(r, 0, 5);
		for (int i = 0; i < t.rank; i++)
			t.dim[i] = support_random_int(r, 0, 5);
		return t;
	case 6:
		if (t.rank > 0)
			t.dim[support_random_int(r, 0, t.rank - 1)] = support_random_int(r, 1, 6);
		return t;
	default:
		return t;
	}
}

static void fill(struct sample *s, struct tensor *t, struct support_random *r)
{
	int64_t n = tensor_count(t);
	t->data = keep(s, tensor_bytes(t));
	for (int64_t i = 0; i < n; i++) {
		switch (t->type) {
		case DT_F32:
			((float *)t->data)[i] = any_float(r);
			break;
		case DT_I64:
		case DT_U64:
			((int64_t *)t->data)[i] = any_int(r);
			break;
		case DT_I32:
		case DT_U32:
			((int32_t *)t->data)[i] = (int32_t)any_int(r);
			break;
		case DT_I16:
		case DT_U16:
			((int16_t *)t->data)[i] = (int16_t)any_int(r);
			break;
		default:
			((uint8_t *)t->data)[i] = t->type == DT_BOOL ? any_int(r) & 1 : (uint8_t)any_int(r);
		}
	}
}

static void make_attr(struct sample *s, const struct attr_spec *a, struct support_random *r)
{
	char *at = (char *)s->attrs + a->offset;
	bool dflt = support_random_int(r, 0, 2) > 0;
	int n = support_random_int(r, 0, 5);
	int64_t *ints;
	float *floats;
	switch (a->kind) {
	case ATTR_INT:
		*(int64_t *)at = dflt ? (int64_t)a->dflt : any_int(r);
		break;
	case ATTR_FLOAT:
		*(float *)at = dflt ? (float)a->dflt : any_float(r);
		break;
	case ATTR_TEXT:
		*(const char **)at = dflt ? a->dflt_text : PICK(r, texts);
		break;
	case ATTR_INTS:
		ints = keep(s, (size_t)n * sizeof *ints);
		for (int i = 0; i < n; i++)
			ints[i] = support_random_int(r, 0, 2) ? support_random_int(r, 1, 3) : any_int(r);
		*(struct ints *)at = dflt ? (struct ints){NULL, -1} : (struct ints){ints, n};
		break;
	case ATTR_FLOATS:
		floats = keep(s, (size_t)n * sizeof *floats);
		for (int i = 0; i < n; i++)
			floats[i] = any_float(r);
		*(struct floats *)at = dflt ? (struct floats){NULL, -1} : (struct floats){floats, n};
		break;
	case ATTR_TENSOR:
		s->attr_tensor = (struct tensor){.type = DT_F32, .shape = {.rank = 1, .dim = {n}}};
		fill(s, &s->attr_tensor, r);
		*(const struct tensor **)at = dflt ? NULL : &s->attr_tensor;
		break;
	}
}

static int count_between(struct support_random *r, int min, int max)
{
	return max < 0 || max > MAX_IO ? support_random_int(r, min, min > 4 ? min : 4)
	                               : support_random_int(r, min, max);
}

static void make_sample(struct sample *s, const struct op *op, struct support_random *r)
{
	*s = (struct sample){.node = {.name = "n", .op = op, .in = s->in_id, .out = s->out_id}};
	s->usual.rank = support_random_int(r, 0, 2) ? 4 : support_random_int(r, 0, 5);
	for (int i = 0; i < s->usual.rank; i++)
		s->usual.dim[i] = support_random_int(r, support_random_int(r, 0, 19) ? 1 : 0, 4);
	s->attrs = keep(s, op->attrs_size);
	s->node.attrs = s->attrs;
	for (int i = 0; i < op->n_attrs; i++)
		make_attr(s, &op->attrs[i], r);
	s->node.n_in = count_between(r, op->in_min, op->in_max);
	s->node.n_out = count_between(r, op->out_min, op->out_max);
	for (int i = 0; i < s->node.n_in; i++) {
		s->in[i].type = any_type(r, s, op->types, i);
		s->in[i].shape = any_shape(r, s);
		fill(s, &s->in[i], r);
		s->in_id[i] = i;
		s->input[i] = i >= op->in_min && support_random_int(r, 0, 3) == 0 ? NULL : &s->in[i];
	}
	for (int i = 0; i < s->node.n_out; i++)
		s->out_id[i] = i >= op->out_min && support_random_int(r, 0, 3) == 0 ? -1 : i;
}

static void free_sample(struct sample *s)
{
	for (int i = 0; i < s->blocks; i++)
		free(s->block[i]);
}

// As at load, when the values of activations are not known.
static void shape_without_values(struct sample *s, const struct op *op, struct support_random *r)
{
	struct tensor hidden[MAX_IO], out[MAX_IO] = {0};
	const struct tensor *input[MAX_IO];
	struct error err = {0};
	for (int i = 0; i < s->node.n_in; i++) {
		hidden[i] = s->in[i];
		if (support_random_int(r, 0, 1))
			hidden[i].data = NULL;
		input[i] = s->input[i] ? &hidden[i] : NULL;
	}
	enum status st = op->shape(&s->node, input, out, &err);
	if (st != STATUS_OK && st != STATUS_UNSUPPORTED)
		assert_true(err.text[0]);
}

// What a shape rule can know it has to refuse: an output may be far larger than memory.
// The evaluation refuses a wrong element of an input that is as large as the output, and statistics,
// which the graph of most files that ask for them leaves out.
static bool may_refuse(const struct op *op)
{
	static const enum op_id large[] = {OP_GatherElements, OP_Scatter, OP_ScatterElements, OP_ScatterND, OP_NegativeLogLikelihoodLoss,
	    OP_SoftmaxCrossEntropyLoss, OP_BatchNormalization};
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		if (op->id == large[i])
			return true;
	return false;
}

static bool evaluate(struct sample *s, const struct op *op)
{
	size_t total = 0;
	struct error err = {0};
	if (op->shape(&s->node, s->input, s->out, &err) != STATUS_OK)
		return false;
	for (int i = 0; i < s->node.n_out; i++) {
		if (s->out_id[i] < 0)
			continue;
		assert_true(s->out[i].type > DT_NONE && s->out[i].type < DT_COUNT);
		assert_true(shape_count(&s->out[i].shape) >= 0);
		total += tensor_bytes(&s->out[i]);
	}
	if (total > MAX_OUTPUT)
		return false;
	for (int i = 0; i < s->node.n_out; i++)
		if (s->out_id[i] >= 0)
			s->out[i].data = keep(s, tensor_bytes(&s->out[i]));
	enum status st = op->eval(&s->node, s->input, s->out, 1, &err);
	if ((st == STATUS_FORMAT || st == STATUS_UNSUPPORTED) && !may_refuse(op))
		fail_msg("%s %d refuses only when its outputs are allocated: %s", op->name, op->since, err.text);
	return st == STATUS_OK;
}

void test_op_hostile__no_row_trusts_its_input(void **state)
{
	struct support_random r = {2024};
	int n, done = 0, rows_done = 0;
	const struct op *rows = op_rows(&n);
	for (int i = 0; i < n; i++) {
		int before = done;
		for (int k = 0; k < ROUNDS; k++) {
			struct sample s;
			if (rows[i].id == OP_If) // its graphs are checked when they are loaded
				continue;
			make_sample(&s, &rows[i], &r);
			shape_without_values(&s, &rows[i], &r);
			done += evaluate(&s, &rows[i]);
			free_sample(&s);
		}
		rows_done += done > before;
		if (done == before)
			printf("never evaluated: %s %d\n", rows[i].name, rows[i].since);
	}
	assert_true(rows_done > n * 8 / 10); // the samples are not all nonsense
}
