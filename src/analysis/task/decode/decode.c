// The table of decoders, which of them fits a head, and what the families share.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "decode_family.h"
#include "qtui/base/str.h"

static const struct decoder rows[] = {
#define DECODER(name, iou, bind, box, title) {name, title, iou, bind, box},
#include "decoders.def"
#undef DECODER
};

const struct decoder *decode_rows(int *n)
{
	*n = (int)(sizeof rows / sizeof *rows);
	return rows;
}

// ---- finding

static void describe(struct str *s, const struct head *h)
{
	char shape[128];
	for (int i = 0; i < h->n && i < 4; i++)
		str_addf(
		    s, "%s%s %s", i ? ", " : "", h->out[i].name, shape_text(&h->out[i].shape, shape, sizeof shape));
	if (h->n > 4)
		str_add(s, " ...");
}

static enum status unknown_head(const struct head *h, const char *name, struct error *err)
{
	struct str outputs = {0};
	describe(&outputs, h);
	enum status st =
	    name ? error_set(
	               err, STATUS_UNSUPPORTED, "--decoder %s does not fit the outputs %s", name, str_text(&outputs))
	         : error_set(err, STATUS_UNSUPPORTED, "no decoder is known for the outputs %s: name one with --decoder, read them by a "
	               "program of your own (--boxes), or measure by --task agree (with the float network's) or --scorer",
	               str_text(&outputs));
	str_done(&outputs);
	return st;
}

static enum status unknown_name(const char *name, struct error *err)
{
	struct str all = {0};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		str_addf(&all, "%s%s", i ? ", " : "", rows[i].name);
	enum status st = error_set(err, STATUS_NOTFOUND, "--decoder %s: one of %s is needed", name, str_text(&all));
	str_done(&all);
	return st;
}

static const struct decoder *find_row(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i].name) == n && strncmp(rows[i].name, name, n) == 0)
			return &rows[i];
	return NULL;
}

// "w,h,w,h,..."
static bool read_anchors(struct anchors *a, const char *text)
{
	float *to = &a->at[0][0];
	int n = 0;
	for (char *end; n < 2 * ANCHOR_LEVELS * ANCHORS; text = end + 1) {
		to[n] = strtof(text, &end);
		if (end == text || !(to[n] > 0 && to[n] < 1e6f) || (*end && *end != ','))
			return false;
		n++;
		if (*end)
			continue;
		a->n = n / 2;
		return n % 2 == 0;
	}
	return false;
}

enum status decode_named(const struct decoder **out, struct anchors *anchors, const char *name, struct error *err)
{
	size_t n = strcspn(name, ":");
	*out = find_row(name, n);
	*anchors = (struct anchors){.n = 0};
	if (!*out)
		return unknown_name(name, err);
	if (!name[n])
		return STATUS_OK;
	if ((*out)->box != anchor_box && (*out)->box != anchor_box_exp)
		return error_set(err, STATUS_USAGE, "--decoder %s: %s has no anchors", name, (*out)->name);
	bool levels = (*out)->bind != anchor_bind_yolov2; // else there is one, of any number
	if (!read_anchors(anchors, name + n + 1) || (levels && anchors->n % ANCHORS))
		return error_set(err, STATUS_USAGE, "--decoder %s: anchors are %s, in pixels", name,
		    levels ? "three pairs width,height for each of up to four levels" : "up to twelve pairs width,height");
	return STATUS_OK;
}

static const struct decoder *first_fitting(const struct decoder *from, size_t n, const struct head *h)
{
	for (size_t i = 0; i < n; i++) {
		struct bound b = {0};
		if (from[i].bind(&b, h))
			return &from[i];
	}
	return NULL;
}

// Coefficients of a list of rows as an output of their own.
static void find_coefficients(struct source *s, const struct head *h, int masks)
{
	struct field f;
	int64_t n;
	for (int i = 0; i < h->n && !s->mask.channels; i++)
		if (i != s->box.output && i != s->score.output && head_rows(&f, &n, h, i, masks) && n == s->n)
			s->mask = f;
}

static void bind_prototypes(struct bound *b, const struct head *h)
{
	struct maps p = head_prototypes(h);
	bool all = p.map.channels > 0;
	if (all && b->n == 1 && !b->source[0].mask.channels)
		find_coefficients(&b->source[0], h, p.map.channels);
	for (int i = 0; i < b->n; i++)
		all = all && b->source[i].mask.channels == p.map.channels && b->source[i].mask.anchors == b->source[i].anchors;
	if (!all)
		return;
	b->masks = MASKS_SUMS;
	b->maps = p;
}

// Maps of the input have its proportions and a pixel for four of it at the least, those of boxes are smaller.
static void bind_maps(struct bound *b, const struct head *h)
{
	enum { FINEST = 1, COARSEST = 4, BOX_MAX = 128 };
	const struct source *s = &b->source[0];
	struct maps m;
	if (b->n != 1 || s->stride || s->anchors != 1 || !head_object_maps(&m, h, s->n) || m.map.output == s->box.output ||
	    m.map.output == s->score.output)
		return;
	for (int stride = FINEST; stride <= COARSEST && !b->masks; stride *= 2)
		if (m.w == head_side(h->input_w, stride) && m.h == head_side(h->input_h, stride))
			b->masks = MASKS_OF_INPUT;
	if (!b->masks && m.w <= BOX_MAX && m.h <= BOX_MAX)
		b->masks = MASKS_OF_BOX;
	b->maps = m;
}

bool decode_bind(struct bound *b, const struct decoder *d, const struct head *h)
{
	*b = (struct bound){0};
	if (!d->bind(b, h))
		return false;
	if (!b->single.form)
		bind_prototypes(b, h);
	if (!b->single.form && !b->masks)
		bind_maps(b, h);
	return true;
}

bool decode_is_likely(const struct head *h)
{
	return first_fitting(rows, sizeof rows / sizeof *rows, h) != NULL;
}

enum status decode_find(const struct decoder **out, struct head *h, const char *name, struct error *err)
{
	const struct decoder *named = NULL;
	if (name && decode_named(&named, &h->anchors, name, err) != STATUS_OK)
		return err->status;
	h->named = named;
	*out = NULL;
	for (int any = 0; any < 2 && !*out; any++) {
		h->any_classes = any;
		*out = named ? first_fitting(named, 1, h) : first_fitting(rows, sizeof rows / sizeof *rows, h);
	}
	return *out ? STATUS_OK : unknown_head(h, name, err);
}

// ---- what the families share

enum squash decode_squash(const struct field *f)
{
	return f->ends & END_LINEAR && !(f->ends & (END_SIGMOID | END_SOFTMAX)) ? SQUASH_SIGMOID : SQUASH_NONE;
}

// What the metadata or prototypes say is behind the classes counts before what the labels' keypoints would make there.
int decode_pick_classes(const struct head *h, const struct field *f, int others)
{
	const int behind[] = {h->extra ? h->extra : head_mask_channels(h), 0, h->points * 3, h->points * 2};
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
		int classes = f->channels - others - behind[i];
		if (classes > 0 && head_fits(h, classes))
			return classes;
	}
	return -1;
}

void decode_bind_points(struct bound *b, struct source *s, const struct head *h, const struct field *f, int others)
{
	int rest = f->channels - others;
	if (!h->points || (rest != h->points * 2 && rest != h->points * 3))
		return;
	b->points = h->points;
	s->point = field_part(f, others, rest);
}

void decode_bind_masks(struct source *s, const struct head *h, const struct field *f, int others)
{
	int rest = f->channels - others;
	if (rest > 0 && rest == head_prototypes(h).map.channels)
		s->mask = field_part(f, others, rest);
}

bool decode_pair(const struct head *h, int box, int score, struct field *boxes, struct field *scores, int64_t *n)
{
	int64_t n_scores;
	if (box == score || !head_rows(boxes, n, h, box, 4) || !head_rows(scores, &n_scores, h, score, 0))
		return false;
	bool turned = n_scores != *n && n_scores <= INT32_MAX; // fewer boxes than classes
	if (turned)
		head_rows(scores, &n_scores, h, score, (int)n_scores);
	if (n_scores != *n)
		return false;
	// With four classes both look alike.
	return !(h->out[box].ends & END_SOFTMAX) && (!h->out[box].scores || h->out[score].scores);
}

float decode_sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

static bool is_about_fractions(float least, float most)
{
	enum { FRACTION_MAX = 2 };
	return least >= -FRACTION_MAX && most <= FRACTION_MAX;
}

// Boxes may reach beyond the input's edge, and single ones far. Four equal numbers fill up a list, and say nothing. Of a
// pyramid's thousands of rows some, from all over the input, say it.
bool decode_are_fractions(const struct head *h, const struct field *box, int64_t n)
{
	enum { ENOUGH = 1000 };
	int64_t within = 0, all = 0, step = n / ENOUGH + 1;
	for (int64_t first = 0; h->out[box->output].data && first < step && all < ENOUGH; first++)
		for (int64_t i = first; i < n; i += step) {
			float least = INFINITY, most = -INFINITY;
			for (int c = 0; c < 4; c++) {
				float v = field_get(h, box, 0, i, c);
				least = fminf(least, v);
				most = fmaxf(most, v);
			}
			all += most > least;
			within += most > least && is_about_fractions(least, most);
		}
	return (double)within > .9 * (double)all;
}

// The second corner lies beyond the first. So may the size of an object that fills the input beyond its centre; but then all of
// it lies in the input, where corners, read as a centre and a size, would reach out of it, and all have about the same centre:
// small boxes whose corners lie here and there in the upper left are corners.
bool decode_are_corners(const struct head *h, const struct field *box, int64_t n, bool fractions)
{
	const double side[2] = {fractions ? 1 : h->input_w, fractions ? 1 : h->input_h}, beside = .05, apart = .1;
	double sum[2] = {0}, squares = 0;
	int64_t beyond = 0, inside = 0, either = 0, all = 0;
	bool centred = box->ends == END_SIGMOID; // each by itself: nothing has made corners of them
	for (int64_t i = 0; h->out[box->output].data && !centred && i < n; i++) {
		bool ordered = true, within = true, differ = false;
		double first[2];
		for (int c = 0; c < 2; c++) {
			double from = (double)field_get(h, box, 0, i, c) / side[c], to = (double)field_get(h, box, 0, i, 2 + c) / side[c];
			ordered &= to >= from; // coarse codes may be equal
			within &= from - to / 2 >= -beside && from + to / 2 <= 1 + beside;
			differ |= to != from;
			first[c] = from;
		}
		all += differ;
		beyond += differ && ordered;
		inside += differ && within;
		either += differ && ordered && within;
		for (int c = 0; differ && ordered && within && c < 2; c++) {
			sum[c] += first[c];
			squares += first[c] * first[c];
		}
	}
	double n_either = (double)either, variance = squares / n_either - (sum[0] * sum[0] + sum[1] * sum[1]) / (n_either * n_either);
	return (double)beyond > .9 * (double)all && ((double)inside < .9 * (double)all || variance > apart * apart);
}

void decode_to_input(float box[4], const struct head *h, const struct bound *b)
{
	for (int c = 0; b->fractions && c < 4; c++)
		box[c] *= (float)(c % 2 ? h->input_h : h->input_w);
}

void decode_from_centre(float out[4], float cx, float cy, float w, float h)
{
	out[0] = cx - w / 2;
	out[1] = cy - h / 2;
	out[2] = cx + w / 2;
	out[3] = cy + h / 2;
}

int decode_classes(const struct bound *b)
{
	return b->source[0].label.output >= 0 ? b->counted : b->source[0].score.channels - b->background - b->nothing_last;
}
