// The neighbourhood of a node that more nodes read than have room.
#include "support.h"

#include <stdlib.h>

#include "qtui/tui/around.h"

// One node, and many that read its only output.
enum { READERS = 40, NODES = READERS + 1 };
static struct hub {
	struct graph g;
	struct node node[NODES];
	struct value value[NODES];
	struct node_row row[NODES];
	struct snapshot s;
	int id[NODES];
} hub;

static const struct snapshot *make(void)
{
	hub = (struct hub){.g = {.node = hub.node, .n_nodes = NODES, .value = hub.value, .n_values = NODES},
	    .s = {.g = &hub.g, .row = hub.row, .n_rows = NODES}};
	for (int n = 0; n < NODES; n++) {
		hub.id[n] = n;
		hub.node[n] = (struct node){.name = "node", .out = &hub.id[n], .n_out = 1};
		hub.value[n] = (struct value){.name = "value", .producer = n};
		hub.row[n].fused_into = -1;
		if (n > 0) {
			hub.node[n].in = &hub.id[0];
			hub.node[n].n_in = 1;
		}
	}
	hub.value[0].consumer = &hub.id[1];
	hub.value[0].n_consumers = READERS;
	return &hub.s;
}

void test_around__takes_as_many_as_have_room(void **state)
{
	enum { ROOM = 5, GUARD = -77 };
	const struct snapshot *s = make();
	int out[NODES];
	for (int room = 0; room <= ROOM; room++) {
		for (int i = 0; i < NODES; i++)
			out[i] = GUARD;
		assert_int_equal(around_consumers(s, 0, out, room), room);
		for (int i = 0; i < NODES; i++)
			assert_int_equal(out[i], i < room ? i + 1 : GUARD);
	}
	assert_int_equal(around_consumers(s, 0, out, NODES), READERS);
	assert_int_equal(around_producers(s, READERS, out, NODES), 1);
	assert_int_equal(out[0], 0);
}

// Each reader has a line, or is counted on the last; one alone, too.
void test_around__every_reader_counts(void **state)
{
	make();
	for (int readers = 1; readers <= READERS; readers++) {
		struct around a;
		int counted = 0;
		hub.value[0].n_consumers = readers;
		around_build(&a, &hub.s, 0, AROUND_LINES);
		for (int i = 0; i < a.n; i++)
			counted += a.line[i].depth == 0 ? 0 : a.line[i].node >= 0 ? 1 : a.line[i].more;
		assert_int_equal(counted, readers);
	}
}

// What is drawn of them ends within its lines.
void test_around__a_hub_is_drawn(void **state)
{
	struct around a;
	around_build(&a, make(), 0, AROUND_LINES);
	assert_in_range(a.n, 2, AROUND_LINES);
	int own = 0;
	for (int i = 0; i < a.n; i++)
		own += a.line[i].depth == 0;
	assert_int_equal(own, 1);
	const struct around_line *last = &a.line[a.n - 1]; // what has no line is counted
	assert_int_equal(last->node, -1);
	assert_int_equal(a.n - 2 + last->more, READERS);
	assert_string_equal(last->rail, "└ ");
	around_build(&a, &hub.s, READERS, AROUND_LINES);
	for (int i = 0; i < a.n; i++)
		assert_int_equal(a.line[i].more, 0);
}
