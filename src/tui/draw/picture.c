// Pictures in cells: two pixels a cell, one above the other, as the two halves of U+2580; brightness as characters
// where there are no colours. Boxes are lines over them, of a kind each for truth, float and quantized; pixels whose class
// changed are tinted.
#include "qtui/tui/picture.h"

#include <stdio.h>

struct mean {
	int r, g, b;
};

static int clamp(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

// The mean of the picture's pixels in [x0, x1) x [y0, y1), at least one.
static struct mean mean_of(const struct picture *p, double x0, double y0, double x1, double y1)
{
	int left = clamp((int)x0, 0, p->w - 1), right = clamp((int)x1, left + 1, p->w);
	int top = clamp((int)y0, 0, p->h - 1), bottom = clamp((int)y1, top + 1, p->h);
	long sum[3] = {0}, n = (long)(right - left) * (bottom - top);
	for (int y = top; y < bottom; y++)
		for (int x = left; x < right; x++)
			for (int c = 0; c < 3; c++)
				sum[c] += p->rgb[3 * ((size_t)y * (size_t)p->w + (size_t)x) + (size_t)c];
	return (struct mean){(int)(sum[0] / n), (int)(sum[1] / n), (int)(sum[2] / n)};
}

// ---- cells of a segmentation

static const struct {
	struct mean tint;
	enum role role;
	char letter;
} cells[CELL_KINDS] = {
	[CELL_LOST] = {{235, 40, 40}, ROLE_WORSE, 'l'},
	[CELL_GAINED] = {{40, 210, 90}, ROLE_BETTER, 'g'},
	[CELL_OTHER] = {{240, 190, 30}, ROLE_EDITED, 'w'},
};

enum role picture_cell_role(enum task_cell k)
{
	return cells[k].role;
}

char picture_cell_letter(enum task_cell k)
{
	return cells[k].letter;
}

// At a place of the picture, in parts of its width and height.
static enum task_cell cell_at(const struct picture *p, double x, double y)
{
	const struct task_look *l = p->cells;
	if (!l || !l->cell)
		return CELL_SAME;
	return (enum task_cell)
	    l->cell[clamp((int)(y * l->cells_h), 0, l->cells_h - 1) * l->cells_w + clamp((int)(x * l->cells_w), 0, l->cells_w - 1)];
}

static struct mean tinted(struct mean m, enum task_cell k)
{
	struct mean t = cells[k].tint;
	return k == CELL_SAME ? m : (struct mean){(m.r + 2 * t.r) / 3, (m.g + 2 * t.g) / 3, (m.b + 2 * t.b) / 3};
}

// ---- pixels

// How much higher than wide a cell is.
static double aspect_of(const struct picture *p)
{
	return p->cell_w > 0 ? (double)p->cell_h / p->cell_w : 2;
}

void picture_fit(struct picture *p, struct rect r)
{
	double aspect = aspect_of(p), wide = (double)r.w / p->w, high = aspect * r.h / p->h;
	p->scale = wide < high ? wide : high;
	p->at.w = clamp((int)(p->w * p->scale + .5), 1, r.w);
	p->at.h = clamp((int)(p->h * p->scale / aspect + .5), 1, r.h);
	p->at.x = r.x + (r.w - p->at.w) / 2;
	p->at.y = r.y;
}

static int rgb_of(struct mean m)
{
	return m.r << 16 | m.g << 8 | m.b;
}

static struct mean half(const struct picture *p, int x, int y2)
{
	double sx = (double)p->w / p->at.w, sy = (double)p->h / (2 * p->at.h);
	struct mean m = mean_of(p, x * sx, y2 * sy, (x + 1) * sx, (y2 + 1) * sy);
	return tinted(m, cell_at(p, (x + .5) / p->at.w, (y2 + .5) / (2 * p->at.h)));
}

static uint32_t shade_of(struct mean m)
{
	static const char ramp[] = " .:-=+*#%@";
	int light = (2 * m.r + 5 * m.g + m.b) / 8;
	return (uint32_t)ramp[light * (int)(sizeof ramp - 2) / 255];
}

static void draw_pixels(const struct picture *p)
{
	struct canvas_image *image = p->image;
	double sx = (double)p->w / image->w, sy = (double)p->h / image->h;
	uint8_t *to = image->rgb;
	for (int y = 0; y < image->h; y++)
		for (int x = 0; x < image->w; x++, to += 3) {
			struct mean m = tinted(mean_of(p, x * sx, y * sy, (x + 1) * sx, (y + 1) * sy),
			    cell_at(p, (x + .5) / image->w, (y + .5) / image->h));
			to[0] = (uint8_t)m.r;
			to[1] = (uint8_t)m.g;
			to[2] = (uint8_t)m.b;
		}
}

void picture_done(struct picture *p)
{
	if (p->image)
		canvas_image_done(p->image);
}

void picture_draw(struct canvas *c, struct picture *p, bool blocks)
{
	p->image = blocks && p->cell_w > 0 ? canvas_image_new(c, p->at, p->at.w * p->cell_w, p->at.h * p->cell_h) : NULL;
	if (p->image) {
		draw_pixels(p);
		return;
	}
	for (int y = 0; y < p->at.h; y++)
		for (int x = 0; x < p->at.w; x++) {
			struct mean top = half(p, x, 2 * y), low = half(p, x, 2 * y + 1);
			if (blocks) {
				canvas_pixels(c, p->at.x + x, p->at.y + y, U'▀', rgb_of(top), rgb_of(low));
				continue;
			}
			enum task_cell k = cell_at(p, (x + .5) / p->at.w, (y + .5) / p->at.h);
			top = (struct mean){(top.r + low.r) / 2, (top.g + low.g) / 2, (top.b + low.b) / 2};
			canvas_put(c, p->at.x + x, p->at.y + y, k ? (uint32_t)cells[k].letter : shade_of(top), k ? cells[k].role : ROLE_DIM);
		}
}

// ---- boxes

struct pen {
	uint32_t across, down, corner[4]; // top left, top right, bottom left, bottom right
	uint32_t point; // a keypoint
	enum role role;
	char letter;
};
static const struct pen pens[PEN_KINDS] = {
	[PEN_TRUTH] = {U'─', U'│', {U'┌', U'┐', U'└', U'┘'}, U'+', ROLE_BOX_TRUTH, 't'},
	[PEN_FLOAT] = {U'╌', U'╎', {U'╭', U'╮', U'╰', U'╯'}, U'○', ROLE_BOX_FLOAT, 'f'},
	[PEN_QUANT] = {U'═', U'║', {U'╔', U'╗', U'╚', U'╝'}, U'●', ROLE_BOX_QUANT, 'q'},
};

enum role picture_role(enum pen_kind k)
{
	return pens[k].role;
}

// A line's cell keeps the picture behind it: darkened, so that the line is seen.
static void put(struct canvas *c, const struct picture *p, int x, int y, uint32_t glyph, enum role role, bool blocks)
{
	int ink = c->theme ? c->theme->style[role].fg.rgb : -1;
	struct mean back;
	if (!canvas_holds(&p->at, x, y))
		return;
	if (!blocks) {
		canvas_put(c, x, y, glyph, role);
		return;
	}
	back = half(p, x - p->at.x, 2 * (y - p->at.y));
	back = (struct mean){back.r / 3, back.g / 3, back.b / 3};
	canvas_pixels(c, x, y, glyph, ink < 0 ? 0xffffff : ink, rgb_of(back));
}

static void put_text(struct canvas *c, const struct picture *p, int x, int y, const char *text, enum role role, bool blocks)
{
	for (uint32_t g; (g = text_next(&text)); x++)
		put(c, p, x, y, g, role, blocks);
}

// The box whose corners are the cells (x, y) and (x + w, y + h).
static void cell_box(struct canvas *c, const struct picture *p, struct rect r, enum pen_kind kind, bool blocks)
{
	const struct pen *pen = &pens[kind];
	for (int x = r.x + 1; x < r.x + r.w; x++) {
		put(c, p, x, r.y, pen->across, pen->role, blocks);
		put(c, p, x, r.y + r.h, pen->across, pen->role, blocks);
	}
	for (int y = r.y + 1; y < r.y + r.h; y++) {
		put(c, p, r.x, y, pen->down, pen->role, blocks);
		put(c, p, r.x + r.w, y, pen->down, pen->role, blocks);
	}
	for (int i = 0; i < 4; i++)
		put(c, p, i & 1 ? r.x + r.w : r.x, i & 2 ? r.y + r.h : r.y, pen->corner[i], pen->role, blocks);
}

static void dot(const struct canvas_image *image, int x, int y, int ink)
{
	uint8_t *at = image->rgb + 3 * ((size_t)y * (size_t)image->w + (size_t)x);
	if (x < 0 || y < 0 || x >= image->w || y >= image->h)
		return;
	for (int i = 0; i < 3; i++)
		at[i] = (uint8_t)(ink >> (16 - 8 * i) & 255);
}

// One line of a box: single for truth, dashed for float, double for quantized,
// with a dark edge so that it is seen on any ground.
static void pixel_line(const struct canvas_image *image, int x, int y, int n, bool down, enum pen_kind kind, int ink)
{
	enum { DASH = 6 };
	for (int i = 0; i <= n; i++)
		for (int across = -1; across <= 3; across++) {
			bool lit = kind == PEN_QUANT ? across == 0 || across == 3 : across == 0 || across == 1;
			if (kind != PEN_QUANT && across == 3)
				continue;
			lit = lit && !(kind == PEN_FLOAT && i / DASH % 2);
			dot(image, down ? x + across : x + i, down ? y + i : y + across, lit ? ink : 0);
		}
}

static void pixel_box(const struct canvas *c, const struct picture *p, const struct task_box *b, double to_picture, enum pen_kind kind)
{
	const struct canvas_image *image = p->image;
	double sx = to_picture * image->w / p->w, sy = to_picture * image->h / p->h;
	int ink = c->theme ? c->theme->style[pens[kind].role].fg.rgb : -1;
	int x0 = clamp((int)(b->x * sx), 0, image->w - 1), x1 = clamp((int)((b->x + b->w) * sx), 0, image->w - 1);
	int y0 = clamp((int)(b->y * sy), 0, image->h - 1), y1 = clamp((int)((b->y + b->h) * sy), 0, image->h - 1);
	ink = ink < 0 ? 0xffffff : ink;
	for (int side = 0; side < 2; side++) {
		pixel_line(image, x0, side ? y1 : y0, x1 - x0, false, kind, ink);
		pixel_line(image, side ? x1 : x0, y0, y1 - y0, true, kind, ink);
	}
}

// The cells that a box lies in: it goes from the first to the last of them.
static struct rect cells_of(const struct picture *p, const struct task_look *l, const struct task_box *b)
{
	double across = p->scale * l->scale, down = across / aspect_of(p);
	int x0 = clamp((int)(b->x * across), 0, p->at.w - 1), x1 = clamp((int)((b->x + b->w) * across), 0, p->at.w - 1);
	int y0 = clamp((int)(b->y * down), 0, p->at.h - 1), y1 = clamp((int)((b->y + b->h) * down), 0, p->at.h - 1);
	return (struct rect){p->at.x + x0, p->at.y + y0, x1 - x0, y1 - y0};
}

static void draw_label(struct canvas *c, const struct picture *p, struct rect r, enum pen_kind kind, const char *label, bool blocks)
{
	char text[48];
	int x = r.x + (r.w > 1), room = r.x + r.w - x;
	snprintf(text, sizeof text, "%c %s", pens[kind].letter, label);
	if (kind == PEN_TRUTH && room > text_width(text))
		x = r.x + r.w - text_width(text); // the float network's box lies nearly on it, and has its label at the left
	put_text(c, p, x, kind == PEN_QUANT ? r.y + r.h : r.y, text, pens[kind].role, blocks);
}

// ---- keypoints, and corners of rotated boxes

// A truth's that nobody marked, one that the network is not sure of, and one that is far from any picture are not shown.
static bool is_seen(const struct keypoint *k, enum pen_kind kind)
{
	const float far = 1e5f;
	return k->v > (kind == PEN_TRUTH ? 0 : KEYPOINT_SEEN) && k->x > -far && k->x < far && k->y > -far && k->y < far;
}

// Between two keypoints: one or, of the quantized network, two pixels wide, dashed of the float one.
static void pixel_bone(const struct canvas_image *image, const double from[2], const double to[2], enum pen_kind kind, int ink)
{
	enum { DASH = 4, LONGEST = 4096 };
	double dx = to[0] - from[0], dy = to[1] - from[1];
	double length = dx > 0 ? dx : -dx, high = dy > 0 ? dy : -dy;
	double steps = length > high ? length : high;
	int n = steps >= 1 && steps < LONGEST ? (int)steps + 1 : 0; // a longer one is of no keypoints of this picture
	for (int i = 0; n && i <= n; i++) {
		int x = (int)(from[0] + dx * i / n), y = (int)(from[1] + dy * i / n);
		if (kind == PEN_FLOAT && i / DASH % 2)
			continue;
		dot(image, x, y, ink);
		if (kind == PEN_QUANT)
			dot(image, length > high ? x : x + 1, length > high ? y + 1 : y, ink);
	}
}

static void pixel_joint(const struct canvas_image *image, const double at[2], int ink)
{
	enum { RADIUS = 3 };
	for (int y = -RADIUS; y <= RADIUS; y++)
		for (int x = -RADIUS; x <= RADIUS; x++)
			if (x * x + y * y <= RADIUS * RADIUS)
				dot(image, (int)at[0] + x, (int)at[1] + y, x * x + y * y < RADIUS * RADIUS - 3 ? ink : 0);
}

static void pixel_points(
    const struct canvas *c, const struct picture *p, const struct task_look *l, const struct keypoint *k, enum pen_kind kind)
{
	const struct canvas_image *image = p->image;
	double sx = l->scale * image->w / p->w, sy = l->scale * image->h / p->h;
	int ink = c->theme ? c->theme->style[pens[kind].role].fg.rgb : -1;
	ink = ink < 0 ? 0xffffff : ink;
	for (int i = 0; i < l->n_bones; i++) {
		const struct keypoint *a = &k[l->bone[i][0]], *b = &k[l->bone[i][1]];
		if (is_seen(a, kind) && is_seen(b, kind))
			pixel_bone(image, (double[]){(double)a->x * sx, (double)a->y * sy}, (double[]){(double)b->x * sx, (double)b->y * sy},
			    kind, ink);
	}
	for (int i = 0; i < l->points && !l->rotated; i++)
		if (is_seen(&k[i], kind))
			pixel_joint(image, (double[]){(double)k[i].x * sx, (double)k[i].y * sy}, ink);
}

// From cell to cell; of the float network's lines every second is left out.
static void cell_line(struct canvas *c, const struct picture *p, const double from[2], const double to[2], enum pen_kind kind, bool blocks)
{
	enum { LONGEST = 1024 };
	const struct pen *pen = &pens[kind];
	double dx = to[0] - from[0], dy = to[1] - from[1], wide = dx < 0 ? -dx : dx, high = dy < 0 ? -dy : dy;
	double steps = wide > high ? wide : high;
	uint32_t glyph = 2 * high < wide ? pen->across : 2 * wide < high ? pen->down : pen->point;
	int n = steps >= 1 && steps < LONGEST ? (int)steps + 1 : 0;
	for (int i = 0; n && i <= n; i += kind == PEN_FLOAT ? 2 : 1)
		put(c, p, p->at.x + (int)(from[0] + dx * i / n), p->at.y + (int)(from[1] + dy * i / n), glyph, pen->role, blocks);
}

static void cell_points(
    struct canvas *c, const struct picture *p, const struct task_look *l, const struct keypoint *k, enum pen_kind kind, bool blocks)
{
	double across = p->scale * l->scale, down = across / aspect_of(p);
	for (int i = 0; l->rotated && i < l->n_bones; i++) {
		const struct keypoint *a = &k[l->bone[i][0]], *b = &k[l->bone[i][1]];
		if (is_seen(a, kind) && is_seen(b, kind))
			cell_line(c, p, (double[]){(double)a->x * across, (double)a->y * down},
			    (double[]){(double)b->x * across, (double)b->y * down}, kind, blocks);
	}
	for (int i = 0; i < l->points && !l->rotated; i++)
		if (is_seen(&k[i], kind))
			put(c, p, p->at.x + (int)((double)k[i].x * across), p->at.y + (int)((double)k[i].y * down), pens[kind].point,
			    pens[kind].role, blocks);
}

void picture_box(struct canvas *c, const struct picture *p, const struct task_look *l, const struct task_box *b, enum pen_kind kind,
    const char *label, bool blocks)
{
	struct rect r = cells_of(p, l, b);
	if (!l->rotated && p->image)
		pixel_box(c, p, b, l->scale, kind);
	else if (!l->rotated)
		cell_box(c, p, r, kind, blocks);
	if (b->point && p->image)
		pixel_points(c, p, l, b->point, kind);
	else if (b->point)
		cell_points(c, p, l, b->point, kind, blocks);
	draw_label(c, p, r, kind, label, blocks);
}
