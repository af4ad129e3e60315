// The thread that shows: every sighting, in order, with tensors that live until they have been seen.
#include "support.h"
#include "../../src/engine/run/showing.h"

enum { SHOWN = 50 };

struct seen {
	int n;
	bool in_order, whole;
};

static void see(void *arg, const struct sighting *g)
{
	struct seen *s = arg;
	s->in_order &= g->value == s->n && !g->rep[SIM_FULL];
	s->whole &= ((const float *)g->rep[SIM_FLOAT]->t.data)[7] == (float)s->n;
	s->n++;
}

static struct rep rep_of(int value)
{
	struct rep r;
	struct error err;
	int64_t n = 8;
	struct shape shape = shape_of(1, &n);
	r = (struct rep){.t = {.type = DT_F32, .shape = shape}};
	assert_int_equal(tensor_alloc(&r.t, NULL, &err), STATUS_OK);
	((float *)r.t.data)[7] = (float)value;
	return r;
}

void test_showing__everything_is_shown_in_order(void **state)
{
	struct seen seen = {.in_order = true, .whole = true};
	struct pass p = {.visit = see, .arg = &seen};
	struct showing *s = showing_begin(&p);
	assert_non_null(s);
	for (int i = 0; i < SHOWN; i++) {
		struct rep r = rep_of(i);
		showing_add(s, &(struct sighting){.value = i, .rep = {[SIM_FLOAT] = &r}});
		rep_drop(&r);
	}
	showing_end(&s);
	assert_int_equal(seen.n, SHOWN);
	assert_true(seen.in_order && seen.whole);
}
