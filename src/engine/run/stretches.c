// Where a network is cut: so that little is computed again, in memory that does not cost more than that.
#include "stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// In multiply-adds: a value is held when having it again takes more than this a byte, which is what writing and reading it takes at the
// least; a byte of memory that is fresh from the system and does not stay in the cache, of the first AT_HAND bytes, which the machine mostly has
// at hand, and of more, which the host of a virtual machine may have to give; a sample's way through a stretch.
#define HOLD_WORTH 24.0
#define HAND_COST 100.0
#define FRESH_COST 200.0
#define SWEEP_COST 5e5
#define AT_HAND (64.0 * 1024 * 1024)

enum { ROUNDS = 2 };

// Of what may be held at once the least that is tried, bytes, and by what it grows.
#define FEW (4.0 * 1024 * 1024)
#define MORE 2.0

struct cutter {
	const struct graph *g;
	const struct steps *steps;
	const bool *any;  // [n_values] shown
	bool *read;       // [n_values] shown, or needed for what is shown
	bool *begun;      // [n_values] the same in the first round
	double *bytes;    // [n_values] of a held value, for all samples; 0: it is not held
	double *owed;     // [n_values] the work to have it again from what is held
	int *last;        // [n_values] the last step that is computed from the value, or from what is not held and comes from it
	double *work;     // [steps] of the step
	double *made;     // [steps] bytes held of its results
	double *alive;    // [steps] bytes held of results before the step that are read from it on
	double *lost;     // [steps] work to have again what is not held of results before the step and is read from it on
};

static void find_read(struct cutter *c, bool *read, const bool *shown)
{
	memcpy(read, shown, (size_t)c->g->n_values);
	for (int i = c->steps->n - 1; i >= 0; i--) {
		const struct step *s = &c->steps->step[i];
		bool any = false;
		for (int k = 0; k < step_n_out(c->g, s); k++)
			any |= step_out(c->g, s, k) >= 0 && read[step_out(c->g, s, k)];
		for (int k = 0; any && k < step_n_in(c->g, s); k++)
			if (step_in(c->g, s, k) >= 0)
				read[step_in(c->g, s, k)] = true;
		c->work[i] = any ? (double)s->cost : 0;
	}
}

// Which values are worth holding: of those that are shown, and that the first round computes.
static void find_held(struct cutter *c, int samples)
{
	for (int i = 0; i < c->steps->n; i++) {
		const struct step *s = &c->steps->step[i];
		double work = c->work[i];
		for (int k = 0; k < step_n_in(c->g, s); k++)
			if (step_in(c->g, s, k) >= 0)
				work += c->owed[step_in(c->g, s, k)];
		for (int k = 0; k < step_n_out(c->g, s); k++) {
			int v = step_out(c->g, s, k);
			if (v < 0 || !c->read[v])
				continue;
			int64_t count = shape_count(&c->g->value[v].shape);
			double bytes = (double)count * sizeof(float);
			bool held = c->any[v] && c->begun[v] && count > 0 && work >= HOLD_WORTH * bytes;
			c->owed[v] = held ? 0 : work;
			c->bytes[v] = held ? bytes * samples : 0;
		}
	}
}

static void find_last(struct cutter *c)
{
	for (int v = 0; v < c->g->n_values; v++)
		c->last[v] = c->steps->of_value[v];
	for (int i = c->steps->n - 1; i >= 0; i--) {
		const struct step *s = &c->steps->step[i];
		int last = i;
		if (c->work[i] == 0)
			continue;
		for (int k = 0; k < step_n_out(c->g, s); k++) {
			int v = step_out(c->g, s, k);
			if (v >= 0 && c->read[v] && c->bytes[v] == 0 && c->last[v] > last)
				last = c->last[v];
		}
		for (int k = 0; k < step_n_in(c->g, s); k++) {
			int v = step_in(c->g, s, k);
			if (v >= 0 && c->last[v] < last)
				c->last[v] = last;
		}
	}
}

// What each value adds to the sums of the steps behind it, until it is no longer read.
static void sum_up(struct cutter *c)
{
	int n = c->steps->n;
	for (int v = 0; v < c->g->n_values; v++) {
		int at = c->steps->of_value[v];
		if (at < 0 || !c->read[v])
			continue;
		c->made[at] += c->bytes[v];
		c->alive[at + 1] += c->bytes[v];
		c->alive[c->last[v] + 1] -= c->bytes[v];
		c->lost[at + 1] += c->owed[v];
		c->lost[c->last[v] + 1] -= c->owed[v];
	}
	for (int i = 1; i <= n; i++) {
		c->alive[i] += c->alive[i - 1];
		c->lost[i] += c->lost[i - 1];
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
		whole += c->made[end - 1];
		if (whole <= most) { // nothing is cheaper than one stretch with all held
			best[end] = (struct choice){ROUNDS * SWEEP_COST, 0, true};
			continue;
		}
		best[end] = (struct choice){.lost = INFINITY};
		for (int first = end - 1; first >= 0; first--) {
			made += c->made[first];
			work += c->work[first];
			bool held = c->alive[first] + made <= most;
			double lost = best[first].lost + ROUNDS * (c->lost[first] + SWEEP_COST) + (held ? 0 : work);
			if ((held || c->alive[end] <= most) && lost < best[end].lost)
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
		while (c->bytes[v] > 0 && c->steps->of_value[v] >= out->end[made])
			made++;
		while (c->bytes[v] > 0 && c->last[v] >= out->end[read])
			read++;
		if (c->bytes[v] > 0 && (read > made || best[out->end[made]].held))
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

void stretches_find(struct stretches *out, const struct graph *g, const struct steps *steps, const bool *first, const bool *any, int samples,
    size_t most)
{
	size_t values = (size_t)g->n_values + 1, n = (size_t)steps->n + 2;
	struct cutter c = {.g = g, .steps = steps, .any = any, .read = xcalloc(values, sizeof *c.read),
	    .begun = xcalloc(values, sizeof *c.begun), .bytes = xcalloc(values, sizeof *c.bytes),
	    .owed = xcalloc(values, sizeof *c.owed), .last = xcalloc(values, sizeof *c.last), .work = xcalloc(n, sizeof *c.work),
	    .made = xcalloc(n, sizeof *c.made), .alive = xcalloc(n, sizeof *c.alive), .lost = xcalloc(n, sizeof *c.lost)};
	struct choice *best = xcalloc(n, sizeof *best);
	stretches_whole(out, steps);
	find_read(&c, c.begun, first);
	find_read(&c, c.read, any);
	find_held(&c, samples);
	find_last(&c);
	sum_up(&c);
	find_cuts(&c, find_memory(&c, samples, (double)most, best), best);
	if (steps->n > 0)
		cut(&c, out, best);
	free(best);
	free(c.read);
	free(c.begun);
	free(c.bytes);
	free(c.owed);
	free(c.last);
	free(c.work);
	free(c.made);
	free(c.alive);
	free(c.lost);
}

void stretches_done(struct stretches *s)
{
	free(s->end);
	free(s->until);
	*s = (struct stretches){0};
}
