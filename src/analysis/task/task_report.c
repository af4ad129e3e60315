// Reports: the figures of two networks, and the samples that lost most.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "task_impl.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define NOT_FINITE " with outputs that are finite in float and not when quantized"

bool task_is_blind(const struct task_report *r)
{
	double value = r->n_figures ? r->figure[0].value[TASK_FLOAT] : NAN;
	bool guesses = r->kind == TASK_CLASSIFY && r->n_classes > 1 && value * r->n_classes <= 1;
	return guesses || (r->n_figures && value < task_blind(r->figure[0].name));
}

static const char *told_reading(const struct task_report *r)
{
	bool decoded = r->kind == TASK_DETECT || r->kind == TASK_POSE || r->kind == TASK_INSTANCE || r->kind == TASK_OBB;
	return !decoded ? "" : r->by_program ? ", the boxes that the program reads (--boxes)" : ", the way its outputs are read (--decoder)";
}

void task_tell_blind(char *out, size_t size, const struct task_report *r, const char *survey)
{
	bool near = r->kind == TASK_RESTORE || r->kind == TASK_DEPTH || r->kind == TASK_REGRESS;
	const char *fails = near                      ? "comes nowhere near the truth"
	                    : r->kind == TASK_CLASSIFY ? "is right no more often than by chance"
	                                               : "recognizes next to nothing";
	int n = snprintf(out, size,
	    "The float network itself %s: its labels%s or the way its pictures are prepared (%s) are not its own, or the file was "
	    "ruined before.", fails, told_reading(r), survey);
	if (r->off && n > 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, " Of most samples it says the class %s?",
		    r->off < 0 ? "in front of the label's: do labels count from 1" : "behind the label's: is its first class a background");
}

int task_sample_lost(const struct task_sample *s)
{
	return (int)s->verdict[TASK_FLOAT] - (int)s->verdict[TASK_QUANT];
}

static double loss(const struct task_sample *s)
{
	double before = isnan(s->value[TASK_FLOAT]) ? 1 : s->value[TASK_FLOAT];
	return isnan(s->value[TASK_QUANT]) ? 0 : before - s->value[TASK_QUANT];
}

static int by_loss(const void *a, const void *b)
{
	const struct task_sample *x = a, *y = b;
	double lx = loss(x), ly = loss(y);
	int turned = task_sample_lost(y) - task_sample_lost(x);
	return turned ? turned : lx != ly ? (lx > ly ? -1 : 1) : (x->sample > y->sample) - (x->sample < y->sample);
}

bool task_sample_has(const struct task_sample *s, int class)
{
	for (int i = 0; i < s->n_classes; i++)
		if (s->class[i] == class)
			return true;
	return false;
}

// `has`: room for all classes of the report.
static void add_classes(const struct task *t, const struct frozen *f, struct task_report *r, struct task_sample *to, bool *has)
{
	int *class, n = 0;
	memset(has, 0, (size_t)r->n_classes);
	t->ops->classes(t, f, to->sample, has);
	for (int c = 0; c < r->n_classes; c++)
		n += has[c];
	class = arena_alloc(r->memory, (size_t)n * sizeof *class);
	for (int c = 0; c < r->n_classes; c++)
		if (has[c])
			class[to->n_classes++] = r->class[c].id;
	to->class = class;
}

static void add_samples(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	int *sample = xcalloc((size_t)t->n_samples + 1, sizeof *sample);
	r->n_samples = task_paired(t->kind == TASK_AGREE ? NULL : &f[TASK_FLOAT], &f[TASK_QUANT], sample);
	r->sample = xcalloc((size_t)r->n_samples + 1, sizeof *r->sample);
	bool *classes = xcalloc((size_t)r->n_classes + 1, sizeof *classes);
	for (int i = 0; i < r->n_samples; i++) {
		struct task_sample *to = &r->sample[i];
		to->sample = sample[i];
		to->name = arena_strdup(r->memory, dataset_name(t->d, sample[i]));
		for (int v = 0; v < TASK_VARIANTS; v++) {
			bool has = f[v].at[sample[i]];
			to->value[v] = !has ? NAN : t->ops->value ? t->ops->value(&f[v], sample[i]) : f[v].at[sample[i]]->value;
			to->verdict[v] = !has || !t->ops->right ? TASK_NO_VERDICT : t->ops->right(&f[v], sample[i]) ? TASK_RIGHT : TASK_WRONG;
		}
		if (t->ops->classes)
			add_classes(t, &f[TASK_QUANT], r, to, classes);
	}
	free(classes);
	qsort(r->sample, (size_t)r->n_samples, sizeof *r->sample, by_loss);
	free(sample);
}

// Note and data set as this task has them. `rest`: end of a note of a session,
// used while this task does not know itself how outputs are read.
static void own_places(struct task *t, struct task_report *r, const char *rest)
{
	char note[1024];
	const char *path = dataset_path(t->d);
	task_note(t, note, sizeof note);
	if (rest && !strchr(note, ';'))
		snprintf(note + strlen(note), sizeof note - strlen(note), "%s", rest);
	if (r->not_finite && !strstr(note, NOT_FINITE))
		snprintf(note + strlen(note), sizeof note - strlen(note), "; %d sample%s" NOT_FINITE, r->not_finite, plural(r->not_finite));
	r->note = arena_strdup(r->memory, note);
	r->dataset = arena_strdup(r->memory, path ? path : "");
}

void task_report_place(struct task *t, struct task_report *r)
{
	if (strcmp(r->dataset, dataset_path(t->d)) != 0)
		own_places(t, r, strchr(r->note, ';'));
}

static void own_texts(struct task *t, struct task_report *r)
{
	own_places(t, r, NULL);
	for (int c = 0; c < r->n_classes; c++)
		if (r->class[c].name)
			r->class[c].name = arena_strdup(r->memory, r->class[c].name);
}

static int count_not_finite(const struct frozen f[TASK_VARIANTS])
{
	int n = 0;
	for (int i = 0; i < f[TASK_QUANT].n; i++) {
		const struct task_result *before = f[TASK_FLOAT].at[i], *after = f[TASK_QUANT].at[i];
		n += after && after->not_finite && !(before && before->not_finite);
	}
	return n;
}

struct task_report *task_report(struct task *t, const struct task_net *before, const struct task_net *quant, int draws)
{
	struct task_report *r = xcalloc(1, sizeof *r);
	struct frozen f[TASK_VARIANTS];
	*r = (struct task_report){.refs = 1, .kind = t->kind, .total = task_samples(t), .memory = arena_new()};
	f[TASK_QUANT] = task_freeze(t, quant, 0, t->n_samples);
	r->samples[TASK_FLOAT] = task_freeze_beside(&f[TASK_FLOAT], t, before, &f[TASK_QUANT]);
	r->samples[TASK_QUANT] = task_count(&f[TASK_QUANT]);
	t->ops->report(t, f, r);
	add_samples(t, f, r);
	r->not_finite = count_not_finite(f);
	own_texts(t, r);
	for (int v = 0; v < TASK_VARIANTS; v++)
		task_thaw(t, &f[v]);
	r->has_interval = draws > 0 && task_interval(t, before, quant, draws, 0, &r->interval);
	return r;
}

static double class_loss(const struct task_class *c)
{
	return c->value[TASK_FLOAT] - c->value[TASK_QUANT];
}

// Pointers into one array compare as positions.
static int by_class_loss(const void *a, const void *b)
{
	const struct task_class *x = *(const struct task_class *const *)a, *y = *(const struct task_class *const *)b;
	double lx = class_loss(x), ly = class_loss(y);
	return lx != ly ? (lx > ly ? -1 : 1) : (x > y) - (x < y);
}

double task_mean_of(const struct frozen *f, task_figure_of *of, int figure, const int *weight)
{
	double sum = 0, n = 0;
	for (int i = 0; i < f->n; i++) {
		double v = of(f, i, figure), times = isnan(v) ? 0 : weight ? weight[i] : 1;
		sum += times > 0 ? times * v : 0;
		n += times;
	}
	return n > 0 ? sum / n : NAN;
}

void task_report_means(
    struct task_report *r, const struct frozen f[TASK_VARIANTS], task_figure_of *of, const char *const name[], int n, int always)
{
	r->figure = xcalloc((size_t)n, sizeof *r->figure);
	for (int i = 0; i < n; i++) {
		struct task_figure *to = &r->figure[r->n_figures];
		to->name = name[i];
		for (int v = 0; v < TASK_VARIANTS; v++)
			to->value[v] = task_mean_of(&f[v], of, i, NULL);
		r->n_figures += i < always || !isnan(to->value[TASK_FLOAT]) || !isnan(to->value[TASK_QUANT]);
	}
}

const struct task_class **task_classes_lost(const struct task_report *r, int *n)
{
	const struct task_class **lost = xcalloc((size_t)r->n_classes + 1, sizeof *lost);
	*n = 0;
	for (int i = 0; i < r->n_classes; i++)
		if (class_loss(&r->class[i]) > 0)
			lost[(*n)++] = &r->class[i];
	qsort(lost, (size_t)*n, sizeof *lost, by_class_loss);
	return lost;
}

const char *task_class_name(const struct task_class *c, char number[TASK_CLASS_NAME])
{
	snprintf(number, TASK_CLASS_NAME, "%d", c->id);
	return c->name ? c->name : number;
}

struct task_report *task_report_take(struct task_report *r)
{
	if (r)
		atomic_fetch_add(&r->refs, 1);
	return r;
}

void task_report_drop(struct task_report **rp)
{
	struct task_report *r = *rp;
	*rp = NULL;
	if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	arena_free(&r->memory);
	free(r->figure);
	free(r->class);
	free(r->sample);
	free(r);
}
