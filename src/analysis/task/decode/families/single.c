// Keypoints of one object that fills the input: top-down poses, hands, faces. As lines of each axis (SimCC of RTMPose), as maps
// (HRNet, ViTPose), or as coordinates.
#include <math.h>
#include "../decode_family.h"
#include "qtui/base/str.h"

static struct bound alone(enum single_form form, int points)
{
	return (struct bound){.n = 1,
	    .source = {{.n = 1, .anchors = 1, .box = FIELD_NONE, .object = FIELD_NONE, .label = FIELD_NONE,
	        .score = {.output = -1, .channels = 1}}},
	    .points = points,
	    .single = {.form = form}};
}

static bool is_point_count(int64_t n)
{
	return n > 1 && n <= KEYPOINTS_MAX;
}

// [1, K, cells of an axis]
static bool lines_of(struct field *f, int *cells, const struct head *h, int output)
{
	const struct shape *s = &h->out[output].shape;
	if (s->rank != 3 || s->dim[0] != 1 || !is_point_count(s->dim[1]) || s->dim[2] < 1 || s->dim[2] > INT32_MAX)
		return false;
	*cells = (int)s->dim[2];
	*f = (struct field){.output = output, .channels = (int)s->dim[1], .anchors = 1, .cell = 1, .channel = s->dim[2]};
	return true;
}

// So many cells a pixel along both axes.
static bool is_split(const struct head *h, int w, int height)
{
	enum { FINEST = 4 };
	for (int times = 1; times <= FINEST; times++)
		if (w == times * h->input_w && height == times * h->input_h)
			return true;
	return false;
}

// The axis of x comes first unless sizes or names say otherwise.
bool single_bind_lines(struct bound *b, const struct head *h)
{
	struct field f[2];
	int cells[2];
	if (h->n != 2 || !lines_of(&f[0], &cells[0], h, 0) || !lines_of(&f[1], &cells[1], h, 1) || f[0].channels != f[1].channels)
		return false;
	int x = !is_split(h, cells[0], cells[1]) || (cells[0] == cells[1] && str_glob("*_y", h->out[0].name));
	if (!is_split(h, cells[x], cells[!x]))
		return false;
	*b = alone(SINGLE_LINES, f[0].channels);
	b->single.x = f[x];
	b->single.y = f[!x];
	b->single.w = cells[x];
	b->single.h = cells[!x];
	return true;
}

// Maps of scores of classes look alike: labels, the user or the output's name has to say what they are.
bool single_bind_maps(struct bound *b, const struct head *h)
{
	const struct shape *s = h->n == 1 ? &h->out[0].shape : NULL;
	if (!s || s->rank != 4 || s->dim[0] != 1 || !is_point_count(s->dim[1]) || s->dim[2] < 2 || s->dim[3] < 2)
		return false;
	if (!h->named && s->dim[1] != h->points && !str_glob("*heatmap*", h->out[0].name))
		return false;
	if (s->dim[3] * h->input_h != s->dim[2] * h->input_w || s->dim[3] > h->input_w)
		return false;
	*b = alone(SINGLE_MAPS, (int)s->dim[1]);
	b->single.x = (struct field){.output = 0, .channels = (int)s->dim[1], .anchors = 1, .cell = 1, .channel = s->dim[2] * s->dim[3]};
	b->single.w = (int)s->dim[3];
	b->single.h = (int)s->dim[2];
	return true;
}

// Coordinates as fractions of the input lie within 2, as boxes do.
static bool are_fractions(const struct head *h, const struct field *f)
{
	enum { FRACTION_MAX = 2 };
	const float *x = h->out[f->output].data;
	for (int i = 0; x && i < f->channels * (int)f->channel; i++)
		if (i % f->channel < 2 && fabsf(x[i]) > FRACTION_MAX)
			return false;
	return x != NULL;
}

// As many as the labels have, or where the user names the decoder as the shape has, of three values each if that is possible;
// 0: nobody says.
static int64_t points_in(const struct head *h, const struct shape *s)
{
	int64_t n = shape_count(s);
	if (h->points || !h->named)
		return h->points;
	return s->rank == 3 ? s->dim[1] : n % 3 == 0 ? n / 3 : n / 2;
}

// [1, K, 2 or 3] or [1, 2K or 3K].
bool single_bind_points(struct bound *b, const struct head *h)
{
	for (int i = 0; i < h->n; i++) {
		const struct shape *s = &h->out[i].shape;
		int64_t points = points_in(h, s), n = shape_count(s), dims = is_point_count(points) ? n / points : 0;
		if (s->rank < 2 || s->rank > 3 || s->dim[0] != 1 || (s->rank == 3 && s->dim[1] != points) || n != dims * points ||
		    (dims != 2 && dims != 3))
			continue;
		*b = alone(SINGLE_POINTS, (int)points);
		b->single.x = (struct field){.output = i, .channels = (int)points, .anchors = 1, .cell = 1, .channel = dims, .ends = h->out[i].ends};
		b->fractions = are_fractions(h, &b->single.x);
		return true;
	}
	return false;
}

enum { PERSON = 17, VALUES = 3 }; // MoveNet's keypoints are y, x and how sure, as fractions of the input

// [1, 1, 17, 3]
bool single_bind_movenet(struct bound *b, const struct head *h)
{
	const struct shape *s = h->n == 1 ? &h->out[0].shape : NULL;
	if (!s || s->rank != 4 || s->dim[0] != 1 || s->dim[1] != 1 || s->dim[2] != PERSON || s->dim[3] != VALUES)
		return false;
	*b = alone(SINGLE_POINTS, PERSON);
	b->single.x = (struct field){.output = 0, .channels = PERSON, .anchors = 1, .cell = 1, .channel = VALUES};
	b->fractions = b->yx = true;
	return true;
}

// What the object fills.
void single_box(float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	(void)b, (void)s, (void)anchor, (void)cell;
	out[0] = out[1] = 0;
	out[2] = (float)h->input_w;
	out[3] = (float)h->input_h;
}
