#include "qtui/tui/task_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"

void task_list_done(struct task_list *l)
{
	task_report_drop(&l->report);
	free(l->row);
	l->row = NULL;
	l->n = 0;
}

const char *task_order_name(enum task_order o)
{
	static const char *const name[TASK_ORDERS] = {[TASK_BY_LOSS] = "lost most first", [TASK_BY_GAIN] = "gained most first",
	    [TASK_BY_FLOAT] = "best in float first", [TASK_BY_OBJECTS] = "most objects first", [TASK_BY_NAME] = "by name"};
	return name[o];
}

static bool has_figure(const struct task_report *r, const char *name)
{
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].name, name) == 0)
			return true;
	return false;
}

// Networks that agree have pictures where they make some, or boxes.
enum task_shows task_list_shows(const struct task_report *r)
{
	if (r->kind != TASK_AGREE)
		return task_shows(r->kind);
	return has_figure(r, "same_boxes") ? SHOWS_OBJECTS : has_figure(r, "psnr_db") ? SHOWS_FIGURES : SHOWS_NOTHING;
}

bool task_has_overlays(const struct task_report *r)
{
	return task_list_shows(r) < SHOWS_VERDICT;
}

const struct task_overlay *task_overlay(enum task_shows shows, bool labelled, int i)
{
	enum { MOST = 4 };
	static const struct set {
		int n;
		struct task_overlay at[MOST];
	} judged = {4,
	    {{OVERLAY_CHANGED, "what changed"}, {OVERLAY_ALL, "all boxes"}, {OVERLAY_TRUTH, "truth alone"}, {OVERLAY_NONE, "nothing"}}},
	  both = {3, {{OVERLAY_CHANGED, "what changed"}, {OVERLAY_ALL, "all boxes"}, {OVERLAY_NONE, "nothing"}}},
	  classes = {2, {{OVERLAY_CHANGED, "what changed"}, {OVERLAY_NONE, "nothing"}}},
	  pictures = {4, {{OVERLAY_CHANGED, "quantized, and what changed"}, {OVERLAY_NONE, "quantized"}, {OVERLAY_FLOAT, "float"},
	                     {OVERLAY_TRUTH, "truth"}}},
	  alone = {3, {{OVERLAY_CHANGED, "quantized, and what differs"}, {OVERLAY_NONE, "quantized"}, {OVERLAY_FLOAT, "float"}}},
	  *const of[][2] = {[SHOWS_OBJECTS] = {&both, &judged}, [SHOWS_REGIONS] = {&classes, &classes}, [SHOWS_FIGURES] = {&alone, &pictures},
      [SHOWS_VERDICT] = {&both, &judged}, [SHOWS_NOTHING] = {&both, &judged}};
	const struct set *set = of[shows][labelled];
	return &set->at[i % set->n];
}

enum task_order task_list_next_order(const struct task_list *l)
{
	enum task_order o = (enum task_order)((l->order[l->page] + 1) % TASK_ORDERS);
	return o == TASK_BY_OBJECTS && l->page == TASK_PAGE_SAMPLES ? TASK_BY_NAME : o;
}

// What a row is sorted by, falling; equal ones stay in the order of the report.
struct keyed {
	double by;
	const char *name; // not NULL: sorted by it, rising
	int at;
};

static double known(double v, double dflt)
{
	return isnan(v) ? dflt : v;
}

static double loss(const double value[TASK_VARIANTS])
{
	return known(value[TASK_FLOAT], 1) - known(value[TASK_QUANT], 0);
}

// `lost` of a sample: which comes before all that its figures say.
static double sort_value(const double value[TASK_VARIANTS], int lost, int objects, enum task_order o)
{
	enum { VERDICT = 10 }; // figures differ by less

	bool nothing = isnan(value[TASK_FLOAT]) && isnan(value[TASK_QUANT]);
	if (nothing)
		return -1e9;
	if (o == TASK_BY_FLOAT)
		return known(value[TASK_FLOAT], -1);
	if (o == TASK_BY_OBJECTS)
		return objects;
	return (o == TASK_BY_GAIN ? -1 : 1) * (loss(value) + VERDICT * lost);
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int names = x->name && y->name ? strcmp(x->name, y->name) : 0;
	if (names)
		return names;
	if (x->by != y->by)
		return x->by > y->by ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static struct keyed key_of_row(const struct task_list *l, const struct task_report *r, int i)
{
	enum task_order o = l->order[l->page];
	bool samples = l->page == TASK_PAGE_SAMPLES;
	const double *value = samples ? r->sample[i].value : r->class[i].value;
	const char *name = samples ? r->sample[i].name : r->class[i].name;
	return (struct keyed){.by = sort_value(value, samples ? task_sample_lost(&r->sample[i]) : 0, samples ? 0 : r->class[i].objects, o),
	    .name = o == TASK_BY_NAME ? name : NULL, .at = i};
}

static void sort(struct task_list *l, const struct task_report *r)
{
	bool samples = l->page == TASK_PAGE_SAMPLES;
	int all = !r ? 0 : samples ? r->n_samples : r->n_classes;
	struct keyed *k = xcalloc((size_t)all + 1, sizeof *k);
	l->n = 0;
	for (int i = 0; i < all; i++)
		if (samples ? !l->of_class || task_sample_has(&r->sample[i], l->class) : r->class[i].objects > 0)
			k[l->n++] = key_of_row(l, r, i);
	qsort(k, (size_t)l->n, sizeof *k, by_key);
	l->row = xrealloc(l->row, ((size_t)l->n + 1) * sizeof *l->row);
	for (int i = 0; i < l->n; i++)
		l->row[i] = k[i].at;
	free(k);
}

// What is under the cursor, to be found again: a sample's number or a class's id.
static int identity(const struct task_list *l, int row)
{
	const struct task_report *r = l->report;
	if (!r || row >= l->n)
		return -1;
	return l->rows_page == TASK_PAGE_SAMPLES ? r->sample[l->row[row]].sample : r->class[l->row[row]].id;
}

void task_list_refresh(struct task_list *l, struct task_report *r, struct scroll *s)
{
	bool same_rows = l->rows_page == l->page && l->rows_of_class == l->of_class;
	int under = s->cursor > 0 && same_rows ? identity(l, s->cursor) : -1;
	bool same_order = l->rows_order == l->order[l->page];
	if (r == l->report && same_rows && same_order && l->row)
		return;
	task_report_take(r);
	task_report_drop(&l->report);
	l->report = r;
	l->of_class = task_list_class(l); // another task has other classes
	sort(l, r);
	l->rows_page = l->page;
	l->rows_order = l->order[l->page];
	l->rows_of_class = l->of_class;
	for (int i = 0; under >= 0 && same_order && i < l->n; i++)
		if (identity(l, i) == under)
			s->cursor = i;
}

bool task_list_open_class(struct task_list *l, int row)
{
	const struct task_class *c = &l->report->class[l->row[row]];
	bool any = false;
	for (int i = 0; i < l->report->n_samples; i++)
		any |= task_sample_has(&l->report->sample[i], c->id);
	if (!any)
		return false;
	l->of_class = true;
	l->class = c->id;
	l->page = TASK_PAGE_SAMPLES;
	return true;
}

void task_list_close_class(struct task_list *l, struct scroll *s)
{
	l->of_class = false;
	l->page = TASK_PAGE_CLASSES;
	*s = (struct scroll){0, 0};
	task_list_refresh(l, l->report, s);
	for (int i = 0; i < l->n; i++)
		if (identity(l, i) == l->class)
			s->cursor = i;
}

const struct task_class *task_list_class(const struct task_list *l)
{
	for (int i = 0; l->of_class && l->report && i < l->report->n_classes; i++)
		if (l->report->class[i].id == l->class)
			return &l->report->class[i];
	return NULL;
}
