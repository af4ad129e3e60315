// Prepared kernels: what is held within a limit, what goes first, and that nothing is made
// twice or goes while it is in use.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "../../src/engine/kernels/kernel_impl.h"
#include "../../src/engine/run/run_impl.h"
#include "../../src/engine/run/runner.h"
#include "support.h"

enum { SIZE = 100 };

struct ledger {
	struct kernels *all;
	int made, alive;
	size_t bytes; // of a kernel; 0: SIZE
	bool fails;
	pthread_barrier_t *meet; // waited for while the first is made; may be NULL
};
struct counted {
	struct kernel base;
	struct ledger *in;
};

static void counted_free(struct kernel *k)
{
	struct counted *c = (struct counted *)k;
	c->in->alive--;
	free(c);
}

static enum status make(void *arg, struct prepared *out)
{
	static const struct kernel_ops ops = {.free = counted_free};
	struct ledger *l = arg;
	l->made++;
	if (l->meet && l->made == 1) {
		pthread_barrier_wait(l->meet);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	if (l->fails)
		return STATUS_UNSUPPORTED;
	struct counted *c = xcalloc(1, sizeof *c);
	*c = (struct counted){.base = {.ops = &ops, .bytes = l->bytes ? l->bytes : SIZE}, .in = l};
	l->alive++;
	out->kernel = &c->base;
	return STATUS_OK;
}

static enum status get(struct ledger *l, int user, int name)
{
	struct prepared p;
	enum status st = kernels_get(l->all, user, key_add_int((struct key){0}, name), make, l, &p);
	assert_true(st != STATUS_OK || p.kernel);
	return st;
}

// One sample's walk over kernels first..last by user 0; how many had to be made.
static int walk(struct ledger *l, int first, int last)
{
	int before = l->made;
	for (int i = first; i <= last; i++) {
		kernels_step(l->all, 0);
		assert_int_equal(get(l, 0, i), STATUS_OK);
	}
	kernels_step(l->all, 0);
	return l->made - before;
}

static void begin(struct ledger *l, int limit)
{
	*l = (struct ledger){.all = kernels_new(2, (size_t)limit * SIZE)};
	kernels_turn(l->all);
}

static void end(struct ledger *l)
{
	kernels_free(&l->all);
	assert_int_equal(l->alive, 0);
}

// Samples walk through all kernels. Of ten with room for six, the four that do not fit are
// made for each sample, and not all ten.
void test_kernels__what_fits_stays_from_sample_to_sample(void **state)
{
	struct ledger l;
	begin(&l, 6);
	assert_int_equal(walk(&l, 1, 10), 10);
	for (int sample = 0; sample < 5; sample++) {
		assert_in_range(walk(&l, 1, 10), 4, 5); // one more where the last made pushes out the one before
		assert_int_equal(l.alive, 6);
	}
	assert_true(kernels_full(l.all));
	end(&l);
}

void test_kernels__what_earlier_passes_used_goes_first(void **state)
{
	struct ledger l;
	begin(&l, 6);
	walk(&l, 1, 6);
	kernels_turn(l.all);
	assert_int_equal(walk(&l, 11, 14), 4);
	assert_int_equal(walk(&l, 11, 14), 0);
	assert_int_equal(walk(&l, 5, 6), 0);
	assert_int_equal(walk(&l, 1, 1), 1);
	end(&l);
}

void test_kernels__what_is_in_use_stays_over_the_limit(void **state)
{
	struct ledger l;
	begin(&l, 1);
	assert_int_equal(get(&l, 1, 1), STATUS_OK);
	assert_int_equal(get(&l, 1, 2), STATUS_OK);
	walk(&l, 3, 3);
	assert_int_equal(l.alive, 2);
	kernels_step(l.all, 1);
	assert_int_equal(l.alive, 1);
	end(&l);
}

void test_kernels__one_that_cannot_be_made_leaves_nothing(void **state)
{
	struct ledger l;
	begin(&l, 6);
	l.fails = true;
	assert_int_equal(get(&l, 0, 1), STATUS_UNSUPPORTED);
	l.fails = false;
	assert_int_equal(get(&l, 0, 1), STATUS_OK);
	assert_int_equal(l.made, 2);
	end(&l);
}

static void *other_user(void *arg)
{
	return (void *)(intptr_t)get(arg, 1, 1);
}

void test_kernels__two_users_make_one(void **state)
{
	pthread_barrier_t meet;
	pthread_t t;
	void *status;
	struct ledger l;
	begin(&l, 6);
	pthread_barrier_init(&meet, NULL, 2);
	l.meet = &meet;
	assert_int_equal(pthread_create(&t, NULL, other_user, &l), 0);
	pthread_barrier_wait(&meet); // the other one has begun, and is let go on
	assert_int_equal(get(&l, 0, 1), STATUS_OK);
	assert_int_equal(pthread_join(t, &status), 0);
	assert_int_equal((intptr_t)status, STATUS_OK);
	assert_int_equal(l.made, 1);
	pthread_barrier_destroy(&meet);
	end(&l);
}

// An engine without a budget packs once what 64 MiB do not hold.
void test_kernels__no_budget_holds_all_weights(void **state)
{
	enum { WEIGHTS = 4, EACH = 40 << 20 };
	struct tensor w = {.type = DT_I8, .shape = shape_of(1, (int64_t[]){EACH})};
	struct value value[WEIGHTS] = {{0}};
	struct graph g = {.n_values = WEIGHTS, .value = value};
	for (int i = 0; i < WEIGHTS; i++)
		value[i].constant = &w;
	struct engine *e = engine_bare(&g, &(struct engine_options){.threads = 1});
	struct ledger l = {.all = e->kernels, .bytes = EACH};
	kernels_turn(l.all);
	assert_int_equal(walk(&l, 1, WEIGHTS), WEIGHTS);
	assert_int_equal(walk(&l, 1, WEIGHTS), 0);
	engine_free(&e);
	assert_int_equal(l.alive, 0);
}
