// Pictures against pictures: PSNR and SSIM of what a network makes of a sample, against what it should make; means over the
// samples.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../decode/floats.h"
#include "../decode/head.h"
#include "../task_impl.h"
#include "made.h"

struct restored { // of one sample
	struct task_result base; // value: PSNR in dB
	struct made made;
	struct shape out;        // of the output, as [1, C, H, W]
};

// ---- opening

static enum status restore_open(struct task *t, struct error *err)
{
	const char *source = t->labels->source;
	struct pixels p;
	int w, h;
	head_input(&w, &h, t->g);
	if (!w)
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s: pictures, but no input of the model takes pictures of one or three channels", source);
	if (task_outputs_known(t->g) && (!pixels_find(&p, t->g, NULL, w, h) || !pixels_may_be_colours(&p)))
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s: pictures, but no output of the model is a picture of one or three channels", source);
	t->state = levels_range_new(dataset_preprocess(t->d));
	return STATUS_OK;
}

static void restore_close(struct task *t)
{
	levels_range_free((struct levels_range **)&t->state);
}

static void restore_note(struct task *t, char *out, size_t size)
{
	const char *range = levels_range_name(t->state);
	snprintf(out, size, "pictures %s (%d of %d samples)%s%s", t->labels->source, t->labels->n_known, t->n_samples,
	    range ? "; levels of the outputs are " : "", range ? range : "");
}

// The picture that goes with a sample, as large as the output. One of other proportions shows something else.
static enum status read_truth(struct tensor *truth, const struct task *t, int sample, const struct placement *where, struct error *err)
{
	const char *path = t->labels->label[sample].file;
	int w, h;
	enum status st = image_size(&w, &h, path, err);
	if (st == STATUS_OK && !pixels_have_proportions(w, h, where->image_w, where->image_h))
		st = error_set(err, STATUS_FORMAT, "%s has %d x %d pixels, its sample %d x %d", path, w, h, where->image_w, where->image_h);
	return st == STATUS_OK ? dataset_target(t->d, path, where, truth, err) : st;
}

static enum status restore_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct placement where;
	struct pixels p;
	float *heap;
	enum status st = dataset_place(t->d, sample, &where, err);
	if (st == STATUS_OK && (!pixels_find(&p, t->g, said->out, where.input_w, where.input_h) || !pixels_may_be_colours(&p)))
		st = error_set(err, STATUS_UNSUPPORTED, "no output is a picture of one or three channels");
	if (st != STATUS_OK)
		return st;
	struct tensor truth = {.type = DT_F32, .shape = {4, {1, p.channels, p.h, p.w}}};
	st = read_truth(&truth, t, sample, &where, err);
	if (st != STATUS_OK)
		return st;
	const float *data = output_floats(&said->out[p.output], &heap);
	struct area a = made_area(p.w, p.h, &where);
	float *levels = levels_new(t->state, levels_range_find(t->state, &t->lock, &p, &a, data, truth.data), &p, data);
	const struct pair it = {levels, truth.data, p.channels, p.w, p.h, dataset_preprocess(t->d)->bgr};
	struct restored *r = xcalloc(1, sizeof *r);
	made_measure(&r->made, &it, &a, made_share(t->labels->n_known));
	r->out = truth.shape;
	r->base = (struct task_result){.refs = 1, .bytes = sizeof *r + r->made.bytes, .value = r->made.figure[MADE_PSNR]};
	*result = &r->base;
	free(levels);
	free(heap);
	tensor_drop(&truth);
	return STATUS_OK;
}

static void restore_release(struct task_result *result)
{
	made_done(&((struct restored *)result)->made);
	free(result);
}

// ---- a look

// As large as the pictures that are kept. Heap, or NULL: what was measured had it, and it may be gone.
static uint8_t *truth_of(const struct task *t, int sample, const struct restored *like)
{
	struct tensor truth = {.type = DT_F32, .shape = like->out};
	struct placement where;
	struct error ignored;
	if (dataset_place(t->d, sample, &where, &ignored) || read_truth(&truth, t, sample, &where, &ignored))
		return NULL;
	const int64_t *dim = like->out.dim;
	const struct pair it = {NULL, truth.data, (int)dim[1], (int)dim[3], (int)dim[2], dataset_preprocess(t->d)->bgr};
	struct area a = made_area(it.w, it.h, &where);
	uint8_t *rgb = made_rgb(&it, &a, it.truth, like->made.w, like->made.h);
	tensor_drop(&truth);
	return rgb;
}

static void restore_look(struct task *t, const struct looked *at, struct task_look *l)
{
	const struct restored *a = (const struct restored *)at->result[TASK_FLOAT], *b = (const struct restored *)at->result[TASK_QUANT];
	if (!a || !b || !made_look(l, &a->made, &b->made))
		return;
	l->rgb = truth_of(t, l->sample, a);
	for (int i = 0; i < MADE_FIGURES; i++)
		if (!isnan(a->made.figure[i]))
			l->figure[l->n_figures++] = (struct task_figure){made_figure[i], {a->made.figure[i], b->made.figure[i]}};
}

// ---- scoring

static double figure_of(const struct frozen *f, int sample, int figure)
{
	return f->at[sample] ? ((const struct restored *)f->at[sample])->made.figure[figure] : NAN;
}

static double restore_score(const struct task *t, const struct frozen *f, const int *weight)
{
	(void)t;
	return task_mean_of(f, figure_of, MADE_PSNR, weight);
}

static void restore_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	(void)t;
	task_report_means(r, f, figure_of, made_figure, MADE_FIGURES, 1);
}

const struct task_ops restore_ops = {
    .name = "restore", .figure = "psnr_db",
    .labels = LABELS_PICTURES,
    .shows = SHOWS_FIGURES,
    .open = restore_open,
    .close = restore_close,
    .note = restore_note,
    .read = restore_read,
    .release = restore_release,
    .score = restore_score,
    .report = restore_report,
    .look = restore_look,
};
