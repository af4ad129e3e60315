// What is written past curses for pictures: colours, places, and no more than what has changed.
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "qtui/tui/overlay.h"
#include "qtui/tui/picture.h"

static char *written(const struct canvas *now, const struct canvas *before, bool all, bool direct)
{
	struct str out = {0};
	overlay_text(&out, now, before, all, direct);
	return str_detach(&out);
}

static void expect(const struct canvas *now, const struct canvas *before, bool all, bool direct, const char *text)
{
	char *out = written(now, before, all, direct);
	assert_string_equal(out, text);
	free(out);
}

void test_overlay__colours_and_places(void **state)
{
	struct canvas now, before;
	canvas_init(&before, 6, 3, NULL, false);
	canvas_init(&now, 6, 3, NULL, false);
	expect(&now, &before, true, true, ""); // without a picture nothing is written
	canvas_pixels(&now, 1, 1, 0x2580, 0xff8000, 0x0000ff);
	canvas_pixels(&now, 2, 1, 'q', 0xff8000, 0x000000);
	canvas_pixels(&now, 4, 1, 0x2580, 0x808080, 0x000000);
	expect(&now, &before, false, true,
	    "\0337\033[2;2H\033[38;2;255;128;0m\033[48;2;0;0;255m▀\033[48;2;0;0;0mq\033[2;5H\033[38;2;128;128;128m▀\033[0m\0338");
	expect(&now, &before, false, false, "\0337\033[2;2H\033[38;5;208m\033[48;5;21m▀\033[48;5;16mq\033[2;5H\033[38;5;244m▀\033[0m\0338");
	canvas_done(&now);
	canvas_done(&before);
}

void test_overlay__lines_that_did_not_change_are_left_alone(void **state)
{
	struct canvas now, before;
	char *out;
	canvas_init(&before, 4, 3, NULL, false);
	canvas_init(&now, 4, 3, NULL, false);
	for (int y = 0; y < 3; y++)
		canvas_pixels(&now, 2, y, 0x2580, 0x102030, 0x405060);
	memcpy(before.cell, now.cell, 12 * sizeof *now.cell);
	expect(&now, &before, false, true, "");
	canvas_text(&now, 0, 1, 2, ROLE_TEXT, "ab"); // curses may write the rest of this line anew
	out = written(&now, &before, false, true);
	assert_non_null(strstr(out, "\033[2;3H"));
	assert_null(strstr(out, "\033[1;3H"));
	free(out);
	canvas_text(&now, 2, 1, 1, ROLE_TEXT, "c"); // no picture there any more: curses' own business
	expect(&now, &before, false, true, "");
	out = written(&now, &before, true, true);
	assert_true(strstr(out, "\033[1;3H") && strstr(out, "\033[3;3H") && !strstr(out, "\033[2;3H"));
	free(out);
	canvas_done(&now);
	canvas_done(&before);
}

void test_overlay__a_picture_keeps_its_proportions(void **state)
{
	uint8_t rgb[4 * 2 * 3] = {255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255};
	struct picture p = {.rgb = rgb, .w = 4, .h = 2};
	struct canvas c;
	picture_fit(&p, (struct rect){0, 0, 40, 30}); // twice as wide as high: 40 columns are 20 half lines
	assert_int_equal(p.at.w, 40);
	assert_int_equal(p.at.h, 10);
	picture_fit(&p, (struct rect){3, 1, 40, 5});
	assert_int_equal(p.at.w, 20);
	assert_int_equal(p.at.h, 5);
	assert_int_equal(p.at.x, 13);
	canvas_init(&c, 50, 8, NULL, false);
	picture_draw(&c, &p, true);
	assert_int_equal(c.cell[50 + 13].fg, 0xff0000); // red above on the left, blue on the right, black below
	assert_int_equal(c.cell[50 + 32].fg, 0x0000ff);
	assert_int_equal(c.cell[5 * 50 + 13].bg, 0);
	// A box that reaches over the edge is cut there, and says whose it is.
	picture_box(&c, &p, &(struct task_look){.scale = 1}, &(struct task_box){-5, -5, 100, 100, .5f, 0, NULL, NULL}, PEN_QUANT, "cat", true);
	assert_int_equal(c.cell[50 + 13].glyph, 0x2554);
	assert_int_equal(c.cell[5 * 50 + 14].glyph, 'q');
	assert_int_equal(c.cell[50 + 12].glyph, ' ');
	canvas_done(&c);
}

static int pixel(const struct canvas_image *image, int x, int y)
{
	const uint8_t *at = image->rgb + 3 * ((size_t)y * (size_t)image->w + (size_t)x);
	return at[0] << 16 | at[1] << 8 | at[2];
}

// In a terminal that takes pixels keypoints are discs with lines between them; what lies beside the picture is cut off,
// and a keypoint that the network is not sure of is left out.
void test_overlay__keypoints_in_pixels(void **state)
{
	enum { INK = 0xffffff };
	static uint8_t rgb[20 * 10 * 3];
	static int bone[3][2] = {{0, 1}, {1, 2}, {0, 3}};
	const struct keypoint point[4] = {{4, 2, .9f}, {4, 7, .9f}, {30, 7, .9f}, {12, 2, .1f}};
	struct task_look look = {.scale = 1, .points = 4, .bone = bone, .n_bones = 3};
	struct task_box box = {0, 9, 1, 1, .5f, 0, point, NULL};
	struct picture p = {.rgb = rgb, .w = 20, .h = 10, .cell_w = 8, .cell_h = 16};
	struct canvas c;
	canvas_init(&c, 60, 20, NULL, false);
	picture_fit(&p, (struct rect){0, 0, 50, 12});
	picture_draw(&c, &p, true);
	assert_non_null(p.image);
	int x = 4 * p.image->w / 20, y = 2 * p.image->h / 10, low = 7 * p.image->h / 10, right = 12 * p.image->w / 20;
	picture_box(&c, &p, &look, &box, PEN_QUANT, "", true);
	assert_int_equal(pixel(p.image, x, y), INK);
	assert_int_equal(pixel(p.image, x, (y + low) / 2), INK); // a bone downwards
	assert_int_equal(pixel(p.image, p.image->w - 1, low), INK); // one that leaves the picture
	assert_int_not_equal(pixel(p.image, right, y), INK);
	picture_box(&c, &p, &look, &(struct task_box){.point = (struct keypoint[4]){{1, 1, 1}, {1e9f, 1, 1}, {-1e9f, -1e9f, 1}, {1, 1, 1}}},
	    PEN_TRUTH, "", true);
	picture_done(&p);
	canvas_done(&c);
}

// A rotated box is the lines between its corners, in cells too: of the box around it nothing is drawn but the label's place.
void test_overlay__rotated_boxes_in_cells(void **state)
{
	static uint8_t rgb[40 * 20 * 3];
	static int ring[4][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
	const struct keypoint corner[4] = {{20, 2, 1}, {36, 10, 1}, {20, 18, 1}, {4, 10, 1}};
	struct task_look look = {.scale = 1, .points = 4, .bone = ring, .n_bones = 4, .rotated = true};
	struct task_box box = {4, 2, 32, 16, .5f, 0, corner, NULL};
	struct picture p = {.rgb = rgb, .w = 40, .h = 20};
	struct canvas c;
	canvas_init(&c, 40, 10, NULL, false);
	picture_fit(&p, (struct rect){0, 0, 40, 10});
	picture_draw(&c, &p, true);
	picture_box(&c, &p, &look, &box, PEN_QUANT, "x", true);
	assert_int_equal(c.cell[20 + 1 * 40].glyph, 0x2550); // flat enough for a line across
	assert_int_equal(c.cell[28 + 3 * 40].glyph, 0x2550);
	assert_int_equal(c.cell[4 + 5 * 40].glyph, 0x2550);
	assert_int_not_equal(c.cell[5 + 1 * 40].glyph, 0x2550);
	assert_int_not_equal(c.cell[35 + 8 * 40].glyph, 0x2550);
	assert_int_equal(c.cell[5 + 9 * 40].glyph, 'q');
	canvas_done(&c);
}
