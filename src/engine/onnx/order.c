// Topological sort. Files are nearly always sorted already: then one look suffices. Else Kahn's way, with the ready
// nodes taken in file order by a binary heap.
#include <stdlib.h>
#include "import.h"

struct sorter {
	struct draft *d;
	struct draft_node **sorted, **heap; // heap: ready nodes, least `order` on top
	size_t n_sorted, n_heap;
	int *missing;               // a node's inputs that are not there yet, by order
	struct draft_node ***users; // by order: nodes that read it, one entry a use
	int *n_users;
};

static struct draft_node *producer_in(const struct draft *d, const struct draft_node *n, int input, size_t first)
{
	const struct draft_value *v = draft_in(d, n, input);
	struct draft_node *p = v ? v->producer : NULL;

	return p && (size_t)p->order >= first && d->node[p->order] == p ? p : NULL;
}

static bool is_sorted(const struct draft *d, size_t first)
{
	for (size_t i = first; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++) {
			const struct draft_node *p = producer_in(d, d->node[i], k, first);

			if (p && p->order >= (int)i)
				return false;
		}
	return true;
}

static void heap_push(struct sorter *s, struct draft_node *n)
{
	size_t at = s->n_heap++;

	for (; at && s->heap[(at - 1) / 2]->order > n->order; at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = n;
}

static struct draft_node *heap_pop(struct sorter *s)
{
	struct draft_node *top = s->heap[0], *last = s->heap[--s->n_heap];
	size_t at = 0;

	for (size_t child = 1; child < s->n_heap; child = 2 * at + 1) {
		if (child + 1 < s->n_heap && s->heap[child + 1]->order < s->heap[child]->order)
			child++;
		if (s->heap[child]->order > last->order)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
	return top;
}

// Fills `missing` and `users` of all nodes from `first` on; users' lists share one block.
static struct draft_node **link_users(struct sorter *s, size_t first)
{
	struct draft *d = s->d;
	size_t total = 0;
	struct draft_node **block, *p;

	for (size_t i = first; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++)
			if ((p = producer_in(d, d->node[i], k, first)))
				s->n_users[(size_t)p->order - first]++, s->missing[i - first]++, total++;
	block = xmalloc((total + 1) * sizeof(*block));
	for (size_t i = 0, at = 0; i < d->n_nodes - first; at += (size_t)s->n_users[i], s->n_users[i++] = 0)
		s->users[i] = block + at;
	for (size_t i = first; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++)
			if ((p = producer_in(d, d->node[i], k, first)))
				s->users[(size_t)p->order - first][s->n_users[(size_t)p->order - first]++] = d->node[i];
	return block;
}

static void sort(struct sorter *s, size_t first)
{
	size_t n = s->d->n_nodes - first;

	for (size_t i = 0; i < n; i++)
		if (!s->missing[i])
			heap_push(s, s->d->node[first + i]);
	while (s->n_heap) {
		struct draft_node *node = heap_pop(s);
		size_t at = (size_t)node->order - first;

		s->sorted[s->n_sorted++] = node;
		for (int k = 0; k < s->n_users[at]; k++)
			if (!--s->missing[(size_t)s->users[at][k]->order - first])
				heap_push(s, s->users[at][k]);
	}
}

static enum status sort_all(struct draft *d, size_t first, struct error *err)
{
	size_t n = d->n_nodes - first;
	struct sorter s = {
	    .d = d,
	    .sorted = xcalloc(n, sizeof(*s.sorted)),
	    .heap = xcalloc(n, sizeof(*s.heap)),
	    .missing = xcalloc(n, sizeof(*s.missing)),
	    .users = xcalloc(n, sizeof(*s.users)),
	    .n_users = xcalloc(n, sizeof(*s.n_users)),
	};
	struct draft_node **block = link_users(&s, first);
	enum status status = STATUS_OK;

	sort(&s, first);
	for (size_t i = 0; i < n && s.n_sorted < n && !status; i++)
		if (s.missing[i])
			status = error_set(err, STATUS_FORMAT, "node %s (%s) is part of a cycle, or depends on one",
			    d->node[first + i]->n.name, d->node[first + i]->op_type);
	for (size_t i = 0; i < n && !status; i++)
		d->node[first + i] = s.sorted[i];
	free(block);
	free(s.sorted);
	free(s.heap);
	free(s.missing);
	free(s.users);
	free(s.n_users);
	return status;
}

enum status order_nodes(struct draft *d, size_t first, struct error *err)
{
	for (size_t i = first; i < d->n_nodes; i++)
		d->node[i]->order = (int)i;
	return is_sorted(d, first) ? STATUS_OK : sort_all(d, first, err);
}
