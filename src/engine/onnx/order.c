// Topological sort. Files are nearly always sorted already: then one look suffices. Else Kahn's way, with the ready
// nodes taken in file order by a binary heap.
#include <stdlib.h>
#include "import.h"

struct entry { // of a node, by its `order`
	int missing;               // inputs that are not there yet
	struct draft_node **users; // nodes that read it, one entry a use
	int n_users;
};
struct sorter {
	struct draft *d;
	size_t first;                       // the nodes before it stay
	struct draft_node **sorted, **heap; // heap: ready nodes, least `order` on top
	size_t n_sorted, n_heap;
	struct entry *entry; // of the nodes from `first` on
};

static struct entry *entry_of(const struct sorter *s, const struct draft_node *n)
{
	return &s->entry[(size_t)n->order - s->first];
}

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

// Fills the entries of all nodes from `first` on; the users' lists share one block.
static struct draft_node **link_users(struct sorter *s)
{
	struct draft *d = s->d;
	size_t total = 0;
	struct draft_node **block, **free_from, *p;
	for (size_t i = s->first; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++)
			if ((p = producer_in(d, d->node[i], k, s->first))) {
				entry_of(s, p)->n_users++;
				entry_of(s, d->node[i])->missing++;
				total++;
			}
	free_from = block = xmalloc((total + 1) * sizeof *block);
	for (size_t i = 0; i < d->n_nodes - s->first; i++) {
		s->entry[i].users = free_from;
		free_from += s->entry[i].n_users;
		s->entry[i].n_users = 0;
	}
	for (size_t i = s->first; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_in; k++)
			if ((p = producer_in(d, d->node[i], k, s->first)))
				entry_of(s, p)->users[entry_of(s, p)->n_users++] = d->node[i];
	return block;
}

static void sort(struct sorter *s)
{
	for (size_t i = s->first; i < s->d->n_nodes; i++)
		if (!s->entry[i - s->first].missing)
			heap_push(s, s->d->node[i]);
	while (s->n_heap) {
		struct draft_node *node = heap_pop(s);
		const struct entry *e = entry_of(s, node);
		s->sorted[s->n_sorted++] = node;
		for (int k = 0; k < e->n_users; k++)
			if (!--entry_of(s, e->users[k])->missing)
				heap_push(s, e->users[k]);
	}
}

static enum status sort_all(struct draft *d, size_t first, struct error *err)
{
	size_t n = d->n_nodes - first;
	struct sorter s = {
	    .d = d,
	    .first = first,
	    .sorted = xcalloc(n, sizeof *s.sorted),
	    .heap = xcalloc(n, sizeof *s.heap),
	    .entry = xcalloc(n, sizeof *s.entry),
	};
	struct draft_node **block = link_users(&s);
	enum status status = STATUS_OK;
	sort(&s);
	for (size_t i = 0; i < n && s.n_sorted < n && !status; i++)
		if (s.entry[i].missing)
			status = error_set(err, STATUS_FORMAT, "node %s (%s) is part of a cycle, or depends on one",
			    d->node[first + i]->n.name, d->node[first + i]->op_type);
	for (size_t i = 0; i < n && !status; i++)
		d->node[first + i] = s.sorted[i];
	free(block);
	free(s.sorted);
	free(s.heap);
	free(s.entry);
	return status;
}

enum status order_nodes(struct draft *d, size_t first, struct error *err)
{
	for (size_t i = first; i < d->n_nodes; i++)
		d->node[i]->order = (int)i;
	return is_sorted(d, first) ? STATUS_OK : sort_all(d, first, err);
}
