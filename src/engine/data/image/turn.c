// Turning a picture upright. A camera that is held upright stores the rows as its sensor has them, and says in the
// orientation (Exif 1..8) how they are to be shown.
#include <stdlib.h>
#include <string.h>
#include "image.h"

// How the upright picture is read from the stored one: along its columns, from its right, from below.
static const struct turn {
	bool lies, from_right, from_below;
} turns[] = {
    [UPRIGHT] = {false, false, false},
    [2] = {false, true, false},
    [3] = {false, true, true},
    [4] = {false, false, true},
    [5] = {true, false, false},
    [6] = {true, false, true},
    [7] = {true, true, true},
    [8] = {true, true, false},
};

bool image_lies(int orientation)
{
	return turns[orientation].lies;
}

static void copy_turned(struct image *out, const struct image *in, const struct turn *t)
{
	ptrdiff_t row = (ptrdiff_t)in->w * 3, right = t->from_right ? -3 : 3, down = t->from_below ? -row : row;
	const uint8_t *first = in->rgb + (t->from_right ? row - 3 : 0) + (t->from_below ? (in->h - 1) * row : 0);
	ptrdiff_t along_x = t->lies ? down : right, along_y = t->lies ? right : down;
	uint8_t *to = out->rgb;
	for (int y = 0; y < out->h; y++)
		for (int x = 0; x < out->w; x++, to += 3)
			memcpy(to, first + y * along_y + x * along_x, 3);
}

enum status image_turn(struct image *image, int orientation, const char *name, struct error *err)
{
	const struct turn *t = &turns[orientation];
	struct image out;
	enum status s;
	if (orientation == UPRIGHT)
		return STATUS_OK;
	s = image_alloc(&out, (uint32_t)(t->lies ? image->h : image->w), (uint32_t)(t->lies ? image->w : image->h), name, err);
	if (!s)
		copy_turned(&out, image, t);
	free(image->rgb);
	image->rgb = NULL;
	if (!s)
		*image = out;
	return s;
}
