// Where the panels are in a terminal of any size.
#include "support.h"


#include "qtui/tui/layout.h"

static bool overlap(const struct rect *a, const struct rect *b)
{
	return a->w && b->w && a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

static bool inside(const struct rect *r, int w, int h)
{
	return r->x >= 0 && r->y >= 0 && r->w > 0 && r->h > 1 && r->x + r->w <= w && r->y + r->h <= h;
}

static void check(int w, int h, const struct layout_want *want)
{
	struct panels l;
	layout_compute(&l, w, h, want);
	assert_int_equal(l.too_small, w < LAYOUT_MIN_W || h < LAYOUT_MIN_H);
	if (l.too_small)
		return;
	assert_true(l.panel[want->focus].w > 0);
	for (int i = 0; i < PANEL_COUNT; i++) {
		if (!l.panel[i].w)
			continue;
		assert_true(inside(&l.panel[i], w, h));
		assert_false(overlap(&l.panel[i], &l.header));
		assert_false(overlap(&l.panel[i], &l.bottom));
		for (int k = 0; k < i; k++)
			assert_false(overlap(&l.panel[i], &l.panel[k]));
	}
}

// Every size from a sliver to a wall of screens, every focus, zoomed or not:
// inside the screen and nothing over another.
void test_layout__panels_never_overlap(void **state)
{
	for (int w = 1; w <= 400; w += w < 130 ? 1 : 7)
		for (int h = 1; h <= 120; h++)
			for (int i = 0; i < 8 * PANEL_COUNT; i++) {
				struct layout_want want = {.companions = i & 1, .zoom = i & 2, .trial = i & 4, .list = h % 4 * 60};
				want.focus = want.companions ? (enum panel)(i / 8) : PANEL_MAIN;
				check(w, h, &want);
			}
}

void test_layout__detail_beside_the_list_when_wide(void **state)
{
	struct layout_want want = {.companions = true};
	struct panels l;
	layout_compute(&l, 120, 40, &want);
	assert_int_equal(l.panel[PANEL_DETAIL].y, l.panel[PANEL_MAIN].y);
	assert_true(l.panel[PANEL_MAIN].w >= 52);
	assert_true(l.panel[PANEL_DETAIL].w >= 46);
	layout_compute(&l, 80, 40, &want);
	assert_true(l.panel[PANEL_DETAIL].y > l.panel[PANEL_MAIN].y);
	layout_compute(&l, 80, 24, &want);
	assert_int_equal(l.panel[PANEL_DETAIL].w, 0);
}

// What the list has no use for is the detail's, also where that is more than half.
void test_layout__no_column_is_left_empty_when_very_wide(void **state)
{
	struct layout_want want = {.companions = true, .list = 140};
	struct panels l;
	layout_compute(&l, 300, 80, &want);
	assert_int_equal(l.panel[PANEL_MAIN].w, 140);
	assert_int_equal(l.panel[PANEL_DETAIL].w, 159);
	want.list = 230;
	layout_compute(&l, 300, 80, &want);
	assert_int_equal(l.panel[PANEL_DETAIL].w, 84);
}

// The detail has the whole side, unless the neighbourhood is where the keys go.
void test_layout__detail_alone_while_a_scale_is_tried(void **state)
{
	struct layout_want want = {.companions = true, .trial = true};
	struct panels l;
	layout_compute(&l, 120, 40, &want);
	assert_int_equal(l.panel[PANEL_AROUND].w, 0);
	assert_int_equal(l.panel[PANEL_DETAIL].h, l.panel[PANEL_MAIN].h);
	want.focus = PANEL_AROUND;
	layout_compute(&l, 120, 40, &want);
	assert_true(l.panel[PANEL_AROUND].w > 0 && l.panel[PANEL_DETAIL].w > 0);
}
