// Moving: in the panel that has the keys, and along the edges of the graph.
#include "qtui/tui/action.h"
#include "qtui/tui/findings.h"

static void move(struct ui *ui, int by)
{
	struct around a;
	switch (ui->focus) {
	case PANEL_DETAIL:
		ui->detail_top += by;
		break;
	case PANEL_AROUND:
		around_build(&a, ui->snap, ui_node(ui), ui_page(ui, PANEL_AROUND));
		scroll_move(&ui->around, by, a.n);
		break;
	default:
		if (ui->view == VIEW_WHY && (by == 1 || by == -1)) {
			view_why_step(ui, by);
			break;
		}
		scroll_move(ui_scroll(ui), by, view_row(ui->view)->count(ui));
		if (ui_rows_are_nodes(ui))
			ui_new_node(ui);
	}
}

enum { FAR = 1 << 20 };

void act_up(struct ui *ui)
{
	move(ui, -1);
}

void act_down(struct ui *ui)
{
	move(ui, 1);
}

// The window goes along with the cursor, which else would cross what is shown first.
static void move_page(struct ui *ui, int by)
{
	if (ui->focus != PANEL_DETAIL)
		(ui->focus == PANEL_AROUND ? &ui->around : ui_scroll(ui))->top += by;
	move(ui, by);
}

void act_page_up(struct ui *ui)
{
	move_page(ui, -ui_page(ui, ui->focus));
}

void act_page_down(struct ui *ui)
{
	move_page(ui, ui_page(ui, ui->focus));
}

void act_half_up(struct ui *ui)
{
	move_page(ui, -ui_page(ui, ui->focus) / 2);
}

void act_half_down(struct ui *ui)
{
	move_page(ui, ui_page(ui, ui->focus) / 2);
}

void act_top(struct ui *ui)
{
	move(ui, -FAR);
}

void act_bottom(struct ui *ui)
{
	move(ui, FAR);
}

void move_to_row(struct ui *ui, long row)
{
	ui->focus = PANEL_MAIN;
	ui_scroll(ui)->cursor = row > FAR ? FAR : row < 1 ? 0 : (int)row - 1;
	move(ui, 0); // into what there is
}

static void step_site(struct ui *ui, int by)
{
	const struct site *at = view_row(ui->view)->companions ? ui_site(ui) : NULL;
	const struct node_row *row = at ? &ui->snap->row[at->node] : NULL;
	if (!row || row->n_sites < 2) {
		ui_note(ui, row ? "the node has one tensor" : "there is no tensor to choose here");
		return;
	}
	int from = (int)(at - ui->snap->site) - row->first_site;
	ui->detail_site = (from + by + row->n_sites) % row->n_sites;
}

void act_left(struct ui *ui)
{
	step_site(ui, -1);
}

void act_right(struct ui *ui)
{
	step_site(ui, 1);
}

static void go(struct ui *ui, int node)
{
	struct error err;
	if (!ui_go(ui, node, &err))
		ui_fail(ui, &err);
}

// The neighbour whose figures are worst, since damage is what one follows.
static void go_worst(struct ui *ui, const int *id, int n, const char *none)
{
	int best = 0;
	if (n == 0) {
		ui_note(ui, "%s", none);
		return;
	}
	for (int i = 1; i < n; i++)
		if (columns_compare(ui->snap, COLUMN_SNR, false, id[i], id[best]) < 0)
			best = i;
	go(ui, id[best]);
	if (n > 1)
		ui_note(ui, "the worst of %d; the others are in the neighbourhood", n);
}

void act_producer(struct ui *ui)
{
	int id[16], node = ui_chosen(ui);
	if (node >= 0)
		go_worst(ui, id, around_producers(ui->snap, node, id, 16), "only the network's input feeds this node");
}

void act_consumer(struct ui *ui)
{
	int id[16], node = ui_chosen(ui);
	if (node >= 0)
		go_worst(ui, id, around_consumers(ui->snap, node, id, 16), "this node feeds no other: it is an output");
}

void act_jump_back(struct ui *ui)
{
	int back;
	if (ui->n_jumps == 0) {
		ui_note(ui, "no jump to go back from");
		return;
	}
	back = ui->n_jumps - 1;
	go(ui, ui->jump[back]);
	ui->n_jumps = back; // going back is no jump
}

static void enter_around(struct ui *ui)
{
	struct around a;
	const struct around_line *l;
	around_build(&a, ui->snap, ui_node(ui), ui_page(ui, PANEL_AROUND));
	if (ui->around.cursor < 0 || ui->around.cursor >= a.n)
		return;
	l = &a.line[ui->around.cursor];
	if (l->depth == 0)
		ui->focus = PANEL_DETAIL;
	else
		go(ui, l->node);
}

void act_enter(struct ui *ui)
{
	if (ui->focus == PANEL_AROUND)
		enter_around(ui);
	else if (ui->focus == PANEL_DETAIL)
		ui->focus = PANEL_AROUND;
	else if (view_row(ui->view)->companions)
		ui->focus = PANEL_DETAIL;
	else
		ui_note(ui, "there is nothing to open here");
}
