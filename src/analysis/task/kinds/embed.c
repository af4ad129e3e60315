// Vectors that tell persons or things apart (embeddings): whether the nearest other sample is of the same class, how well those
// of the class are found among all, and how well pairs of one class are told from others. What a sample is worth hangs on all
// others.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/floats.h"
#include "../metric/retrieval.h"
#include "../task_impl.h"
#include "qtui/base/mem.h"

struct embedding { // of one sample
	struct task_result base;
	int n;
	float at[]; // of length 1; zeros where the network gives nothing else or no finite numbers
};
struct embed {
	int length; // of the vectors; 0: none has come
};
struct pool {
	int *place;  // of each sample in `retrieval`; -1: it is not there
	int *sample; // [retrieval->n] the sample at that place
	struct retrieval *retrieval;
};

// ---- opening

static const struct node *made_by(const struct graph *g, int value)
{
	int node = value < 0 ? -1 : g->value[value].producer;
	return node < 0 ? NULL : &g->node[node];
}

static bool is_one_of(const struct node *n, const char *const *names)
{
	while (*names && strcmp(*names, n->op->name) != 0)
		names++;
	return *names;
}

// Is it the length of a vector? A sum is one where its root is taken: a Softmax divides by a sum, too.
static bool is_length(const struct graph *g, int value)
{
	static const char *const lengths[] = {"ReduceL2", "ReduceSumSquare", NULL}, *const sums[] = {"ReduceSum", NULL},
	                  *const roots[] = {"Sqrt", "Pow", NULL},
	                  *const passed[] = {"Clip", "Max", "Add", "Expand", "Unsqueeze", "Reshape", "Cast", "Identity", NULL};
	bool root = false;
	for (const struct node *n = made_by(g, value); n; n = made_by(g, n->in[0])) {
		if (is_one_of(n, lengths) || (root && is_one_of(n, sums)))
			return true;
		root |= is_one_of(n, roots);
		if (!is_one_of(n, roots) && !is_one_of(n, passed))
			return false;
	}
	return false;
}

bool embed_is_likely(const struct graph *g)
{
	static const char *const passed[] = {"Cast", "Identity", "Reshape", "Flatten", "Squeeze", "DequantizeLinear", "QuantizeLinear", NULL};
	const struct node *n = g->n_outputs ? made_by(g, g->output[0]) : NULL;
	while (n && is_one_of(n, passed))
		n = made_by(g, n->in[0]);
	if (!n || task_class_count(g) == 0)
		return false;
	return strcmp(n->op->name, "LpNormalization") == 0 || (strcmp(n->op->name, "Div") == 0 && is_length(g, n->in[1]));
}

static bool has_pair(const struct task *t)
{
	bool *seen = xcalloc((size_t)t->labels->n_classes + 1, sizeof *seen), found = false;
	for (int i = 0; i < t->n_samples && !found; i++) {
		if (!t->labels->label[i].known)
			continue;
		found = seen[t->labels->label[i].class];
		seen[t->labels->label[i].class] = true;
	}
	free(seen);
	return found;
}

static enum status embed_open(struct task *t, struct error *err)
{
	if (!has_pair(t))
		return error_set(err, STATUS_NOTFOUND, "%s: no class has two of the samples, which --task embed holds against each other",
		    t->labels->source);
	if (task_outputs_known(t->g) && task_class_count(t->g) == 0)
		return error_set(err, STATUS_UNSUPPORTED, "--task embed: no output of the model is one vector a sample");
	t->state = xcalloc(1, sizeof(struct embed));
	return STATUS_OK;
}

static void embed_close(struct task *t)
{
	free(t->state);
	t->state = NULL;
}

static void embed_note(struct task *t, char *out, size_t size)
{
	int length = ((const struct embed *)t->state)->length;
	snprintf(out, size, "labels %s (%d of %d samples, %d classes)", t->labels->source, t->labels->n_known, t->n_samples,
	    t->labels->n_classes);
	if (length && strlen(out) < size)
		snprintf(out + strlen(out), size - strlen(out), "; vectors of %d, by their cosines", length);
}

// ---- reading

static void normalize(float *to, const float *x, int n)
{
	double square = 0;
	for (int i = 0; i < n; i++)
		square += (double)x[i] * x[i];
	bool finite = isfinite(square) && square > 0;
	for (int i = 0; i < n; i++)
		to[i] = finite ? (float)(x[i] / sqrt(square)) : 0;
}

static bool is_length_of_all(struct task *t, int n)
{
	struct embed *e = t->state;
	pthread_mutex_lock(&t->lock);
	e->length = e->length ? e->length : n;
	bool same = e->length == n;
	pthread_mutex_unlock(&t->lock);
	return same;
}

static enum status embed_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	float *heap;
	int at = task_class_output(t->g, said->out);
	(void)sample;
	if (at < 0)
		return error_set(err, STATUS_UNSUPPORTED, "no output is one vector a sample");
	int n = (int)tensor_count(&said->out[at]);
	if (!is_length_of_all(t, n))
		return error_set(err, STATUS_FORMAT, "its vector has %d elements, those of others have another number", n);
	size_t size = sizeof(struct embedding) + (size_t)n * sizeof(float);
	struct embedding *e = xcalloc(1, size);
	e->base = (struct task_result){.refs = 1, .bytes = size, .value = NAN};
	e->n = n;
	normalize(e->at, output_floats(&said->out[at], &heap), n);
	free(heap);
	*result = &e->base;
	return STATUS_OK;
}

static void embed_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

// Those samples that are there, side by side.
struct row {
	const float **vector; // [n]
	int *class;           // [n]
	int *sample;          // [n]
	int n, length;
};

static void row_init(struct row *r, const struct task *t, struct task_result *const *at, int n)
{
	size_t room = (size_t)n + 1;
	*r = (struct row){.vector = xcalloc(room, sizeof *r->vector), .class = xcalloc(room, sizeof *r->class),
	    .sample = xcalloc(room, sizeof *r->sample)};
	for (int i = 0; i < n; i++) {
		const struct embedding *e = (const struct embedding *)at[i];
		if (!e)
			continue;
		r->vector[r->n] = e->at;
		r->length = e->n;
		r->class[r->n] = t->labels->label[i].class;
		r->sample[r->n++] = i;
	}
}

static void row_done(struct row *r)
{
	free(r->vector);
	free(r->class);
	free(r->sample);
}

static void *embed_pool(const struct task *t, struct task_result *const *at, int n)
{
	struct pool *p = xcalloc(1, sizeof *p);
	struct row r;
	row_init(&r, t, at, n);
	*p = (struct pool){.place = xcalloc((size_t)n + 1, sizeof *p->place), .sample = r.sample,
	    .retrieval = retrieval_new(r.vector, r.class, r.n, r.length)};
	for (int i = 0; i < n; i++)
		p->place[i] = -1;
	for (int i = 0; i < r.n; i++)
		p->place[r.sample[i]] = i;
	r.sample = NULL; // the pool has it
	row_done(&r);
	return p;
}

static void embed_drain(void *pool)
{
	struct pool *p = pool;
	retrieval_free(&p->retrieval);
	free(p->place);
	free(p->sample);
	free(p);
}

// NULL: the sample is not there.
static const struct query *query_of(const struct frozen *f, int sample)
{
	const struct pool *p = f->pool;
	return p && p->place[sample] >= 0 ? &p->retrieval->of[p->place[sample]] : NULL;
}

static int first_of(const struct frozen *f, const struct query *q)
{
	return q->first < 0 ? -1 : ((const struct pool *)f->pool)->sample[q->first];
}

static double embed_value(const struct frozen *f, int sample)
{
	const struct query *q = query_of(f, sample);
	return q ? q->ap : NAN;
}

static double is_right(const struct task *t, const struct frozen *f, const struct query *q, int sample)
{
	return t->labels->label[first_of(f, q)].class == t->labels->label[sample].class;
}

// The mean over the queries of a class (-1: of all) of their average precision, or of whether their nearest is right; *n: of
// how many.
static double mean(const struct task *t, const struct frozen *f, const int *weight, int class, bool precision, int *n)
{
	double sum = 0;
	*n = 0;
	for (int i = 0; i < f->n; i++) {
		const struct query *q = query_of(f, i);
		int times = weight ? weight[i] : 1;
		if (!q || isnan(q->ap) || (class >= 0 && t->labels->label[i].class != class))
			continue;
		sum += times * (precision ? q->ap : is_right(t, f, q, i));
		*n += times;
	}
	return *n ? sum / *n : NAN;
}

static double embed_score(const struct task *t, const struct frozen *f, const int *weight)
{
	return mean(t, f, weight, -1, false, &(int){0});
}

static void report_classes(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	r->n_classes = t->labels->n_classes;
	r->class = xcalloc((size_t)r->n_classes + 1, sizeof *r->class);
	for (int c = 0; c < r->n_classes; c++) {
		struct task_class *to = &r->class[c];
		to->id = t->labels->id[c];
		to->name = t->labels->name[c];
		for (int v = 0, n; v < TASK_VARIANTS; v++) {
			to->value[v] = mean(t, &f[v], NULL, c, false, &n);
			to->objects = n > to->objects ? n : to->objects;
		}
	}
}

static void embed_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	static const char *const name[] = {"rank1", "retrieval_map", "tar"};
	r->n_figures = sizeof name / sizeof *name;
	r->figure = xcalloc((size_t)r->n_figures, sizeof *r->figure);
	for (int i = 0; i < r->n_figures; i++)
		r->figure[i].name = name[i];
	for (int v = 0, n; v < TASK_VARIANTS; v++) {
		r->figure[0].value[v] = mean(t, &f[v], NULL, -1, false, &n);
		r->figure[1].value[v] = mean(t, &f[v], NULL, -1, true, &n);
		r->figure[2].value[v] = f[v].pool ? ((const struct pool *)f[v].pool)->retrieval->tar : NAN;
	}
	report_classes(t, f, r);
}

// What one network finds nearest to the sample, which takes no more than this query.
static void look_up(struct task *t, const struct task_net *net, enum task_variant v, struct task_look *l)
{
	struct task_result **at = xcalloc((size_t)t->n_samples + 1, sizeof *at);
	struct row r;
	int query = 0;
	for (int i = 0; net && i < t->n_samples; i++)
		at[i] = task_net_result(t, net, i);
	row_init(&r, t, at, t->n_samples);
	while (query < r.n && r.sample[query] != l->sample)
		query++;
	if (query < r.n) {
		struct query q = retrieval_query(r.vector, r.class, r.n, r.length, query);
		int first = q.first < 0 ? -1 : r.sample[q.first];
		l->value[v] = q.ap;
		l->said[v] = first < 0 ? "nobody" : task_class_text(t, t->labels->label[first].class, l);
		l->nearest[v] = first < 0 ? NULL : arena_strdup(l->memory, dataset_name(t->d, first));
		l->sure[v] = first < 0 ? NAN : (double)q.near;
	}
	row_done(&r);
	for (int i = 0; i < t->n_samples; i++)
		result_drop(t, at[i]);
	free(at);
}

static void embed_look(struct task *t, const struct looked *at, struct task_look *l)
{
	l->class = task_class_text(t, t->labels->label[l->sample].class, l);
	for (int v = 0; v < TASK_VARIANTS; v++)
		look_up(t, at->net[v], (enum task_variant)v, l);
}

const struct task_ops embed_ops = {
    .name = "embed", .figure = "rank1",
    .labels = LABELS_CLASSES,
    .shows = SHOWS_VERDICT,
    .open = embed_open,
    .close = embed_close,
    .note = embed_note,
    .read = embed_read,
    .release = embed_release,
    .pool = embed_pool,
    .drain = embed_drain,
    .score = embed_score,
    .value = embed_value,
    .report = embed_report,
    .look = embed_look,
};
