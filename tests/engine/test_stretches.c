// A pass of two rounds in stretches: what is held and for how long, that it fits,
// and that both rounds show what one round shows.
#include <stdio.h>
#include <stdlib.h>
#include "../../src/engine/run/stretches.h"
#include "onnx_case.h"
#include "qtui/engine/run.h"

enum { DEPTH = 12, CHANNELS = 384, SIZE = 14, SAMPLES = 8, SKIP = 1 };
#define TENSOR ((double)CHANNELS * SIZE * SIZE * sizeof(float))

// A chain of convolutions, each of which pays; what an early one gives is added once more at the end.
static void chain(struct onnx_case *c)
{
	struct support_random r = {5};
	static float w[CHANNELS * CHANNELS];
	char io[64], y[16], name[16], wn[16];
	case_init(c);
	case_input(c, "x0", FLOAT, DIMS(1, CHANNELS, SIZE, SIZE));
	for (int i = 1; i <= DEPTH; i++) {
		support_random_floats(&r, w, CHANNELS * CHANNELS, -0.08f, 0.08f);
		snprintf(wn, sizeof wn, "w%d", i);
		snprintf(io, sizeof io, "x%d w%d", i - 1, i);
		snprintf(y, sizeof y, "x%d", i);
		snprintf(name, sizeof name, "conv%d", i);
		case_floats(c, wn, DIMS(CHANNELS, CHANNELS, 1, 1), w);
		case_node(c, "Conv", name, io, y);
	}
	snprintf(io, sizeof io, "x%d x%d", DEPTH, SKIP);
	case_node(c, "Add", "add", io, "sum");
	case_output(c, c->graph, "sum");
	case_load(c);
}

static bool *all_values(const struct graph *g)
{
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	for (int v = 0; v < g->n_values; v++)
		want[v] = !g->value[v].constant;
	return want;
}

static int value_of(const struct graph *g, int depth)
{
	char name[16];
	snprintf(name, sizeof name, "x%d", depth);
	return graph_find_value(g, name);
}

// The first round shows what `first` says, or all.
static void find_beginning(struct stretches *s, const struct onnx_case *c, const bool *first, int samples, double most)
{
	struct steps steps;
	bool *want = all_values(c->loaded);
	steps_build(&steps, c->loaded, NULL, want, false, false);
	stretches_find(s, c->loaded, &steps,
	    &(struct stretched){.first = first ? first : want, .any = want, .samples = samples, .most = (size_t)(samples * most)});
	assert_int_equal(s->end[s->n - 1], steps.n);
	for (int i = 1; i < s->n; i++)
		assert_true(s->end[i] > s->end[i - 1]);
	steps_done(&steps);
	free(want);
}

static void find(struct stretches *s, const struct onnx_case *c, int samples, double most)
{
	find_beginning(s, c, NULL, samples, most);
}

static int stretch_of(const struct stretches *s, int step)
{
	int i = 0;
	while (step >= s->end[i])
		i++;
	return i;
}

// With room for five tensors: what is held is held by whoever reads it,
// the skip connection to the end, and never more than fits.
void test_stretches__what_is_held_fits_and_is_there_when_it_is_read(void **state)
{
	struct onnx_case c;
	struct stretches s;
	chain(&c);
	find(&s, &c, 1000, 5.5 * TENSOR);
	assert_in_range(s.n, 3, DEPTH);
	for (int i = 0; i < s.n; i++) {
		int held = 0;
		for (int k = 1; k <= DEPTH; k++)
			held += stretch_of(&s, k - 1) <= i && s.until[value_of(c.loaded, k)] > i;
		assert_in_range(held, 2, 5);
	}
	for (int k = 1; k < DEPTH; k++)
		assert_true(s.until[value_of(c.loaded, k)] > stretch_of(&s, k));
	assert_int_equal(s.until[value_of(c.loaded, SKIP)], s.n);
	assert_int_equal(s.until[graph_find_value(c.loaded, "sum")], 0); // an addition does not pay
	stretches_done(&s);
	case_done(&c);
}

void test_stretches__one_where_all_fits_or_nothing(void **state)
{
	struct onnx_case c;
	struct stretches s;
	chain(&c);
	for (int all = 0; all < 2; all++) {
		find(&s, &c, 1, all ? 100 * TENSOR : 0);
		assert_int_equal(s.n, 1);
		for (int k = 1; k <= DEPTH; k++)
			assert_int_equal(s.until[value_of(c.loaded, k)], all);
		stretches_done(&s);
	}
	case_done(&c);
}

// What the first round only passes through is held if it is shown later; what it does not come to cannot be.
void test_stretches__only_what_the_first_round_computes_is_held(void **state)
{
	enum { LAST = 5 };
	struct onnx_case c;
	struct stretches s;
	chain(&c);
	bool *first = xcalloc((size_t)c.loaded->n_values, sizeof *first);
	first[value_of(c.loaded, LAST)] = true;
	find_beginning(&s, &c, first, 1, 100 * TENSOR);
	for (int k = 1; k <= DEPTH; k++)
		assert_int_equal(s.until[value_of(c.loaded, k)] > 0, k <= LAST);
	stretches_done(&s);
	free(first);
	case_done(&c);
}

struct seen {
	struct key *key; // [round][value][sample]
	int *times;
	int n_values;
	pthread_mutex_t lock;
	bool in_order;
};

static int place_of(const struct seen *s, int round, int value, int sample)
{
	return (round * s->n_values + value) * SAMPLES + sample;
}

static void see(void *arg, const struct sighting *g)
{
	struct seen *s = arg;
	const struct tensor *t = &g->rep[SIM_FLOAT]->t;
	int at = place_of(s, g->round, g->value, g->sample);
	pthread_mutex_lock(&s->lock);
	s->key[at] = key_of(t->data, tensor_bytes(t));
	s->times[at]++;
	for (int i = 0; g->round && i < SAMPLES; i++)
		s->in_order &= s->times[place_of(s, 0, g->value, i)] == 1;
	pthread_mutex_unlock(&s->lock);
}

// Returns the results computed.
static int show(struct seen *s, const struct graph *g, const struct dataset *d, const struct engine_options *o, bool second)
{
	struct error err = {0};
	struct engine *e = engine_new(g, d, o);
	bool *want = all_values(g);
	atomic_int computed = 0;
	atomic_long done = 0;
	struct pass p = {.want = {[SIM_FLOAT] = want}, .second = {[SIM_FLOAT] = second ? want : NULL}, .last = SAMPLES, .visit = see, .arg = s,
	    .computed = &computed, .done = &done};
	size_t n = 2 * (size_t)g->n_values * SAMPLES;
	*s = (struct seen){.key = xcalloc(n, sizeof *s->key), .times = xcalloc(n, sizeof *s->times), .n_values = g->n_values, .in_order = true};
	pthread_mutex_init(&s->lock, NULL);
	assert_int_equal(engine_pass(e, &p, &err), STATUS_OK);
	assert_int_equal(done, engine_pass_steps(e, &p) * SAMPLES);
	pthread_mutex_destroy(&s->lock);
	free(want);
	engine_free(&e);
	return computed;
}

static void seen_done(struct seen *s)
{
	free(s->key);
	free(s->times);
}

// The second round computes at most the addition, which does not pay to hold (an edit may want it),
// be it in one stretch or in several; without room it computes all.
void test_stretches__both_rounds_show_the_same(void **state)
{
	struct onnx_case c;
	struct dataset *d;
	struct seen once, twice;
	chain(&c);
	assert_int_equal(dataset_open(&d, NULL, c.loaded, &(struct dataset_options){.random = SAMPLES}, &c.err), STATUS_OK);
	struct engine_options plain = {.backend = BACKEND_ONEDNN, .threads = 1, .memory = 1};
	int each = show(&once, c.loaded, d, &plain, false);
	assert_int_equal(each, (DEPTH + 1) * SAMPLES);
	static const size_t memory[] = {1, (size_t)(4 * 5.5 * SAMPLES * TENSOR), (size_t)1 << 30};
	for (int i = 0; i < 6; i++) {
		struct engine_options o = {.backend = BACKEND_ONEDNN, .threads = 1 + i % 2, .memory = memory[i / 2]};
		int computed = show(&twice, c.loaded, d, &o, true);
		assert_true(twice.in_order);
		for (int v = 0; v < c.loaded->n_values; v++)
			for (int k = 0; k < 2 * SAMPLES && !c.loaded->value[v].constant; k++) {
				int at = place_of(&twice, k % 2, v, k / 2);
				assert_int_equal(twice.times[at], 1);
				assert_true(key_equal(twice.key[at], once.key[place_of(&once, 0, v, k / 2)]));
			}
		if (i < 2)
			assert_int_equal(computed, 2 * each);
		else
			assert_in_range(computed, each, each + SAMPLES);
		seen_done(&twice);
	}
	seen_done(&once);
	dataset_free(&d);
	case_done(&c);
}

static void look_away(void *arg, const struct sighting *g)
{
	(void)arg;
	(void)g;
}

// Results that a pass of one round, or of two, computes.
static int computed_by(struct engine *e, enum pass_keep keep, bool *want, bool second)
{
	struct error err = {0};
	atomic_int computed = 0;
	struct pass p = {.want = {[SIM_FLOAT] = want}, .second = {[SIM_FLOAT] = second ? want : NULL}, .last = SAMPLES, .visit = look_away,
	    .computed = &computed, .keep = keep};
	assert_int_equal(engine_pass(e, &p, &err), STATUS_OK);
	return computed;
}

// Behind a pass that is the last, all is computed anew, though its own second round read what the first one had left.
void test_stretches__a_pass_keeps_for_what_follows(void **state)
{
	enum { EACH = (DEPTH + 1) * SAMPLES };
	static const int least[] = {[KEEP_FOR_EDITS] = 0, [KEEP_FOR_PASS] = 0, [KEEP_SAMPLES] = EACH};
	static const int most[] = {[KEEP_FOR_EDITS] = EACH - 1, [KEEP_FOR_PASS] = SAMPLES, [KEEP_SAMPLES] = EACH};
	struct onnx_case c;
	struct dataset *d;
	chain(&c);
	bool *want = all_values(c.loaded);
	assert_int_equal(dataset_open(&d, NULL, c.loaded, &(struct dataset_options){.random = SAMPLES}, &c.err), STATUS_OK);
	for (int keep = KEEP_FOR_EDITS; keep <= KEEP_SAMPLES; keep++)
		for (int second = 0; second < 2; second++) {
			struct engine *e = engine_new(
			    c.loaded, d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1, .memory = (size_t)1 << 30});
			assert_in_range(computed_by(e, (enum pass_keep)keep, want, second), EACH, EACH + second * SAMPLES);
			assert_in_range(computed_by(e, KEEP_NOTHING, want, false), least[keep], most[keep]);
			engine_free(&e);
		}
	free(want);
	dataset_free(&d);
	case_done(&c);
}
