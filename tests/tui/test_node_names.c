// Names of repeated blocks, which end alike, are told apart in every view that lists them.
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "press.h"
#include "shown.h"

// The last nodes, which the lists below are about, are named like layers of a decoder; so are the outputs.
static void start(struct ui *ui, enum fake_kind kind)
{
	static char name[16][96];
	struct snapshot *s = fake_snapshot(kind);
	int n = s->g->n_nodes;
	for (int i = 0; i < 16; i++) {
		snprintf(name[i], sizeof name[i], "/model/decoder/layers.%d/cross_attn/sampling_offsets/MatMul", i);
		fake.node[n - 1 - i].name = name[i];
	}
	for (int i = 0; i < s->n_outputs; i++)
		fake.value[fake.g.output[i]].name = name[i];
	show(ui, s, false);
	ui_resize(ui, 80, 24);
}

// Is each of these on the screen? Ends the user interface.
static void shows(struct ui *ui, const char *const *what, int n)
{
	struct str text = shown(ui, false);
	for (int i = 0; i < n; i++)
		if (!strstr(str_text(&text), what[i]))
			fail_msg("%s is not in\n%s", what[i], str_text(&text));
	str_done(&text);
	ui_done(ui);
}

void test_node_names__of_blamed_nodes(void **state)
{
	static const char *const apart[] = {"…/layers.0/…/MatMul", "…/layers.3/…/MatMul", "…/layers.6/…/MatMul"};
	struct ui ui;
	start(&ui, FAKE_DAMAGED);
	press(&ui, "B");
	shows(&ui, apart, 3);
}

void test_node_names__of_a_difference(void **state)
{
	static const char *const apart[] = {"…/layers.1/…/sampling_offsets/MatMul", "…/layers.7/…/sampling_offsets/MatMul"};
	struct run_record a, b;
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	a = run_record_of(ui.snap);
	b = run_record_of(ui.snap);
	for (int i = ui.snap->g->n_nodes - 10; i < ui.snap->g->n_nodes; i++)
		a.nodes->snr_db[i] -= 3;
	diff_set(&ui.diff, ui.snap->g, &(struct diff_side){.name = "4", .figures = a}, &(struct diff_side){.name = "now", .figures = b});
	ui_show(&ui, VIEW_DIFF);
	ui_arrange(&ui);
	shows(&ui, apart, 2);
}

void test_node_names__of_outputs(void **state)
{
	static const char *const apart[] = {"…/layers.0/…/MatMul", "…/layers.1/…/MatMul"};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "2");
	shows(&ui, apart, 2);
}

// One of them is in the title; what it differs in from the others is there too.
void test_node_names__of_channels(void **state)
{
	static const char *const apart[] = {"…/layers.3/…/sampling_offsets/MatMul"};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	ui.snap->channels = fake_channels(16);
	assert_true(layers_go(&ui.layers, ui.snap->g->n_nodes - 4));
	press(&ui, "C");
	ui_resize(&ui, 60, 15);
	shows(&ui, apart, 1);
}
