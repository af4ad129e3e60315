// Channels: where they lie, told for every kind of operator, and figures of each against a plain computation.
#include <math.h>
#include <stdlib.h>
#include "onnx_case.h"
#include "qtui/engine/channels.h"
#include "stats_case.h"

enum { UNKNOWN = CHANNELS_UNKNOWN, WHOLE = CHANNELS_WHOLE };

// ---- figures

// Whose channel is element i? From its index along every dimension.
static int64_t channel_of(const struct channel_split *s, const struct shape *shape, int64_t i)
{
	int64_t at[SHAPE_MAX_RANK] = {0}, group = 0;
	if (s->axis < 0)
		return 0;
	for (int d = shape->rank - 1; d >= 0; i /= shape->dim[d--])
		at[d] = i % shape->dim[d];
	if (s->groups > 1)
		group = at[0] / (shape->dim[0] / s->groups);
	return group * shape->dim[s->axis] + at[s->axis];
}

static void check_channel(const struct channel_sums *got, int64_t c, const struct channel_split *s, const struct tensor *f,
    const struct tensor *q, const struct quantizer *quant)
{
	const float *x = f->data, *y = q->data;
	bool seen[65536] = {0};
	double n = 0, f2 = 0, fq = 0, e2 = 0, shift = 0, most = 0, clipped = 0;
	float lo = INFINITY, hi = -INFINITY, qlo = INFINITY, qhi = -INFINITY, scale = quant->scale[quant->n > 1 ? c % quant->n : 0];
	int codes_seen = 0;
	for (int64_t i = 0; i < tensor_count(f); i++) {
		if (channel_of(s, &f->shape, i) != c)
			continue;
		double e = (double)y[i] - (double)x[i];
		n++;
		f2 += (double)x[i] * (double)x[i];
		fq += (double)x[i] * (double)y[i];
		e2 += e * e;
		shift += e;
		most = fmax(most, fabs(e));
		clipped += x[i] < (float)(quant->qmin - quant->zero[0]) * scale || x[i] > (float)(quant->qmax - quant->zero[0]) * scale;
		lo = fminf(lo, x[i]), hi = fmaxf(hi, x[i]), qlo = fminf(qlo, y[i]), qhi = fmaxf(qhi, y[i]);
		seen[quantize_one(quant, quant->n > 1 ? (int)(c % quant->n) : 0, x[i]) - quant->qmin] = true;
	}
	for (int i = 0; i < 65536; i++)
		codes_seen += seen[i];
	assert_true(got->sums.n == n && got->sums.clipped == clipped && got->sums.max_error == most);
	assert_true(fabs(got->sums.fq - fq) <= 1e-12 * f2);
	assert_true(fabs(got->sums.f2 - f2) <= 1e-12 * f2 && fabs(got->sums.e2 - e2) <= 1e-12 * e2 && fabs(got->shift - shift) <= 1e-12 * n);
	assert_true(got->sums.fmin == lo && got->sums.fmax == hi && got->sums.qmin == qlo && got->sums.qmax == qhi);
	assert_int_equal(channel_sums_codes(got), quant->qmax - quant->qmin < 256 ? codes_seen : 0);
}

static void check_sums(const struct shape *shape, int axis, int64_t groups, const struct quantizer *quant)
{
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, shape->rank, shape->dim), q = tensor(DT_F32, LAYOUT_PLAIN, shape->rank, shape->dim);
	struct channel_split s = channel_split(shape, axis);
	for (int64_t i = 0; i < tensor_count(&f); i++)
		((float *)f.data)[i] = 9 * noise();
	fake_quantize(&q, &f, quant, 1);
	s.groups = groups;
	s.n *= groups;
	struct channel_sums *got = xcalloc((size_t)s.n + 1, sizeof *got);
	channel_sums(got, &s, &f, &q, quant);
	double *reach = xcalloc((size_t)s.n + 1, sizeof *reach);
	channel_reach(reach, &s, &f);
	for (int64_t c = 0; c < s.n; c++) {
		check_channel(&got[c], c, &s, &f, &q, quant);
		assert_true(reach[c] == (got[c].sums.n > 0 ? (double)fmaxf(fabsf(got[c].sums.fmin), fabsf(got[c].sums.fmax)) : 0));
	}
	free(got);
	free(reach);
	tensor_drop(&f);
	tensor_drop(&q);
}

void test_channel_sums__figures_are_those_of_a_plain_computation(void **state)
{
	static const struct {
		struct shape shape;
		int axis;
		int64_t groups;
	} at[] = {
		{{4, {2, 5, 3, 7}}, 1, 1}, {{4, {6, 2, 3, 3}}, 0, 1}, {{4, {6, 4, 3, 3}}, 1, 3}, {{4, {5, 1, 3, 3}}, 1, 5},
		{{3, {2, 9, 33}}, 2, 1}, {{3, {2, 9, 33}}, 1, 1}, {{2, {7, 10}}, 1, 1}, {{2, {7, 10}}, 0, 1},
		{{1, {13}}, 0, 1}, {{1, {1}}, 0, 1}, {{0, {0}}, 0, 1}, {{3, {4, 5, 6}}, WHOLE, 1}, {{3, {2, 0, 6}}, 2, 1},
	};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		for (int k = 0; k < CODES; k++) {
			struct quantizer quant = quantizer(k);
			check_sums(&at[i].shape, at[i].axis, at[i].groups, &quant);
		}
}

void test_channel_sums__a_scale_for_each(void **state)
{
	const float scale[] = {0.01f, 0.05f, 0.2f, 0.07f, 0.4f};
	const int32_t zero[5] = {0};
	struct quantizer quant = {.kind = QUANT_LINEAR, .qmin = -128, .qmax = 127, .axis = 1, .n = 5, .scale = scale, .zero = zero};
	check_sums(&(struct shape){3, {3, 5, 11}}, 1, 1, &quant);
	quant.n = 2; // the columns of a ConvTranspose with three groups: two scales for six channels
	check_sums(&(struct shape){3, {6, 2, 5}}, 1, 3, &quant);
	quant.axis = 0;
	quant.n = 5;
	check_sums(&(struct shape){2, {5, 40}}, 0, 1, &quant);
}

void test_channel_sums__sums_merge_as_if_they_were_of_all(void **state)
{
	const int64_t dim[] = {2, 3, 50};
	struct quantizer quant = quantizer(0);
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 3, dim), q = tensor(DT_F32, LAYOUT_PLAIN, 3, dim);
	struct channel_sums part[3], all[3], whole[3];
	for (int i = 0; i < 300; i++)
		((float *)f.data)[i] = 9 * noise();
	fake_quantize(&q, &f, &quant, 1);
	struct channel_split s = channel_split(&f.shape, 1);
	channel_sums(whole, &s, &f, &q, &quant);
	f.shape.dim[0] = q.shape.dim[0] = 1;
	channel_sums(all, &s, &f, &q, &quant);
	struct tensor f2 = f, q2 = q;
	f2.data = (float *)f.data + 150;
	q2.data = (float *)q.data + 150;
	channel_sums(part, &s, &f2, &q2, &quant);
	for (int c = 0; c < 3; c++) {
		channel_sums_merge(&all[c], &part[c]);
		assert_true(all[c].sums.n == 100 && all[c].sums.fmin == whole[c].sums.fmin && all[c].sums.max_error == whole[c].sums.max_error);
		assert_true(fabs(all[c].shift - whole[c].shift) < 1e-9 && fabs(all[c].sums.e2 - whole[c].sums.e2) < 1e-9);
		assert_int_equal(channel_sums_codes(&all[c]), channel_sums_codes(&whole[c]));
	}
	tensor_drop(&f);
	tensor_drop(&q);
}

void test_channel_sums__values_that_are_not_finite(void **state)
{
	float x[] = {1, NAN, INFINITY, 2, NAN, -INFINITY}, y[] = {1.5f, NAN, 3, 2, 1, -INFINITY};
	struct tensor f = {.type = DT_F32, .shape = {2, {2, 3}}, .data = x}, q = {.type = DT_F32, .shape = {2, {2, 3}}, .data = y};
	struct channel_split s = channel_split(&f.shape, 0);
	struct channel_sums got[2];
	channel_sums(got, &s, &f, &q, NULL);
	assert_true(isinf(got[0].sums.e2) && isinf(got[1].sums.e2));
	assert_true(got[0].shift == 0.5 && got[1].shift == 0);
	assert_true(got[0].sums.f2 == 1 && got[1].sums.f2 == 4 && got[0].sums.n == 3);
	double reach[2];
	channel_reach(reach, &s, &f);
	assert_true(reach[0] == 1 && reach[1] == 2);
}

// ---- where they lie

static void random_weights(struct onnx_case *c, const char *name, int rank, const int64_t *dims)
{
	static float w[1 << 14];
	for (size_t i = 0; i < sizeof w / sizeof *w; i++)
		w[i] = noise() + 2;
	case_floats(c, name, rank, dims, w);
}

static void expect_axis(const struct onnx_case *c, const char *value, int axis)
{
	int v = graph_find_value(c->loaded, value), *axes = channel_axes(c->loaded);
	assert_true(v >= 0);
	if (axes[v] != axis)
		fail_msg("channels of %s are said to lie along %d, not %d", value, axes[v], axis);
	free(axes);
}

static void expect_constant(const struct onnx_case *c, const char *node, int input, int axis, int64_t groups, int64_t n)
{
	int at = graph_find_node(c->loaded, node), *axes = channel_axes(c->loaded);
	assert_true(at >= 0);
	struct channel_split s = channel_split_constant(c->loaded, axes, at, input);
	if (s.axis != axis || s.groups != groups || s.n != n)
		fail_msg("input %d of %s is said to have %d channels in %d groups along %d", input, node, (int)s.n, (int)s.groups, s.axis);
	free(axes);
}

void test_channel_sums__convolutions(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	random_weights(&c, "w", DIMS(8, 4, 3, 3));
	random_weights(&c, "b", DIMS(8));
	random_weights(&c, "dw", DIMS(8, 1, 3, 3));
	random_weights(&c, "tw", DIMS(8, 3, 2, 2));
	random_weights(&c, "one", DIMS(1));
	random_weights(&c, "each", DIMS(6, 1, 1));
	case_node(&c, "Conv", "conv", "x w b", "conv");
	case_attr_int(&c, case_node(&c, "Conv", "depthwise", "conv dw", "depthwise"), "group", 8);
	case_node(&c, "Relu", "relu", "depthwise", "relu");
	case_attr_int(&c, case_node(&c, "ConvTranspose", "up", "relu tw", "up"), "group", 2);
	case_node(&c, "Sigmoid", "gate", "up", "gate");
	case_node(&c, "Mul", "swish", "up gate", "swish");
	case_node(&c, "Mul", "scaled", "swish one", "scaled");
	case_node(&c, "Div", "shifted", "scaled each", "shifted");
	case_node(&c, "GlobalAveragePool", "mean", "shifted", "mean");
	case_node(&c, "Flatten", "flat", "mean", "flat");
	case_node(&c, "Softmax", "y", "flat", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	const char *along_1[] = {"x", "conv", "depthwise", "relu", "up", "gate", "swish", "scaled", "shifted", "mean", "flat", "y"};
	for (size_t i = 0; i < sizeof along_1 / sizeof *along_1; i++)
		expect_axis(&c, along_1[i], 1);
	expect_constant(&c, "conv", 1, 0, 1, 8);
	expect_constant(&c, "conv", 2, 0, 1, 8);
	expect_constant(&c, "depthwise", 1, 0, 1, 8);
	expect_constant(&c, "up", 1, 1, 2, 6);
	expect_constant(&c, "scaled", 1, WHOLE, 1, 1);
	expect_constant(&c, "shifted", 1, 0, 1, 6);
	case_done(&c);
}

void test_channel_sums__products(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 5, 12));
	case_input(&c, "u", FLOAT, DIMS(3, 12));
	random_weights(&c, "w", DIMS(12, 24));
	random_weights(&c, "g", DIMS(7, 12));
	random_weights(&c, "gt", DIMS(12, 9));
	random_weights(&c, "gb", DIMS(9));
	random_weights(&c, "left", DIMS(6, 5));
	random_weights(&c, "bias", DIMS(24));
	case_node(&c, "MatMul", "dense", "x w", "dense");
	case_node(&c, "Add", "biased", "dense bias", "biased");
	case_node(&c, "Tanh", "act", "biased", "act");
	case_node(&c, "MatMul", "mixed", "left act", "mixed"); // rows of the weights make the channels
	case_attr_ints(&c, case_node(&c, "Transpose", "turned", "act", "turned"), "perm", 3, (int64_t[]){0, 2, 1});
	case_node(&c, "MatMul", "scores", "act turned", "scores");
	case_attr_int(&c, case_node(&c, "Gemm", "gemm", "u g", "gemm"), "transB", 1);
	case_node(&c, "Gemm", "plain", "u gt gb", "plain");
	const char *out[] = {"mixed", "scores", "gemm", "plain"};
	for (int i = 0; i < 4; i++)
		case_output(&c, c.graph, out[i]);
	case_load(&c);
	expect_axis(&c, "x", 2);
	expect_axis(&c, "u", 1);
	expect_axis(&c, "dense", 2);
	expect_axis(&c, "act", 2);
	expect_axis(&c, "turned", 1);
	expect_axis(&c, "mixed", 1);
	expect_axis(&c, "scores", UNKNOWN);
	expect_axis(&c, "gemm", 1);
	expect_constant(&c, "dense", 1, 1, 1, 24);
	expect_constant(&c, "mixed", 0, 0, 1, 6);
	expect_constant(&c, "gemm", 1, 0, 1, 7);
	expect_constant(&c, "plain", 1, 1, 1, 9);
	expect_constant(&c, "plain", 2, 0, 1, 9);
	case_done(&c);
}

void test_channel_sums__what_moves_dimensions(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "image", FLOAT, DIMS(1, 8, 8, 3)); // as pictures come
	random_weights(&c, "w", DIMS(12, 3, 2, 2));
	random_weights(&c, "proj", DIMS(12, 12));
	case_ints(&c, "tokens", 3, (int64_t[]){1, 12, 49});
	case_ints(&c, "heads", 4, (int64_t[]){1, 49, 3, 4});
	case_ints(&c, "back", 3, (int64_t[]){1, 49, 12});
	case_ints(&c, "axes", 1, (int64_t[]){0});
	case_attr_ints(&c, case_node(&c, "Transpose", "nchw", "image", "nchw"), "perm", 4, (int64_t[]){0, 3, 1, 2});
	case_node(&c, "Conv", "conv", "nchw w", "conv");
	case_node(&c, "Reshape", "rows", "conv tokens", "rows");
	case_attr_ints(&c, case_node(&c, "Transpose", "cols", "rows", "cols"), "perm", 3, (int64_t[]){0, 2, 1});
	case_attr_ints(&c, case_node(&c, "ReduceMean", "pooled", "cols", "pooled"), "axes", 1, (int64_t[]){-2});
	case_attr_int(&c, c.graph->node[c.graph->n_node - 1], "keepdims", 0);
	case_attr_ints(&c, case_node(&c, "ReduceMax", "over", "cols", "over"), "axes", 1, (int64_t[]){2});
	case_node(&c, "Reshape", "split", "cols heads", "split");
	case_attr_ints(&c, case_node(&c, "Transpose", "by_head", "split", "by_head"), "perm", 4, (int64_t[]){0, 2, 1, 3});
	case_attr_ints(&c, case_node(&c, "Transpose", "again", "by_head", "again"), "perm", 4, (int64_t[]){0, 2, 1, 3});
	case_node(&c, "Reshape", "joined", "again back", "joined");
	case_node(&c, "MatMul", "out", "joined proj", "out");
	case_node(&c, "Squeeze", "flat", "out axes", "flat");
	case_attr_int(&c, case_node(&c, "Concat", "both", "out cols", "both"), "axis", 1);
	const char *out[] = {"pooled", "over", "flat", "both"};
	for (int i = 0; i < 4; i++)
		case_output(&c, c.graph, out[i]);
	case_load(&c);
	expect_axis(&c, "image", 3);
	expect_axis(&c, "nchw", 1);
	expect_axis(&c, "rows", 1);
	expect_axis(&c, "cols", 2);
	expect_axis(&c, "pooled", 1);
	expect_axis(&c, "over", UNKNOWN);
	expect_axis(&c, "split", UNKNOWN);
	expect_axis(&c, "by_head", UNKNOWN);
	expect_axis(&c, "joined", 2);
	expect_axis(&c, "out", 2);
	expect_axis(&c, "flat", 1);
	expect_axis(&c, "both", 2);
	case_done(&c);
}

// What is picked, broadcast together or read turned round.
void test_channel_sums__what_joins_and_picks(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(4, 5, 12));
	case_input(&c, "v", FLOAT, DIMS(12, 3));
	random_weights(&c, "w", DIMS(12, 5));
	random_weights(&c, "g", DIMS(12, 9));
	case_ints(&c, "two", 2, (int64_t[]){0, 1});
	case_ints(&c, "few", 4, (int64_t[]){2, 0, 1, 1});
	case_ints(&c, "by_two", 2, (int64_t[]){2, 2});
	case_node(&c, "MatMul", "dense", "x w", "dense"); // [4, 5, 5], along 2
	case_node(&c, "Reshape", "pairs", "few by_two", "pairs");
	case_attr_int(&c, case_node(&c, "Gather", "before", "dense pairs", "before"), "axis", 0);
	case_attr_int(&c, case_node(&c, "Gather", "some", "dense two", "some"), "axis", 2);
	case_attr_int(&c, case_node(&c, "Gather", "apart", "dense pairs", "apart"), "axis", 2);
	case_attr_ints(&c, case_node(&c, "Transpose", "turned", "dense", "turned"), "perm", 3, (int64_t[]){0, 2, 1});
	case_node(&c, "Add", "torn", "dense turned", "torn");
	case_attr_int(&c, case_node(&c, "Gemm", "gemm", "v g", "gemm"), "transA", 1);
	const char *out[] = {"before", "some", "apart", "torn", "gemm"};
	for (int i = 0; i < 5; i++)
		case_output(&c, c.graph, out[i]);
	case_load(&c);
	expect_axis(&c, "before", 3);
	expect_axis(&c, "some", 2);
	expect_axis(&c, "apart", UNKNOWN);
	expect_axis(&c, "turned", 1);
	expect_axis(&c, "torn", UNKNOWN);
	expect_axis(&c, "v", 0);
	case_done(&c);
}
