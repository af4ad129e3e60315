// Two models on the same samples: a float model and what somebody quantized of it, say. Tensors are matched by name.
#include <stdlib.h>
#include <string.h>
#include "compare_impl.h"
#include "qtui/analysis/compare.h"
#include "qtui/base/jobs.h"
#include "qtui/base/thread.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"

struct matched {
	int n;
	int *name;               // value ids of a: under which name they are known
	int *a, *b;              // value ids: what is compared
	int *row;                // of a value of a: 1 + the row that compares it first; 0: none
	struct tensor_sums *sums;
};
// What computes one sample at a time; several do so side by side.
struct lane {
	struct engine *engine[2];
	struct tensor *out[2];
	struct tensor_sums *sums; // of its sample
	enum status status;
	struct error err;
};
struct comparison {
	const struct compare_models *m;
	struct matched tensors;
	int *input;              // of b: the position of that input among a's
	struct lane *lane;
	int n_lanes, first;      // the sample of lane 0
	atomic_int *done;
};

// Do only quantizers read it?
static bool is_for_codes(const struct graph *g, int value)
{
	const struct value *v = &g->value[value];
	bool all = !v->is_output && v->n_consumers > 0;
	for (int i = 0; i < v->n_consumers; i++)
		all &= g->node[v->consumer[i]].op->id == OP_QuantizeLinear;
	return all;
}

// The first DequantizeLinear that reads these codes, or NULL.
static const struct node *dequantizer(const struct graph *g, int codes)
{
	for (int i = 0; i < g->value[codes].n_consumers; i++) {
		const struct node *n = &g->node[g->value[codes].consumer[i]];
		if (n->op->id == OP_DequantizeLinear && n->in[0] == codes)
			return n;
	}
	return NULL;
}

static bool has_same_input(const struct graph *g, const struct node *n, const struct node *other, int input)
{
	int x = input < n->n_in ? n->in[input] : -1, y = input < other->n_in ? other->in[input] : -1;
	return x == y ||
	    (x >= 0 && y >= 0 && g->value[x].constant && g->value[y].constant && key_equal(g->value[x].content, g->value[y].content));
}

// What another DequantizeLinear makes of the same codes, where that is the same: some tools write one for each reader.
static int first_alike(const struct graph *g, const struct node *n)
{
	const struct node *first = dequantizer(g, n->in[0]);
	bool same = has_same_input(g, n, first, 1) && has_same_input(g, n, first, 2) && !g->value[n->out[0]].is_output;
	return same && !is_for_codes(g, n->out[0]) && !is_for_codes(g, first->out[0]) ? first->out[0] : n->out[0];
}

// For each value the one that its readers get: of a file that is quantized, whose values keep their names
// in front of the quantizer (and may lie beyond it: a Relu goes where its quantizer cuts off what it would),
// what is behind DequantizeLinear, and behind the last where pairs follow each other.
static int *values_as_read(const struct graph *g)
{
	int *read = xcalloc((size_t)g->n_values + 1, sizeof *read);
	for (int v = 0; v < g->n_values; v++)
		read[v] = v;
	for (int i = g->n_nodes - 1; i >= 0; i--) {
		const struct node *n = &g->node[i];
		const struct node *back = n->op->id == OP_QuantizeLinear && is_for_codes(g, n->in[0]) ? dequantizer(g, n->out[0]) : NULL;
		if (back)
			read[n->in[0]] = read[back->out[0]];
		else if (n->op->id == OP_DequantizeLinear && !is_for_codes(g, n->out[0]))
			read[n->out[0]] = first_alike(g, n);
	}
	return read;
}

static bool is_activation(const struct graph *g, int node)
{
	return g->node[node].op->id == OP_Relu || g->node[node].op->id == OP_Clip;
}

// A tool that quantizes leaves a Relu or Clip out where the codes end at its limits: the tensor that it has by the name of
// what goes into the activation is what comes out of it. `qtui dequantize` puts it back, with that name behind it.
static bool may_be_cut(const struct graph *g, const int *read, int value)
{
	return read[value] != value || is_activation(g, g->value[value].producer);
}

// Of a model beside such a file: what `value` is called there.
static int without_activation(const struct graph *a, const struct graph *b, int value)
{
	const struct value *x = &a->value[value];
	const struct node *n = x->n_consumers == 1 && !x->is_output ? &a->node[x->consumer[0]] : NULL;
	bool cut = n && is_activation(a, x->consumer[0]) && n->in[0] == value;
	return cut && graph_find_value(b, a->value[n->out[0]].name) < 0 ? n->out[0] : value;
}

// Of two names of the tensor `value`: an output's, else the one to which a tool appended to make the other, else its own.
static bool is_better_name(const struct graph *g, int name, int other, int value)
{
	const struct value *x = &g->value[name], *y = &g->value[other];
	if (x->is_output != y->is_output)
		return x->is_output;
	return str_has_prefix(y->name, x->name) || (name == value && !str_has_prefix(x->name, y->name));
}

// A tensor in front of its pair and the one behind it are one row.
static void add_match(struct matched *t, const struct graph *g, int name, int a, int b)
{
	int at = t->row[a] - 1;
	if (at < 0 || t->b[at] != b) {
		t->name[t->n] = name;
		t->a[t->n] = a;
		t->b[t->n++] = b;
		t->row[a] = t->n;
	} else if (is_better_name(g, name, t->name[at], a)) {
		t->name[at] = name;
	}
}

// Computed float tensors of the same name and shape, as they are read.
static void match_tensors(struct matched *t, const struct graph *a, const struct graph *b)
{
	t->a = xcalloc((size_t)a->n_values + 1, sizeof *t->a);
	t->b = xcalloc((size_t)a->n_values + 1, sizeof *t->b);
	t->row = xcalloc((size_t)a->n_values + 1, sizeof *t->row);
	int *read_a = values_as_read(a), *read_b = values_as_read(b);
	t->name = xcalloc((size_t)a->n_values + 1, sizeof *t->name);
	for (int i = 0; i < a->n_values; i++) {
		const struct value *x = &a->value[i];
		int other = x->producer >= 0 ? graph_find_value(b, x->name) : -1;
		const struct value *y = other >= 0 ? &b->value[other] : NULL;
		if (!y || y->producer < 0 || x->type != DT_F32 || y->type != DT_F32 || !shape_equal(&x->shape, &y->shape))
			continue;
		bool cut_a = may_be_cut(a, read_a, i), cut_b = may_be_cut(b, read_b, other);
		int of_a = cut_b && !cut_a ? without_activation(a, b, i) : i, of_b = cut_a && !cut_b ? without_activation(b, a, other) : other;
		add_match(t, a, of_a, read_a[of_a], read_b[of_b]);
	}
	free(read_a);
	free(read_b);
	t->sums = xcalloc((size_t)t->n + 1, sizeof *t->sums);
}

static enum status match_inputs(struct comparison *c, struct error *err)
{
	const struct graph *a = c->m->a, *b = c->m->b;
	c->input = xcalloc((size_t)b->n_inputs + 1, sizeof *c->input);
	for (int i = 0; i < b->n_inputs; i++) {
		const struct value *need = &b->value[b->input[i]];
		int found = -1;
		for (int k = 0; k < a->n_inputs; k++)
			if (strcmp(a->value[a->input[k]].name, need->name) == 0)
				found = k;
		if (found < 0 || !shape_equal(&a->value[a->input[found]].shape, &need->shape))
			return error_set(err, STATUS_REFUSED,
			    "%s: input %s is not an input of %s, or has another shape: such models cannot be compared", b->path, need->name,
			    a->path);
		c->input[i] = found;
	}
	return STATUS_OK;
}

static enum status infer_both(const struct comparison *c, struct lane *l, const struct tensor *in)
{
	const struct graph *b = c->m->b;
	struct tensor *in_b = xcalloc((size_t)b->n_inputs + 1, sizeof *in_b);
	for (int i = 0; i < b->n_inputs; i++)
		in_b[i] = in[c->input[i]];
	struct inference run_a = {.in = in, .want = c->tensors.a, .n_want = c->tensors.n, .out = l->out[0]};
	struct inference run_b = {.in = in_b, .want = c->tensors.b, .n_want = c->tensors.n, .out = l->out[1]};
	enum status st = engine_infer(l->engine[0], NULL, &run_a, &l->err);
	if (st == STATUS_OK)
		st = engine_infer(l->engine[1], NULL, &run_b, &l->err);
	free(in_b);
	return st;
}

static void compare_sample(void *arg, int at, int worker, int width)
{
	struct comparison *c = arg;
	struct lane *l = &c->lane[at];
	const struct graph *a = c->m->a;
	struct tensor *in = xcalloc((size_t)a->n_inputs + 1, sizeof *in);
	(void)worker, (void)width;
	l->status = dataset_load(c->m->d, c->first + at, in, NULL, &l->err);
	if (l->status == STATUS_OK)
		l->status = infer_both(c, l, in);
	for (int i = 0; i < c->tensors.n; i++) {
		struct tensor *x = &l->out[0][i], *y = &l->out[1][i];
		l->sums[i] = (struct tensor_sums){0};
		if (l->status == STATUS_OK && shape_equal(&x->shape, &y->shape))
			stats_compare(&l->sums[i], x, y, NULL);
		tensor_drop(x);
		tensor_drop(y);
	}
	for (int i = 0; i < a->n_inputs; i++)
		tensor_drop(&in[i]);
	free(in);
	atomic_fetch_add(c->done, 1);
}

// A lane holds all tensors of both models.
static size_t bytes_of_lane(const struct comparison *c)
{
	size_t elements = 0;
	for (int i = 0; i < c->tensors.n; i++) {
		int64_t n = shape_count(&c->m->a->value[c->tensors.a[i]].shape);
		elements += n > 0 ? (size_t)n : 0;
	}
	return 2 * sizeof(float) * elements;
}

// One sample a thread, so that no thread waits for another inside of it,
// as far as there are samples and memory for them.
static void open_lanes(struct comparison *c)
{
	const struct compare_models *m = c->m;
	int threads = m->engine.threads > 0 ? m->engine.threads : threads_of_machine(), n = threads;
	size_t bytes = bytes_of_lane(c);
	n = n > dataset_count(m->d) ? dataset_count(m->d) : n;
	if (m->engine.memory && bytes && (size_t)n > m->engine.memory / bytes)
		n = (int)(m->engine.memory / bytes);
	c->n_lanes = n < 1 ? 1 : n;
	c->lane = xcalloc((size_t)c->n_lanes, sizeof *c->lane);
	for (int i = 0; i < c->n_lanes; i++) {
		struct lane *l = &c->lane[i];
		struct engine_options eo = m->engine;
		eo.threads = threads / c->n_lanes;
		eo.memory /= (size_t)c->n_lanes;
		l->engine[0] = engine_new(m->a, NULL, &eo);
		l->engine[1] = engine_new(m->b, NULL, &eo);
		for (int k = 0; k < 2; k++)
			l->out[k] = xcalloc((size_t)c->tensors.n + 1, sizeof *l->out[k]);
		l->sums = xcalloc((size_t)c->tensors.n + 1, sizeof *l->sums);
	}
}

static void close_lanes(struct comparison *c)
{
	for (int i = 0; i < c->n_lanes; i++) {
		struct lane *l = &c->lane[i];
		for (int k = 0; k < 2; k++) {
			engine_free(&l->engine[k]);
			free(l->out[k]);
		}
		free(l->sums);
	}
	free(c->lane);
}

// In order of the samples: the same bits for any number of lanes.
static enum status merge_lanes(struct comparison *c, int n, struct error *err)
{
	for (int at = 0; at < n; at++) {
		if (c->lane[at].status != STATUS_OK) {
			*err = c->lane[at].err;
			return c->lane[at].status;
		}
		for (int i = 0; i < c->tensors.n; i++)
			sums_merge(&c->tensors.sums[i], &c->lane[at].sums[i]);
	}
	return STATUS_OK;
}

static enum status compare_all(struct comparison *c, const atomic_bool *cancel, struct error *err)
{
	struct jobs *jobs = jobs_new(c->n_lanes);
	enum status st = STATUS_OK;
	for (int samples = dataset_count(c->m->d); st == STATUS_OK && c->first < samples; c->first += c->n_lanes) {
		int n = samples - c->first < c->n_lanes ? samples - c->first : c->n_lanes;
		jobs_run(jobs, n, compare_sample, c, NULL);
		st = atomic_load(cancel) ? error_set(err, STATUS_CANCELLED, "cancelled") : merge_lanes(c, n, err);
	}
	jobs_free(&jobs);
	return st;
}

// ---- what comes out

void compare_add_figures(cJSON *row, const struct tensor_sums *s)
{
	struct metrics m = sums_metrics(s);
	if (m.exact)
		cJSON_AddBoolToObject(row, "exact", true);
	else
		json_add_number(row, "snr_db", m.snr_db);
	json_add_number(row, "cosine", m.cosine);
	json_add_number(row, "mse", m.mse);
	json_add_number(row, "max_error", m.max_error);
}

static cJSON *side_json(const struct graph *g)
{
	cJSON *side = cJSON_CreateObject();
	cJSON_AddStringToObject(side, "model", g->path);
	cJSON_AddStringToObject(side, "sha256", g->sha256);
	return side;
}

static cJSON *to_json(const struct comparison *c)
{
	const struct graph *a = c->m->a;
	cJSON *root = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "qtui_compare", 1);
	cJSON_AddItemToObject(root, "a", side_json(a));
	cJSON_AddItemToObject(root, "b", side_json(c->m->b));
	cJSON_AddNumberToObject(root, "samples", dataset_count(c->m->d));
	cJSON *outputs = cJSON_AddArrayToObject(root, "outputs"), *tensors = cJSON_AddArrayToObject(root, "tensors");
	for (int i = 0; i < c->tensors.n; i++) {
		const struct value *v = &a->value[c->tensors.name[i]];
		cJSON *row = cJSON_CreateObject();
		cJSON_AddStringToObject(row, "tensor", v->name);
		cJSON_AddStringToObject(row, "node", a->node[v->producer].name);
		compare_add_figures(row, &c->tensors.sums[i]);
		if (v->is_output)
			cJSON_AddItemToArray(outputs, cJSON_Duplicate(row, true));
		cJSON_AddItemToArray(tensors, row);
	}
	return root;
}

enum status compare_models(
    struct cJSON **out, const struct compare_models *m, atomic_int *done, const atomic_bool *cancel, struct error *err)
{
	struct comparison c = {.m = m, .done = done};
	enum status st = match_inputs(&c, err);
	match_tensors(&c.tensors, m->a, m->b);
	if (st == STATUS_OK && c.tensors.n == 0)
		st = error_set(err, STATUS_REFUSED, "%s and %s have no computed tensor of the same name", m->a->path, m->b->path);
	if (st == STATUS_OK) {
		open_lanes(&c);
		st = compare_all(&c, cancel, err);
		close_lanes(&c);
	}
	if (st == STATUS_OK)
		*out = to_json(&c);
	free(c.tensors.name);
	free(c.tensors.a);
	free(c.tensors.b);
	free(c.tensors.row);
	free(c.tensors.sums);
	free(c.input);
	return st;
}
