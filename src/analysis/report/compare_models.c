// Two models on the same samples: a float model and what somebody quantized of it, say. Tensors are matched by name.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/compare.h"
#include "qtui/base/json.h"

struct matched {
	int n;
	int *a, *b;              // value ids
	struct tensor_sums *sums;
};
struct comparison {
	const struct compare_models *m;
	struct engine *engine[2];
	struct matched tensors;
	int *input;              // of b: the position of that input among a's
	struct tensor *out_a, *out_b;
};

// Computed float tensors of the same name and shape.
static void match_tensors(struct matched *t, const struct graph *a, const struct graph *b)
{
	t->a = xcalloc((size_t)a->n_values + 1, sizeof *t->a);
	t->b = xcalloc((size_t)a->n_values + 1, sizeof *t->b);
	for (int i = 0; i < a->n_values; i++) {
		const struct value *x = &a->value[i];
		int other = x->producer >= 0 ? graph_find_value(b, x->name) : -1;
		const struct value *y = other >= 0 ? &b->value[other] : NULL;
		if (!y || y->producer < 0 || x->type != DT_F32 || y->type != DT_F32 || !shape_equal(&x->shape, &y->shape))
			continue;
		t->a[t->n] = i;
		t->b[t->n++] = other;
	}
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
			return error_set(err, STATUS_REFUSED, "%s: input %s is not an input of %s, or has another shape: such models cannot be compared",
			    b->path, need->name, a->path);
		c->input[i] = found;
	}
	return STATUS_OK;
}

static enum status infer_both(struct comparison *c, const struct tensor *in, struct error *err)
{
	const struct graph *b = c->m->b;
	struct tensor *in_b = xcalloc((size_t)b->n_inputs + 1, sizeof *in_b);
	for (int i = 0; i < b->n_inputs; i++)
		in_b[i] = in[c->input[i]];
	enum status st = engine_infer(c->engine[0], NULL, SIM_FLOAT, in, c->tensors.a, c->tensors.n, false, c->out_a, err);
	if (st == STATUS_OK)
		st = engine_infer(c->engine[1], NULL, SIM_FLOAT, in_b, c->tensors.b, c->tensors.n, false, c->out_b, err);
	free(in_b);
	return st;
}

static enum status add_sample(struct comparison *c, int sample, struct error *err)
{
	const struct graph *a = c->m->a;
	struct tensor *in = xcalloc((size_t)a->n_inputs + 1, sizeof *in);
	enum status st = dataset_load(c->m->d, sample, in, NULL, err);
	if (st == STATUS_OK)
		st = infer_both(c, in, err);
	for (int i = 0; i < c->tensors.n; i++) {
		struct tensor_sums one;
		if (st == STATUS_OK && shape_equal(&c->out_a[i].shape, &c->out_b[i].shape)) {
			stats_compare(&one, &c->out_a[i], &c->out_b[i], NULL);
			sums_merge(&c->tensors.sums[i], &one);
		}
		tensor_drop(&c->out_a[i]);
		tensor_drop(&c->out_b[i]);
	}
	for (int i = 0; i < a->n_inputs; i++)
		tensor_drop(&in[i]);
	free(in);
	return st;
}

// ---- what comes out

static void add_figures(cJSON *row, const struct tensor_sums *s)
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
		const struct value *v = &a->value[c->tensors.a[i]];
		cJSON *row = cJSON_CreateObject();
		cJSON_AddStringToObject(row, "tensor", v->name);
		cJSON_AddStringToObject(row, "node", a->node[v->producer].name);
		add_figures(row, &c->tensors.sums[i]);
		if (v->is_output)
			cJSON_AddItemToArray(outputs, cJSON_Duplicate(row, true));
		cJSON_AddItemToArray(tensors, row);
	}
	return root;
}

enum status compare_models(
    struct cJSON **out, const struct compare_models *m, atomic_int *done, const atomic_bool *cancel, struct error *err)
{
	struct comparison c = {.m = m};
	enum status st = match_inputs(&c, err);
	match_tensors(&c.tensors, m->a, m->b);
	if (st == STATUS_OK && c.tensors.n == 0)
		st = error_set(err, STATUS_REFUSED, "%s and %s have no computed tensor of the same name", m->a->path, m->b->path);
	c.out_a = xcalloc((size_t)c.tensors.n + 1, sizeof *c.out_a);
	c.out_b = xcalloc((size_t)c.tensors.n + 1, sizeof *c.out_b);
	c.engine[0] = engine_new(m->a, NULL, &m->engine);
	c.engine[1] = engine_new(m->b, NULL, &m->engine);
	for (int i = 0; st == STATUS_OK && i < dataset_count(m->d); i++) {
		st = atomic_load(cancel) ? error_set(err, STATUS_CANCELLED, "interrupted") : add_sample(&c, i, err);
		atomic_fetch_add(done, 1);
	}
	if (st == STATUS_OK)
		*out = to_json(&c);
	engine_free(&c.engine[0]);
	engine_free(&c.engine[1]);
	free(c.out_a);
	free(c.out_b);
	free(c.tensors.a);
	free(c.tensors.b);
	free(c.tensors.sums);
	free(c.input);
	return st;
}
