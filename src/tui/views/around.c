#include "qtui/tui/around.h"

#include <stdio.h>

#define NEIGHBOURS 24

int around_owner(const struct snapshot *s, int node)
{
	for (int i = 0; i < 8 && node >= 0 && s->row[node].fused_into >= 0; i++)
		node = s->row[node].fused_into;
	return node;
}

static int add_unique(int *out, int n, int max, int id)
{
	for (int i = 0; i < n; i++)
		if (out[i] == id)
			return n;
	if (n < max)
		out[n++] = id;
	return n;
}

// Neighbours are ids of owners, or -1 - value for inputs and outputs of the network.
static int member_producers(const struct snapshot *s, int owner, int member, int *out, int n, int max)
{
	const struct node *node = &s->g->node[member];
	for (int i = 0; i < node->n_in; i++) {
		const struct value *v = node->in[i] >= 0 ? &s->g->value[node->in[i]] : NULL;
		int from = v && v->producer >= 0 ? around_owner(s, v->producer) : -1;
		if (from >= 0 && from != owner)
			n = add_unique(out, n, max, from);
		else if (v && v->is_input)
			n = add_unique(out, n, max, -1 - node->in[i]);
	}
	return n;
}

static int member_consumers(const struct snapshot *s, int owner, int member, int *out, int n, int max)
{
	const struct node *node = &s->g->node[member];
	for (int i = 0; i < node->n_out; i++) {
		const struct value *v = node->out[i] >= 0 ? &s->g->value[node->out[i]] : NULL;
		for (int k = 0; v && k < v->n_consumers; k++) {
			int to = around_owner(s, v->consumer[k]);
			if (to != owner)
				n = add_unique(out, n, max, to);
		}
		if (v && v->is_output)
			n = add_unique(out, n, max, -1 - node->out[i]);
	}
	return n;
}

typedef int member_fn(const struct snapshot *s, int owner, int member, int *out, int n, int max);

static int neighbours(const struct snapshot *s, int owner, member_fn *fn, int *out, int max)
{
	int n = fn(s, owner, owner, out, 0, max);
	for (int i = 0; i < s->n_rows; i++)
		if (s->row[i].fused_into >= 0 && around_owner(s, i) == owner)
			n = fn(s, owner, i, out, n, max);
	return n;
}

static int nodes_only(int *id, int n)
{
	int kept = 0;
	for (int i = 0; i < n; i++)
		if (id[i] >= 0)
			id[kept++] = id[i];
	return kept;
}

int around_producers(const struct snapshot *s, int node, int *out, int max)
{
	return nodes_only(out, neighbours(s, node, member_producers, out, max));
}

int around_consumers(const struct snapshot *s, int node, int *out, int max)
{
	return nodes_only(out, neighbours(s, node, member_consumers, out, max));
}

static void add_line(struct around *a, int id, int depth, const char *rail)
{
	struct around_line *l;
	if (a->n == AROUND_LINES)
		return;
	l = &a->line[a->n++];
	*l = (struct around_line){.node = id >= 0 ? id : -1, .value = id >= 0 ? -1 : -1 - id, .depth = depth};
	snprintf(l->rail, sizeof l->rail, "%s", rail);
}

static void add_more(struct around *a, int more, int depth, const char *rail)
{
	if (more <= 0 || a->n == AROUND_LINES)
		return;
	add_line(a, -1, depth, rail);
	a->line[a->n - 1].value = -1;
	a->line[a->n - 1].more = more;
}

static void extend(char out[AROUND_RAIL], const char *rail, const char *more)
{
	snprintf(out, AROUND_RAIL, "%.*s%s", AROUND_RAIL - 6, rail, more);
}

// Above a node: the lines of what feeds it, each with its own feeders above it.
static void build_up(struct around *a, const struct snapshot *s, int node, int level, int deepest, const char *rail)
{
	int id[NEIGHBOURS + AROUND_MOST], all = neighbours(s, node, member_producers, id, NEIGHBOURS + AROUND_MOST);
	int n = all < NEIGHBOURS ? all : NEIGHBOURS, more = all - n;
	char deeper[AROUND_RAIL], own[AROUND_RAIL];
	extend(own, rail, "┌ ");
	add_more(a, more, -level, own);
	for (int i = 0; i < n; i++) {
		extend(deeper, rail, i || more ? "│ " : "  ");
		if (id[i] >= 0 && level < deepest)
			build_up(a, s, id[i], level + 1, deepest, deeper);
		extend(own, rail, i || more ? "├ " : "┌ ");
		add_line(a, id[i], -level, own);
	}
}

static void build_down(struct around *a, const struct snapshot *s, int node, int level, int deepest, const char *rail)
{
	int id[NEIGHBOURS + AROUND_MOST], all = neighbours(s, node, member_consumers, id, NEIGHBOURS + AROUND_MOST);
	int n = all < NEIGHBOURS ? all : NEIGHBOURS;
	char deeper[AROUND_RAIL], own[AROUND_RAIL];
	for (int i = 0; i < n; i++) {
		extend(own, rail, i < all - 1 ? "├ " : "└ ");
		add_line(a, id[i], level, own);
		extend(deeper, rail, i < all - 1 ? "│ " : "  ");
		if (id[i] >= 0 && level < deepest)
			build_down(a, s, id[i], level + 1, deepest, deeper);
	}
	extend(own, rail, "└ ");
	add_more(a, all - n, level, own);
}

void around_build(struct around *out, const struct snapshot *s, int node, int height)
{
	for (int deepest = 3; deepest >= 1; deepest--) {
		out->n = out->centre = 0;
		if (node < 0)
			return;
		build_up(out, s, node, 1, deepest, "");
		out->centre = out->n;
		add_line(out, node, 0, "");
		build_down(out, s, node, 1, deepest, "");
		if (out->n <= height && out->n < AROUND_LINES)
			return;
	}
}
