// Pooling against the definition, in both layouts and for every type.
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

static double element(const void *x, enum dtype t, int64_t i)
{
	switch (t) {
	case DT_I8: return ((const int8_t *)x)[i];
	case DT_U8: return ((const uint8_t *)x)[i];
	case DT_I16: return ((const int16_t *)x)[i];
	default: return ((const float *)x)[i];
	}
}

static double one_pool(const struct pool_task *t, const void *x, int64_t plane, int64_t oy, int64_t ox)
{
	const struct conv_geometry *g = &t->g;
	double best = -INFINITY, sum = 0, count = 0;
	for (int64_t ky = 0; ky < g->kh; ky++) {
		for (int64_t kx = 0; kx < g->kw; kx++) {
			int64_t y = oy * g->stride_h + ky * g->dil_h - g->pad_t, c = ox * g->stride_w + kx * g->dil_w - g->pad_l;
			bool inside = y >= 0 && y < g->h && c >= 0 && c < g->w;
			bool counted = y < g->h + g->pad_b && c < g->w + g->pad_r;
			double v = inside ? element(x, t->type, (plane * g->h + y) * g->w + c) : 0;
			if (inside)
				best = fmax(best, v);
			sum += v;
			count += t->count_include_pad ? counted : inside;
		}
	}
	return t->max ? best : sum / count;
}

static struct pool_task random_pool(struct support_random *r, enum dtype type, bool max)
{
	struct pool_task t = {.max = max, .type = type, .count_include_pad = support_random_int(r, 0, 1)};
	struct conv_geometry *g = &t.g;
	do {
		*g = (struct conv_geometry){
			.n = support_random_int(r, 1, 2), .c = support_random_int(r, 1, 20), .group = 1,
			.h = support_random_int(r, 1, 12), .w = support_random_int(r, 1, 20),
			.kh = support_random_int(r, 1, 5), .kw = support_random_int(r, 1, 5),
			.stride_h = support_random_int(r, 1, 3), .stride_w = support_random_int(r, 1, 3),
			.dil_h = support_random_int(r, 1, 2), .dil_w = support_random_int(r, 1, 2),
		};
		g->pad_t = g->pad_b = (g->kh - 1) / 2;
		g->pad_l = g->pad_r = (g->kw - 1) / 2;
	} while (!conv_is_valid(g, false));
	g->oc = g->c;
	g->oh = conv_size(g->h, g->kh, g->stride_h, g->dil_h, g->pad_t + g->pad_b, false);
	g->ow = conv_size(g->w, g->kw, g->stride_w, g->dil_w, g->pad_l + g->pad_r, false);
	return t;
}

// Runs on x (plain) in a layout, gives the result in plain layout; the caller frees.
static void *pool_result(struct pool_task t, const void *x, enum layout layout, int width)
{
	const struct conv_geometry *g = &t.g;
	struct tensor plain_x = {t.type, LAYOUT_PLAIN, shape_of(4, (int64_t[]){g->n, g->c, g->h, g->w}), (void *)x, NULL}, in = plain_x;
	struct tensor out = {t.type, layout, shape_of(4, (int64_t[]){g->n, g->c, g->oh, g->ow}), NULL, NULL}, plain_y = out;
	struct kernel *k;
	struct error err;
	t.layout = in.layout = layout;
	plain_y.layout = LAYOUT_PLAIN;
	assert_int_equal(kernel_pool(&k, &t, &err), STATUS_OK);
	in.data = guarded_new(tensor_bytes(&in));
	out.data = guarded_new(tensor_bytes(&out));
	plain_y.data = malloc(tensor_bytes(&plain_y));
	tensor_reorder(&in, &plain_x, 1);
	run_kernel(k, in.data, NULL, NULL, out.data, width);
	tensor_reorder(&plain_y, &out, 1);
	guarded_free(in.data, tensor_bytes(&in));
	guarded_free(out.data, tensor_bytes(&out));
	kernel_free(&k);
	return plain_y.data;
}

static void check_pool(const struct pool_task *t, const void *x)
{
	const struct conv_geometry *g = &t->g;
	int64_t n = g->n * g->c * g->oh * g->ow;
	size_t bytes = (size_t)n * dtype_size(t->type);
	for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
		void *y = pool_result(*t, x, (enum layout)layout, 1), *wide = pool_result(*t, x, (enum layout)layout, SUPPORT_WIDTH(2));
		assert_memory_equal(y, wide, bytes);
		for (int64_t i = 0; i < n; i++) {
			float expected = (float)one_pool(t, x, i / g->ow / g->oh, i / g->ow % g->oh, i % g->ow);
			assert_close(&(float){(float)element(y, t->type, i)}, &expected, 1, t->max ? 0.0f : 1e-5f);
		}
		free(y);
		free(wide);
	}
}

void test_kernel_pool__max_of_every_type(void **state)
{
	static const enum dtype types[] = {DT_F32, DT_I8, DT_U8, DT_I16};
	struct support_random r = {21};
	for (int i = 0; i < 80; i++) {
		struct pool_task t = random_pool(&r, types[i % 4], true);
		int64_t n = t.g.n * t.g.c * t.g.h * t.g.w;
		float *x = random_floats(&r, n, 100.0f); // as integers: any bits are codes
		check_pool(&t, x);
		free(x);
	}
}

static struct pool_task window(int64_t c, int64_t h, int64_t w, int64_t k, int64_t stride, int64_t pad)
{
	return (struct pool_task){.max = true, .type = DT_F32,
	    .g = {.n = 1, .c = c, .h = h, .w = w, .oc = c, .kh = k, .kw = k, .oh = conv_size(h, k, stride, 1, 2 * pad, false),
	        .ow = conv_size(w, k, stride, 1, 2 * pad, false), .stride_h = stride, .stride_w = stride, .dil_h = 1, .dil_w = 1,
	        .pad_t = pad, .pad_l = pad, .pad_b = pad, .pad_r = pad, .group = 1}};
}

// Images of many bands of rows.
void test_kernel_pool__large_windows(void **state)
{
	static const struct {
		int64_t h, w, k, stride, pad;
	} sizes[] = {
	    {70, 40, 5, 1, 2}, {64, 66, 7, 2, 3}, {50, 30, 13, 1, 6}, {90, 9, 4, 3, 0}, {13, 13, 9, 1, 4}, {40, 80, 3, 1, 1}, {3, 5, 9, 1, 4}};
	struct support_random r = {26};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct pool_task t = window(18, sizes[i].h, sizes[i].w, sizes[i].k, sizes[i].stride, sizes[i].pad);
		float *x = random_floats(&r, 18 * t.g.h * t.g.w, 1.0f);
		check_pool(&t, x);
		free(x);
	}
}

static float average_in_order(const struct pool_task *t, const float *x, int64_t plane, int64_t oy, int64_t ox)
{
	const struct conv_geometry *g = &t->g;
	float sum = 0, rows = 0, columns = 0;
	for (int64_t ky = 0; ky < g->kh; ky++)
		for (int64_t kx = 0; kx < g->kw; kx++) {
			int64_t y = oy * g->stride_h + ky - g->pad_t, c = ox * g->stride_w + kx - g->pad_l;
			bool down = y >= 0 && y < g->h, across = c >= 0 && c < g->w;
			rows += kx == 0 && down;
			columns += ky == 0 && across;
			if (down && across)
				sum += x[(plane * g->h + y) * g->w + c];
		}
	return sum / (rows * columns);
}

// An average adds its window up row by row, each from the left, whichever way it takes:
// small images and bands of large ones, windows that reach far beyond the image, sums that overflow.
void test_kernel_pool__averages_add_up_in_order(void **state)
{
	static const struct {
		int64_t h, w, k, stride, pad;
	} sizes[] = {{7, 7, 3, 1, 1}, {56, 56, 3, 1, 1}, {90, 130, 5, 1, 2}, {35, 40, 3, 2, 1}, {300, 9, 2, 1, 0}, {20, 800, 7, 1, 3},
	    {5, 6, 9, 1, 4}, {1, 1, 3, 1, 1}};
	struct support_random r = {29};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct pool_task t = window(18, sizes[i].h, sizes[i].w, sizes[i].k, sizes[i].stride, sizes[i].pad);
		int64_t pixels = t.g.oh * t.g.ow;
		t.max = false;
		float *x = random_floats(&r, 18 * t.g.h * t.g.w, 1.0f), *want = malloc((size_t)(18 * pixels) * sizeof *want);
		x[t.g.w / 2] = 3e38f;
		x[t.g.w / 2 - t.g.w / 4] = 3e38f;
		for (int64_t p = 0; p < 18 * pixels; p++)
			want[p] = average_in_order(&t, x, p / pixels, p % pixels / t.g.ow, p % t.g.ow);
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			float *y = pool_result(t, x, (enum layout)layout, SUPPORT_WIDTH(2));
			assert_memory_equal(y, want, (size_t)(18 * pixels) * sizeof *want);
			free(y);
		}
		free(x);
		free(want);
	}
}

// Of -0 and 0 the first stays, in the order of rows, and what is no number is passed over.
void test_kernel_pool__first_of_equals(void **state)
{
	enum { H = 9, W = 11, K = 3 };
	static const float values[] = {0.0f, -0.0f, NAN, -INFINITY, -1.0f};
	struct support_random r = {27};
	struct pool_task t = window(1, H, W, K, 1, 0);
	float x[H * W], want[(H - K + 1) * (W - K + 1)];
	for (int i = 0; i < H * W; i++)
		x[i] = values[support_random_int(&r, 0, 4)];
	for (int64_t i = 0; i < t.g.oh * t.g.ow; i++) {
		want[i] = -INFINITY;
		for (int tap = 0; tap < K * K; tap++) {
			float v = x[(i / t.g.ow + tap / K) * W + i % t.g.ow + tap % K];
			want[i] = want[i] < v ? v : want[i];
		}
	}
	float *y = pool_result(t, x, LAYOUT_BLOCK, 1);
	assert_memory_equal(y, want, sizeof want);
	free(y);
}

void test_kernel_pool__average(void **state)
{
	struct support_random r = {22};
	for (int i = 0; i < 60; i++) {
		struct pool_task t = random_pool(&r, DT_F32, false);
		float *x = random_floats(&r, t.g.n * t.g.c * t.g.h * t.g.w, 1.0f);
		check_pool(&t, x);
		free(x);
	}
}

void test_kernel_pool__global_average(void **state)
{
	struct support_random r = {23};
	for (int i = 0; i < 40; i++) {
		struct pool_task t = {.type = DT_F32};
		t.g = (struct conv_geometry){.n = 2, .c = support_random_int(&r, 1, 40), .h = support_random_int(&r, 1, 15),
		    .w = support_random_int(&r, 1, 15), .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1, .oh = 1, .ow = 1, .group = 1};
		t.g.oc = t.g.c;
		t.g.kh = t.g.h;
		t.g.kw = t.g.w;
		float *x = random_floats(&r, t.g.n * t.g.c * t.g.h * t.g.w, 1.0f);
		check_pool(&t, x);
		free(x);
	}
}

static struct pool_task whole_plane(enum dtype type, int64_t c, int64_t h, int64_t w)
{
	return (struct pool_task){.max = true,
	    .type = type,
	    .g = {.n = 2,
	        .c = c,
	        .oc = c,
	        .h = h,
	        .w = w,
	        .kh = h,
	        .kw = w,
	        .oh = 1,
	        .ow = 1,
	        .stride_h = 1,
	        .stride_w = 1,
	        .dil_h = 1,
	        .dil_w = 1,
	        .group = 1}};
}

// Planes shorter and longer than a piece of them, with the largest element at any place.
void test_kernel_pool__global_max(void **state)
{
	static const enum dtype types[] = {DT_F32, DT_I8, DT_U8, DT_I16};
	static const int64_t sizes[][2] = {{1, 1}, {1, 3}, {16, 16}, {1, 257}, {23, 25}, {40, 40}};
	struct support_random r = {28};
	for (int i = 0; i < 4 * 6; i++) {
		struct pool_task t = whole_plane(types[i % 4], support_random_int(&r, 1, 40), sizes[i / 4][0], sizes[i / 4][1]);
		float *x = random_floats(&r, t.g.n * t.g.c * t.g.h * t.g.w, 100.0f);
		check_pool(&t, x);
		free(x);
	}
}

void test_kernel_pool__nan_is_largest_where_asked(void **state)
{
	enum { N = 300 };
	struct pool_task t = whole_plane(DT_F32, 1, 1, N);
	float x[2 * N];
	for (int at = 0; at < N; at += 37) {
		for (int i = 0; i < 2 * N; i++)
			x[i] = i == at ? NAN : (float)i;
		for (int keep = 0; keep < 2; keep++) {
			t.max_nan = keep;
			float *y = pool_result(t, x, LAYOUT_BLOCK, 1);
			assert_true(keep ? isnan(y[0]) : y[0] == (at == N - 1 ? N - 2 : N - 1));
			assert_true(y[1] == 2 * N - 1);
			free(y);
		}
	}
}

void test_kernel_pool__same_bits_at_every_level(void **state)
{
	struct support_random r = {24};
	for (int i = 0; i < 20; i++) {
		struct pool_task t = random_pool(&r, DT_F32, i % 2);
		size_t bytes = (size_t)(t.g.n * t.g.c * t.g.oh * t.g.ow) * sizeof(float);
		float *x = random_floats(&r, t.g.n * t.g.c * t.g.h * t.g.w, 1.0f);
		void *best = pool_result(t, x, LAYOUT_BLOCK, 1);
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			void *y = pool_result(t, x, LAYOUT_BLOCK, 1);
			assert_memory_equal(y, best, bytes);
			free(y);
		}
		free(best);
		free(x);
	}
	cpu_limit(CPU_LEVELS);
}

void test_kernel_pool__other_types_are_refused(void **state)
{
	struct support_random r = {25};
	struct kernel *k;
	struct error err;
	struct pool_task max = random_pool(&r, DT_I64, true), average = random_pool(&r, DT_I8, false);
	assert_int_equal(kernel_pool(&k, &max, &err), STATUS_UNSUPPORTED);
	assert_int_equal(kernel_pool(&k, &average, &err), STATUS_UNSUPPORTED);
	assert_null(k);
}
