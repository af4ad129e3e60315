// The memo of figures: what is composed of other tensors' figures is what measuring the whole tensor gives.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "support.h"
#include "../../src/analysis/measure/figures.h"

enum { HALF = 3000, SAMPLES = 2 };

static struct key named(const char *name)
{
	return key_add_text((struct key){0}, name);
}

static struct tensor tensor_of(float *x, int64_t n)
{
	return (struct tensor){.type = DT_F32, .shape = shape_of(1, &n), .data = x};
}

// Two halves of different range, and the codes that a quantizer of step 0.1 makes of them.
static void fill(float *x, int8_t *codes, int sample)
{
	struct support_random r = {(uint64_t)sample + 5};
	for (int i = 0; i < 2 * HALF; i++) {
		x[i] = support_random_normal(&r) * (i < HALF ? 1.0f : 3.0f);
		codes[i] = (int8_t)(x[i] * 10 > 127 ? 127 : x[i] * 10 < -128 ? -128 : x[i] * 10);
	}
}

static void measure(struct memo *m, const char *name, int sample, float *x, int8_t *codes, int64_t n)
{
	const struct quantizer q = {.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .scale = (float[]){0.1f},
	    .zero = (int32_t[]){0}, .qmin = -128, .qmax = 127};
	struct tensor f = tensor_of(x, n), y = {.type = DT_I8, .shape = shape_of(1, &n), .data = codes};
	struct tensor_sums sums;
	struct tensor_range range;
	static struct grid grid;
	uint32_t count[256] = {0};
	assert_true(hist_lacks_floats(memo_hist(m, named(name)), sample, &grid));
	stats_site(
	    &(struct stats_site){.f = &f, .q = {&y, &y}, .quant = {&q, &q}, .sums = {&sums}, .range = &range, .grid = &grid, .codes_q = count});
	figure_set(memo_figure(m, named(name)), sample, &sums);
	range_set(memo_range(m, named(name)), sample, &range);
	hist_add_floats(memo_hist(m, named(name)), sample, &grid);
	hist_add_codes(memo_hist(m, key_add_int(named(name), 1)), sample, count, DT_I8, &q);
}

struct composed {
	struct figure *figure;
	struct range_memo *range;
	struct hist_memo *hist[2];
};

static struct composed found(struct memo *m, const char *name)
{
	return (struct composed){memo_figure(m, named(name)), memo_range(m, named(name)),
	    {memo_hist(m, named(name)), memo_hist(m, key_add_int(named(name), 1))}};
}

static struct composed compose(struct memo *m)
{
	struct composed c = found(m, "composed"), a = found(m, "first"), b = found(m, "second");
	figure_compose(c.figure, (struct figure *[]){a.figure, b.figure}, 2);
	range_compose(c.range, (struct range_memo *[]){a.range, b.range}, 2);
	for (int i = 0; i < 2; i++)
		hist_compose(c.hist[i], (struct hist_memo *[]){a.hist[i], b.hist[i]}, 2);
	return c;
}

static void measure_all(struct memo *m)
{
	static float x[2 * HALF];
	static int8_t codes[2 * HALF];
	for (int s = 0; s < SAMPLES; s++) {
		fill(x, codes, s);
		measure(m, "first", s, x, codes, HALF);
		measure(m, "second", s, x + HALF, codes + HALF, HALF);
		measure(m, "whole", s, x, codes, 2 * HALF);
	}
}

static long total(const struct hist *h)
{
	long n = 0;
	for (int i = 0; i < STATS_BINS; i++)
		n += h->bin[i];
	return n;
}

// What it does not know yet is nowhere left to chance: the loops of the statistics read all of a grid.
void test_figures__first_grid_is_empty(void **state)
{
	struct memo *m = memo_new(SAMPLES);
	static struct grid grid;
	memset(&grid, 0xa5, sizeof grid);
	assert_true(hist_lacks_floats(memo_hist(m, named("new")), 0, &grid));
	assert_true(grid.n == 0 && grid.exponent == 0 && grid.first == 0);
	memo_free(&m);
}

void test_figures__parts_together_are_the_whole(void **state)
{
	struct memo *m = memo_new(SAMPLES);
	struct composed c = compose(m), whole = found(m, "whole");
	assert_true(!figure_lacks(c.figure, 0) && !figure_has(c.figure, 0) && !hist_wants(c.hist[0], SAMPLES));
	measure_all(m);
	assert_true(figure_complete(c.figure, SAMPLES) && range_complete(c.range, SAMPLES) && hist_complete(c.hist[1], SAMPLES));
	struct figures a = figure_merge(c.figure, SAMPLES), b = figure_merge(whole.figure, SAMPLES);
	assert_float_equal(a.pooled.snr_db, b.pooled.snr_db, 1e-5);
	assert_float_equal(a.nsr_mean, b.nsr_mean, 1e-7);
	assert_true(a.known == b.known && a.min == b.min && a.max == b.max && a.pooled.max_error == b.pooled.max_error);
	struct tensor_range r = range_merge(c.range, SAMPLES), direct = range_merge(whole.range, SAMPLES);
	assert_true(r.min == direct.min && r.max == direct.max && r.n == direct.n);
	struct hist *floats = hist_publish(c.hist[0], SAMPLES, &r), *codes = hist_publish_beside(c.hist[1], SAMPLES, floats);
	struct hist *other = hist_publish_beside(whole.hist[1], SAMPLES, floats);
	assert_int_equal(total(floats), 2 * HALF * SAMPLES);
	assert_memory_equal(codes->bin, other->bin, sizeof codes->bin);
	assert_true(hist_used(c.hist[1]) == hist_used(whole.hist[1]));
	hist_drop(&floats);
	hist_drop(&codes);
	hist_drop(&other);
	memo_free(&m);
}

// The mean over the samples: of PPQ's ratio, which a sample of zeros makes large and not infinite,
// and of the cosines that there are.
void test_figures__means_over_samples(void **state)
{
	struct memo *m = memo_new(3);
	struct figure *f = memo_figure(m, named("x"));
	struct range_memo *r = memo_range(m, named("x"));
	figure_set(f, 0, &(struct tensor_sums){.n = 2, .f2 = 4, .q2 = 4, .fq = 4});
	figure_set(f, 2, &(struct tensor_sums){.n = 2, .q2 = 1, .e2 = 1});
	range_set(r, 0, &(struct tensor_range){.n = 2, .min = -1, .max = 3, .nonfinite = 4});
	range_set(r, 1, &(struct tensor_range){.min = INFINITY, .max = -INFINITY, .nonfinite = 6});
	range_set(r, 2, &(struct tensor_range){.n = 1, .min = 4, .max = 4});
	struct figures mean = figure_merge(f, 3);
	assert_int_equal(mean.known, 2);
	assert_float_equal(mean.nsr_mean, 1 / 1e-7 / 2, 1);
	assert_float_equal(mean.cosine_mean, 1, 1e-12);
	assert_float_equal(mean.pooled.nsr, 0.25, 1e-12);
	struct tensor_range all = range_merge(r, 3);
	assert_true(all.n == 3 && all.min == -1 && all.max == 4 && all.nonfinite == 10);
	memo_free(&m);
}

// From the counts of the float tensor alone, each bin at its middle.
void test_figures__what_a_scale_would_do(void **state)
{
	struct hist *h = calloc(1, sizeof *h);
	const double width = 2.0 / STATS_BINS;
	h->lo = -1;
	h->hi = 1;
	h->bin[STATS_BINS - 1] = 5;
	double x = 1 - width / 2;
	struct prediction p = hist_predict(h, x / 3, 0, -128, 127); // a code of its own: only its bin's width is left
	assert_true(p.known && p.clipped == 0);
	assert_float_equal(p.snr_db, 10 * log10(x * x / (width * width / 12)), 1e-9);
	p = hist_predict(h, width / 4, 0, -32768, 32767); // finer than the bins
	assert_float_equal(p.snr_db, 10 * log10(x * x / (width * width / 16 / 12)), 1e-9);
	h->bin[0] = 3;
	p = hist_predict(h, 1.0 / 127, 128, 0, 255); // nothing is clipped with a zero point in the middle
	assert_true(p.known && p.clipped == 0);
	p = hist_predict(h, 1.0 / 127, 0, 0, 255);
	assert_float_equal(p.clipped, 3.0 / 8, 1e-12);
	assert_float_equal(hist_share(h, -2, 0), 3.0 / 8, 1e-12);
	assert_float_equal(hist_share(h, 0, 2), 5.0 / 8, 1e-12);
	assert_float_equal(hist_share(h, -0.5, 0.5), 0, 0);
	free(h);
}

// A network of so many Transposes: each asks the first, and not the one in front of it.
void test_figures__a_long_row_of_moves_asks_its_first(void **state)
{
	enum { LONG = 200000 };
	struct memo *m = memo_new(1);
	struct composed c = found(m, "first");
	for (int i = 0; i < LONG; i++) {
		struct composed in = c;
		struct key k = key_add_int(named("moved"), 2 * i);
		c = (struct composed){memo_figure(m, k), memo_range(m, k), {memo_hist(m, k), memo_hist(m, key_add_int(k, 1))}};
		figure_compose(c.figure, &in.figure, 1);
		range_compose(c.range, &in.range, 1);
		for (int h = 0; h < 2; h++)
			hist_compose(c.hist[h], &in.hist[h], 1);
	}
	assert_false(figure_has(c.figure, 0) || range_complete(c.range, 1) || hist_complete(c.hist[0], 1));
	range_set(memo_range(m, named("first")), 0, &(struct tensor_range){.min = -1, .max = 2, .n = 3});
	figure_set(memo_figure(m, named("first")), 0, &(struct tensor_sums){.qmax = 2});
	assert_true(figure_has(c.figure, 0) && figure_merge(c.figure, 1).max == 2);
	assert_true(range_complete(c.range, 1) && range_merge(c.range, 1).n == 3);
	assert_true(hist_used(c.hist[1]) < 0);
	memo_free(&m);
}

// Figures of parts that a session brought are measured again, counts of the whole instead. The one part of a moved tensor
// is as good as it.
void test_figures__what_a_session_gave_is_no_part(void **state)
{
	static const char *const part[] = {"first", "second"};
	for (int i = 0; i < 2; i++) {
		struct memo *m = memo_new(SAMPLES);
		struct composed given = found(m, part[i]), moved = found(m, "moved");
		given.figure->merged = given.hist[0]->merged = true;
		figure_compose(moved.figure, &given.figure, 1);
		assert_true(given.figure->merged && figure_has(moved.figure, 0));
		struct composed c = compose(m);
		assert_true(!figure_lacks(c.figure, 0) && figure_lacks(given.figure, 0) && !figure_has(moved.figure, 0));
		assert_true(hist_wants(c.hist[0], SAMPLES) && !hist_wants(c.hist[1], SAMPLES));
		given.figure->merged = c.figure->merged = true;
		compose(m);
		assert_true(given.figure->merged && figure_complete(c.figure, SAMPLES));
		memo_free(&m);
	}
}

// Two histograms that are shown one above the other have the same edges, whichever of them has moved.
void test_figures__a_histogram_beside_another_follows_its_edges(void **state)
{
	struct memo *m = memo_new(SAMPLES);
	struct hist edges = {.lo = -2, .hi = 2};
	measure_all(m);
	struct hist_memo *codes = found(m, "whole").hist[1];
	static const struct {
		float lo, hi;
	} next[] = {{-2, 2}, {-3, 2}, {-3, 4}, {-3, 4}};
	for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
		edges.lo = next[i].lo;
		edges.hi = next[i].hi;
		struct hist *shown = hist_publish_beside(codes, SAMPLES, &edges);
		assert_true(shown->lo == edges.lo && shown->hi == edges.hi);
		hist_drop(&shown);
	}
	memo_free(&m);
}

// What no grid tells from 0 reads "~0"; 0 itself, and what is small beside nothing, as it is.
void test_figures__the_ends_of_a_range(void **state)
{
	static const struct {
		double min, max;
		const char *text;
	} range[] = {
	    {1.492e-19, 0.938, "~0 .. 0.938"},
	    {-0.2785, 6.546, "-0.2785 .. 6.546"},
	    {0, 6, "0 .. 6"},
	    {-4, -1e-9, "-4 .. ~0"},
	    {-32768, 32767, "-32768 .. 32767"},
	    {-131072, 131068, "-131072 .. 131068"},
	    {0.001, 60, "0.001 .. 60"},
	    {0.0004, 60, "~0 .. 60"},
	    {1e-19, 3e-19, "1e-19 .. 3e-19"},
	    {2e-9, 2e-9, "2e-09 .. 2e-09"},
	    {-1.234e-19, -1.234e+20, "~0 .. -1.234e+20"},
	};
	char text[RANGE_TEXT];
	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		assert_string_equal(range_text(text, range[i].min, range[i].max, " .. "), range[i].text);
}

// Counts of a tensor are kept in about the bytes that they need: a graph of thousands of nodes has two a node, outside of
// what --memory says.
void test_figures__small_tensors_keep_small_counts(void **state)
{
	struct memo *m = memo_new(SAMPLES);
	measure_all(m);
	size_t before = memo_bytes(m);
	static float x[64];
	static int8_t codes[64];
	for (int i = 0; i < 64; i++)
		x[i] = (float)i / 7;
	for (int s = 0; s < SAMPLES; s++)
		measure(m, "small", s, x, codes, 64);
	assert_true(memo_bytes(m) - before < 8000);
	memo_free(&m);
}
