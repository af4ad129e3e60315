// What networks said: results by sample, under the networks' keys.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "decode/floats.h"
#include "task_impl.h"
#include "qtui/base/mem.h"

// More than this is not kept of the networks that were not asked for lately. The last two always stay: the float
// network and the one that is compared with it.
enum { NETS_MIB = 64, NETS_HELD = 2 };

struct task_net {
	struct key key;
	struct task_result **at; // [t->n_samples] NULL: not there
	int n;
	size_t bytes;
	uint64_t used; // when it was last asked for
};

static struct task_result *result_take(struct task_result *r)
{
	if (r)
		atomic_fetch_add(&r->refs, 1);
	return r;
}

void result_drop(const struct task *t, struct task_result *r)
{
	if (r && atomic_fetch_sub(&r->refs, 1) == 1)
		t->ops->release(r);
}

// ---- finding

struct key task_key(const struct task *t, const struct plan *plan)
{
	struct key *of = xcalloc((size_t)t->g->n_values + 1, sizeof *of), k = {0};
	engine_keys(t->g, plan, plan ? SIM_FULL : SIM_FLOAT, of);
	for (int i = 0; i < t->g->n_outputs; i++)
		k = key_add_key(k, of[t->g->output[i]]);
	free(of);
	return k;
}

struct task_net *task_net(struct task *t, struct key network)
{
	pthread_mutex_lock(&t->lock);
	struct task_net *n = keymap_get(t->nets, network);
	if (!n) {
		n = xcalloc(1, sizeof *n);
		n->key = network;
		n->at = xcalloc((size_t)t->n_samples + 1, sizeof *n->at);
		keymap_put(t->nets, network, n);
	}
	n->used = ++t->clock;
	pthread_mutex_unlock(&t->lock);
	return n;
}

struct task_result *task_net_result(struct task *t, const struct task_net *n, int sample)
{
	pthread_mutex_lock(&t->lock);
	struct task_result *r = result_take(n->at[sample]);
	pthread_mutex_unlock(&t->lock);
	return r;
}

bool task_net_has(struct task *t, const struct task_net *n, int sample)
{
	pthread_mutex_lock(&t->lock);
	bool has = n->at[sample];
	pthread_mutex_unlock(&t->lock);
	return has;
}

// ---- letting go

static void empty(struct task *t, struct task_net *n)
{
	for (int i = 0; n->n && i < t->n_samples; i++) {
		result_drop(t, n->at[i]);
		n->at[i] = NULL;
	}
	t->bytes -= n->bytes;
	n->bytes = 0;
	n->n = 0;
}

struct oldest {
	struct task_net *net;
	uint64_t before;
};

static void find_oldest(struct key k, void *value, void *arg)
{
	struct oldest *o = arg;
	struct task_net *n = value;
	(void)k;
	if (n->n && n->used <= o->before && (!o->net || n->used < o->net->used))
		o->net = n;
}

// The lock is held.
static void make_room(struct task *t)
{
	while (t->bytes > (size_t)NETS_MIB << 20) {
		struct oldest o = {.before = t->clock >= NETS_HELD ? t->clock - NETS_HELD : 0};
		keymap_each(t->nets, find_oldest, &o);
		if (!o.net)
			return;
		empty(t, o.net);
	}
}

static void free_net(struct key k, void *value, void *arg)
{
	struct task_net *n = value;
	(void)k;
	empty(arg, n);
	free(n->at);
	free(n);
}

void task_nets_free(struct task *t)
{
	if (t->ops)
		keymap_each(t->nets, free_net, t);
	keymap_free(&t->nets);
}

// ---- adding

enum { PIECE = 1024 }; // elements that are looked at together: an output has millions, hardly ever one that is not finite

// Exponents of all ones, found without a branch for each element.
static bool has_not_finite(const float *x, int64_t n)
{
	const uint32_t exponent = 0x7f800000;
	int found = 0;
	_Pragma("omp simd reduction(|:found)") for (int64_t i = 0; i < n; i++)
	{
		uint32_t bits;
		memcpy(&bits, x + i, sizeof bits);
		found |= (bits & exponent) == exponent;
	}
	return found;
}

static bool tensor_has(const struct tensor *t, const struct tensor *finite)
{
	float *heap, *heap_finite = NULL;
	const float *x = output_floats(t, &heap), *beside = finite ? output_floats(finite, &heap_finite) : NULL;
	bool found = false;
	for (int64_t at = 0, n = tensor_count(t); at < n && !found; at += PIECE) {
		int64_t end = at + PIECE < n ? at + PIECE : n;
		if (!has_not_finite(x + at, end - at))
			continue;
		for (int64_t i = at; i < end && !found; i++)
			found = !isfinite(x[i]) && (!beside || isfinite(beside[i]));
	}
	free(heap);
	free(heap_finite);
	return found;
}

static bool is_not_finite(const struct task *t, const struct task_said *said)
{
	bool found = false;
	for (int i = 0; i < t->g->n_outputs && !found; i++) {
		const struct tensor *beside = t->kind == TASK_AGREE ? &said->float_out[i] : NULL;
		found = tensor_has(&said->out[i], beside && shape_equal(&beside->shape, &said->out[i].shape) ? beside : NULL);
	}
	return found;
}

enum status task_add(struct task *t, struct task_net *n, int sample, const struct task_said *said, struct error *err)
{
	struct task_result *r = NULL;
	if (!task_has_label(t, sample))
		return STATUS_OK;
	enum status st = t->ops->read(t, sample, said, &r, err);
	if (st != STATUS_OK)
		return st == STATUS_CANCELLED ? st : error_prefix(err, "%s", dataset_name(t->d, sample));
	if (!r)
		return STATUS_OK;
	r->not_finite = is_not_finite(t, said);
	pthread_mutex_lock(&t->lock);
	struct task_result *old = n->at[sample];
	n->at[sample] = r;
	n->n += !old;
	n->bytes += r->bytes - (old ? old->bytes : 0);
	t->bytes += r->bytes - (old ? old->bytes : 0);
	result_drop(t, old);
	make_room(t);
	pthread_mutex_unlock(&t->lock);
	return STATUS_OK;
}

// ---- at one moment

static struct frozen freeze(struct task *t, const struct task_net *n, int first, int last, const struct frozen *beside)
{
	struct frozen f = {.at = xcalloc((size_t)t->n_samples + 1, sizeof *f.at), .n = t->n_samples};
	pthread_mutex_lock(&t->lock);
	for (int i = first; n && i < last; i++)
		f.at[i] = !beside || beside->at[i] ? result_take(n->at[i]) : NULL;
	pthread_mutex_unlock(&t->lock);
	f.pool = t->ops->pool ? t->ops->pool(t, f.at, f.n) : NULL;
	return f;
}

struct frozen task_freeze(struct task *t, const struct task_net *n, int first, int last)
{
	return freeze(t, n, first, last, NULL);
}

int task_count(const struct frozen *f)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += f->at[i] != NULL;
	return n;
}

int task_freeze_beside(struct frozen *out, struct task *t, const struct task_net *n, const struct frozen *beside)
{
	*out = freeze(t, n, 0, t->n_samples, task_count(beside) ? beside : NULL);
	return task_count(out);
}

void task_thaw(const struct task *t, struct frozen *f)
{
	for (int i = 0; i < f->n; i++)
		result_drop(t, f->at[i]);
	if (f->pool)
		t->ops->drain(f->pool);
	free(f->at);
}

int task_paired(const struct frozen *before, const struct frozen *after, int *out)
{
	int n = 0;
	for (int i = 0; i < after->n; i++)
		if (after->at[i] && (!before || before->at[i]))
			out[n++] = i;
	return n;
}

double task_mean(const struct task *t, const struct frozen *f, const int *weight)
{
	double sum = 0, all = 0;
	(void)t;
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		if (!f->at[i] || !times)
			continue;
		sum += times * f->at[i]->value;
		all += times;
	}
	return all > 0 ? sum / all : NAN;
}

double task_score(struct task *t, const struct task_net *n, int first, int last)
{
	struct frozen f = task_freeze(t, n, first, last);
	double v = t->ops->score(t, &f, NULL);
	task_thaw(t, &f);
	return v;
}

double task_apart(struct task *t, const struct task_net *before, const struct task_net *after)
{
	if (!t->ops->apart)
		return NAN;
	struct frozen a = task_freeze(t, before, 0, t->n_samples), b = task_freeze(t, after, 0, t->n_samples);
	double v = t->ops->apart(&a, &b);
	task_thaw(t, &a);
	task_thaw(t, &b);
	return v;
}
