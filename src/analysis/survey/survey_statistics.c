// How far what the network's first normalization sees is from what it saw in training: each of its channels had a mean
// and a deviation then, which the file holds. No labels are needed, but a BatchNormalization that the file still has.
#include <math.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "survey_impl.h"

static const struct node *first_trained(const struct graph *g)
{
	for (int n = 0; n < g->n_nodes; n++)
		if (g->node[n].trained && g->node[n].n_out > 0)
			return &g->node[n];
	return NULL;
}

bool survey_has_statistics(const struct graph *g)
{
	return first_trained(g) != NULL;
}

struct comparing {
	const struct survey_work *w;
	const struct node *node;
	double *value;               // [samples]
};

// 1 where mean and deviation are those of the training, 0 where they have nothing to do with them.
static double channel_agreement(const float *x, int64_t n, double mean, double deviation)
{
	double sum = 0, squares = 0;
	for (int64_t i = 0; i < n; i++) {
		sum += (double)x[i];
		squares += (double)x[i] * (double)x[i];
	}
	double m = sum / (double)n, d = sqrt(fmax(squares / (double)n - m * m, 0));
	double off = (m - mean) / deviation, wide = log(fmax(d, 1e-6 * deviation) / deviation);
	return 1 / (1 + off * off + wide * wide);
}

// Of a plain tensor [1][channels][...].
static double agreement(const struct tensor *t, const struct node *node)
{
	int64_t channels = node->n_trained, count = tensor_count(t), n = channels > 0 ? count / channels : 0, known = 0;
	double sum = 0;
	if (n < 1 || count != n * channels)
		return NAN;
	for (int64_t c = 0; c < channels; c++) {
		double deviation = (double)node->trained[channels + c];
		if (!(deviation > 1e-4)) // a channel that says nothing
			continue;
		sum += channel_agreement((const float *)t->data + c * n, n, (double)node->trained[c], deviation);
		known++;
	}
	return known ? sum / (double)known : NAN;
}

static void compare_sample(void *arg, const struct sighting *s)
{
	struct comparing *c = arg;
	struct rep f = {0}, plain = {0};
	struct error ignored;
	if (s->value != c->node->out[0] || !s->rep[SIM_FLOAT])
		return;
	if (rep_to_float(&f, s->rep[SIM_FLOAT], s->width, &ignored) == STATUS_OK &&
	    rep_to_layout(&plain, &f, LAYOUT_PLAIN, s->width, &ignored) == STATUS_OK)
		c->value[s->sample] = agreement(&plain.t, c->node);
	rep_drop(&f);
	rep_drop(&plain);
	survey_step((void *)c->w);
}

enum status survey_statistics(double *value, const int *sample, int n, const struct survey_work *w, struct engine *e, struct error *err)
{
	struct comparing c = {w, first_trained(w->g), value};
	bool *want = xcalloc((size_t)w->g->n_values + 1, sizeof *want);
	struct pass p = {.want = {[SIM_FLOAT] = want}, .last = n, .sample = sample, .visit = compare_sample, .arg = &c, .cancel = w->opt->cancel,
	    .keep = KEEP_NOTHING};
	for (int i = 0; i < n; i++)
		value[sample[i]] = NAN;
	want[c.node->out[0]] = true;
	enum status st = engine_pass(e, &p, err);
	free(want);
	return st;
}
