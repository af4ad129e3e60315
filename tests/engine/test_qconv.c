// Integer convolutions: every processor level gives the bits of the definition, on random and on awkward geometries.
#include "qconv_case.h"

static int64_t out_size(bool transposed, int64_t size, int64_t k, int64_t stride, int64_t dil, int64_t pads)
{
	int64_t span = dil * (k - 1) + 1;
	return transposed ? (size - 1) * stride - pads + span : (size + pads - span) / stride + 1;
}

// A geometry with an output, or false.
static bool geometry(struct support_random *r, struct conv_geometry *g, bool transposed)
{
	g->n = support_random_int(r, 1, 2);
	g->h = support_random_int(r, 1, 19);
	g->w = support_random_int(r, 1, 19);
	g->kh = support_random_int(r, 1, 4);
	g->kw = support_random_int(r, 1, 4);
	g->stride_h = support_random_int(r, 1, 3);
	g->stride_w = support_random_int(r, 1, 3);
	g->dil_h = support_random_int(r, 0, 3) ? 1 : 2;
	g->dil_w = support_random_int(r, 0, 3) ? 1 : 3;
	g->pad_t = support_random_int(r, 0, 2);
	g->pad_l = support_random_int(r, 0, 2);
	g->pad_b = support_random_int(r, 0, 2);
	g->pad_r = support_random_int(r, 0, 2);
	g->oh = out_size(transposed, g->h, g->kh, g->stride_h, g->dil_h, g->pad_t + g->pad_b);
	g->ow = out_size(transposed, g->w, g->kw, g->stride_w, g->dil_w, g->pad_l + g->pad_r);
	return g->oh > 0 && g->ow > 0 && g->h + g->pad_t + g->pad_b >= g->dil_h * (g->kh - 1) + 1 &&
	    g->w + g->pad_l + g->pad_r >= g->dil_w * (g->kw - 1) + 1;
}

static void random_trial(struct support_random *r, struct trial *b, bool transposed, enum dtype type, int bits)
{
	struct conv_geometry *g = &b->t.g;
	int32_t low, high;
	*b = (struct trial){.t = {.transposed = transposed, .in_type = type}, .wide = bits == 16};
	while (!geometry(r, g, transposed))
		;
	g->group = support_random_int(r, 0, 3) ? 1 : support_random_int(r, 2, 5);
	g->c = g->group * support_random_int(r, 1, g->group > 1 ? 9 : 40);
	g->oc = g->group * support_random_int(r, 1, g->group > 1 ? 19 : 40);
	b->t.in = support_random_int(r, 0, 2) ? LAYOUT_BLOCK : LAYOUT_PLAIN;
	b->t.out = support_random_int(r, 0, 2) ? LAYOUT_BLOCK : LAYOUT_PLAIN;
	code_limits(type, &low, &high);
	b->t.in_zero = type == DT_U8 || type == DT_U16 || support_random_int(r, 0, 3) == 0 ? support_random_int(r, low, high) : 0;
	trial_fill(r, b);
}

static void random_trials(int n, uint64_t seed, bool transposed, enum dtype type, int bits)
{
	struct support_random r = {seed};
	for (int i = 0; i < n; i++) {
		struct trial b;
		random_trial(&r, &b, transposed, type, bits);
		trial_check(&b);
		trial_done(&b);
	}
}

void test_qconv__fast_equals_ref_on_int8(void **state)
{
	random_trials(150, 1, false, DT_I8, 8);
}

void test_qconv__fast_equals_ref_on_uint8(void **state)
{
	random_trials(100, 2, false, DT_U8, 8);
}

void test_qconv__fast_equals_ref_on_16_bit_inputs(void **state)
{
	random_trials(60, 3, false, DT_I16, 8);
	random_trials(30, 4, false, DT_U16, 8);
}

void test_qconv__fast_equals_ref_on_16_bit_weights(void **state)
{
	random_trials(60, 5, false, DT_I16, 16);
	random_trials(30, 6, false, DT_I8, 16);
	random_trials(30, 7, false, DT_U16, 16);
}

void test_qconv__fast_equals_ref_transposed(void **state)
{
	random_trials(60, 8, true, DT_I8, 8);
	random_trials(20, 9, true, DT_I16, 16);
}

static void fixed_trial(struct trial *b, uint64_t seed, struct conv_geometry g, enum layout in, enum layout out)
{
	struct support_random r = {seed};
	*b = (struct trial){.t = {.g = g, .in = in, .out = out, .in_type = DT_I8}};
	trial_fill(&r, b);
	trial_check(b);
	trial_done(b);
}

void test_qconv__shapes_of_known_networks(void **state)
{
	struct trial b;
	fixed_trial(&b, 11, square(3, 16, 96, 6, 2, 1), LAYOUT_PLAIN, LAYOUT_BLOCK);  // yolov5 stem
	fixed_trial(&b, 12, square(3, 32, 64, 3, 2, 1), LAYOUT_PLAIN, LAYOUT_BLOCK);  // mobilenet stem
	fixed_trial(&b, 13, square(64, 64, 40, 3, 1, 1), LAYOUT_BLOCK, LAYOUT_BLOCK);
	fixed_trial(&b, 14, square(128, 255, 20, 1, 1, 1), LAYOUT_BLOCK, LAYOUT_PLAIN);
	fixed_trial(&b, 15, square(256, 128, 7, 3, 1, 1), LAYOUT_BLOCK, LAYOUT_BLOCK);
	fixed_trial(&b, 16, square(1024, 24, 80, 1, 1, 1), LAYOUT_BLOCK, LAYOUT_BLOCK); // several tiles
}

// Dilations as wide as the image and wider: taps that see padding only.
void test_qconv__taps_beyond_the_image(void **state)
{
	struct support_random r = {17};
	for (int64_t d = 1; d <= 9; d++)
		for (int i = 0; i < 4; i++) {
			struct conv_geometry g = square(11, 13, 6, 3, i == 2 ? 2 : 1, 1);
			g.dil_h = g.dil_w = g.pad_t = g.pad_l = g.pad_b = g.pad_r = d;
			g.dil_w = i == 3 ? 1 : d;
			g.pad_l = g.pad_r = g.dil_w;
			struct trial b = {.t = {.g = g, .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_U8, .in_zero = 77,
				.transposed = i == 1}};
			trial_fill(&r, &b);
			trial_check(&b);
			trial_done(&b);
		}
}

static void depthwise_trial(struct support_random *r, struct conv_geometry g, enum dtype type, int bits, enum layout layout)
{
	struct trial b = {.t = {.g = g, .in_type = type, .in = layout, .out = layout}, .wide = bits == 16};
	b.t.g.c = b.t.g.oc = b.t.g.group = support_random_int(r, 2, 40);
	b.t.in_zero = type == DT_U8 ? 77 : type == DT_U16 ? 40000 : support_random_int(r, 0, 1) * (type == DT_I16 ? -321 : -5);
	trial_fill(r, &b);
	trial_check(&b);
	trial_done(&b);
}

void test_qconv__depthwise(void **state)
{
	static const enum dtype types[] = {DT_I8, DT_U8, DT_I16, DT_U16};
	struct support_random r = {21};
	for (int i = 0; i < 120; i++) {
		struct conv_geometry g = {0};
		while (!geometry(&r, &g, false))
			;
		depthwise_trial(&r, g, types[i % 4], i % 9 == 8 ? 16 : 8, i % 5 == 0 ? LAYOUT_PLAIN : LAYOUT_BLOCK);
	}
	struct trial b;
	fixed_trial(&b, 22, square(96, 96, 56, 3, 1, 96), LAYOUT_BLOCK, LAYOUT_BLOCK);
	fixed_trial(&b, 23, square(33, 33, 112, 5, 2, 33), LAYOUT_BLOCK, LAYOUT_BLOCK);
}

// Two output rows are made at a time, from two input rows together, four pixels at a time:
// every remainder of that, with kernels of one to seven rows, and dilations and strides that meet other rows.
void test_qconv__depthwise_rows_and_remainders(void **state)
{
	static const int64_t kernels[][2] = {{3, 3}, {5, 5}, {7, 7}, {1, 7}, {7, 1}, {2, 3}};
	struct support_random r = {24};
	for (int64_t size = 1; size <= 7; size++)
		for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
			for (int64_t variant = 0; variant < 4; variant++) { // plain, stride 2, stride 3, dilated
				struct conv_geometry g = square(0, 0, size, 1, 1, 0);
				g.kh = kernels[i][0];
				g.kw = kernels[i][1];
				g.stride_h = g.stride_w = variant % 3 + 1;
				g.dil_h = g.dil_w = variant == 3 ? 3 : 1;
				g.pad_t = g.pad_b = g.dil_h * (g.kh / 2);
				g.pad_l = g.pad_r = g.dil_w * (g.kw / 2);
				g.w = size == 7 ? 70 : size; // more than is summed at a time
				g.oh = out_size(false, g.h, g.kh, g.stride_h, g.dil_h, 2 * g.pad_t);
				g.ow = out_size(false, g.w, g.kw, g.stride_w, g.dil_w, 2 * g.pad_l);
				if (g.oh > 0 && g.ow > 0)
					depthwise_trial(&r, g, size % 2 ? DT_U8 : DT_I8, 8, LAYOUT_BLOCK);
			}
}

// Scales from where every sum is a fraction of a step to where sums in steps pass int32;
// zero points at both ends of codes with and without a sign.
void test_qconv__depthwise_scales_and_zero_points(void **state)
{
	static const int32_t zeros[] = {-128, -5, 127};
	static const int exponents[] = {-110, -40, 0, 14, 30, 60};
	struct support_random r = {25};
	for (int i = 0; i < 36; i++) {
		bool in_signed = i % 2, out_signed = i / 2 % 2;
		struct trial b = {.t = {.g = square(32, 32, 9, 3, 1 + i % 2, 32), .in_type = in_signed ? DT_I8 : DT_U8,
			.in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_zero = zeros[i % 3] + (in_signed ? 0 : 128)}};
		trial_fill(&r, &b);
		b.out_scale = i % 5 ? 0.0625f : 0.07f;
		b.out_zero = zeros[i / 3 % 3] + (out_signed ? 0 : 128);
		b.t.out_quant = (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = out_signed ? -128 : 0,
			.qmax = out_signed ? 127 : 255, .scale = &b.out_scale, .zero = &b.out_zero};
		b.t.act = (struct act){i % 4 == 3 ? ACT_CLIP : ACT_NONE, -1.0f, 3.0f};
		b.t.to_float = false;
		b.t.fbias = i % 7 ? NULL : b.fbias;
		b.out_size = b.out_elems;
		for (int64_t c = 0; c < b.t.g.oc; c++)
			b.scale[c] = ldexpf(b.scale[c], exponents[i % 6]);
		trial_check(&b);
		trial_done(&b);
	}
}

void test_qconv__sums_past_int32(void **state)
{
	struct conv_geometry g = square(2048, 17, 5, 5, 1, 1);
	struct support_random r = {31};
	struct trial b = {.t = {.g = g, .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_U8, .in_zero = 0}};
	trial_fill(&r, &b);
	memset(b.x, 255, b.in_elems);
	for (int64_t i = 0; i < g.oc * g.c * 25; i++)
		b.weight[i] = i % 2 ? 127 : -128;
	b.bias[3] = (int64_t)1 << 40;
	b.t.bias = b.bias;
	trial_check(&b);
	trial_done(&b);
}

// Sums that fit int32, though those of codes that still carry 128 do not,
// of weights that just have 8 bits and that just do not.
void test_qconv__sums_of_bytes_may_wrap(void **state)
{
	static const int16_t weights[] = {127, -128, 128, -129};
	struct support_random r = {35};
	for (int i = 0; i < 4; i++) {
		struct conv_geometry g = square(11000, 17, 3, 3, 1, 1);
		struct trial b = {.t = {.g = g, .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_I8}};
		trial_fill(&r, &b);
		memset(b.x, 127, b.in_elems);
		for (int64_t j = 0; j < g.oc * g.c * 9; j++)
			b.weight[j] = weights[i];
		for (int64_t c = 0; c < g.oc; c++)
			b.scale[c] = ldexpf(1.0f, -28);
		b.t.out_quant.zero = &(int32_t) {0};
		trial_check(&b);
		trial_done(&b);
	}
}

// Every number of rows that a step may have, with one panel, two and three, the last of which is not full.
void test_qconv__every_remainder_of_rows_and_panels(void **state)
{
	struct trial b;
	for (int64_t size = 1; size <= 5; size++)
		for (int64_t oc = 8; oc <= 48; oc += 10)
			fixed_trial(
			    &b, (uint64_t)(60 + size), square(19, oc, size, size % 2 ? 1 : 3, size == 5 ? 2 : 1, 1), LAYOUT_BLOCK, LAYOUT_BLOCK);
}

// What ends in registers: both roundings of halves, which sums in steps of a power of two give many of,
// scales that are none (sums divided by 15 give halves that sums times its inverse miss),
// limits between two codes, with and without an addend.
void test_qconv__ends_to_the_nearest(void **state)
{
	static const float scales[] = {0.0625f, 0.0611f, 15.0f / 1024};
	struct support_random r = {36};
	for (int i = 0; i < 144; i++) {
		int64_t k = i % 3 ? 3 : 1, group = i % 3 == 2 ? 37 : 1;
		struct trial b = {.t = {.g = square(37, 37, 13, k, 1, group), .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_I8}};
		trial_fill(&r, &b);
		for (int64_t c = 0; c < 37; c++)
			b.scale[c] = ldexpf(1.0f, i % 3 == 2 ? -13 : -16);
		b.out_scale = scales[i / 3 % 3];
		b.out_zero = i / 9 % 2 ? -17 : 0;
		b.t.out_quant.qmin = INT8_MIN;
		b.t.out_quant.qmax = INT8_MAX;
		b.t.out_quant.rounding = i / 18 % 2 ? ROUND_HALF_UP : ROUND_HALF_EVEN;
		b.t.act = i / 36 % 2 ? (struct act){ACT_CLIP, -0.53f, 1.97f} : (struct act){ACT_NONE, 0, 0};
		b.t.fbias = i / 72 % 2 ? b.fbias : NULL;
		b.t.to_float = false;
		b.out_size = b.out_elems;
		trial_check(&b);
		trial_done(&b);
	}
}

// Channels of which nothing but the bias is left: it may be past int32, and all of its sums may be one code, or not.
void test_qconv__biases_past_int32(void **state)
{
	static const int64_t past[] = {INT32_MAX, -(int64_t)INT32_MAX - 1, (int64_t)1 << 33, -((int64_t)1 << 52)};
	struct support_random r = {33};
	for (int i = 0; i < 48; i++) {
		int64_t group = i % 2 ? 20 : 1;
		struct trial b = {.t = {.g = square(20, 20, 7, 3, 1, group), .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_U8,
			.in_zero = 77}};
		trial_fill(&r, &b);
		for (int64_t c = 0; c < 4; c++) {
			b.bias[c] = past[c];
			b.scale[c] = i % 4 < 2 ? b.scale[c] : ldexpf(b.scale[c], -20); // what is left of the weights is seen
		}
		b.t.bias = b.bias;
		trial_check(&b);
		trial_done(&b);
	}
}

// ref against sums written out in the order of the definition.
void test_qconv__ref_is_the_definition(void **state)
{
	struct support_random r = {41};
	for (int i = 0; i < 40; i++) {
		struct trial b;
		random_trial(&r, &b, false, DT_I8, 8);
		const struct conv_geometry *g = &b.t.g;
		b.t.to_float = true;
		b.t.act = (struct act){ACT_NONE, 0, 0};
		b.out_size = b.out_elems * sizeof(float);
		uint8_t *y = trial_run(&b, BACKEND_REF, 1);
		for (int check_no = 0; check_no < 60; check_no++) {
			int64_t n = support_random_int(&r, 0, (int)g->n - 1), oc = support_random_int(&r, 0, (int)g->oc - 1), acc = 0;
			int64_t oh = support_random_int(&r, 0, (int)g->oh - 1), ow = support_random_int(&r, 0, (int)g->ow - 1);
			int64_t cg = g->c / g->group, first = oc / (g->oc / g->group) * cg;
			for (int64_t c = 0; c < cg; c++)
				for (int64_t kh = 0; kh < g->kh; kh++)
					for (int64_t kw = 0; kw < g->kw; kw++) {
						int64_t h = oh * g->stride_h + kh * g->dil_h - g->pad_t,
						        w = ow * g->stride_w + kw * g->dil_w - g->pad_l;
						if (h < 0 || w < 0 || h >= g->h || w >= g->w)
							continue;
						size_t at = place(b.t.in, g->c, g->h * g->w, n, first + c, h * g->w + w);
						acc += (int64_t)b.weight[((oc * cg + c) * g->kh + kh) * g->kw + kw] *
						    (get_code(b.x, b.t.in_type, at) - b.t.in_zero);
					}
			float want = (float)(acc + (b.t.bias ? b.bias[oc] : 0)) * b.scale[oc] + (b.t.fbias ? b.fbias[oc] : 0.0f);
			size_t at = place(b.t.out, g->oc, g->oh * g->ow, n, oc, oh * g->ow + ow);
			assert_true(((const float *)(y + GUARD))[at] == want);
		}
		free(y);
		trial_done(&b);
	}
}

// A transposed convolution spreads each input over the outputs that an ordinary one would have read for it.
void test_qconv__ref_transposed_is_the_definition(void **state)
{
	struct support_random r = {51};
	for (int i = 0; i < 20; i++) {
		struct trial b;
		random_trial(&r, &b, true, DT_I8, 8);
		const struct conv_geometry *g = &b.t.g;
		int64_t cg = g->c / g->group, ocg = g->oc / g->group, plane = g->oh * g->ow;
		int64_t *acc = calloc((size_t)(g->n * g->oc * plane), sizeof *acc);
		b.t.to_float = true;
		b.t.bias = NULL;
		b.t.fbias = NULL;
		b.t.act = (struct act){ACT_NONE, 0, 0};
		b.out_size = b.out_elems * sizeof(float);
		for (int64_t e = 0; e < g->n * g->c * g->h * g->w; e++) {
			int64_t w = e % g->w, h = e / g->w % g->h, c = e / (g->w * g->h) % g->c, n = e / (g->w * g->h * g->c);
			int64_t x = get_code(b.x, b.t.in_type, place(b.t.in, g->c, g->h * g->w, n, c, h * g->w + w)) - b.t.in_zero;
			for (int64_t o = 0; o < ocg; o++)
				for (int64_t kh = 0; kh < g->kh; kh++)
					for (int64_t kw = 0; kw < g->kw; kw++) {
						int64_t oh = h * g->stride_h + kh * g->dil_h - g->pad_t,
						        ow = w * g->stride_w + kw * g->dil_w - g->pad_l;
						if (oh < 0 || ow < 0 || oh >= g->oh || ow >= g->ow)
							continue;
						acc[(n * g->oc + c / cg * ocg + o) * plane + oh * g->ow + ow] +=
						    x * b.weight[((c * ocg + o) * g->kh + kh) * g->kw + kw];
					}
		}
		uint8_t *y = trial_run(&b, BACKEND_REF, 1);
		for (int64_t e = 0; e < g->n * g->oc * plane; e++) {
			int64_t p = e % plane, c = e / plane % g->oc, n = e / (plane * g->oc);
			assert_true(((const float *)(y + GUARD))[place(b.t.out, g->oc, plane, n, c, p)] == (float)acc[e] * b.scale[c]);
		}
		free(y);
		free(acc);
		trial_done(&b);
	}
}

void test_qconv__refuses_zero_points_outside_of_the_type(void **state)
{
	struct support_random r = {61};
	struct error err = {0};
	struct kernel *k;
	struct trial b;
	random_trial(&r, &b, false, DT_I8, 8);
	b.t.in_zero = INT32_MAX;
	assert_int_equal(kernel_qconv(&k, BACKEND_REF, &b.t, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "zero point"));
	trial_done(&b);
}
