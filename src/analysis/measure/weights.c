// Figures of weights. They are the same for every sample: compared once, as sample 0, by the conductor.
// Large ones are rounded and compared some rows at a time, so that they are not in memory twice.
#include "../study/study_impl.h"

// Rows from .. from + n - 1: a row is one index of the outermost dimension.
struct rows {
	int64_t from, n;
};

static int64_t count_rows(const struct tensor *t)
{
	return t->shape.rank > 0 ? t->shape.dim[0] : 1;
}

static struct tensor tensor_rows(const struct tensor *t, struct rows r)
{
	struct tensor part = *t;
	size_t row = tensor_bytes(t) / (size_t)count_rows(t);
	part.buf = NULL;
	part.data = (char *)t->data + (size_t)r.from * row;
	if (t->shape.rank > 0)
		part.shape.dim[0] = r.n;
	return part;
}

static struct quantizer quantizer_rows(const struct quantizer *q, struct rows r)
{
	struct quantizer part = *q;
	if (q->n > 1 && q->axis == 0) {
		part.n = (int)r.n;
		part.scale += r.from;
		part.zero = q->zero ? q->zero + r.from : NULL;
	}
	return part;
}

static int64_t rows_at_once(const struct tensor *t)
{
	enum { BYTES = 32 << 20 };
	int64_t row = (int64_t)tensor_bytes(t) / count_rows(t);
	return row < BYTES ? BYTES / (row + 1) : 1;
}

static struct hist *hist_over(const struct tensor_range *r)
{
	struct hist *h = xcalloc(1, sizeof *h);
	*h = (struct hist){.refs = 1, .lo = r->min, .hi = r->max};
	return h;
}

struct weight {
	struct tensor f, constant; // the graph's own; what stands for it under the plan
	struct quantizer q;
	struct tensor_sums sums;
	struct tensor_range range;
	struct hist *hist_f, *hist_q; // over the range
};

static void add_hist(const struct weight *m, struct hist *h, const struct tensor *t)
{
	if (m->range.n > 0)
		stats_hist(h->bin, STATS_BINS, h->lo, h->hi, t);
}

static enum status add_rows(struct weight *m, struct rows r, struct stats_scratch *scratch, struct error *err)
{
	const struct tensor f = tensor_rows(&m->f, r), constant = tensor_rows(&m->constant, r);
	const struct quantizer q = quantizer_rows(&m->q, r);
	struct tensor_sums sums = {0};
	struct tensor y = f;
	y.buf = NULL;
	enum status st = tensor_alloc(&y, NULL, err);
	if (st != STATUS_OK)
		return st;
	fake_quantize(&y, &constant, &q, 1);
	stats_site(&(struct stats_site){.f = &f, .q = {&y, &y}, .quant = {&q, &q}, .sums = {&sums}, .scratch = scratch});
	sums_merge(&m->sums, &sums);
	add_hist(m, m->hist_f, &f);
	add_hist(m, m->hist_q, &y);
	tensor_drop(&y);
	return STATUS_OK;
}

enum status work_measure_weight(struct work *w, struct site_work *sw, struct stats_scratch *scratch, struct error *err)
{
	struct weight m = {.f = *w->study->g->value[sw->site.value].constant, .constant = *plan_constant(w->plan, sw->site.slot),
	    .q = w->plan->slot[sw->site.slot].quant};
	enum status st = STATUS_OK;
	stats_range(&m.range, &m.f);
	m.hist_f = hist_over(&m.range);
	m.hist_q = hist_over(&m.range);
	for (struct rows r = {0}; st == STATUS_OK && r.from < count_rows(&m.f) && tensor_count(&m.f) > 0; r.from += r.n) {
		int64_t left = count_rows(&m.f) - r.from, most = rows_at_once(&m.f);
		r.n = left < most ? left : most;
		st = atomic_load(&w->study->cancel) ? error_set(err, STATUS_CANCELLED, "cancelled") : add_rows(&m, r, scratch, err);
	}
	if (st != STATUS_OK) {
		hist_drop(&m.hist_f);
		hist_drop(&m.hist_q);
		return st;
	}
	figure_set(sw->graphwise, 0, &m.sums);
	figure_set(sw->layerwise, 0, &m.sums);
	range_set(sw->range, 0, &m.range);
	hist_set(sw->hist_float, m.hist_f);
	hist_set(sw->hist_quant, m.hist_q);
	return STATUS_OK;
}
