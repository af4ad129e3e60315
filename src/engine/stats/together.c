// All figures of a site in one walk: a piece of the float tensor is read from memory once and then compared and counted while it is
// in the first-level cache.
#include "stats_impl.h"

enum { VISITORS = 4 };

struct together {
	int n;
	struct {
		strip_fn *fn;
		void *arg;
	} visitor[VISITORS];
};

static void add(struct together *t, strip_fn *fn, void *arg)
{
	t->visitor[t->n].fn = fn;
	t->visitor[t->n++].arg = arg;
}

static void each_piece(void *arg, int64_t at, struct strip strip)
{
	const struct together *t = arg;

	for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK) {
		int64_t left = strip.vectors - v;
		struct strip piece = { left < STATS_CHUNK ? left : STATS_CHUNK, strip.step, strip.valid };
		for (int i = 0; i < t->n; i++)
			t->visitor[i].fn(t->visitor[i].arg, at + v * strip.step, piece);
	}
}

static void add_comparison(struct together *t, struct comparison *c, const struct stats_site *s, int i)
{
	if (!s->sums[i])
		return;
	compare_begin(c, s->sums[i], s->f, s->q[i], s->quant[i]);
	if (compare_is_whole(c))
		add(t, compare_strip, c);
	else
		stats_compare(s->sums[i], s->f, s->q[i], s->quant[i]);
}

void stats_site(const struct stats_site *s)
{
	struct together t = { 0 };
	struct comparison compare[2];
	struct histogram hist = { 0 }, hist_q = { 0 };
	struct counting count = { 0 };
	bool codes = s->hist_q && s->q[0]->type != DT_F32, whole = codes && s->quant[0]->n == 1;

	add_comparison(&t, &compare[0], s, 0);
	add_comparison(&t, &compare[1], s, 1);
	if (s->hist_f) {
		hist_begin(&hist, s->hist_f, s->bins, s->lo, s->hi, s->f);
		add(&t, hist_strip, &hist);
	}
	if (whole) {
		codes_begin(&count, s->q[0]);
		add(&t, codes_strip, &count);
	} else if (codes) {
		stats_hist_codes(s->hist_q, s->bins, s->lo, s->hi, s->q[0], s->quant[0], s->used);
	} else if (s->hist_q) {
		hist_begin(&hist_q, s->hist_q, s->bins, s->lo, s->hi, s->q[0]);
		add(&t, hist_strip, &hist_q);
	}
	if (t.n)
		strips_each(s->f, each_piece, &t);
	hist_end(&hist);
	hist_end(&hist_q);
	if (whole)
		codes_end(&count, s->hist_q, s->bins, s->lo, s->hi, s->quant[0], s->used);
}
