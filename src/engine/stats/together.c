// All figures of a site in one walk: a piece of the float tensor is read from memory once and then
// compared and counted while it is in the first-level cache.
#include <stdlib.h>
#include "stats_impl.h"

enum {
	VISITORS = 9,
	THIN = STATS_CHUNK / 8, // vectors of a piece that are counted
	LARGE = 1 << 16         // elements of a tensor from which on
};

struct together {
	int n;
	struct {
		strip_fn *fn;
		void *arg;
		int64_t most; // vectors of a piece
	} visitor[VISITORS];
	int64_t counted; // vectors of a piece that are counted
};

static void add(struct together *t, strip_fn *fn, void *arg, int64_t most)
{
	t->visitor[t->n].fn = fn;
	t->visitor[t->n].most = most;
	t->visitor[t->n++].arg = arg;
}

static void each_piece(void *arg, int64_t at, struct strip strip)
{
	const struct together *t = arg;
	for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK) {
		int64_t left = strip.vectors - v;
		for (int i = 0; i < t->n; i++) {
			int64_t most = t->visitor[i].most;
			struct strip piece = {left < most ? left : most, strip.step, strip.valid};
			t->visitor[i].fn(t->visitor[i].arg, at + v * strip.step, piece);
		}
	}
}

static bool add_comparison(struct together *t, struct comparison *c, const struct stats_site *s, int i)
{
	if (compare_is_whole(c))
		add(t, compare_strip, c, STATS_CHUNK);
	else
		stats_compare(s->sums[i], s->f, s->q[i], s->quant[i]);
	return compare_is_whole(c);
}

// One tensor, quantized twice in the same way.
static bool are_same(const struct stats_site *s)
{
	return s->sums[0] && s->sums[1] && s->q[0]->data == s->q[1]->data && quantizer_equal(s->quant[0], s->quant[1]);
}

// False when the floats' own sums are left to be made.
static bool add_comparisons(struct together *t, struct comparison *c, const struct stats_site *s, struct summing *floats)
{
	bool wanted[2] = {s->sums[0] != NULL, s->sums[1] && !are_same(s)}, summed = false;
	for (int i = 0; i < 2; i++)
		if (wanted[i])
			compare_begin(&c[i], s->sums[i], s->f, s->q[i], s->quant[i], floats);
	if (wanted[0] && wanted[1] && compare_is_two(c)) {
		add(t, compare_two_strip, c, STATS_CHUNK);
		return true;
	}
	for (int i = 0; i < 2; i++)
		if (wanted[i])
			summed |= add_comparison(t, &c[i], s, i);
	return summed;
}

static void add_codes(struct together *t, struct counting *codes, const struct stats_site *s, uint32_t *count, struct comparison *c)
{
	counting_begin(codes, s->q[0], count);
	if (s->sums[0] && compare_is_whole(c) && t->counted == STATS_CHUNK)
		c->codes = codes;
	else
		add(t, codes_strip, codes, t->counted);
}

struct counted { // a tensor's range and its grid
	struct tensor_range *range;       // NULL: it is not wanted
	struct grid *grid;                // NULL: it is not wanted
	uint16_t (*count)[GRID_BINS + 1]; // scratch for the grid
	struct tensor_range own;          // where the grid alone asks for a range
	struct ranging ranging;
	struct gridding gridding;
};

static void add_counted(struct together *t, struct counted *c, const struct tensor *f, struct summing *floats)
{
	if (!c->range && !c->grid)
		return;
	ranging_begin(&c->ranging, c->range ? c->range : &c->own, floats);
	add(t, range_strip, &c->ranging, STATS_CHUNK);
	if (!c->grid)
		return;
	gridding_begin(&c->gridding, c->grid, c->ranging.out, f, c->count);
	add(t, grid_strip, &c->gridding, t->counted);
}

void stats_site(const struct stats_site *s)
{
	struct together t = {.counted = s->thin && tensor_count(s->f) >= LARGE ? THIN : STATS_CHUNK};
	struct summing floats, floats_q;
	struct comparison compare[2];
	struct counting codes = {0};
	struct stats_scratch *tables = s->scratch ? s->scratch : xcalloc(1, sizeof *tables);
	struct counted f = {.range = s->range, .grid = s->grid, .count = tables->grid[0]};
	struct counted q = {.grid = s->grid_q, .count = tables->grid[1]};
	summing_begin(&floats, s->f);
	if (!add_comparisons(&t, compare, s, &floats) && (s->range || s->grid))
		add(&t, sums_strip, &floats, STATS_CHUNK);
	if (s->codes_q)
		add_codes(&t, &codes, s, tables->codes, compare);
	add_counted(&t, &f, s->f, &floats);
	if (s->grid_q) {
		summing_begin(&floats_q, s->q[0]);
		add(&t, sums_strip, &floats_q, STATS_CHUNK);
		add_counted(&t, &q, s->q[0], &floats_q);
	}
	if (t.n)
		strips_each(s->f, each_piece, &t);
	if (are_same(s))
		*s->sums[1] = *s->sums[0];
	gridding_end(&f.gridding);
	gridding_end(&q.gridding);
	if (s->codes_q)
		counting_end(&codes, s->codes_q);
	if (!s->scratch)
		free(tables);
}
