// Random data for inputs that pick rows of tables: zeros would be one word over and over.
#include "data_case.h"
#include "graph_builder.h"
#include "qtui/engine/op.h"
#include "../../src/engine/data/ids.h"

static int table(struct builder *b, const char *name, int rows)
{
	static const float zeros[64];
	return builder_constant(b, name, DT_F32, SHAPE(rows, 2), zeros);
}

static void gather(struct builder *b, const char *in, const char *out)
{
	struct axis_attrs *a = arena_alloc(b->g->arena, sizeof *a);
	*a = (struct axis_attrs){0};
	b->g->node[builder_node(b, "Gather", out, in, out)].attrs = a;
}

static void input(struct builder *b, const char *name, enum dtype type)
{
	struct value *v = &b->g->value[builder_input(b, name)];
	v->type = type;
	v->shape = SHAPE(1, 32);
}

static int64_t most(const struct tensor *t, int64_t *distinct)
{
	int64_t most = -1;
	bool seen[64] = {false};
	*distinct = 0;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		int64_t v = t->type == DT_I64 ? ((const int64_t *)t->data)[i] : ((const int32_t *)t->data)[i];
		assert_in_range(v, 0, 63);
		*distinct += !seen[v];
		seen[v] = true;
		most = v > most ? v : most;
	}
	return most;
}

// Two tables that are read by the same words, the smaller behind a Cast; other integers stay 0.
void test_dataset_ids__words_differ_and_are_there(void **state)
{
	struct builder b = builder_new();
	struct dataset *d = NULL;
	struct tensor in[2] = {{0}};
	struct placement where;
	struct error err;
	int64_t distinct;
	input(&b, "words", DT_I64);
	input(&b, "other", DT_I32);
	table(&b, "large", 30);
	table(&b, "small", 9);
	gather(&b, "large words", "a");
	builder_node(&b, "Cast", "cast", "words", "w");
	gather(&b, "small w", "c");
	builder_node(&b, "Abs", "abs", "other", "y");
	for (const char *const *out = (const char *const[]){"a", "c", "y", NULL}; *out; out++)
		builder_output(&b, *out);
	assert_int_equal(dataset_open(&d, NULL, b.g, &(struct dataset_options){.random = 2}, &err), STATUS_OK);
	assert_int_equal(dataset_load(d, 1, in, &where, &err), STATUS_OK);
	assert_true(most(&in[0], &distinct) < 9 && distinct > 4);
	assert_int_equal(most(&in[1], &distinct), 0);
	for (int i = 0; i < 2; i++)
		tensor_drop(&in[i]);
	dataset_free(&d);
	graph_free(&b.g);
}

// Fifteen times a tensor joined with itself, eight times over, is 8^15 ways to the table.
void test_dataset_ids__ways_through_one_node_are_one(void **state)
{
	struct builder b = builder_new();
	char in[64], out[8];
	input(&b, "v0", DT_I64);
	for (int i = 0; i < 15; i++) {
		snprintf(in, sizeof in, "v%d v%d v%d v%d v%d v%d v%d v%d", i, i, i, i, i, i, i, i);
		snprintf(out, sizeof out, "v%d", i + 1);
		builder_node(&b, "Concat", out, in, out);
	}
	table(&b, "words", 12);
	gather(&b, "words v15", "y");
	assert_int_equal(ids_rows(b.g, b.g->input[0]), 12);
	graph_free(&b.g);
}
