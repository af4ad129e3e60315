// MatMulNBits: a product with weights of 2 to 8 bits, packed, each block of a column with a scale and a zero point of its own.
#include <string.h>
#include "matmul.h"
#include "rule.h"

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

struct packed {
	int64_t k, n, bits, block, blocks; // blocks: of a column
	int64_t zero_bytes;                // of a column, where zero points are packed too
	const struct tensor *b, *scales, *zeros;
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
	    .scales = in[SCALES], .zeros = rule_input(n, in, ZEROS)};
	p->zero_bytes = up(p->blocks * p->bits, 8);
	if (shape_count(&p->b->shape) / p->n != p->blocks * up(p->block * p->bits, 8) || shape_count(&p->b->shape) % p->n ||
	    shape_count(&p->scales->shape) / p->n != p->blocks || shape_count(&p->scales->shape) % p->n)
		return error_set(err, STATUS_FORMAT, "weights or scales do not fit %lld x %lld in blocks of %lld", (long long)p->k,
		    (long long)p->n, (long long)p->block);
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
	if (s == STATUS_OK && rule_input(n, in, GROUPS))
		s = error_set(err, STATUS_UNSUPPORTED, "g_idx is not supported");
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

// Number i of those packed from `at` on, the low bits of a byte first.
static int code(const uint8_t *at, int64_t i, int64_t bits)
{
	return at[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}

static float zero_point(const struct packed *p, int64_t column, int64_t block)
{
	if (!p->zeros)
		return (float)(1 << (p->bits - 1));
	if (p->zeros->type == DT_F32)
		return ((const float *)p->zeros->data)[column * p->blocks + block];
	return (float)code((const uint8_t *)p->zeros->data + column * p->zero_bytes, block, p->bits);
}

// w[k][n], as product_floats reads it fastest.
static void unpack(float *w, const struct packed *p)
{
	int64_t bytes = up(p->block * p->bits, 8);
	for (int64_t j = 0; j < p->n; j++)
		for (int64_t b = 0; b < p->blocks; b++) {
			const uint8_t *from = (const uint8_t *)p->b->data + (j * p->blocks + b) * bytes;
			float scale = ((const float *)p->scales->data)[j * p->blocks + b], zero = zero_point(p, j, b);
			for (int64_t i = 0; i < p->block && b * p->block + i < p->k; i++)
				w[(b * p->block + i) * p->n + j] = ((float)code(from, i, p->bits) - zero) * scale;
		}
}

enum status matmulnbits_weights(struct tensor *w, const struct node *n, const struct tensor *const *in, struct error *err)
{
	struct packed p;
	enum status s = read_weights(&p, n, in, err);
	*w = (struct tensor){0};
	if (s != STATUS_OK)
		return s;
	*w = (struct tensor){.type = DT_F32, .shape = {2, {p.k, p.n}}};
	s = tensor_alloc(w, NULL, err);
	if (s == STATUS_OK)
		unpack(w->data, &p);
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
