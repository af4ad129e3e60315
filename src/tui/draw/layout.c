#include "qtui/tui/layout.h"

enum { LIST_LEAST = 52 };

static int between(int low, int v, int high)
{
	return v < low ? low : v > high ? high : v;
}

// The detail has two fifths, of which it needs 46 columns and shows all in 84, and what the list,
// which keeps 52, has no use for.
static void side_by_side(struct panels *l, struct rect body, const struct layout_want *want)
{
	int list = want->list > LIST_LEAST ? want->list : LIST_LEAST;
	int w = between(body.w - 1 - list, between(46, body.w * 2 / 5, 84), body.w);
	bool alone = body.h < 24 || (want->trial && want->focus != PANEL_AROUND);
	int around = alone ? 0 : between(8, body.h / 4, 16);
	l->panel[PANEL_MAIN] = (struct rect){body.x, body.y, body.w - w - 1, body.h};
	l->panel[PANEL_DETAIL] = (struct rect){body.x + body.w - w, body.y, w, body.h - around};
	if (around)
		l->panel[PANEL_AROUND] = (struct rect){body.x + body.w - w, body.y + body.h - around, w, around};
}

static void stacked(struct panels *l, struct rect body)
{
	int detail = between(14, body.h / 2, 21);
	l->panel[PANEL_MAIN] = (struct rect){body.x, body.y, body.w, body.h - detail};
	l->panel[PANEL_DETAIL] = (struct rect){body.x, body.y + body.h - detail, body.w, detail};
}

void layout_compute(struct panels *out, int w, int h, const struct layout_want *want)
{
	struct rect body = {0, 1, w, h - 2};
	*out = (struct panels){.too_small = w < LAYOUT_MIN_W || h < LAYOUT_MIN_H};
	if (out->too_small)
		return;
	out->header = (struct rect){0, 0, w, 1};
	out->bottom = (struct rect){0, h - 1, w, 1};
	if (want->companions && !want->zoom && w >= LAYOUT_WIDE)
		side_by_side(out, body, want);
	else if (want->companions && !want->zoom && h >= 32)
		stacked(out, body);
	if (out->panel[want->focus].w)
		return;
	for (int i = 0; i < PANEL_COUNT; i++)
		out->panel[i] = (struct rect){0, 0, 0, 0};
	out->panel[want->focus] = body;
}
