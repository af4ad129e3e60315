// Results in a session: every figure under its key, so that a session that is opened again shows its numbers
// before anything ran. Figures count for the same samples only: the file keeps a fingerprint of them.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "body.h"
#include "sources.h"
#include "study_task.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"

// ---- saving

// The figures of one kind. Runs share most of theirs: what is there already is left out.
struct saved_group {
	cJSON *object;
	struct keymap *there;
};

static cJSON *member(struct saved_group *g, struct key k)
{
	char name[33];
	if (key_is_zero(k) || keymap_get(g->there, k))
		return NULL;
	key_text(k, name);
	keymap_put(g->there, k, g);
	return cJSON_AddArrayToObject(g->object, name);
}

// All 17 digits: cJSON's own printing may lose the last bit.
static cJSON *exact_number(double v)
{
	char text[32];
	snprintf(text, sizeof text, "%.17g", v);
	return cJSON_CreateRaw(text);
}

static void add_numbers(cJSON *array, const double *v, int n)
{
	for (int i = 0; i < n; i++)
		cJSON_AddItemToArray(array, isfinite(v[i]) ? exact_number(v[i]) : cJSON_CreateNull());
}

static void save_figures(struct saved_group *group, struct key k, const struct figures *f)
{
	cJSON *a = f->known ? member(group, k) : NULL;
	const struct metrics *m = &f->pooled;
	if (a)
		add_numbers(a, (double[]){f->known, m->snr_db, m->nsr, m->cosine, m->mse, m->max_error, m->clipped, m->exact, f->nsr_mean,
		    f->cosine_mean, f->min, f->max}, 12);
}

static void save_hist(struct saved_group *group, struct key k, const struct hist *h, double used)
{
	uint64_t bin[STATS_SHOWN];
	cJSON *a = h ? member(group, k) : NULL;
	if (!a)
		return;
	add_numbers(a, (double[]){h->lo, h->hi, used}, 3);
	hist_shrink(h, bin, STATS_SHOWN);
	for (int i = 0; i < STATS_SHOWN; i++)
		cJSON_AddItemToArray(a, cJSON_CreateNumber((double)bin[i]));
}

static void save_scale(struct key k, float scale, int32_t zero, void *group)
{
	cJSON *a = member(group, k);
	if (a)
		add_numbers(a, (double[]){scale, zero}, 2);
}

enum { FIGURES, RANGES, HISTS, SCALES, GROUPS };

static void save_site(struct saved_group *g, const struct site *s, const struct site_keys *k)
{
	save_figures(&g[FIGURES], k->graphwise, &s->graphwise);
	save_figures(&g[FIGURES], k->layerwise, &s->layerwise);
	cJSON *r = s->range.n > 0 ? member(&g[RANGES], k->range) : NULL;
	if (r)
		add_numbers(r, (double[]){s->range.min, s->range.max, s->range.n, s->range.nonfinite}, 4);
	save_hist(&g[HISTS], k->hist_float, s->hist_float, -1);
	save_hist(&g[HISTS], k->hist_quant, s->hist_quant, s->used_levels);
}

static void save_snapshot(struct saved_group *g, const struct snapshot *s)
{
	const struct body *b = s->priv;
	if (!snapshot_complete(s))
		return;
	for (int i = 0; i < b->n_sites; i++)
		save_site(g, &b->site[i], &b->keys[i]);
	for (int i = 0; i < s->n_outputs; i++)
		save_figures(&g[FIGURES], b->output_key[i], &b->output[i]);
}

struct results_save {
	cJSON *root;
	struct saved_group group[GROUPS];
	struct snapshot *run[1 + STUDY_LATEST];
	int n_runs;
};

// The run on the screen and the ones before it, so that undo computes nothing tomorrow either.
// Those of other samples do not count.
static void take_runs(struct results_save *r, const struct study *s)
{
	study_lock(s);
	if (!s->snap->dirty) // else its figures may be of samples that were prepared otherwise
		r->run[r->n_runs++] = snapshot_take(s->snap);
	for (int i = 0; i < STUDY_LATEST && s->latest[i]; i++)
		if (s->latest[i]->preparation == s->step[s->current].preparation)
			r->run[r->n_runs++] = snapshot_take(s->latest[i]);
	study_unlock(s);
}

struct results_save *results_save_begin(const struct study *s)
{
	static const char *const name[GROUPS] = {[FIGURES] = "figures", [RANGES] = "ranges", [HISTS] = "histograms", [SCALES] = "scales"};
	char samples[33];
	struct results_save *r = xcalloc(1, sizeof *r);
	r->root = cJSON_CreateObject();
	key_text(all_samples_key(study_dataset(s)), samples);
	cJSON_AddStringToObject(r->root, "program", QTUI_SOURCES);
	cJSON_AddStringToObject(r->root, "samples", samples);
	for (int i = 0; i < GROUPS; i++)
		r->group[i] = (struct saved_group){cJSON_AddObjectToObject(r->root, name[i]), keymap_new()};
	take_runs(r, s);
	study_task_save(s, cJSON_AddObjectToObject(r->root, "tasks"));
	cJSON_AddItemToObject(r->root, "blame", study_blames_save(s));
	repair_memo_save(s->repairs, cJSON_AddObjectToObject(r->root, "damage"));
	if (!study_running(s))
		memo_each_scale(study_preparation(s)->memo, save_scale, &r->group[SCALES]);
	return r;
}

void results_save_free(struct results_save **rp)
{
	struct results_save *r = *rp;
	if (!r)
		return;
	for (int i = 0; i < r->n_runs; i++)
		snapshot_drop(&r->run[i]);
	for (int i = 0; i < GROUPS; i++)
		keymap_free(&r->group[i].there);
	cJSON_Delete(r->root);
	free(r);
	*rp = NULL;
}

struct cJSON *results_save_end(struct results_save **rp)
{
	struct results_save *r = *rp;
	cJSON *root = r->root;
	for (int i = 0; i < r->n_runs; i++)
		save_snapshot(r->group, r->run[i]);
	r->root = NULL;
	results_save_free(rp);
	return root;
}

// ---- loading, by the conductor between runs: what is malformed is left out and will be computed

struct loading {
	struct study *study;
	struct memo *memo; // of the samples that the figures are of
};

static bool numbers(const cJSON *array, double *v, int n)
{
	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) < n)
		return false;
	const cJSON *item = array->child;
	for (int i = 0; i < n; i++, item = item->next)
		v[i] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
	return true;
}

static void load_figure(const struct loading *l, struct key k, const cJSON *a)
{
	double v[12];
	if (!numbers(a, v, 12) || !(v[0] >= 1 && v[0] <= INT_MAX))
		return;
	struct figure *f = memo_figure(l->memo, k);
	f->saved = (struct figures){.known = (int)v[0], .nsr_mean = v[8], .cosine_mean = v[9], .min = (float)v[10], .max = (float)v[11],
	    .pooled = {.snr_db = v[1], .nsr = v[2], .cosine = v[3], .mse = v[4], .max_error = v[5], .clipped = v[6], .exact = v[7] == 1}};
	f->merged = true;
}

static void load_range(const struct loading *l, struct key k, const cJSON *a)
{
	double v[4];
	if (!numbers(a, v, 4) || !(v[2] > 0) || !isfinite(v[0] + v[1] + v[2] + v[3]))
		return;
	struct range_memo *r = memo_range(l->memo, k);
	r->saved = (struct tensor_range){(float)v[0], (float)v[1], v[2], v[3]};
	r->merged = true;
}

// A session keeps 64 bins; each is spread evenly over its fine bins.
static void load_hist(const struct loading *l, struct key k, const cJSON *a)
{
	enum { EACH = STATS_BINS / STATS_SHOWN };
	double v[3 + STATS_SHOWN];
	if (!numbers(a, v, 3 + STATS_SHOWN) || !(v[0] <= v[1]))
		return;
	struct hist_memo *h = memo_hist(l->memo, k);
	struct hist *saved = xcalloc(1, sizeof *saved);
	*saved = (struct hist){.refs = 1, .lo = (float)v[0], .hi = (float)v[1]};
	for (int i = 0; i < STATS_SHOWN; i++) {
		uint32_t count = v[3 + i] >= 0 && v[3 + i] < 4e9 ? (uint32_t)v[3 + i] : 0;
		for (uint32_t e = 0; e < EACH; e++)
			saved->bin[i * EACH + (int)e] = count / EACH + (e < count % EACH);
	}
	hist_set(h, saved);
	h->used_saved = v[2] >= 0 ? v[2] : -1;
}

static void load_scale(const struct loading *l, struct key k, const cJSON *a)
{
	double v[2];
	if (numbers(a, v, 2) && v[0] >= 0 && fabs(v[1]) < 1e9)
		memo_set_scale(l->memo, k, (float)v[0], (int32_t)v[1]);
}

static void load_task(const struct loading *l, struct key k, const cJSON *report)
{
	study_task_load(l->study, k, report);
}

static void load_damage(const struct loading *l, struct key k, const cJSON *a)
{
	double v[3];
	if (numbers(a, v, 3)) // none is known of a scale that a repair vouches for
		repair_memo_put(l->study->repairs, k, &(struct repair_known){v[0], isnan(v[0]) || !isnan(v[1]) ? v[1] : INFINITY, v[2]});
}

static struct memo *memo_of(const struct study *s, const char *samples)
{
	char own[33];
	for (int i = 0; i < s->n_preparations; i++) {
		key_text(all_samples_key(s->preparation[i].d), own);
		if (strcmp(own, samples) == 0)
			return s->preparation[i].memo;
	}
	return NULL;
}

void results_load(struct study *s, const struct cJSON *results)
{
	static const struct {
		const char *name;
		void (*load)(const struct loading *, struct key, const cJSON *);
	} part[] = {{"figures", load_figure}, {"ranges", load_range}, {"histograms", load_hist}, {"scales", load_scale}, {"tasks", load_task},
	    {"damage", load_damage}};
	const struct loading l = {s, memo_of(s, json_text(results, "samples", ""))};
	if (!l.memo)
		return;
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		const cJSON *group = cJSON_GetObjectItemCaseSensitive(results, part[i].name), *item;
		cJSON_ArrayForEach(item, group)
		{
			struct key k;
			if (item->string && key_parse(&k, item->string))
				part[i].load(&l, k, item);
		}
	}
	study_blames_load(s, cJSON_GetObjectItemCaseSensitive(results, "blame"));
}

void study_load_results(struct study *s, struct cJSON *results)
{
	if (strcmp(json_text(results, "program", ""), QTUI_SOURCES) != 0) {
		if (results->child)
			log_info("the session's figures were computed by another version of qtui: they are computed anew");
		cJSON_Delete(results);
		return;
	}
	study_lock(s);
	if (!s->loads)
		s->loads = cJSON_CreateArray();
	cJSON_AddItemToArray(s->loads, results);
	pthread_cond_broadcast(&s->changed);
	study_unlock(s);
}
