// Where a network is cut: so that little is computed again, in memory that does not cost more than that.
#include "stretches.h"

#include <math.h>
#include <stdlib.h>

// In multiply-adds: a value is held when having it again takes more than this a byte,
// which is what writing and reading it takes at the least; a byte of memory that is fresh from the system
// and does not stay in the cache, of the first AT_HAND bytes, which the machine mostly has at hand, and of more,
// which the host of a virtual machine may have to give; a sample's way through a stretch.
#define HOLD_WORTH 24.0
#define HAND_COST 100.0
#define FRESH_COST 200.0
#define SWEEP_COST 5e5
#define AT_HAND (64.0 * 1024 * 1024)

enum { ROUNDS = 2 };

// Of what may be held at once the least that is tried, bytes, and by what it grows.
#define FEW (4.0 * 1024 * 1024)
#define MORE 2.0

// A value, as both rounds need it.
struct cut_value {
	bool begun;   // shown in the first round, or needed for what is
	bool read;    // the same in any round
	double bytes; // held for all samples; 0: it is not held
	double owed;  // the work to have it again from what is held
	int last;     // the last step that is computed from it, or from what is not held and comes from it
};
struct cut_step {
	double work;  // 0: nothing wants it
	double made;  // bytes held of its results
	double alive; // bytes held of results before the step that are read from it on
	double lost;  // work to have again what is not held of results before the step and is read from it on
};
struct cutter {
	const struct graph *g;
	const struct steps *steps;
	const bool *any;         // [n_values] shown
	struct cut_value *value; // [n_values]
	struct cut_step *step;   // [steps + 1]: the sums behind the last
};

static bool is_read(const struct cutter *c, const struct step *s, bool first)
{
	for (int k = 0; k < step_n_out(c->g, s); k++) {
		int v = step_out(c->g, s, k);
		if (v >= 0 && (first ? c->value[v].begun : c->value[v].read))
			return true;
	}
	return false;
}

static void find_read(struct cutter *c, const bool *first)
{
	for (int v = 0; v < c->g->n_values; v++) {
		c->value[v].begun = first[v];
		c->value[v].read = c->any[v];
	}
	for (int i = c->steps->n - 1; i >= 0; i--) {
		const struct step *s = &c->steps->step[i];
		bool begun = is_read(c, s, true), read = is_read(c, s, false);
		for (int k = 0; k < step_n_in(c->g, s); k++) {
			struct cut_value *in = step_in(c->g, s, k) >= 0 ? &c->value[step_in(c->g, s, k)] : NULL;
			if (in && begun)
				in->begun = true;
			if (in && read)
				in->read = true;
		}
		c->step[i].work = read ? (double)s->cost : 0;
	}
}

// Which values are worth holding: of those that are shown, and that the first round computes.
static void find_held(struct cutter *c, int samples)
{
	for (int i = 0; i < c->steps->n; i++) {
		const struct step *s = &c->steps->step[i];
		double work = c->step[i].work;
		for (int k = 0; k < step_n_in(c->g, s); k++)
			if (step_in(c->g, s, k) >= 0)
				work += c->value[step_in(c->g, s, k)].owed;
		for (int k = 0; k < step_n_out(c->g, s); k++) {
			int v = step_out(c->g, s, k);
			if (v < 0 || !c->value[v].read)
				continue;
			int64_t count = shape_count(&c->g->value[v].shape);
			double bytes = (double)count * sizeof(float);
			bool held = c->any[v] && c->value[v].begun && count > 0 && work >= HOLD_WORTH * bytes;
			c->value[v].owed = held ? 0 : work;
			c->value[v].bytes = held ? bytes * samples : 0;
		}
	}
}

static void find_last(struct cutter *c)
{
	for (int v = 0; v < c->g->n_values; v++)
		c->value[v].last = c->steps->of_value[v];
	for (int i = c->steps->n - 1; i >= 0; i--) {
		const struct step *s = &c->steps->step[i];
		int last = i;
		if (c->step[i].work == 0)
			continue;
		for (int k = 0; k < step_n_out(c->g, s); k++) {
			const struct cut_value *v = step_out(c->g, s, k) >= 0 ? &c->value[step_out(c->g, s, k)] : NULL;
			if (v && v->read && v->bytes == 0 && v->last > last)
				last = v->last;
		}
		for (int k = 0; k < step_n_in(c->g, s); k++) {
			int v = step_in(c->g, s, k);
			if (v >= 0 && c->value[v].last < last)
				c->value[v].last = last;
		}
	}
}

// What each value adds to the sums of the steps behind it, until it is no longer read.
static void sum_up(struct cutter *c)
{
	int n = c->steps->n;
	for (int i = 0; i < c->g->n_values; i++) {
		const struct cut_value *v = &c->value[i];
		int at = c->steps->of_value[i];
		if (at < 0 || !v->read)
			continue;
		struct cut_step *made = &c->step[at], *behind = made + 1, *done = &c->step[v->last + 1];
		made->made += v->bytes;
		behind->alive += v->bytes;
		done->alive -= v->bytes;
		behind->lost += v->owed;
		done->lost -= v->owed;
	}
	for (int i = 1; i <= n; i++) {
		c->step[i].alive += c->step[i - 1].alive;
		c->step[i].lost += c->step[i - 1].lost;
	}
}

// The steps before `end`, cut with the least work to be done again, end with a stretch that begins at `first`.
struct choice {
	double lost;
	int first;
	bool held; // all that pays; else only what later stretches start from: the second round computes the rest again
};

static void find_cuts(const struct cutter *c, double most, struct choice *best)
{
	double whole = 0;
	best[0] = (struct choice){0};
	for (int end = 1; end <= c->steps->n; end++) {
		double made = 0, work = 0;
		whole += c->step[end - 1].made;
		if (whole <= most) { // nothing is cheaper than one stretch with all held
			best[end] = (struct choice){ROUNDS * SWEEP_COST, 0, true};
			continue;
		}
		best[end] = (struct choice){.lost = INFINITY};
		for (int first = end - 1; first >= 0; first--) {
			const struct cut_step *s = &c->step[first];
			made += s->made;
			work += s->work;
			bool held = s->alive + made <= most;
			double lost = best[first].lost + ROUNDS * (s->lost + SWEEP_COST) + (held ? 0 : work);
			if ((held || c->step[end].alive <= most) && lost < best[end].lost)
				best[end] = (struct choice){lost, first, held};
			if (!held && work > best[end].lost)
				break; // a longer one is not held either, and has more to compute again
		}
	}
}

static void cut(const struct cutter *c, struct stretches *out, const struct choice *best)
{
	out->until = xcalloc((size_t)c->g->n_values + 1, sizeof *out->until);
	out->n = 0;
	for (int end = c->steps->n; end > 0; end = best[end].first)
		out->n++;
	for (int end = c->steps->n, i = out->n; end > 0; end = best[end].first)
		out->end[--i] = end;
	for (int v = 0; v < c->g->n_values; v++) {
		int made = 0, read = 0;
		if (c->value[v].bytes == 0)
			continue;
		while (c->steps->of_value[v] >= out->end[made])
			made++;
		while (c->value[v].last >= out->end[read])
			read++;
		if (read > made || best[out->end[made]].held)
			out->until[v] = read + 1;
	}
}

static double memory_cost(double bytes)
{
	return bytes <= AT_HAND ? HAND_COST * bytes : HAND_COST * AT_HAND + FRESH_COST * (bytes - AT_HAND);
}

// How much to hold at once: what costs least with the work that it leaves.
static double find_memory(const struct cutter *c, int samples, double most, struct choice *best)
{
	double least = INFINITY, found = 0;
	for (double few = FEW; few < MORE * most; few *= MORE) {
		double memory = few < most ? few : most;
		find_cuts(c, memory, best);
		double cost = best[c->steps->n].lost + memory_cost(memory) / samples;
		if (cost < least) {
			least = cost;
			found = memory;
		}
	}
	return found;
}

void stretches_whole(struct stretches *out, const struct steps *steps)
{
	*out = (struct stretches){.n = 1, .end = xcalloc((size_t)steps->n + 1, sizeof *out->end)};
	out->end[0] = steps->n;
}

void stretches_find(struct stretches *out, const struct graph *g, const struct steps *steps, const struct stretched *of)
{
	size_t n = (size_t)steps->n + 2;
	struct cutter c = {.g = g, .steps = steps, .any = of->any, .value = xcalloc((size_t)g->n_values + 1, sizeof *c.value),
	    .step = xcalloc(n, sizeof *c.step)};
	struct choice *best = xcalloc(n, sizeof *best);
	stretches_whole(out, steps);
	find_read(&c, of->first);
	find_held(&c, of->samples);
	find_last(&c);
	sum_up(&c);
	find_cuts(&c, find_memory(&c, of->samples, (double)of->most, best), best);
	if (steps->n > 0)
		cut(&c, out, best);
	free(best);
	free(c.value);
	free(c.step);
}

void stretches_done(struct stretches *s)
{
	free(s->end);
	free(s->until);
	*s = (struct stretches){0};
}
