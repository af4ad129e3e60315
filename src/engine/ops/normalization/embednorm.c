// EmbedLayerNormalization: rows of embeddings, looked up and added, each normalised;
// the count of what the mask lets through. QEmbedLayerNormalization: the same from tables,
// gamma and beta of codes, which have a scale and a zero point each.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../codes/qlinear.h"
#include "../element.h"
#include "../rule.h"
#include "norm.h"

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_TABLE, GAMMA, BETA, MASK, POSITION_IDS };
enum { SCALES = 8, ZEROS = 13 }; // of codes: those of WORDS to BETA, in that order
enum { COUNTS = 1, SUMS };

static bool has_codes(const struct node *n)
{
	return n->op->id == OP_QEmbedLayerNormalization;
}

static const struct tensor *position_ids(const struct node *n, const struct tensor *const *in)
{
	return has_codes(n) ? NULL : rule_input(n, in, POSITION_IDS);
}

// Scales and zero points of what there is of WORDS to BETA.
static enum status check_codes(const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = WORDS; s == STATUS_OK && i <= BETA; i++) {
		const int scale = SCALES + i - WORDS, zero = ZEROS + i - WORDS;
		if (rule_input(n, in, i) && !rule_input(n, in, scale))
			return error_set(err, STATUS_FORMAT, "input %d is missing", scale);
		s = qlinear_counts(n, in, (const int[]){scale, zero}, 2, 0, err);
	}
	return s;
}

static bool is_table(const struct tensor *t, int64_t width)
{
	return t->shape.rank == 2 && t->shape.dim[1] == width;
}

static bool is_like_ids(const struct tensor *t, const struct tensor *ids)
{
	return !t || shape_equal(&t->shape, &ids->shape);
}

enum status embednorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	static const int required[] = {WORDS, POSITIONS, GAMMA, BETA};
	for (size_t i = 0; i < sizeof required / sizeof *required; i++)
		if (!rule_input(n, in, required[i]))
			return error_set(err, STATUS_FORMAT, "input %d is missing", required[i]);
	const struct tensor *ids = in[IDS], *segments = rule_input(n, in, SEGMENTS), *table = rule_input(n, in, SEGMENT_TABLE);
	const struct tensor *positions = position_ids(n, in);
	int64_t width = in[WORDS]->shape.rank == 2 ? in[WORDS]->shape.dim[1] : -1;

	if (ids->shape.rank != 2 || !is_table(in[WORDS], width) || !is_table(in[POSITIONS], width) || (table && !is_table(table, width)) ||
	    (segments && !table) || !is_like_ids(segments, ids) || !is_like_ids(rule_input(n, in, MASK), ids))
		return error_set(err, STATUS_FORMAT, "the tables, ids and masks do not fit each other");
	if (tensor_count(in[GAMMA]) != width || tensor_count(in[BETA]) != width)
		return error_set(err, STATUS_FORMAT, "gamma and beta must have %lld numbers", (long long)width);
	if (positions && !is_like_ids(positions, ids) && tensor_count(positions) != ids->shape.dim[1])
		return error_set(err, STATUS_FORMAT, "position_ids do not fit input_ids");
	if (!positions && ids->shape.dim[1] > in[POSITIONS]->shape.dim[0])
		return error_set(err, STATUS_FORMAT, "%lld ids have more positions than the table's %lld", (long long)ids->shape.dim[1],
		    (long long)in[POSITIONS]->shape.dim[0]);
	enum status s = has_codes(n) ? check_codes(n, in, err) : STATUS_OK;
	if (s != STATUS_OK)
		return s;
	const struct shape rows = {3, {ids->shape.dim[0], ids->shape.dim[1], width}};
	rule_set(&out[0], DT_F32, &rows);
	if (n->n_out > COUNTS)
		rule_set(&out[COUNTS], DT_I32, &(struct shape){1, {ids->shape.dim[0]}});
	if (n->n_out > SUMS)
		rule_set(&out[SUMS], DT_F32, &rows);
	return STATUS_OK;
}

// Adds to[count] from input i (WORDS to BETA), elements `first` and on.
static enum status add_from(
    float *to, const struct node *n, const struct tensor *const *in, int i, int64_t first, int64_t count, struct error *err)
{
	struct qlinear q;
	if (!has_codes(n)) {
		for (int64_t c = 0; c < count; c++)
			to[c] += ((const float *)in[i]->data)[first + c];
		return STATUS_OK;
	}
	enum status s = qlinear_read(&q, n, in, SCALES + i - WORDS, ZEROS + i - WORDS, err);
	for (int64_t c = 0; s == STATUS_OK && c < count; c++)
		to[c] += (float)(element_int(in[i], first + c) - q.zero) * q.scale;
	return s;
}

// Adds row `at` of table i.
static enum status add_row(float *to, const struct node *n, const struct tensor *const *in, int i, int64_t at, struct error *err)
{
	const struct tensor *table = in[i];
	if (!rule_within(at, 0, table->shape.dim[0] - 1))
		return error_set(err, STATUS_FORMAT, "id %lld is not one of %lld", (long long)at, (long long)table->shape.dim[0]);
	return add_from(to, n, in, i, at * table->shape.dim[1], table->shape.dim[1], err);
}

static enum status sum_row(float *to, const struct node *n, const struct tensor *const *in, int64_t i, struct error *err)
{
	const struct tensor *segments = rule_input(n, in, SEGMENTS), *positions = position_ids(n, in);
	int64_t length = in[IDS]->shape.dim[1], at = i % length;
	enum status s = add_row(to, n, in, WORDS, element_int(in[IDS], i), err);
	if (positions)
		at = element_int(positions, tensor_count(positions) == length ? at : i);
	if (s == STATUS_OK)
		s = add_row(to, n, in, POSITIONS, at, err);
	if (s == STATUS_OK && rule_input(n, in, SEGMENT_TABLE))
		s = add_row(to, n, in, SEGMENT_TABLE, segments ? element_int(segments, i) : 0, err);
	return s;
}

static void count_mask(struct tensor *y, const struct tensor *mask)
{
	memset(y->data, 0, tensor_bytes(y));
	for (int64_t i = 0; mask && i < tensor_count(mask); i++)
		((int32_t *)y->data)[i / mask->shape.dim[1]] += element_int(mask, i) != 0;
}

// gamma and beta as floats, one behind the other; the caller frees *out.
static enum status read_affine(float **out, const struct node *n, const struct tensor *const *in, int64_t size, struct error *err)
{
	*out = mem_try_array((size_t)(2 * size) + 1, sizeof **out);
	if (!*out)
		return error_set(err, STATUS_NOMEM, "no memory for two rows of %lld", (long long)size);
	enum status s = add_from(*out, n, in, GAMMA, 0, size, err);
	return s == STATUS_OK ? add_from(*out + size, n, in, BETA, 0, size, err) : s;
}

enum status embednorm_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	double epsilon = (double)((const struct norm_attrs *)n->attrs)->epsilon;
	int64_t size = out[0].shape.dim[2];
	float *affine;
	enum status s = read_affine(&affine, n, in, size, err);
	(void)width;
	if (n->n_out > COUNTS && out[COUNTS].data)
		count_mask(&out[COUNTS], rule_input(n, in, MASK));
	memset(out[0].data, 0, tensor_bytes(&out[0]));
	for (int64_t i = 0; s == STATUS_OK && i < tensor_count(in[IDS]); i++) {
		float *y = (float *)out[0].data + i * size;
		s = sum_row(y, n, in, i, err);
		if (s == STATUS_OK && n->n_out > SUMS && out[SUMS].data)
			memcpy((float *)out[SUMS].data + i * size, y, (size_t)size * sizeof *y);
		struct row_moments m = row_moments_of(y, size);
		row_moments_apply(y, y, size, m.mean, 1 / sqrt(m.variance + epsilon), affine, affine + size);
	}
	free(affine);
	return s;
}
