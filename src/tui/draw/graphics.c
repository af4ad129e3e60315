#include "qtui/tui/graphics.h"

#include <string.h>

enum { KITTY_ID = 31, KITTY_CHUNK = 4096 };

static void place(struct str *out, const struct rect *at)
{
	str_addf(out, "\033[%d;%dH", at->y + 1, at->x + 1);
}

static void kitty_delete(struct str *out)
{
	str_addf(out, "\033_Ga=d,d=I,i=%d,q=2\033\\", KITTY_ID);
}

// In pieces, as the protocol wants; under the text (z=-1), scaled to the cells,
// without an answer (q=2), the cursor unmoved (C=1).
static void kitty_show(struct str *out, const struct canvas_image *image)
{
	struct str data = {0};
	size_t bytes;
	if (!png_base64(&data, image->rgb, image->w, image->h, &bytes))
		return;
	for (size_t at = 0; at < data.len; at += KITTY_CHUNK) {
		size_t n = data.len - at < KITTY_CHUNK ? data.len - at : KITTY_CHUNK;
		str_add(out, "\033_G");
		if (at == 0)
			str_addf(out, "a=T,f=100,i=%d,q=2,C=1,z=-1,c=%d,r=%d,", KITTY_ID, image->at.w, image->at.h);
		str_addf(out, "m=%d;", at + n < data.len);
		str_addn(out, str_text(&data) + at, n);
		str_add(out, "\033\\");
	}
	str_done(&data);
}

static void iterm_show(struct str *out, const struct canvas_image *image)
{
	struct str data = {0};
	size_t bytes;
	if (png_base64(&data, image->rgb, image->w, image->h, &bytes))
		str_addf(out, "\033]1337;File=inline=1;size=%zu;width=%d;height=%d;preserveAspectRatio=0;doNotMoveCursor=1:%s\a", bytes,
		    image->at.w, image->at.h, str_text(&data));
	str_done(&data);
}

static void sixel_show(struct str *out, const struct canvas_image *image)
{
	sixel_encode(out, image->rgb, image->w, image->h);
}

// Curses may have written over it: only Kitty keeps pictures apart from the text.
static bool is_touched(const struct graphics *g, const struct canvas *now, const struct canvas *before)
{
	for (int y = g->at.y; g->how != PICTURES_KITTY && y < g->at.y + g->at.h && y < now->h; y++)
		if (canvas_row_differs(now, before, y))
			return true;
	return false;
}

// A list of completions, say: where text and pictures share the cells the text goes first.
static bool is_covered(const struct graphics *g, const struct canvas *now)
{
	const struct rect *at = &now->image->at;
	for (int y = at->y; g->how != PICTURES_KITTY && y < at->y + at->h; y++)
		for (int x = at->x; x < at->x + at->w; x++) {
			const struct cell *c = &canvas_row(now, y)[x];
			if (c->fg < 0 && c->glyph != CANVAS_UNDER_IMAGE)
				return true;
		}
	return false;
}

void graphics_end(struct str *out, struct graphics *g)
{
	if (g->shown && g->how == PICTURES_KITTY)
		kitty_delete(out);
	g->shown = false;
}

bool graphics_text(struct str *out, struct graphics *g, const struct canvas *now, const struct canvas *before, bool all)
{
	static void (*const show[])(struct str *, const struct canvas_image *) = {
		[PICTURES_SIXEL] = sixel_show, [PICTURES_ITERM] = iterm_show, [PICTURES_KITTY] = kitty_show};
	const struct canvas_image *image = now->image;
	bool same = image && g->shown && key_equal(image->key, g->key) && !memcmp(&image->at, &g->at, sizeof g->at);
	if (!image || g->how == PICTURES_CELLS || is_covered(g, now)) {
		graphics_end(out, g);
		return false;
	}
	if (same && !all && !is_touched(g, now, before))
		return false;
	graphics_end(out, g);
	str_add(out, "\0337");
	place(out, &image->at);
	show[g->how](out, image);
	str_add(out, "\0338");
	g->shown = true;
	g->key = image->key;
	g->at = image->at;
	return true;
}
