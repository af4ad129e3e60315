// The table of decoders, and the loops over what they find.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "decode_family.h"
#include "qtui/base/str.h"

enum { LABEL_MAX = 1 << 16 }; // labels that an output holds: beyond it they are none

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
	         : error_set(err, STATUS_UNSUPPORTED, "no decoder is known for the outputs %s; name one with --decoder",
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

// "w,h,w,h,...": three a level.
static bool read_anchors(struct anchors *a, const char *text)
{
	enum { NUMBERS = 2 * ANCHORS };
	float *to = &a->at[0][0][0];
	int n = 0;
	for (char *end; n < ANCHOR_LEVELS * NUMBERS; text = end + 1) {
		to[n] = strtof(text, &end);
		if (end == text || !(to[n] > 0 && to[n] < 1e6f) || (*end && *end != ','))
			return false;
		n++;
		if (*end)
			continue;
		a->levels = n / NUMBERS;
		return n % NUMBERS == 0;
	}
	return false;
}

enum status decode_named(const struct decoder **out, struct anchors *anchors, const char *name, struct error *err)
{
	size_t n = strcspn(name, ":");
	*out = find_row(name, n);
	*anchors = (struct anchors){.levels = 0};
	if (!*out)
		return unknown_name(name, err);
	if (!name[n])
		return STATUS_OK;
	if ((*out)->box != anchor_box && (*out)->box != anchor_box_exp)
		return error_set(err, STATUS_USAGE, "--decoder %s: %s has no anchors", name, (*out)->name);
	if (!read_anchors(anchors, name + n + 1))
		return error_set(err, STATUS_USAGE, "--decoder %s: anchors are three pairs width,height for each of up to %d levels, in pixels",
		    name, ANCHOR_LEVELS);
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

bool decode_bind(struct bound *b, const struct decoder *d, const struct head *h)
{
	*b = (struct bound){0};
	if (!d->bind(b, h))
		return false;
	struct prototypes p = head_prototypes(h);
	bool all = p.map.channels > 0;
	if (all && b->n == 1 && !b->source[0].mask.channels)
		find_coefficients(&b->source[0], h, p.map.channels);
	for (int i = 0; i < b->n; i++)
		all = all && b->source[i].mask.channels == p.map.channels && b->source[i].mask.anchors == b->source[i].anchors;
	if (all)
		b->prototypes = p;
	return true;
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

static bool matches_any(const char *name, const char *const *pattern)
{
	for (; *pattern; pattern++)
		if (str_glob(*pattern, name))
			return true;
	return false;
}

bool decode_is_box_name(const char *name)
{
	static const char *const patterns[] = {"*box*", "*reg*", "*dis*", "*loc*", "*Box*", NULL};
	return matches_any(name, patterns);
}

bool decode_is_score_name(const char *name)
{
	static const char *const patterns[] = {
	    "*cls*", "*score*", "*conf*", "*class*", "*prob*", "*logit*", "*Score*", NULL};
	return matches_any(name, patterns);
}

bool decode_pair(const struct head *h, int box, int score, struct field *boxes, struct field *scores, int64_t *n)
{
	int64_t n_scores;
	// With four classes both look alike.
	bool swapped = h->out[box].ends & END_SOFTMAX ||
	               (decode_is_score_name(h->out[box].name) && !decode_is_score_name(h->out[score].name));
	return box != score && !swapped && head_rows(boxes, n, h, box, 4) &&
	       head_rows(scores, &n_scores, h, score, 0) && n_scores == *n;
}

float decode_sigmoid(float x)
{
	return 1 / (1 + expf(-x));
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
	return b->source[0].label.output >= 0 ? 0 : b->source[0].score.channels - b->background - b->nothing_last;
}

// ---- the loops

struct run {
	struct candidates *out;
	const struct decoder *d;
	const struct bound *b;
	const struct head *h;
	const struct source *s;
	double least; // of a score, before its root
};

static void add(const struct run *r, int anchor, int64_t cell, const float box[4], float score, int class)
{
	struct candidate c = {.x1 = box[0], .y1 = box[1], .x2 = box[2], .y2 = box[3],
	    .score = r->b->root ? sqrtf(score) : score, .class = class,
	    .source = (int)(r->s - r->b->source), .anchor = anchor, .cell = cell};
	candidates_add(r->out, &c);
}

static bool is_finite_box(const float box[4])
{
	return isfinite(box[0]) && isfinite(box[1]) && isfinite(box[2]) && isfinite(box[3]);
}

static float squashed(enum squash how, float x)
{
	return how == SQUASH_SIGMOID ? decode_sigmoid(x) : x;
}

// Softmax over the channels of `score`: its maximum and the sum of the exponentials.
static void softmax_terms(const struct run *r, int anchor, int64_t cell, float *most, double *sum)
{
	*most = -INFINITY;
	*sum = 0;
	for (int c = 0; c < r->s->score.channels; c++)
		*most = fmaxf(*most, field_get(r->h, &r->s->score, anchor, cell, c));
	for (int c = 0; c < r->s->score.channels; c++)
		*sum += exp(field_get(r->h, &r->s->score, anchor, cell, c) - *most);
}

static int classes_end(const struct run *r)
{
	return r->s->score.channels - r->b->nothing_last;
}

// What a raw score has to be at the least, if the threshold is to be reached: most logits need no exponential.
static double least_raw(const struct run *r, float object)
{
	double need = r->least / object;
	switch (r->b->score) {
	case SQUASH_SIGMOID: return log(need / (1 - need)) - 1e-3;
	case SQUASH_SOFTMAX: return -INFINITY;
	default: return need * (1 - 1e-5);
	}
}

// All classes of one cell that reach the threshold; the box is computed for the first of them.
static void run_classes(const struct run *r, int anchor, int64_t cell, float object)
{
	double low = least_raw(r, object);
	float box[4], most = 0;
	double sum = 1;
	bool have = false;
	if (r->b->score == SQUASH_SOFTMAX)
		softmax_terms(r, anchor, cell, &most, &sum);
	for (int c = r->b->background; c < classes_end(r); c++) {
		float raw = field_get(r->h, &r->s->score, anchor, cell, c);
		if (!(raw >= low))
			continue;
		float p = r->b->score == SQUASH_SOFTMAX ? (float)(exp(raw - most) / sum) : squashed(r->b->score, raw);
		if (!(p * object > r->least))
			continue;
		if (!have)
			r->d->box(box, r->h, r->b, r->s, anchor, cell);
		have = true;
		if (!is_finite_box(box))
			return;
		add(r, anchor, cell, box, p * object, c - r->b->background);
	}
}

static void run_label(const struct run *r, int anchor, int64_t cell)
{
	float score = squashed(r->b->score, field_get(r->h, &r->s->score, anchor, cell, 0));
	float label = field_get(r->h, &r->s->label, anchor, cell, 0), box[4];
	if (!(score > r->least) || !(label >= 0 && label < LABEL_MAX))
		return;
	r->d->box(box, r->h, r->b, r->s, anchor, cell);
	if (is_finite_box(box))
		add(r, anchor, cell, box, score, (int)label);
}

static void run_cell(const struct run *r, int anchor, int64_t cell)
{
	float object = r->s->object.output < 0
	                   ? 1
	                   : squashed(r->b->object, field_get(r->h, &r->s->object, anchor, cell, 0));
	if (!(object > r->least))
		return;
	if (r->s->label.output >= 0)
		run_label(r, anchor, cell);
	else
		run_classes(r, anchor, cell, object);
}

enum { CELLS = 64 }; // that are looked at together

// The greatest raw score of each of n cells. Class by class, since that is how most heads lay them out.
static void best_scores(float best[CELLS], const struct run *r, int anchor, int64_t first, int n)
{
	const struct field *f = &r->s->score;
	for (int i = 0; i < n; i++)
		best[i] = -INFINITY;
	for (int c = r->b->background; c < classes_end(r); c++) {
		const float *raw = field_at(r->h, f, anchor, first, c);
		for (int i = 0; i < n; i++)
			best[i] = raw[i * f->cell] > best[i] ? raw[i * f->cell] : best[i];
	}
}

// Where scores alone decide, the cells of which none is high enough, nearly all, are passed over together.
static void run_anchor(const struct run *r, int anchor)
{
	bool decided = r->s->object.output < 0 && r->s->label.output < 0;
	double low = decided ? least_raw(r, 1) : -INFINITY;
	float best[CELLS];
	for (int64_t first = 0; first < r->s->n; first += CELLS) {
		int n = r->s->n - first < CELLS ? (int)(r->s->n - first) : CELLS;
		if (decided)
			best_scores(best, r, anchor, first, n);
		for (int i = 0; i < n; i++)
			if (!decided || best[i] >= low)
				run_cell(r, anchor, first + i);
	}
}

void decode_run(
    struct candidates *out, const struct decoder *d, const struct bound *b, const struct head *h, double least)
{
	for (int i = 0; i < b->n; i++) {
		struct run r = {.out = out, .d = d, .b = b, .h = h, .s = &b->source[i], .least = b->root ? least * least : least};
		for (int anchor = 0; anchor < r.s->anchors; anchor++)
			run_anchor(&r, anchor);
	}
}

// From what a keypoint's channels say to pixels.
static void place_point(float at[2], const struct bound *b, const struct head *h, const struct source *s, const struct candidate *c)
{
	const float cell[2] = {(float)(c->cell % (s->w ? s->w : 1)), (float)(c->cell / (s->w ? s->w : 1))};
	const float size[2] = {(float)h->input_w, (float)h->input_h};
	for (int k = 0; k < 2; k++)
		if (b->priors > 0)
			at[k] = (cell[k] + .5f) * (float)s->stride + at[k] * b->priors * s->anchor[c->anchor][k];
		else if (b->reach > 0)
			at[k] = (at[k] * b->reach + cell[k] + b->from) * (float)s->stride;
		else if (b->fractions)
			at[k] *= size[k];
	if (!isfinite(at[0]) || !isfinite(at[1]))
		at[0] = at[1] = 0;
}

void decode_points(struct keypoint *out, const struct bound *b, const struct head *h, const struct candidate *c)
{
	const struct source *s = &b->source[c->source];
	const struct field *f = &s->point;
	int dims = f->channels / b->points;
	enum squash how = b->reach > 0 ? SQUASH_SIGMOID : SQUASH_NONE; // of the visibility
	for (int i = 0; i < b->points; i++) {
		float at[2] = {field_get(h, f, c->anchor, c->cell, i * dims), field_get(h, f, c->anchor, c->cell, i * dims + 1)};
		place_point(at, b, h, s, c);
		out[i] = (struct keypoint){at[0], at[1], dims == 3 ? squashed(how, field_get(h, f, c->anchor, c->cell, i * dims + 2)) : 1};
	}
}
