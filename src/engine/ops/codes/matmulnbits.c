// MatMulNBits: a product with weights of 2 to 8 bits, packed, each block of a column with a scale and a zero
// point of its own. MatMulBnb4: the same with weights of 4 bits as bitsandbytes has them.
#include <string.h>
#include "../element.h"
#include "../product/matmul.h"
#include "../product/packed.h"
#include "../rule.h"

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

struct packed {
	int64_t k, n, bits, block, blocks; // blocks: of a column
	int64_t zero_bytes;                // of a column, where zero points are packed too
	const struct tensor *b, *scales, *zeros, *groups;
	const float *value;                // of each code: MatMulBnb4
};

static int64_t up(int64_t n, int64_t by)
{
	return (n + by - 1) / by;
}

static enum status read_weights(struct packed *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct nbits_attrs *a = n->attrs;
	if ((a->bits != 2 && a->bits != 4 && a->bits != 8) || !rule_within(a->block, 1, RULE_MAX_DIM) || !rule_within(a->k, 1, RULE_MAX_DIM) ||
	    !rule_within(a->n, 1, RULE_MAX_DIM))
		return error_set(err, STATUS_UNSUPPORTED, "bits %lld, block_size %lld, K %lld and N %lld are not supported", (long long)a->bits,
		    (long long)a->block, (long long)a->k, (long long)a->n);
	*p = (struct packed){.k = a->k, .n = a->n, .bits = a->bits, .block = a->block, .blocks = up(a->k, a->block), .b = in[B],
	    .scales = in[SCALES], .zeros = rule_input(n, in, ZEROS), .groups = rule_input(n, in, GROUPS)};
	p->zero_bytes = up(p->blocks * p->bits, 8);
	if (shape_count(&p->b->shape) / p->n != p->blocks * up(p->block * p->bits, 8) || shape_count(&p->b->shape) % p->n ||
	    shape_count(&p->scales->shape) / p->n != p->blocks || shape_count(&p->scales->shape) % p->n)
		return error_set(err, STATUS_FORMAT, "weights or scales do not fit %lld x %lld in blocks of %lld", (long long)p->k,
		    (long long)p->n, (long long)p->block);
	if (p->groups && shape_count(&p->groups->shape) != p->k && shape_count(&p->groups->shape) != p->blocks * p->block)
		return error_set(err, STATUS_FORMAT, "g_idx must have %lld numbers", (long long)p->k);
	if (p->zeros && p->zeros->type != DT_U8 && p->zeros->type != DT_F32)
		return error_set(err, STATUS_UNSUPPORTED, "zero points must be packed bytes or floats");
	if (p->zeros && (shape_count(&p->zeros->shape) / p->n != (p->zeros->type == DT_U8 ? p->zero_bytes : p->blocks) ||
	                    shape_count(&p->zeros->shape) % p->n))
		return error_set(err, STATUS_FORMAT, "the zero points do not fit %lld blocks", (long long)p->blocks);
	return STATUS_OK;
}

static enum status resolve(struct packed *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct tensor *bias = rule_input(n, in, BIAS);
	enum status s = read_weights(p, n, in, err);
	if (s == STATUS_OK && (in[A]->shape.rank < 1 || in[A]->shape.dim[in[A]->shape.rank - 1] != p->k))
		s = error_set(err, STATUS_FORMAT, "the input's last dimension must be %lld", (long long)p->k);
	if (s == STATUS_OK && bias && shape_count(&bias->shape) != p->n)
		s = error_set(err, STATUS_FORMAT, "the bias must have %lld numbers", (long long)p->n);
	return s;
}

enum status matmulnbits_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[A]->shape;
	struct packed p;
	enum status s = resolve(&p, n, in, err);
	if (s != STATUS_OK)
		return s;
	y.dim[y.rank - 1] = p.n;
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

static float zero_point(const struct packed *p, int64_t column, int64_t block)
{
	if (!p->zeros)
		return (float)(1 << (p->bits - 1));
	if (p->zeros->type == DT_F32)
		return ((const float *)p->zeros->data)[column * p->blocks + block];
	return (float)packed_code((const uint8_t *)p->zeros->data + column * p->zero_bytes, block, p->bits);
}

// Which scale and zero point of its column row k has.
static enum status read_group(int64_t *block, const struct packed *p, int64_t k, struct error *err)
{
	*block = p->groups ? element_int(p->groups, k) : k / p->block;
	if (rule_within(*block, 0, p->blocks - 1))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "g_idx has %lld, of %lld blocks", (long long)*block, (long long)p->blocks);
}

// w[k][n], as product_floats reads it fastest.
static enum status unpack(float *w, const struct packed *p, struct error *err)
{
	int64_t bytes = up(p->block * p->bits, 8), block;
	for (int64_t k = 0; k < p->k; k++) {
		enum status s = read_group(&block, p, k, err);
		if (s != STATUS_OK)
			return s;
		for (int64_t j = 0; j < p->n; j++) {
			const uint8_t *from = (const uint8_t *)p->b->data + (j * p->blocks + k / p->block) * bytes;
			float scale = ((const float *)p->scales->data)[j * p->blocks + block];
			w[k * p->n + j] = ((float)packed_code(from, k % p->block, p->bits) - zero_point(p, j, block)) * scale;
		}
	}
	return STATUS_OK;
}

// The 4 bit floats of bitsandbytes, and the quantiles of a normal distribution of Dettmers
// et al., "QLoRA", 2023, appendix E.
static const float bnb4_values[2][16] = {
    {0, 0.0052083335f, 2 / 3.0f, 1, 1 / 3.0f, 0.5f, 1 / 6.0f, 0.25f, -0.0f, -0.0052083335f, -2 / 3.0f, -1, -1 / 3.0f, -0.5f, -1 / 6.0f, -0.25f},
    {-1, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0, 0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f,
        0.44070983f, 0.562617f, 0.72295684f, 1},
};

static enum status read_bnb4(struct packed *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct nbits_attrs *a = n->attrs;
	if (!rule_within(a->kind, 0, 1) || a->trans_b != 1 || !rule_within(a->block, 1, RULE_MAX_DIM) || !rule_within(a->k, 1, RULE_MAX_DIM) ||
	    !rule_within(a->n, 1, RULE_MAX_DIM))
		return error_set(err, STATUS_UNSUPPORTED, "quant_type %lld, transB %lld, block_size %lld, K %lld and N %lld are not supported",
		    (long long)a->kind, (long long)a->trans_b, (long long)a->block, (long long)a->k, (long long)a->n);
	*p = (struct packed){.k = a->k, .n = a->n, .bits = a->bits, .block = a->block, .b = in[B], .scales = in[SCALES],
	    .value = bnb4_values[a->kind]};
	if (in[B]->type != DT_U8 || shape_count(&in[B]->shape) != up(a->k * a->n, 2) ||
	    shape_count(&in[SCALES]->shape) != up(a->k * a->n, a->block))
		return error_set(err, STATUS_FORMAT, "weights or scales do not fit %lld x %lld in blocks of %lld", (long long)a->k,
		    (long long)a->n, (long long)a->block);
	return STATUS_OK;
}

// Blocks run over the ends of columns, and the high bits of a byte come first.
static void unpack_bnb4(float *w, const struct packed *p)
{
	for (int64_t i = 0; i < p->k * p->n; i++) {
		int byte = ((const uint8_t *)p->b->data)[i / 2];
		w[i % p->k * p->n + i / p->k] = p->value[i % 2 ? byte & 15 : byte >> 4] * ((const float *)p->scales->data)[i / p->block];
	}
}

enum status matmulbnb4_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[A]->shape;
	struct packed p;
	enum status s = read_bnb4(&p, n, in, err);
	if (s != STATUS_OK)
		return s;
	if (y.rank < 1 || y.dim[y.rank - 1] != p.k)
		return error_set(err, STATUS_FORMAT, "the input's last dimension must be %lld", (long long)p.k);
	y.dim[y.rank - 1] = p.n;
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

enum status matmulnbits_weights(struct tensor *w, const struct node *n, const struct tensor *const *in, struct error *err)
{
	struct packed p;
	enum status s = (n->op->id == OP_MatMulBnb4 ? read_bnb4 : read_weights)(&p, n, in, err);
	*w = (struct tensor){0};
	if (s != STATUS_OK)
		return s;
	*w = (struct tensor){.type = DT_F32, .shape = {2, {p.k, p.n}}};
	s = tensor_alloc(w, NULL, err);
	if (s == STATUS_OK && p.value)
		unpack_bnb4(w->data, &p);
	else if (s == STATUS_OK)
		s = unpack(w->data, &p, err);
	if (s != STATUS_OK)
		tensor_drop(w);
	return s;
}

enum status matmulnbits_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct tensor *bias = rule_input(n, in, BIAS);
	float *y = out[0].data;
	int64_t count = tensor_count(&out[0]);
	struct tensor w;
	enum status s = matmulnbits_weights(&w, n, in, err);
	if (s != STATUS_OK)
		return s;
	const int64_t k = w.shape.dim[0], columns = w.shape.dim[1];
	memset(y, 0, (size_t)count * sizeof *y);
	if (bias)
		matmul_add_row(y, count, bias->data, columns);
	const struct matrices m = {.m = count / columns, .n = columns, .k = k, .a_row = k, .a_col = 1, .b_row = columns, .b_col = 1};
	product_floats(&m, in[A]->data, w.data, y, width);
	tensor_drop(&w);
	return STATUS_OK;
}
