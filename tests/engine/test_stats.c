// Figures, ranges and histograms against naive sums, one by one and in one walk.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tensor/cpu.h"
#include "stats_case.h"

// Where element (n, c, pixel) is stored.
static int64_t stored_at(const struct tensor *t, int64_t n, int64_t c, int64_t p)
{
	int64_t channels = t->shape.dim[1], plane = 1, block = layout_block();
	for (int d = 2; d < t->shape.rank; d++)
		plane *= t->shape.dim[d];
	if (t->layout == LAYOUT_PLAIN)
		return (n * channels + c) * plane + p;
	return ((n * ((channels + block - 1) / block) + c / block) * plane + p) * block + c % block;
}

struct walk {
	int64_t n, c, p;
};
static bool next(const struct tensor *t, struct walk *w)
{
	int64_t plane = 1;
	for (int d = 2; d < t->shape.rank; d++)
		plane *= t->shape.dim[d];
	if (++w->p < plane)
		return true;
	w->p = 0;
	if (++w->c < t->shape.dim[1])
		return true;
	w->c = 0;
	return ++w->n < t->shape.dim[0];
}

// Fills the elements, and the padding with what would show if it counted.
static void fill(struct tensor *t, float reach, float padding)
{
	struct walk w = {0, 0, 0};
	for (int64_t i = 0; i < tensor_stored(t); i++)
		((float *)t->data)[i] = padding;
	do {
		((float *)t->data)[stored_at(t, w.n, w.c, w.p)] = noise() * reach + 0.25f;
	} while (next(t, &w));
}

static float value(const struct tensor *q, int64_t i, float scale, int32_t zero)
{
	switch (q->type) {
	case DT_F32: return ((float *)q->data)[i];
	case DT_I8: return (float)(((int8_t *)q->data)[i] - zero) * scale;
	case DT_U8: return (float)(((uint8_t *)q->data)[i] - zero) * scale;
	case DT_I16: return (float)(((int16_t *)q->data)[i] - zero) * scale;
	default: return (float)(((uint16_t *)q->data)[i] - zero) * scale;
	}
}

static struct tensor_sums naive(const struct tensor *f, const struct tensor *q, const struct quantizer *quant)
{
	struct tensor_sums s = {.fmin = INFINITY, .fmax = -INFINITY, .qmin = INFINITY, .qmax = -INFINITY};
	struct walk w = {0, 0, 0};
	do {
		int c = quant && quant->n > 1 ? (int)(quant->axis == 1 ? w.c : w.n) : 0;
		int64_t i = stored_at(f, w.n, w.c, w.p);
		float scale = quant ? quant->scale[c] : 1.0f, a = ((float *)f->data)[i], b = value(q, i, scale, quant ? quant->zero[c] : 0);
		s.n++;
		s.f2 += (double)a * a;
		s.q2 += (double)b * b;
		s.fq += (double)a * b;
		s.e2 += (double)(b - a) * (b - a);
		s.max_error = fmax(s.max_error, fabsf(b - a));
		if (quant)
			s.clipped += a < (float)(quant->qmin - quant->zero[c]) * scale || a > (float)(quant->qmax - quant->zero[c]) * scale;
		s.fmin = fminf(s.fmin, a);
		s.fmax = fmaxf(s.fmax, a);
		s.qmin = fminf(s.qmin, b);
		s.qmax = fmaxf(s.qmax, b);
	} while (next(f, &w));
	return s;
}

static void near(double got, double want, double size)
{
	if (!(fabs(got - want) <= 2e-6 * size))
		fail_msg("%.9g is not %.9g", got, want);
}

static void check_sums(const struct tensor_sums *got, const struct tensor_sums *want)
{
	assert_true(got->n == want->n);
	near(got->f2, want->f2, want->f2);
	near(got->q2, want->q2, want->q2);
	near(got->fq, want->fq, sqrt(want->f2 * want->q2)); // its terms have both signs
	near(got->e2, want->e2, want->e2);
	assert_true(got->max_error == want->max_error);
	assert_true(got->clipped == want->clipped);
	assert_true(got->fmin == want->fmin && got->fmax == want->fmax && got->qmin == want->qmin && got->qmax == want->qmax);
}

static const int64_t shapes[][4] = {
	{1, 1, 1, 1}, {1, 3, 7, 5}, {2, 8, 6, 6}, {2, 11, 9, 13}, {1, 21, 33, 40}, {3, 16, 1, 1}, {1, 5, 1, 1},
	{1, 25, 80, 80},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static void check_compare(const struct tensor *f, struct tensor *q, const struct quantizer *quant)
{
	struct tensor_sums first, s, want;
	if (quant)
		quantize(q, f, quant, 1);
	want = naive(f, q, quant);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		stats_compare(&s, f, q, quant);
		if (level == CPU_PLAIN)
			first = s;
		assert_memory_equal(&s, &first, sizeof s);
		check_sums(&s, &want);
	}
}

void test_stats__compare_against_naive_sums(void **state)
{
	for (int i = 0; i < SHAPES; i++) {
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			struct tensor f = tensor(DT_F32, (enum layout)layout, 4, shapes[i]);
			fill(&f, 9.0f, 1e6f);
			for (int c = 0; c < CODES; c++) {
				struct quantizer quant = quantizer(c);
				struct tensor q = tensor(quantizer_dtype(&quant), f.layout, 4, shapes[i]);
				check_compare(&f, &q, &quant);
				tensor_drop(&q);
			}
			struct tensor g = tensor(DT_F32, f.layout, 4, shapes[i]);
			fill(&g, 9.0f, -1e6f);
			check_compare(&f, &g, NULL);
			tensor_drop(&g);
			tensor_drop(&f);
		}
	}
}

void test_stats__compare_with_a_scale_per_channel(void **state)
{
	float scale[25];
	int32_t zero[25];
	for (int i = 0; i < 25; i++) {
		scale[i] = 0.01f * (float)(i + 3);
		zero[i] = i % 5;
	}
	for (int i = 0; i < SHAPES; i++) {
		for (int variant = 0; variant < 6; variant++) { // axis 0 and 1 in plain layout, axis 1 in LAYOUT_BLOCK; codes and floats
			struct quantizer quant = {
			    .kind = QUANT_LINEAR, .qmin = -128, .qmax = 127, .axis = variant % 3 > 0, .scale = scale, .zero = zero};
			struct tensor f = tensor(DT_F32, variant % 3 == 2 ? LAYOUT_BLOCK : LAYOUT_PLAIN, 4, shapes[i]);
			struct tensor q = tensor(variant < 3 ? DT_I8 : DT_F32, f.layout, 4, shapes[i]);
			quant.n = (int)shapes[i][quant.axis];
			fill(&f, 4.0f, 1e6f);
			check_compare(&f, &q, &quant);
			tensor_drop(&q);
			tensor_drop(&f);
		}
	}
}

// What the outermost codes stand for is not clipped, what lies beyond is;
// channels of few elements are compared one by one.
void test_stats__clipped_begins_beyond_the_ends(void **state)
{
	static const float scale[2] = {0.5f, 0.25f};
	static const int32_t zero[2] = {0, 10};
	static const int64_t dim[4] = {1, 2, 1, 6};
	static const float x[12] = {-64, 63.5f, -64.5f, 64, 0, 63, -34.5f, 29.25f, -34.75f, 29.5f, 40, 0};
	struct quantizer each = {.kind = QUANT_LINEAR, .qmin = -128, .qmax = 127, .axis = 1, .n = 2, .scale = scale, .zero = zero}, one = each;
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 4, dim), q = tensor(DT_I8, LAYOUT_PLAIN, 4, dim);
	struct tensor values = tensor(DT_F32, LAYOUT_PLAIN, 4, dim);
	struct tensor_sums s;
	one.axis = -1;
	one.n = 1;
	memcpy(f.data, x, sizeof x);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		quantize(&q, &f, &each, 1);
		stats_compare(&s, &f, &q, &each);
		assert_true(s.clipped == 5);
		fake_quantize(&values, &f, &each, 1);
		stats_compare(&s, &f, &values, &each);
		assert_true(s.clipped == 5);
		quantize(&q, &f, &one, 1);
		stats_compare(&s, &f, &q, &one);
		assert_true(s.clipped == 2);
	}
	cpu_limit(CPU_LEVELS);
	tensor_drop(&f);
	tensor_drop(&q);
	tensor_drop(&values);
}

// Whose squares are no floats: nothing that differs is exact.
void test_stats__values_with_squares_below_all_floats(void **state)
{
	static const float unit[] = {1e-18f, 1e-22f, 1e-30f};
	for (int u = 0; u < 3; u++)
		for (int c = 0; c < CODES; c++) {
			struct quantizer quant = quantizer(c), off;
			float scale = quant.scale[0] * unit[u], wide = 1;
			struct tensor f = tensor(DT_F32, LAYOUT_BLOCK, 4, shapes[3]), q = tensor(quantizer_dtype(&quant), f.layout, 4, shapes[3]);
			fill(&f, 9, 1e6f);
			for (int64_t i = 0; i < tensor_stored(&f); i++)
				((float *)f.data)[i] *= unit[u];
			quant.scale = &scale;
			check_compare(&f, &q, &quant);
			off = quant;
			off.scale = &wide; // all are lost
			check_compare(&f, &q, &off);
			struct tensor_sums s;
			stats_compare(&s, &f, &q, &off);
			assert_true(!sums_metrics(&s).exact && fabs(sums_metrics(&s).snr_db) < 1e-9);
			tensor_drop(&f);
			tensor_drop(&q);
		}
	cpu_limit(CPU_LEVELS);
}

void test_stats__values_that_are_not_finite(void **state)
{
	const int64_t n = 1000;
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), q = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	float *a = f.data, *b = q.data;
	struct tensor_sums s;
	struct tensor_range r;
	for (int i = 0; i < n; i++)
		a[i] = b[i] = (float)i;
	a[5] = b[5] = NAN;
	a[6] = b[6] = -INFINITY;
	stats_compare(&s, &f, &q, NULL);
	assert_true(s.n == 1000 && s.e2 == 0 && s.max_error == 0 && isfinite(s.f2));
	assert_true(sums_metrics(&s).exact && sums_metrics(&s).odd && s.none == 1);
	a[5] = b[5] = 5;
	stats_compare(&s, &f, &q, NULL);
	assert_true(sums_metrics(&s).exact && !sums_metrics(&s).odd);
	a[5] = b[5] = INFINITY;
	stats_compare(&s, &f, &q, NULL);
	assert_true(sums_metrics(&s).exact && sums_metrics(&s).odd && s.none == 0);
	a[5] = NAN;
	b[5] = 1.0f;
	stats_compare(&s, &f, &q, NULL);
	assert_true(isinf(s.e2) && isinf(s.max_error));
	assert_true(isnan(sums_metrics(&s).snr_db) && isnan(sums_metrics(&s).mse));
	stats_range(&r, &f);
	assert_true(r.n == 998 && r.nonfinite == 2 && r.min == 0.0f && r.max == 999.0f);
	for (int i = 0; i < n; i++)
		a[i] = b[i] = 3e38f;
	b[0] = -3e38f;
	stats_compare(&s, &f, &q, NULL);
	assert_true(isfinite(s.f2) && isfinite(s.e2) && s.max_error > 5.9e38);
	tensor_drop(&f);
	tensor_drop(&q);
}

void test_stats__range_leaves_padding_out(void **state)
{
	for (int i = 0; i < SHAPES; i++) {
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			struct tensor f = tensor(DT_F32, (enum layout)layout, 4, shapes[i]);
			struct tensor_range r;
			fill(&f, 2.0f, 77.0f);
			struct tensor_sums want = naive(&f, &f, NULL);
			for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
				cpu_limit((enum cpu_level)level);
				stats_range(&r, &f);
				assert_true(r.min == want.fmin && r.max == want.fmax && r.n == want.n && r.nonfinite == 0);
			}
			tensor_drop(&f);
		}
	}
}

static int bin_of(float x, int bins, float lo, float hi)
{
	float t = (x - lo) * (float)bins / (hi - lo);
	return t < 0 ? 0 : t >= (float)bins ? bins - 1 : (int)t;
}

static void check_hist(const struct tensor *f, int bins, float lo, float hi)
{
	uint32_t *got = calloc((size_t)bins, sizeof *got), *want = calloc((size_t)bins, sizeof *want);
	struct walk w = {0, 0, 0};
	want[0] = got[0] = 7; // it adds
	do {
		want[bin_of(((float *)f->data)[stored_at(f, w.n, w.c, w.p)], bins, lo, hi)]++;
	} while (next(f, &w));
	stats_hist(got, bins, lo, hi, f);
	assert_memory_equal(got, want, (size_t)bins * sizeof *got);
	free(got);
	free(want);
}

void test_stats__hist_bins_as_histc(void **state)
{
	static const int bins[] = {1, 64, 2048, 5000};
	for (int i = 0; i < SHAPES; i++) {
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			struct tensor f = tensor(DT_F32, (enum layout)layout, 4, shapes[i]);
			struct tensor_range r;
			fill(&f, 3.0f, 0.0f);
			stats_range(&r, &f);
			for (int b = 0; b < 4; b++)
				for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
					cpu_limit((enum cpu_level)level);
					if (r.max > r.min)
						check_hist(&f, bins[b], r.min, r.max);
					check_hist(&f, bins[b], -1.0f, 1.5f);
				}
			tensor_drop(&f);
		}
	}
}

void test_stats__hist_of_constant_and_odd_values(void **state)
{
	const int64_t n = 40;
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	uint32_t hist[8] = {0};
	stats_hist(hist, 8, 0.0f, 0.0f, &f);
	assert_int_equal(hist[0], 40);
	((float *)f.data)[3] = NAN;
	((float *)f.data)[4] = INFINITY;
	((float *)f.data)[5] = -INFINITY;
	memset(hist, 0, sizeof hist);
	stats_hist(hist, 8, -4.0f, 4.0f, &f);
	assert_int_equal(hist[0], 1);
	assert_int_equal(hist[4], 37);
	assert_int_equal(hist[7], 1);
	tensor_drop(&f);
}

void test_stats__merging_in_order(void **state)
{
	const int64_t n = 5000;
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), q = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	struct tensor_sums all = {0}, one, none = {0};
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i < n; i++) {
			((float *)f.data)[i] = noise() - (float)part;
			((float *)q.data)[i] = ((float *)f.data)[i] + 0.01f * noise();
		}
		stats_compare(&one, &f, &q, NULL);
		struct tensor_sums before = all;
		sums_merge(&all, &one);
		assert_true(all.f2 == before.f2 + one.f2 && all.e2 == before.e2 + one.e2 && all.n == before.n + one.n);
	}
	assert_true(all.fmin < -2.9f && all.fmax > 0.9f && all.n == 15000);
	one = all;
	sums_merge(&all, &none);
	assert_memory_equal(&all, &one, sizeof all);
	tensor_drop(&f);
	tensor_drop(&q);
}

void test_stats__metrics(void **state)
{
	struct metrics m;
	m = sums_metrics(&(struct tensor_sums){.n = 4, .f2 = 100, .q2 = 100, .fq = 99, .e2 = 1, .max_error = 0.5, .clipped = 1});
	assert_true(fabs(m.snr_db - 20.0) < 1e-12 && m.nsr == 0.01 && m.mse == 0.25 && fabs(m.cosine - 0.99) < 1e-12);
	assert_true(m.max_error == 0.5 && m.clipped == 0.25 && !m.exact);
	m = sums_metrics(&(struct tensor_sums){.n = 4, .f2 = 3, .q2 = 3, .fq = 3});
	assert_true(m.exact && isnan(m.snr_db) && m.nsr == 0 && m.cosine <= 1.0 && m.cosine > 0.999999);
	m = sums_metrics(&(struct tensor_sums){.n = 4, .q2 = 3, .e2 = 3});
	assert_true(!m.exact && isnan(m.snr_db) && isnan(m.nsr) && isnan(m.cosine) && m.mse == 0.75);
	m = sums_metrics(&(struct tensor_sums){.n = 4, .f2 = 4, .q2 = 9, .fq = -3, .e2 = 19});
	assert_true(m.cosine == -0.5 && m.nsr == 4.75 && m.snr_db < 0);
	m = sums_metrics(&(struct tensor_sums){.n = 4, .f2 = 3, .q2 = 3, .fq = 3.0000001});
	assert_true(m.cosine == 1.0);
	m = sums_metrics(&(struct tensor_sums){0});
	assert_true(!m.exact && isnan(m.mse) && isnan(m.clipped));
}

static void count_bits(uint32_t *count, const struct tensor *q)
{
	struct walk w = {0, 0, 0};
	do {
		int64_t i = stored_at(q, w.n, w.c, w.p);
		count[dtype_size(q->type) == 1 ? ((uint8_t *)q->data)[i] : ((uint16_t *)q->data)[i]]++;
	} while (next(q, &w));
}

// Every element is in the bin that its value rounded down to a step says.
static void check_grid(const struct grid *g, const struct tensor *f)
{
	uint32_t *want = calloc(GRID_BINS, sizeof *want);
	struct walk w = {0, 0, 0};
	do {
		double x = ((float *)f->data)[stored_at(f, w.n, w.c, w.p)];
		int64_t i = (int64_t)floor(ldexp(x, -g->exponent)) - g->first;
		assert_in_range(i, 0, g->n - 1);
		want[i]++;
	} while (next(f, &w));
	assert_memory_equal(g->bin, want, (size_t)g->n * sizeof *want);
	free(want);
}

// One walk against the functions one by one, in pieces that end in the middle of everything.
static void check_site(struct tensor *f, const struct quantizer *full, const struct quantizer *alone)
{
	struct tensor q = tensor(quantizer_dtype(full), f->layout, 4, f->shape.dim),
	              a = tensor(quantizer_dtype(alone), f->layout, 4, f->shape.dim);
	uint32_t *count = calloc(65536, sizeof *count), *want = calloc(65536, sizeof *want);
	struct tensor_sums sums[2], one[2];
	struct tensor_range range, plain;
	struct grid *grid = calloc(2, sizeof *grid);
	quantize(&q, f, full, 1);
	quantize(&a, f, alone, 1);
	stats_site(&(struct stats_site){.f = f, .q = {&q, &a}, .quant = {full, alone}, .sums = {&sums[0], &sums[1]},
		.range = &range, .grid = grid, .codes_q = count});
	stats_compare(&one[0], f, &q, full);
	stats_compare(&one[1], f, &a, alone);
	stats_range(&plain, f);
	count_bits(want, &q);
	check_sums(&sums[0], &one[0]);
	check_sums(&sums[1], &one[1]);
	assert_memory_equal(count, want, 65536 * sizeof *count);
	assert_true(range.min == plain.min && range.max == plain.max && range.n == plain.n);
	check_grid(grid, f);
	// One tensor under both simulations, quantized in the same way or in another one.
	float scale = full->scale[0] * 1.5f;
	struct quantizer wider = *full;
	wider.scale = &scale;
	stats_site(&(struct stats_site){.f = f, .q = {&q, &q}, .quant = {full, full}, .sums = {&sums[0], &sums[1]}});
	check_sums(&sums[0], &one[0]);
	assert_memory_equal(&sums[1], &sums[0], sizeof sums[0]);
	stats_site(&(struct stats_site){.f = f, .q = {&q, &q}, .quant = {full, &wider}, .sums = {&sums[0], &sums[1]}});
	stats_compare(&one[1], f, &q, &wider);
	check_sums(&sums[1], &one[1]);
	dequantize(f, &q, full, 1);
	stats_site(&(struct stats_site){.f = f, .q = {f, f}, .quant = {full, full}, .grid_q = grid + 1});
	check_grid(grid + 1, f);
	free(count);
	free(want);
	free(grid);
	tensor_drop(&q);
	tensor_drop(&a);
}

void test_stats__site_in_one_walk(void **state)
{
	for (int i = 0; i < SHAPES; i++) {
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			struct tensor f = tensor(DT_F32, (enum layout)layout, 4, shapes[i]);
			for (int c = 0; c < CODES; c++) {
				struct quantizer full = quantizer(c), alone = quantizer((c + 1) % CODES);
				fill(&f, 3.0f, 1e6f);
				cpu_limit(c % 2 ? CPU_PLAIN : CPU_LEVELS - 1);
				check_site(&f, &full, &alone);
			}
			tensor_drop(&f);
		}
	}
}

// One value in all elements, more of them than the small counters of a walk can hold.
void test_stats__site_of_one_value(void **state)
{
	static const int64_t dims[][4] = {{1, 1, 800, 801}, {1, 21, 240, 241}};
	struct quantizer full = quantizer(0), alone = quantizer(1);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		for (int i = 0; i < 2; i++) {
			struct tensor f = tensor(DT_F32, i ? LAYOUT_BLOCK : LAYOUT_PLAIN, 4, dims[i]);
			cpu_limit((enum cpu_level)level);
			fill(&f, 0.0f, 1e6f);
			check_site(&f, &full, &alone);
			tensor_drop(&f);
		}
	}
	cpu_limit(CPU_LEVELS);
}

// Codes are counted once, whatever their comparison meets: values that are not finite,
// strips that are not of whole vectors.
void test_stats__codes_beside_odd_floats(void **state)
{
	static const float odd[] = {NAN, INFINITY, 0};
	for (int i = 0; i < SHAPES * 2 * CODES * 3 * CPU_LEVELS; i++) {
		struct quantizer quant = quantizer(i % CODES);
		struct tensor f = tensor(DT_F32, (enum layout)(i / CODES % 2), 4, shapes[i / CODES / 2 % SHAPES]);
		struct tensor q = tensor(quantizer_dtype(&quant), f.layout, 4, f.shape.dim);
		uint32_t *count = calloc(65536, sizeof *count), *want = calloc(65536, sizeof *want);
		struct tensor_sums sums;
		cpu_limit((enum cpu_level)(i / CODES / 2 / SHAPES / 3));
		fill(&f, 3.0f, 1e6f);
		quantize(&q, &f, &quant, 1);
		((float *)f.data)[stored_at(&f, 0, f.shape.dim[1] - 1, 0)] = odd[i / CODES / 2 / SHAPES % 3];
		stats_site(&(struct stats_site){.f = &f, .q = {&q, &q}, .quant = {&quant, &quant}, .sums = {&sums}, .codes_q = count});
		count_bits(want, &q);
		assert_memory_equal(count, want, 65536 * sizeof *count);
		assert_true(sums.n == (double)tensor_count(&f));
		free(count);
		free(want);
		tensor_drop(&q);
		tensor_drop(&f);
	}
	cpu_limit(CPU_LEVELS);
}

// Both comparisons of a walk, of one type: the same bits at every level, and those of each alone.
static void check_two(const struct tensor *f, const struct tensor *q, const struct tensor *a, const struct quantizer *full,
    const struct quantizer *alone)
{
	struct tensor_sums first[2], sums[2];
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		stats_site(&(struct stats_site){.f = f, .q = {q, a}, .quant = {full, alone}, .sums = {&sums[0], &sums[1]}});
		if (level == CPU_PLAIN)
			memcpy(first, sums, sizeof first);
		assert_memory_equal(sums, first, sizeof first);
	}
	struct tensor_sums want[2] = {naive(f, q, full), naive(f, a, alone)};
	for (int k = 0; k < 2 && isfinite(want[0].f2); k++)
		check_sums(&sums[k], &want[k]);
}

void test_stats__two_comparisons_at_once(void **state)
{
	for (int i = 0; i < SHAPES; i++) {
		for (int layout = LAYOUT_PLAIN; layout <= LAYOUT_BLOCK; layout++) {
			struct tensor f = tensor(DT_F32, (enum layout)layout, 4, shapes[i]);
			for (int c = 0; c < 2 * CODES; c++) {
				struct quantizer full = quantizer(c / 2), alone = full;
				float scale = full.scale[0] * 1.5f;
				int32_t zero = full.zero[0] + 1;
				alone.scale = &scale;
				alone.zero = &zero;
				enum dtype type = c % 2 ? DT_F32 : quantizer_dtype(&full);
				struct tensor q = tensor(type, f.layout, 4, shapes[i]), a = tensor(type, f.layout, 4, shapes[i]);
				fill(&f, 3.0f, 1e6f);
				if (type == DT_F32) {
					fake_quantize(&q, &f, &full, 1);
					fake_quantize(&a, &f, &alone, 1);
				} else {
					quantize(&q, &f, &full, 1);
					quantize(&a, &f, &alone, 1);
				}
				check_two(&f, &q, &a, &full, &alone);
				((float *)f.data)[0] = INFINITY;
				check_two(&f, &q, &a, &full, &alone);
				tensor_drop(&q);
				tensor_drop(&a);
			}
			tensor_drop(&f);
		}
	}
	cpu_limit(CPU_LEVELS);
}

// A thin walk compares every element and counts an eighth of them; of a small tensor it counts all.
void test_stats__thin_site(void **state)
{
	static const int64_t dims[][4] = {{1, 24, 64, 64}, {1, 24, 16, 16}};
	static const double share[] = {1.0 / 8, 1};
	for (int i = 0; i < 2; i++) {
		struct quantizer quant = quantizer(0);
		struct tensor f = tensor(DT_F32, LAYOUT_BLOCK, 4, dims[i]), q = tensor(quantizer_dtype(&quant), LAYOUT_BLOCK, 4, dims[i]);
		uint32_t *count = calloc(65536, sizeof *count);
		struct grid *grid = calloc(1, sizeof *grid);
		struct tensor_sums sums, whole;
		struct tensor_range range, plain;
		fill(&f, 3.0f, 5.0f);
		quantize(&q, &f, &quant, 1);
		stats_site(&(struct stats_site){.f = &f, .q = {&q, &q}, .quant = {&quant, &quant}, .sums = {&sums}, .range = &range,
			.grid = grid, .codes_q = count, .thin = true});
		stats_site(&(struct stats_site){.f = &f, .q = {&q, &q}, .quant = {&quant, &quant}, .sums = {&whole}});
		stats_range(&plain, &f);
		assert_memory_equal(&sums, &whole, sizeof sums);
		assert_true(range.min == plain.min && range.max == plain.max && range.n == plain.n);
		assert_true(total(grid->bin, grid->n) == share[i] * (double)tensor_count(&f));
		assert_true(total(count, 65536) == share[i] * (double)tensor_count(&f));
		free(count);
		free(grid);
		tensor_drop(&q);
		tensor_drop(&f);
	}
}
