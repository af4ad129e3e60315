// Convolutions: ref against the definition, the other backends against ref.
#include <pthread.h>
#include "../../src/engine/backend/ordered.h"
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

static const enum kernel_backend fast[] = {BACKEND_ONEDNN, BACKEND_BLAS};

static int64_t conv_outputs(const struct conv_geometry *g)
{
	return g->n * g->oc * g->oh * g->ow;
}

// The definition, element by element: output (oc, y, x) and input (c, iy, ix) meet in tap (ky, kx).
static double one_output(const struct conv_case *k, int64_t n, int64_t oc, int64_t y, int64_t x)
{
	const struct conv_geometry *g = &k->t.g;
	int64_t c_group = g->c / g->group, oc_group = g->oc / g->group, group = oc / oc_group;
	double sum = k->bias ? k->bias[oc] : 0;
	for (int64_t i = 0; i < c_group * g->h * g->w * g->kh * g->kw; i++) {
		int64_t kx = i % g->kw, ky = i / g->kw % g->kh, ix = i / g->kw / g->kh % g->w, iy = i / g->kw / g->kh / g->w % g->h;
		int64_t c = i / g->kw / g->kh / g->w / g->h;
		bool meets = k->t.transposed ?
		    iy * g->stride_h + ky * g->dil_h - g->pad_t == y && ix * g->stride_w + kx * g->dil_w - g->pad_l == x :
		    y * g->stride_h + ky * g->dil_h - g->pad_t == iy && x * g->stride_w + kx * g->dil_w - g->pad_l == ix;
		if (!meets)
			continue;
		int64_t w = k->t.transposed ? (group * c_group + c) * oc_group + oc % oc_group : oc * c_group + c;
		sum += (double)k->weight[(w * g->kh + ky) * g->kw + kx] * k->x[((n * g->c + group * c_group + c) * g->h + iy) * g->w + ix];
	}
	return sum;
}

static double act_of(const struct act *a, double x)
{
	double hard = fmax(0, fmin(1, a->a * x + a->b)), sigmoid = 1 / (1 + exp(-x));
	switch (a->kind) {
	case ACT_NONE: return x;
	case ACT_RELU: return fmax(x, 0);
	case ACT_CLIP: return fmin(fmax(x, a->a), a->b);
	case ACT_LEAKY: return x < 0 ? x * a->a : x;
	case ACT_SIGMOID: return sigmoid;
	case ACT_SWISH: return x * sigmoid;
	case ACT_HARDSWISH: return x * fmax(0, fmin(1, x / 6 + 0.5));
	case ACT_HARDSIGMOID: return hard;
	case ACT_TANH: return tanh(x);
	case ACT_MISH: return x * tanh(log1p(exp(x)));
	case ACT_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752));
	}
	return 0;
}

static void check_ref(struct support_random *r, bool transposed)
{
	struct conv_case c = conv_case_new(r, random_conv(r, transposed), support_random_int(r, 0, 1));
	const struct conv_geometry *g = &c.t.g;
	float *y = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
	assert_non_null(y);
	for (int64_t i = 0; i < conv_outputs(g); i += 37) {
		double v = one_output(&c, i / g->ow / g->oh / g->oc, i / g->ow / g->oh % g->oc, i / g->ow % g->oh, i % g->ow);
		v = act_of(&c.t.epi.act, v + (c.t.epi.add == ADD_BEFORE ? c.residual[i] : 0));
		v += c.t.epi.add == ADD_AFTER ? c.residual[i] : 0;
		assert_close(&y[i], &(float){(float)v}, 1, 1e-5f);
	}
	free(y);
	conv_case_free(&c);
}

void test_kernel_conv__ref_is_the_definition(void **state)
{
	struct support_random r = {1};
	for (int i = 0; i < 40; i++)
		check_ref(&r, i % 2);
}

// Wherever the backend has a kernel, its result is the expected one. Returns for how many pairs of layouts it has one.
static int check_backend(struct conv_case *c, enum kernel_backend b, const float *expected)
{
	int supported = 0;
	for (int layouts = 0; layouts < 4; layouts++) {
		enum layout in = layouts & 1 ? LAYOUT_BLOCK : LAYOUT_PLAIN, out = layouts & 2 ? LAYOUT_BLOCK : LAYOUT_PLAIN;
		float *y = conv_result(c, b, in, out, 3);
		if (!y)
			continue;
		supported++;
		assert_close(y, expected, conv_outputs(&c->t.g), 1e-4f);
		free(y);
	}
	return supported;
}

static int check_onednn(struct support_random *r, struct conv_task t)
{
	struct conv_case c = conv_case_new(r, t, true);
	float *expected = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
	int supported = check_backend(&c, BACKEND_ONEDNN, expected);
	free(expected);
	conv_case_free(&c);
	return supported;
}

static void check_random(uint64_t seed, bool transposed, int cases)
{
	struct support_random r = {seed};
	int supported[BACKEND_COUNT] = {0};
	for (int i = 0; i < cases; i++) {
		struct conv_case c = conv_case_new(&r, random_conv(&r, transposed), support_random_int(&r, 0, 1));
		float *expected = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
		for (size_t b = 0; b < sizeof fast / sizeof *fast; b++)
			supported[fast[b]] += check_backend(&c, fast[b], expected);
		free(expected);
		conv_case_free(&c);
	}
	assert_int_equal(supported[BACKEND_BLAS], cases);
	if (layout_block() == 8 && !transposed)
		assert_true(supported[BACKEND_ONEDNN] > cases * 4 * 3 / 4);
}

void test_kernel_conv__backends_agree_with_ref(void **state)
{
	check_random(2, false, 60);
}

void test_kernel_conv__transposed_backends_agree_with_ref(void **state)
{
	check_random(3, true, 40);
}

// Image-like first layers, larger than the strips and tiles of the kernels.
void test_kernel_conv__first_layers(void **state)
{
	struct support_random r = {4};
	static const struct conv_geometry layers[] = {
		{.c = 3, .oc = 16, .kh = 6, .kw = 6, .stride_h = 2, .stride_w = 2, .pad_t = 2, .pad_l = 2, .pad_b = 2, .pad_r = 2},
		{.c = 3, .oc = 20, .kh = 3, .kw = 3, .stride_h = 2, .stride_w = 2, .pad_b = 1, .pad_r = 1},
		{.c = 1, .oc = 8, .kh = 5, .kw = 5, .stride_h = 1, .stride_w = 1, .pad_t = 2, .pad_l = 2, .pad_b = 2, .pad_r = 2},
		{.c = 4, .oc = 9, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1},
		{.c = 1, .oc = 32, .kh = 41, .kw = 11, .stride_h = 2, .stride_w = 2, .pad_t = 20, .pad_l = 5, .pad_b = 20, .pad_r = 5},
		{.c = 3, .oc = 16, .kh = 9, .kw = 15, .stride_h = 1, .stride_w = 1, .pad_t = 8, .pad_l = 3, .pad_b = 1, .pad_r = 11},
	};
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
		struct conv_task t = {.g = layers[i], .epi.act.kind = ACT_SWISH};
		t.g.n = t.g.group = t.g.dil_h = t.g.dil_w = 1;
		t.g.h = t.g.w = 96;
		struct conv_case c = conv_case_new(&r, t, true);
		float *expected = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 2);
		assert_int_equal(check_backend(&c, BACKEND_ONEDNN, expected), 4);
		assert_int_equal(check_backend(&c, BACKEND_BLAS, expected), 1);
		free(expected);
		conv_case_free(&c);
	}
}

// The usual upsampling layers, which oneDNN computes phase by phase or all phases at once:
// in groups, with ragged channels and with few, and with windows of which each phase has a part.
void test_kernel_conv__transposed_by_phases(void **state)
{
	struct support_random r = {7};
	static const struct conv_geometry layers[] = {
		{.c = 24, .oc = 16, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2, .group = 1},
		{.c = 20, .oc = 12, .kh = 4, .kw = 4, .stride_h = 2, .stride_w = 2, .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = 1},
		{.c = 8, .oc = 8, .kh = 3, .kw = 3, .stride_h = 2, .stride_w = 2, .pad_t = 1, .pad_l = 1, .group = 1},
		{.c = 16, .oc = 32, .kh = 3, .kw = 2, .stride_h = 3, .stride_w = 1, .group = 2},
		{.c = 21, .oc = 21, .kh = 4, .kw = 4, .stride_h = 2, .stride_w = 2, .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = 21},
		{.c = 16, .oc = 1, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2, .group = 1},
		{.c = 24, .oc = 3, .kh = 4, .kw = 4, .stride_h = 2, .stride_w = 2, .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = 1},
		{.c = 8, .oc = 2, .kh = 9, .kw = 3, .stride_h = 4, .stride_w = 3, .pad_t = 4, .pad_b = 1, .group = 1},
		{.c = 32, .oc = 5, .kh = 3, .kw = 1, .stride_h = 3, .stride_w = 1, .pad_t = 1, .group = 1},
		{.c = 12, .oc = 4, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2, .group = 4},
		{.c = 20, .oc = 24, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = 1},
		{.h = 1, .w = 1, .c = 30, .oc = 32, .kh = 4, .kw = 4, .stride_h = 1, .stride_w = 1, .group = 1},
		{.h = 1, .w = 1, .c = 30, .oc = 3, .kh = 3, .kw = 4, .stride_h = 2, .stride_w = 1, .pad_t = 1, .pad_r = 2, .group = 1},
		{.h = 1, .c = 8, .oc = 6, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 2, .pad_l = 1, .pad_b = 1, .group = 2},
	};
	for (size_t i = 0; i < 3 * sizeof layers / sizeof *layers; i++) {
		struct conv_task t = {.g = layers[i / 3], .transposed = true, .epi = {{ACT_SIGMOID, 0, 0}, (enum add_kind)(i % 3)}};
		t.g.n = 2;
		t.g.h = t.g.h ? t.g.h : 9;
		t.g.w = t.g.w ? t.g.w : 11;
		t.g.dil_h = t.g.dil_w = 1;
		assert_true(check_onednn(&r, t) > 0);
	}
}

// Groups that fill no blocks are merged, the last ones with the padding of the channels.
void test_kernel_conv__groups_that_do_not_divide(void **state)
{
	struct support_random r = {9};
	int64_t block = layout_block();
	const struct {
		int64_t group, c, oc;
	} layers[] = {
	    {13, block / 2, block / 2}, {3, block / 2, block / 2}, {7, block / 4, block / 4}, {5, block / 2, block}, {3, block + 4, block + 4}};
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
		struct conv_task t = {.epi = {{ACT_HARDSIGMOID, 0.2f, 0.5f}, ADD_BEFORE}};
		t.g = (struct conv_geometry){.n = 2, .c = layers[i].group * layers[i].c, .oc = layers[i].group * layers[i].oc, .h = 11, .w = 9,
		    .group = layers[i].group, .kh = 3, .kw = 3, .stride_h = 2, .stride_w = 1, .dil_h = 1, .dil_w = 1, .pad_t = 1, .pad_l = 1,
		    .pad_b = 1, .pad_r = 1};
		assert_int_equal(check_onednn(&r, t), 4);
	}
}

// 1x1 on few pixels: of three panels of outputs two threads take a half each.
void test_kernel_conv__panels_that_threads_cannot_share(void **state)
{
	struct support_random r = {10};
	const int64_t block = layout_block(), sizes[] = {14, 7, 2, 1};
	for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
		struct conv_task t = {
		    .g = {.n = 1,
		        .c = 3 * block,
		        .oc = 5 * block - 3,
		        .h = sizes[i / 3],
		        .w = sizes[i / 3],
		        .kh = 1,
		        .kw = 1,
		        .stride_h = 1,
		        .stride_w = 1,
		        .dil_h = 1,
		        .dil_w = 1,
		        .group = 1},
		    .epi = {{i % 2 ? ACT_HARDSWISH : ACT_SWISH, 0, 0}, (enum add_kind)(i % 3)},
		};
		assert_int_equal(check_onednn(&r, t), 4);
	}
}

// Padding that is wider than the fast kernels take, and dilated taps that lie in it for every pixel.
void test_kernel_conv__wide_padding(void **state)
{
	struct support_random r = {8};
	static const struct {
		int64_t kernel, dilation, pad, stride;
	} layers[] = {{3, 4, 4, 1}, {3, 6, 6, 1}, {3, 12, 12, 1}, {3, 24, 24, 1}, {5, 9, 18, 1}, {3, 20, 20, 2}, {9, 1, 4, 1}, {3, 2, 4, 1}};
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
		struct conv_task t = {.epi = {{ACT_RELU, 0, 0}, ADD_BEFORE}};
		t.g = (struct conv_geometry){.n = 2,
		    .c = 20,
		    .oc = 24,
		    .h = 14,
		    .w = 13,
		    .group = 1,
		    .kh = layers[i].kernel,
		    .kw = layers[i].kernel,
		    .dil_h = layers[i].dilation,
		    .dil_w = layers[i].dilation,
		    .stride_h = layers[i].stride,
		    .stride_w = layers[i].stride,
		    .pad_t = layers[i].pad,
		    .pad_l = layers[i].pad,
		    .pad_b = layers[i].pad,
		    .pad_r = layers[i].pad};
		int supported = check_onednn(&r, t);
		assert_true(supported > 0 || layout_block() != 8);
	}
}

// The products of one output in the order of k: channel, row, column of the kernel.
static int64_t terms_of(const struct conv_case *k, int64_t i, float *a, float *b)
{
	const struct conv_geometry *g = &k->t.g;
	int64_t x = i % g->ow, y = i / g->ow % g->oh, oc = i / g->ow / g->oh % g->oc, n = i / g->ow / g->oh / g->oc, at = 0;
	int64_t channels = g->c / g->group, first = oc / (g->oc / g->group) * channels;
	for (int64_t c = 0; c < channels; c++)
		for (int64_t tap = 0; tap < g->kh * g->kw; tap++, at++) {
			int64_t iy = y * g->stride_h + tap / g->kw * g->dil_h - g->pad_t,
			        ix = x * g->stride_w + tap % g->kw * g->dil_w - g->pad_l;
			bool inside = iy >= 0 && iy < g->h && ix >= 0 && ix < g->w;
			a[at] = k->weight[oc * channels * g->kh * g->kw + at];
			b[at] = inside ? k->x[((n * g->c + first + c) * g->h + iy) * g->w + ix] : 0.0f;
		}
	return at;
}

static float ordered_sum(const float *a, const float *b, int64_t n, int64_t pixels, bool single)
{
	int64_t block = single ? 4 : ordered_step(pixels, n);
	float sum = 0;
	for (int64_t from = 0; from < n; from += block) {
		float part = 0;
		for (int64_t i = from; i < n && i < from + block; i++)
			part = !single ? fmaf(a[i], b[i], part) : i == from ? a[i] * b[i] : part + a[i] * b[i];
		sum = from == 0 && !single ? part : sum + part;
	}
	return sum;
}

static void check_ordered(const struct conv_case *c)
{
	const struct conv_geometry *g = &c->t.g;
	float *y = conv_result(c, BACKEND_BLAS, LAYOUT_PLAIN, LAYOUT_PLAIN, 3), a[4096], b[4096];
	assert_non_null(y);
	for (int64_t i = 0; i < conv_outputs(g); i += 7) {
		int64_t n = terms_of(c, i, a, b);
		float v = ordered_sum(a, b, n, g->oh * g->ow, g->oc == g->group);
		v = c->bias ? v + c->bias[i / g->ow / g->oh % g->oc] : v;
		assert_true(v == y[i]);
	}
	free(y);
}

// For files that are quantized already every bit of a sum counts.
void test_kernel_conv__sums_in_order(void **state)
{
	struct support_random r = {9};
	for (int i = 0; i < 40; i++) {
		struct conv_task t = random_conv(&r, false);
		t.ordered = true;
		t.epi = (struct epilogue){{ACT_NONE, 0, 0}, ADD_NONE};
		struct conv_case c = conv_case_new(&r, t, support_random_int(&r, 0, 1));
		cpu_limit(i % 2 ? CPU_PLAIN : CPU_LEVELS);
		check_ordered(&c);
		cpu_limit(CPU_LEVELS);
		conv_case_free(&c);
	}
}

// Every activation and place of the residual, with channels that leave padding in the last block.
void test_kernel_conv__epilogues(void **state)
{
	struct support_random r = {5};
	for (int i = 0; i < 3 * (ACT_GELU + 1); i++) {
		int group = i % 2 ? 21 : 1;
		struct conv_task t = {
			.g = {.n = 2, .c = 21, .oc = 21, .h = 7, .w = 9, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1,
			    .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = group},
			.epi = {{(enum act_kind)(i / 3), 0.25f, 0.5f}, (enum add_kind)(i % 3)},
		};
		assert_int_equal(check_onednn(&r, t), 4);
	}
}

struct crowd {
	const struct kernel *k;
	const struct conv_case *c;
	const float *x, *expected;
	int64_t stored;
	bool same;
};

static void *run_in_crowd(void *arg)
{
	struct crowd *m = arg;
	size_t bytes = (size_t)m->stored * sizeof(float);
	m->same = true;
	for (int i = 0; i < 20; i++) {
		float *y = aligned_alloc(64, (bytes + 127) / 64 * 64);
		void *scratch = aligned_alloc(64, (kernel_scratch(m->k, 1 + i % 2) + 127) / 64 * 64);
		kernel_run(m->k, &(struct kernel_io){m->x, NULL, NULL, y, scratch, 1 + i % 2});
		m->same = m->same && memcmp(y, m->expected, bytes) == 0;
		free(y);
		free(scratch);
	}
	return NULL;
}

// One kernel on several threads at once, wide and narrow runs mixed.
static void check_crowd(enum kernel_backend b, enum layout layout, bool transposed)
{
	struct support_random r = {6};
	struct conv_task t = {
		.g = {.n = 1, .c = 24, .oc = 40, .h = 20, .w = 20, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1,
		    .pad_t = 1, .pad_l = 1, .pad_b = 1, .pad_r = 1, .group = 1},
		.transposed = transposed, .in = layout, .out = layout, .epi.act.kind = ACT_SIGMOID,
	};
	struct conv_case c = conv_case_new(&r, t, true);
	const struct conv_geometry *g = &c.t.g;
	struct kernel *k;
	struct error err;
	assert_int_equal(kernel_conv(&k, b, &c.t, &err), STATUS_OK);
	float *x = to_layout(c.x, LAYOUT_PLAIN, layout, g->n, g->c, g->h, g->w);
	int64_t stored = stored_floats(layout, g->n, g->oc, g->oh, g->ow);
	float *expected = guarded_new((size_t)stored * sizeof(float));
	run_kernel(k, x, NULL, NULL, expected, 1);
	pthread_t thread[4];
	struct crowd member[4];
	for (int i = 0; i < 4; i++) {
		member[i] = (struct crowd){k, &c, x, expected, stored, false};
		pthread_create(&thread[i], NULL, run_in_crowd, &member[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		assert_true(member[i].same);
	}
	guarded_free(expected, (size_t)stored * sizeof(float));
	free(x);
	kernel_free(&k);
	conv_case_free(&c);
}

void test_kernel_conv__one_kernel_on_many_threads(void **state)
{
	check_crowd(BACKEND_ONEDNN, LAYOUT_BLOCK, false);
	check_crowd(BACKEND_ONEDNN, LAYOUT_PLAIN, false);
	check_crowd(BACKEND_BLAS, LAYOUT_PLAIN, false);
	check_crowd(BACKEND_BLAS, LAYOUT_PLAIN, true);
	check_crowd(BACKEND_REF, LAYOUT_PLAIN, false);
}

void test_kernel_conv__backend_names(void **state)
{
	for (int b = 0; b < BACKEND_COUNT; b++) {
		enum kernel_backend found;
		assert_true(backend_parse(&found, backend_name((enum kernel_backend)b)));
		assert_int_equal(found, b);
	}
	assert_false(backend_parse(&(enum kernel_backend){0}, "cuda"));
}

// Small groups are one to oneDNN, with zeros between them: 0 times infinity is NaN.
static void check_stray(struct support_random *r, const struct conv_geometry *g, bool transposed, float stray)
{
	const struct conv_task t = {.g = *g, .transposed = transposed, .epi = {{ACT_LEAKY, 0.2f, 0}, ADD_AFTER}};
	struct conv_case c = conv_case_new(r, t, true);
	c.x[(g->c / g->group + 1) * g->h * g->w - 3] = stray; // of the second group
	float *expected = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
	for (int out = 0; out < 2; out++) {
		float *y = conv_result(&c, BACKEND_ONEDNN, LAYOUT_BLOCK, out ? LAYOUT_BLOCK : LAYOUT_PLAIN, 2);
		for (int64_t i = 0; y && i < conv_outputs(&c.t.g); i++)
			if (isfinite(expected[i]) ? !(fabsf(y[i] - expected[i]) < 1e-4f) : isfinite(y[i]))
				fail_msg("%d groups of %d, output %d: %g, not %g", (int)g->group, (int)(g->c / g->group), (int)i, (double)y[i],
				    (double)expected[i]);
		free(y);
	}
	free(expected);
	conv_case_free(&c);
}

void test_kernel_conv__what_is_not_finite_stays_in_its_group(void **state)
{
	static const int64_t sizes[][3] = {{8, 8, 2}, {32, 32, 8}, {12, 24, 3}, {64, 64, 16}, {20, 10, 5}, {16, 16, 16}, {96, 48, 6}};
	struct support_random r = {19};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		for (int k = 0; k < 8; k++) {
			const struct conv_geometry g = {.n = 2,
			    .c = sizes[i][0],
			    .oc = sizes[i][1],
			    .group = sizes[i][2],
			    .h = 6,
			    .w = 7,
			    .kh = k & 1 ? 3 : 1,
			    .kw = k & 1 ? 3 : 1,
			    .stride_h = 1,
			    .stride_w = 1,
			    .dil_h = 1,
			    .dil_w = 1,
			    .pad_t = k & 1,
			    .pad_b = k & 1,
			    .pad_l = k & 1 ? 3 : 0,
			    .pad_r = k & 1};
			check_stray(&r, &g, k & 2, k & 4 ? NAN : INFINITY);
		}
	}
}
