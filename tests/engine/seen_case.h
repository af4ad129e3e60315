// Every activation of the float network of one sample, on one thread:
// what was shown, and on demand what was kept of it.
#ifndef TESTS_ENGINE_SEEN_CASE_H
#define TESTS_ENGINE_SEEN_CASE_H

#include <stdlib.h>
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/engine/run.h"
#include "support.h"

struct seen {
	struct key *key;  // [n_values] of the elements when they were shown
	struct rep *kept; // [n_values] NULL: nothing is kept
};

static inline struct key key_of_elements(const struct rep *r)
{
	return key_add((struct key){0}, r->t.data, tensor_bytes(&r->t));
}

static inline void see(void *arg, const struct sighting *s)
{
	struct seen *seen = arg;
	seen->key[s->value] = key_of_elements(s->rep[SIM_FLOAT]);
	if (seen->kept)
		seen->kept[s->value] = rep_share(s->rep[SIM_FLOAT]);
}

// With a store that holds nothing, since what is stored is neither overwritten nor made in place.
static inline void show_all(struct seen *seen, const struct graph *g, const struct dataset *d)
{
	struct error err = {0};
	struct engine *e = engine_new(g, d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1, .memory = 1});
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	for (int v = 0; v < g->n_values; v++)
		want[v] = !g->value[v].constant;
	seen->key = xcalloc((size_t)g->n_values, sizeof *seen->key);
	if (engine_pass(e, &(struct pass){.want = {[SIM_FLOAT] = want}, .last = 1, .visit = see, .arg = seen}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(want);
	engine_free(&e);
}

// What was kept still has the elements that were shown; frees all.
static inline void check_kept(struct seen *seen, const struct graph *g)
{
	for (int v = 0; v < g->n_values; v++)
		if (seen->kept[v].t.data) {
			assert_true(key_equal(key_of_elements(&seen->kept[v]), seen->key[v]));
			rep_drop(&seen->kept[v]);
		}
	free(seen->key);
	free(seen->kept);
}

#endif
