// Task metrics: what quantization costs in mAP or top-1, over labelled samples. A task borrows graph and samples and
// owns all else. task_add and the askers may be called from any thread: outputs come in any order, figures are those of
// the samples so far, and the same samples give the same figures, to the bit, whatever the order.
#ifndef QTUI_ANALYSIS_TASK_H
#define QTUI_ANALYSIS_TASK_H

#include <stdatomic.h>
#include "qtui/engine/data.h"
#include "qtui/engine/run.h"

enum task_kind {
	TASK_DETECT,   // boxes against boxes, by COCO's protocol
	TASK_CLASSIFY, // classes against classes
	TASK_AGREE,    // no labels: the quantized network's outputs against the float network's
	TASK_KINDS,
};
const char *task_kind_name(enum task_kind k); // "detect", "classify", "agree"
bool task_kind_parse(enum task_kind *out, const char *name);

enum task_variant { TASK_FLOAT, TASK_QUANT, TASK_VARIANTS };

struct task_options {
	int kind;            // enum task_kind, or -1: what labels and metadata say
	const char *labels;  // COCO JSON, a directory of YOLO text files, a CSV; NULL: what lies beside the data set
	const char *decoder; // a name of docs/TASK.md; NULL: found from names and shapes of the outputs
	double score, iou;   // boxes must score more; NMS: 0 is the decoder's own, < 0 is none
	int boxes;           // kept of an image; 0: 300
};
struct task;
// STATUS_UNSUPPORTED or STATUS_NOTFOUND when labels or decoder do not fit.
MUST_CHECK enum status task_open(struct task **out, const struct graph *g, const struct dataset *d,
    const struct task_options *opt, struct error *err);
void task_free(struct task **t);
enum task_kind task_kind(const struct task *t);
// A line for the user: labels, decoder, NMS, mapping of classes. Grows when the decoder is found with the first sample.
void task_note(struct task *t, char *out, size_t size);

// The outputs of one sample (order of graph.output, plain layout, floats or the model's integers); NULL: not this
// variant. TASK_AGREE needs both. What was added for the sample before is replaced.
MUST_CHECK enum status task_add(
    struct task *t, int sample, const struct tensor *float_out, const struct tensor *quant_out, struct error *err);
void task_forget(struct task *t, enum task_variant v); // after an edit
// Adds samples first..last-1 by a pass over the engine (of the same graph and samples); plan NULL: the float network
// only.
MUST_CHECK enum status task_run(struct task *t, struct engine *e, const struct plan *plan, int first, int last,
    const atomic_bool *cancel, atomic_int *done, struct error *err);

// Figures are NAN where they are not known.
struct task_figure {
	const char *name; // "AP", "AP50" ... "top1", "top5"
	double value[TASK_VARIANTS];
};
struct task_class {
	int id;           // of the data set
	const char *name; // or NULL
	int objects;      // of the class among the samples measured
	double value[TASK_VARIANTS];
};
struct task_sample {
	int sample;
	double value[TASK_VARIANTS]; // AP of the image, probability of its class, cosine
};
struct task_report {
	enum task_kind kind;
	int samples[TASK_VARIANTS];
	struct task_figure *figure; // [0] is the one to show first; all are better when higher
	int n_figures;
	struct task_class *class;
	int n_classes;
	struct task_sample *sample; // with both variants, those that lost most first
	int n_samples;
};
// Borrows names from the task; the caller frees.
struct task_report *task_report(struct task *t);
void task_report_free(struct task_report **r);
// What figure[0] loses or gains by quantization, with a 95 % interval from `draws` bootstrap draws of samples (the same
// for both variants). False when fewer than two samples have both variants.
struct task_interval {
	double difference, low, high;
	int samples;
};
bool task_interval(struct task *t, int draws, uint64_t seed, struct task_interval *out);

#endif
