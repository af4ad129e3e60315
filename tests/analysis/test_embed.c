// Vectors that tell classes apart: who is nearest, against sums done the long way, and the task from outputs to figures.
#include <string.h>
#include "../../src/analysis/task/metric/retrieval.h"
#include "../../src/analysis/task/task_impl.h"
#include "task_case.h"

enum { N = 60, LENGTH = 5, CLASSES = 7 };

struct vectors {
	float at[N][LENGTH];
	const float *row[N];
	int class[N];
};

// Whole numbers, whose products are exact in any order, and so few of them that some are as near as others.
static void draw_vectors(struct vectors *v, uint64_t seed)
{
	for (int i = 0; i < N; i++) {
		v->class[i] = i == 0 ? CLASSES : draw(&seed, CLASSES); // the first is alone
		for (int k = 0; k < LENGTH; k++)
			v->at[i][k] = (float)(draw(&seed, 5) - 2 + (k == v->class[i] % LENGTH));
		v->row[i] = v->at[i];
	}
}

static float cosine(const struct vectors *v, int i, int k)
{
	float sum = 0;
	for (int j = 0; j < LENGTH; j++)
		sum += v->at[i][j] * v->at[k][j];
	return sum;
}

// How many others are as near as k or nearer, those of its own class only if they are nearer or stand before it.
static int place(const struct vectors *v, int i, int k)
{
	int before = 0;
	for (int j = 0; j < N; j++) {
		bool like = v->class[j] == v->class[i];
		before += j != i && j != k && (cosine(v, i, j) > cosine(v, i, k) || (cosine(v, i, j) == cosine(v, i, k) && (!like || j < k)));
	}
	return before;
}

static double precision_at(const struct vectors *v, int i, int k)
{
	int like = 1;
	for (int j = 0; j < N; j++)
		like += j != i && j != k && v->class[j] == v->class[i] && place(v, i, j) < place(v, i, k);
	return (double)like / (place(v, i, k) + 1);
}

static double slow_ap(const struct vectors *v, int i)
{
	double sum = 0;
	int n = 0;
	for (int k = 0; k < N; k++)
		if (k != i && v->class[k] == v->class[i]) {
			sum += precision_at(v, i, k);
			n++;
		}
	return n ? sum / n : NAN;
}

// With fewer than a thousand pairs of two classes none may be accepted, with more the greatest.
static double slow_tar(const struct vectors *v)
{
	double accepted = 0, all = 0;
	float other[2] = {-INFINITY, -INFINITY};
	int others = 0;
	for (int i = 0; i < N; i++)
		for (int k = i + 1; k < N; k++) {
			float c = cosine(v, i, k);
			if (v->class[i] == v->class[k])
				continue;
			others++;
			other[1] = c > other[0] ? other[0] : c > other[1] ? c : other[1];
			other[0] = c > other[0] ? c : other[0];
		}
	assert_true(others >= 1000 && others < 2000);
	for (int i = 0; i < N; i++)
		for (int k = i + 1; k < N; k++)
			if (v->class[i] == v->class[k]) {
				all++;
				accepted += cosine(v, i, k) > other[1];
			}
	return accepted / all;
}

void test_embed__figures_are_those_of_the_long_way(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct vectors v;
		draw_vectors(&v, seed);
		struct retrieval *n = retrieval_new(v.row, v.class, N, LENGTH);
		assert_int_equal(n->n, N);
		assert_true(isnan(n->of[0].ap));
		for (int i = 0; i < N; i++) {
			int first = n->of[i].first;
			struct query alone = retrieval_query(v.row, v.class, N, LENGTH, i);
			assert_int_equal(alone.first, first);
			assert_memory_equal(&alone.ap, &n->of[i].ap, sizeof alone.ap);
			assert_true(first >= 0 && first != i);
			for (int k = 0; k < N; k++)
				if (k != i && cosine(&v, i, k) > cosine(&v, i, first))
					fail_msg("%d is nearer to %d than %d", k, i, first);
			if (v.class[first] == v.class[i])
				assert_int_equal(place(&v, i, first), 0); // no other class is as near
			assert_float_equal(n->of[i].near, cosine(&v, i, first), 0);
			if (i > 0)
				near(n->of[i].ap, slow_ap(&v, i), 1e-12);
		}
		near(n->tar, slow_tar(&v), 1e-12);
		retrieval_free(&n);
	}
}

// A network that gives the same for everything finds nothing.
void test_embed__what_tells_nothing_apart_is_worth_nothing(void **state)
{
	const float zero[LENGTH] = {0}, *row[4] = {zero, zero, zero, zero};
	struct retrieval *n = retrieval_new(row, (const int[]){0, 0, 1, 1}, 4, LENGTH);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(n->of[i].first / 2, 1 - i / 2);
		near(n->of[i].ap, 1.0 / 3, 1e-12);
	}
	near(n->tar, 0, 0);
	retrieval_free(&n);
	n = retrieval_new(row, (const int[]){0, 0, 0, 0}, 4, LENGTH);
	assert_true(isnan(n->tar));
	retrieval_free(&n);
	n = retrieval_new(row, (const int[]){0}, 1, LENGTH);
	assert_int_equal(n->of[0].first, -1);
	retrieval_free(&n);
}

// ---- the task

enum { SAMPLES = 5, WIDE = 2 };

static void begin_arrays(struct task_case *c, const char *op)
{
	case_begin_arrays(c, op, SAMPLES, WIDE, "file,class\n0.npy,3\n1.npy,3\n2.npy,1\n3.npy,1\n4.npy,0\n");
}

static void say_vectors(struct task_case *c, enum task_variant v, const float x[SAMPLES][WIDE])
{
	for (int i = 0; i < SAMPLES; i++) {
		const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)x[i]};
		if (task_add(c->t, case_net(c, v), i, &(struct task_said){&out, &out, NULL}, &c->err))
			fail_msg("%s", c->err.text);
	}
}

static const float apart[SAMPLES][WIDE] = {{1, 0}, {4, 1}, {0, 2}, {-1, 9}, {-1, 0}},
                   mixed[SAMPLES][WIDE] = {{1, 0}, {0, 1}, {.1f, 3}, {1, 8}, {NAN, 0}};

void test_embed__a_task_from_outputs_to_figures(void **state)
{
	struct task_case c;
	begin_arrays(&c, "LpNormalization");
	if (case_task(&c, -1, NULL))
		fail_msg("%s", c.err.text);
	assert_int_equal(task_kind(c.t), TASK_EMBED);
	say_vectors(&c, TASK_FLOAT, apart);
	say_vectors(&c, TASK_QUANT, mixed);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_int_equal(r->n_figures, 3);
	assert_string_equal(r->figure[0].name, "rank1");
	near(r->figure[0].value[TASK_FLOAT], 1, 0); // the last sample is alone, and asks for nobody
	near(r->figure[0].value[TASK_QUANT], .25, 0); // 3 finds 2; 2 is nearer to 1
	near(r->figure[1].value[TASK_FLOAT], 1, 0);
	near(r->figure[1].value[TASK_QUANT], (1.0 / 4 + 1.0 / 4 + 1.0 / 2 + 1) / 4, 1e-12);
	near(r->figure[2].value[TASK_FLOAT], 1, 0);
	assert_int_equal(r->n_classes, 4);
	near(r->class[3].value[TASK_QUANT], 0, 0);
	near(r->class[1].value[TASK_QUANT], .5, 0);
	assert_int_equal(r->class[1].objects, 2);
	assert_int_equal(r->class[0].objects, 0);
	assert_int_equal(r->sample[0].sample, 0);
	near(r->sample[0].value[TASK_QUANT], 1.0 / 4, 1e-12);
	task_report_drop(&r);
	struct task_look *l = task_look_new(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), (struct key){1, 2}, 2, 0);
	assert_string_equal(l->class, "class 1");
	assert_string_equal(l->said[TASK_FLOAT], "class 1");
	assert_string_equal(l->said[TASK_QUANT], "class 3");
	assert_string_equal(l->nearest[TASK_FLOAT], "3.npy");
	assert_string_equal(l->nearest[TASK_QUANT], "1.npy");
	near(l->sure[TASK_QUANT], 3 / sqrt(9.01), 1e-6);
	near(l->value[TASK_QUANT], .5, 1e-12);
	task_look_drop(&l);
	case_end(&c);
}

// Without labels the vectors' own cosine tells, and no class that is first.
void test_embed__agreement(void **state)
{
	struct task_case c;
	begin_arrays(&c, "LpNormalization");
	assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
	const struct tensor f = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)apart[1]},
	                    q = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)mixed[0]};
	assert_int_equal(task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){&q, &f, NULL}, &c.err), STATUS_OK);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "cosine");
	near(r->figure[0].value[TASK_QUANT], 4 / sqrt(17), 1e-6);
	assert_true(isnan(r->figure[2].value[TASK_QUANT]));
	task_report_drop(&r);
	case_end(&c);
}

void test_embed__is_taken_for_what_it_is(void **state)
{
	struct task_case c;
	begin_arrays(&c, "Relu");
	if (case_task(&c, -1, NULL))
		fail_msg("%s", c.err.text);
	assert_int_equal(task_kind(c.t), TASK_CLASSIFY);
	assert_int_equal(case_task(&c, TASK_EMBED, NULL), STATUS_OK);
	const struct tensor wide = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)apart[0]},
	                    longer = {.type = DT_F32, .shape = SHAPE(1, 4), .data = (void *)apart[0]};
	assert_int_equal(task_add(c.t, case_net(&c, TASK_FLOAT), 0, &(struct task_said){&wide, &wide, NULL}, &c.err), STATUS_OK);
	assert_int_equal(task_add(c.t, case_net(&c, TASK_FLOAT), 1, &(struct task_said){&longer, &longer, NULL}, &c.err), STATUS_FORMAT);
	case_end(&c);
}

void test_embed__needs_two_of_a_class(void **state)
{
	static const char csv[] = "0.npy,3\n1.npy,2\n4.npy,0\n";
	struct task_case c;
	begin_arrays(&c, "LpNormalization");
	assert_int_equal(case_task(&c, -1, support_temp_file("alone.csv", csv, sizeof csv - 1)), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "alone.csv: no class has two of the samples"));
	case_end(&c);
}

// Of a quotient the divisor tells: a Softmax written out divides by a sum, too.
void test_embed__lengths_that_are_written_out(void **state)
{
	static const struct {
		const char *op[3]; // from the network's end to the divisor
		bool length;
	} rows[] = {
	    {{"ReduceL2", "Clip", "Expand"}, true},
	    {{"ReduceSum", "Sqrt", "Max"}, true},
	    {{"ReduceSumSquare", "Sqrt", "Identity"}, true},
	    {{"ReduceSum", "Identity", "Expand"}, false},
	    {{"ReduceMax", "Sqrt", "Expand"}, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct builder b = builder_new();
		builder_input(&b, "x");
		builder_node(&b, "Relu", "net", "x", "v");
		builder_node(&b, rows[i].op[0], "first", "v", "a");
		builder_node(&b, rows[i].op[1], "second", "a", "b");
		builder_node(&b, rows[i].op[2], "third", "b", "c");
		builder_node(&b, "Div", "quotient", "v c", "y");
		builder_output(&b, "y");
		b.g->value[b.g->output[0]].shape = SHAPE(1, WIDE);
		if (embed_is_likely(b.g) != rows[i].length)
			fail_msg("%s, %s", rows[i].op[0], rows[i].op[1]);
		graph_free(&b.g);
	}
}
