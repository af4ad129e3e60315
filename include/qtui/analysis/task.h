// Task metrics: what quantization costs in mAP, top-1, mIoU or PSNR, over labelled samples. A task borrows graph and samples and
// owns all else. What a network said of each sample is kept under the network's key, so that every sample goes through
// every network once. All functions but task_open and task_free may be called from any thread. Outputs may be added in
// any order; figures are those of the samples so far, and the same samples give the same figures to the bit.
#ifndef QTUI_ANALYSIS_TASK_H
#define QTUI_ANALYSIS_TASK_H

#include <stdatomic.h>
#include <cjson/cJSON.h>
#include "qtui/base/hash.h"
#include "qtui/engine/data.h"
#include "qtui/engine/run.h"

enum task_kind {
	TASK_DETECT,   // boxes against boxes, by COCO's protocol
	TASK_POSE,     // the same of boxes with keypoints, which are what is matched
	TASK_INSTANCE, // the same of boxes with masks, which are what is matched
	TASK_OBB,      // the same of rotated boxes
	TASK_CLASSIFY, // classes against classes
	TASK_SEGMENT,  // classes of pixels against masks
	TASK_RESTORE,  // pictures against pictures: super-resolution, noise, blur, darkness
	TASK_AGREE,    // no labels: the quantized network's outputs against the float network's
	TASK_SCORE,    // no labels: a program of the user's scores each sample's outputs
	TASK_TEXT,     // texts against texts: lines of writing, number plates, speech
	TASK_EMBED,    // classes of samples by the vectors that are nearest: faces, persons, products
	TASK_DEPTH,    // depths of pixels against depths
	TASK_REGRESS,  // numbers against numbers: angles, ages, forecasts, landmarks, signals
	TASK_KINDS,
};
// "detect", "pose", "instance", "obb", "classify", "segment", "restore", "agree", "score", "text", "embed", "depth", "regress"
const char *task_kind_name(enum task_kind k);
enum status task_kind_unknown(const char *option, const char *name, struct error *err); // STATUS_USAGE: names all that there are
bool task_kind_parse(enum task_kind *out, const char *name);
// What is seen of one sample.
enum task_shows {
	SHOWS_OBJECTS, // boxes over its picture, and those that changed
	SHOWS_REGIONS, // classes of pixels
	SHOWS_FIGURES, // figures of its own, and pictures that the networks make, if any
	SHOWS_VERDICT, // what both networks say beside the truth
	SHOWS_NOTHING, // its score alone
};
enum task_shows task_shows(enum task_kind k); // TASK_AGREE: SHOWS_FIGURES, though where it finds boxes these are seen
const char *task_judge(enum task_kind k); // what knows what is right: "the labels", "the scorer"
MUST_CHECK enum status task_decoder_check(const char *name, struct error *err); // STATUS_NOTFOUND: no decoder has that name
const char *task_decoder_name(int i); // of the i-th; NULL behind the last

enum task_variant { TASK_FLOAT, TASK_QUANT, TASK_VARIANTS };

struct task_options {
	int kind;            // enum task_kind, or -1: what labels and metadata say
	// COCO JSON, a directory of text files, XML files, masks, pictures or arrays, an array, a CSV; NULL: what lies beside the data set
	const char *labels;
	const char *decoder; // a name of docs/TASK.md; NULL: found from names and shapes of the outputs
	const char *scorer;  // of TASK_SCORE: a command for /bin/sh, which is started with the first sample
	const char *boxes_by; // of TASK_DETECT: likewise, which reads the boxes in place of a decoder; NULL: none
	double score;        // boxes must score more than this
	double iou;          // of NMS, the most overlap of boxes that are both kept; 0: the decoder's own, < 0: no NMS
	int boxes;           // kept of an image; 0: 300
};
struct task;
// STATUS_UNSUPPORTED or STATUS_NOTFOUND when labels or decoder do not fit.
MUST_CHECK enum status task_open(struct task **out, const struct graph *g, const struct dataset *d,
    const struct task_options *opt, struct error *err);
void task_free(struct task **t);
enum task_kind task_kind(const struct task *t);
const struct dataset *task_dataset(const struct task *t);
int task_samples(const struct task *t); // that have labels; without labels: all
bool task_has_label(const struct task *t, int sample);
// The key of labels, kind and decoder: tasks with equal keys give equal results for equal outputs.
struct key task_labels_key(const struct task *t);
// A line for the user: labels, decoder, NMS, mapping of classes. Grows when the decoder is found with the first sample.
void task_note(struct task *t, char *out, size_t size);

// ---- networks

// What one network said of the samples. Owned by the task and valid as long as it. When there are many networks, the
// results of those that were not used lately are dropped.
struct task_net;
struct key task_key(const struct task *t, const struct plan *plan); // of a finished plan; NULL: the float network
struct task_net *task_net(struct task *t, struct key network);      // found, or made empty
bool task_net_has(struct task *t, const struct task_net *n, int sample); // is there a result of the sample?

// What a network said of one sample: its outputs (order of graph.output, plain layout, floats or the model's integers), and
// those of the float network, which only TASK_AGREE needs. `stop` (may be NULL) ends what takes long: TASK_SCORE waits.
struct task_said {
	const struct tensor *out, *float_out;
	const atomic_bool *stop;
};
// Adds it to what is known of the network. An earlier result of the sample is replaced.
MUST_CHECK enum status task_add(struct task *t, struct task_net *n, int sample, const struct task_said *said, struct error *err);

// A pass of the engine (of the same graph) over those of the samples first..last-1 that have labels and are not known
// yet: under the float network and, unless plan is NULL, under the plan. The engine's store is read, nothing is put
// into it.
struct task_pass {
	const struct plan *plan;
	int first, last;
	const int *sample;            // not NULL: these are positions in this list of samples
	const atomic_bool *cancel;    // may be NULL
	atomic_int *done;             // counts labelled samples, those known before too; may be NULL
	void (*news)(void *arg);      // after each sample, from a worker; may be NULL
	void *arg;
};
MUST_CHECK enum status task_run(struct task *t, struct engine *e, const struct task_pass *p, struct error *err);
// The same without a pass of its own: somebody else's pass over the task's samples shows it the outputs that it wants,
// by task_gather_see from any worker. A sample whose outputs cannot be read stays unknown; a later task_run says why.
struct task_gather;
struct task_gather *task_gather_new(struct task *t, const struct task_pass *p);
bool task_gather_wants(const struct task_gather *c, enum task_variant v); // does it want the outputs of this network?
void task_gather_see(struct task_gather *c, const struct sighting *s);
void task_gather_free(struct task_gather **c);
// figure[0] of a report, over the samples first..last-1 that the network has results of; NAN: not known.
double task_score(struct task *t, const struct task_net *n, int first, int last);
// How far apart two networks are over the samples that both have results of; 0: the same. Labels are not used, so that
// every box counts and not only those that turn from right to wrong. NAN: this kind of task has no such measure.
double task_apart(struct task *t, const struct task_net *before, const struct task_net *after);

// ---- figures: NAN where they are not known

struct task_figure {
	const char *name; // "AP", "AP50" ... "top1", "top5", "mIoU", "psnr_db", "accuracy"
	double value[TASK_VARIANTS];
};
// What people call a figure, "mAP" for "AP", "top-1" for "top1"; files use the figure's own name.
const char *task_word(const char *figure);
const char *task_head(const char *figure); // the same in the seven letters that a column has
// Digits behind the point: as many as mean something, of a share (0..1) `share`.
int task_decimals(const char *figure, int share);
const char *task_figure_name(enum task_kind k);        // of figure[0]; of TASK_AGREE where nothing tells more
const char *task_leading_figure(const struct task *t); // the same of one task: what task_score is
// By how much a figure has to change to mean as much as the whole of a share does: of decibels 20.
double task_unit(const char *figure);
bool task_is_error(const char *figure); // less of it is better
const char *task_goal(const char *figure);        // what a repair commonly stops at: "map_drop<0.005"; NULL: nothing is common
const char *task_sample_word(const char *figure); // what a sample alone has in its place: "AP of a picture"
struct task_class {
	int id;           // of the data set
	const char *name; // or NULL
	int objects;      // of the class among the samples measured; TASK_SEGMENT: samples with such pixels
	double value[TASK_VARIANTS];
};
enum task_verdict { TASK_NO_VERDICT, TASK_WRONG, TASK_RIGHT };
struct task_sample {
	int sample;
	const char *name;
	enum task_verdict verdict[TASK_VARIANTS]; // of kinds whose figure[0] counts right samples
	// AP of the image, probability of its class, mean IoU of its classes, PSNR, nearness of its text or numbers, its delta1, cosine
	double value[TASK_VARIANTS];
	const int *class; // ids of the classes that its labels have, rising as those of the report
	int n_classes;
};
bool task_sample_has(const struct task_sample *s, int class); // by its id
// What figure[0] loses or gains from one network to another, with a 95 % interval from bootstrap draws of samples, the
// same draws for both.
struct task_interval {
	double difference, low, high;
	int samples;
};
static inline bool task_may_be_chance(const struct task_interval *i)
{
	return i->low <= 0 && i->high >= 0;
}
// No sample's result is another, so that chance has no part in it.
static inline bool task_is_same(const struct task_interval *i)
{
	return i->low == 0 && i->high == 0;
}
// Immutable and reference-counted.
struct task_report {
	atomic_int refs;
	enum task_kind kind;
	const char *note, *dataset;
	int samples[TASK_VARIANTS], total; // measured; those that have labels
	int not_finite;                    // samples whose outputs are finite in float and are not when quantized; the note says it, too
	struct task_figure *figure;        // [0] is the one to show first, better when higher, as all are but errors (task_is_error)
	int n_figures;
	struct task_class *class;
	int n_classes;
	struct task_sample *sample; // with both variants, those that lost most first
	int n_samples;
	int off;           // TASK_CLASSIFY: of most samples the float network says the class that is so far behind the label's; 0: it does not
	bool by_program;   // a program of the user's has read the boxes, no decoder
	bool has_interval; // false also when fewer than two samples have both variants
	struct task_interval interval;
	struct arena *memory; // of the texts
};
// What `quant` lost against `before`; draws 0: no interval.
struct task_report *task_report(
    struct task *t, const struct task_net *before, const struct task_net *quant, int draws);
// Puts the paths of this task's samples and labels into a report from a session, whose files may have been elsewhere.
// Nobody else may hold the report yet.
void task_report_place(struct task *t, struct task_report *r);
// Does even the float network recognize next to nothing? Then labels, decoder or the pictures' preparation are wrong.
bool task_is_blind(const struct task_report *r);
enum { TASK_BLIND_TEXT = 420 };
void task_tell_blind(char *out, size_t size, const struct task_report *r, const char *survey); // says so; survey: how to ask about pictures
// 1: the float network is right and the quantized one is not, -1: the reverse, else 0.
int task_sample_lost(const struct task_sample *s);
// Classes that lost, those that lost most first. The caller frees the array.
const struct task_class **task_classes_lost(const struct task_report *r, int *n);
enum { TASK_CLASS_NAME = 16 };
const char *task_class_name(const struct task_class *c, char number[TASK_CLASS_NAME]); // its number where it has no name
struct task_report *task_report_take(struct task_report *r);
void task_report_drop(struct task_report **r);
enum { TASK_DRAWS = 500 };
// As JSON, and back from it: NULL when it is none.
struct cJSON *task_report_json(const struct task_report *r); // the caller deletes it
struct task_report *task_report_parse(const struct cJSON *j);
// Makes the interval of a report; false: fewer than two samples have results of both networks.
bool task_interval(struct task *t, const struct task_net *before, const struct task_net *after, int draws,
    uint64_t seed, struct task_interval *out);

#endif
