// The channels view: asking for what it shows, and what its keys do.
#include "qtui/tui/action.h"
#include "qtui/tui/view_channels.h"

void ui_ask_channels(struct ui *ui)
{
	const struct site *site = ui_site(ui);
	const struct snapshot *s = ui->snap;
	const struct channels *c = view_channels_of(ui);
	struct channel_list *l = &ui->channels;
	bool known = c && key_equal(c->decision, s->decision) && (c->samples == c->of || c->problem[0]);
	channel_list_refresh(l, view_channels_of(ui), &ui->scroll[VIEW_CHANNELS]);
	if (!ui->study || !site || known || s->dirty || !snapshot_complete(s))
		return;
	if (l->asked == site->slot + 1 && key_equal(l->asked_of, s->decision) && l->asked_runs == s->n_runs)
		return;
	l->asked = site->slot + 1;
	l->asked_of = s->decision;
	l->asked_runs = s->n_runs;
	study_channels(ui->study, site->slot);
}

void act_view_channels(struct ui *ui)
{
	struct error err;
	int node = ui_node(ui);
	ui_show(ui, VIEW_CHANNELS);
	if (node >= 0 && node != ui_node(ui) && !ui_go(ui, node, &err))
		ui_fail(ui, &err);
}

// ---- order

void view_channels_sort(struct ui *ui, enum channel_column c)
{
	struct channel_list *l = &ui->channels;
	l->turned = c == l->sort && !l->turned;
	l->sort = c;
	ui_note(ui, "by %s: %s", channel_column(c)->head, channel_column(c)->help);
}

static void sort_step(struct ui *ui, int by)
{
	view_channels_sort(ui, (enum channel_column)(((int)ui->channels.sort + by + CHANNEL_COLUMNS) % CHANNEL_COLUMNS));
}

void act_channels_left(struct ui *ui)
{
	sort_step(ui, -1);
}

void act_channels_right(struct ui *ui)
{
	sort_step(ui, 1);
}

void act_channels_turn(struct ui *ui)
{
	view_channels_sort(ui, ui->channels.sort);
}

// ---- plot

static void zoom(struct ui *ui, int by)
{
	ui->channels.zoom = channel_plot_zoom(ui->channels.n, ui->channels.zoom + by);
}

void act_channels_in(struct ui *ui)
{
	zoom(ui, 1);
}

void act_channels_out(struct ui *ui)
{
	zoom(ui, -1);
}

// ---- jumps

// Down or up the list, to a channel that is conspicuous.
static void flagged(struct ui *ui, int by)
{
	struct scroll *s = &ui->scroll[VIEW_CHANNELS];
	const struct channel_list *l = &ui->channels;
	for (int row = s->cursor + by; row >= 0 && row < l->n; row += by)
		if (l->of->at[l->row[row]].flags) {
			s->cursor = row;
			return;
		}
	ui_note(ui, "no channel %s this one is conspicuous", by > 0 ? "below" : "above");
}

void act_channels_next(struct ui *ui)
{
	flagged(ui, 1);
}

void act_channels_prev(struct ui *ui)
{
	flagged(ui, -1);
}

// Whoever looks at weights looks at those of the next node, too.
static void choose_kind(struct ui *ui, enum site_kind kind)
{
	const struct node_row *row = ui_node(ui) >= 0 ? &ui->snap->row[ui_node(ui)] : NULL;
	for (int i = 0; row && i < row->n_sites; i++)
		if (ui->snap->site[row->first_site + i].kind == kind) {
			ui->detail_site = i;
			return;
		}
}

static void step_node(struct ui *ui, int by)
{
	enum site_kind kind = ui_site(ui) ? ui_site(ui)->kind : SITE_OUTPUT;
	scroll_move(&ui->layers.scroll, by, ui->layers.n);
	ui_new_node(ui);
	choose_kind(ui, kind);
}

void act_channels_node_next(struct ui *ui)
{
	step_node(ui, 1);
}

void act_channels_node_prev(struct ui *ui)
{
	step_node(ui, -1);
}
