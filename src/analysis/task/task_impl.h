// Private to src/analysis/task: what the kinds of task implement.
#ifndef QTUI_ANALYSIS_TASK_IMPL_H
#define QTUI_ANALYSIS_TASK_IMPL_H

#include <pthread.h>
#include "labels/labels.h"
#include "labels/names.h"
#include "qtui/analysis/task_look.h"

// What a network said of one sample: immutable, counted. A kind's own struct begins with it.
struct task_result {
	atomic_int refs;
	size_t bytes; // of the whole result
	double value; // of the sample, as in struct task_sample
	bool not_finite; // the outputs hold NaN or infinity; of an agreement where the float network's are finite
};
void result_drop(const struct task *t, struct task_result *r);

// The results of a network at one moment.
struct frozen {
	struct task_result **at; // [n] NULL: not there
	int n;
	void *pool;              // of the kind, made by task_ops.pool
};
// A sample as both networks have it.
struct looked {
	struct task_result *result[TASK_VARIANTS]; // NULL: there is none
	const struct task_net *net[TASK_VARIANTS]; // likewise
};
struct task_ops {
	const char *name, *figure; // figure[0] of its reports
	const char *(*leads)(const struct task *t); // that of this network; NULL: it is the same of all
	int labels; // enum labels_kind, or -1: it needs none
	enum task_shows shows;
	enum status (*open)(struct task *t, struct error *err); // NULL: nothing to do; so is close
	void (*close)(struct task *t);
	void (*note)(struct task *t, char *out, size_t size); // the lock is held
	// *result may stay NULL: the kind has nothing to keep of this network.
	enum status (*read)(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err);
	void (*release)(struct task_result *r);
	// What makes scoring quick; may be NULL.
	void *(*pool)(const struct task *t, struct task_result *const *at, int n);
	void (*drain)(void *pool);
	// figure[0], each sample counted weight times; `weight` NULL: once.
	double (*score)(const struct task *t, const struct frozen *f, const int *weight);
	// What the sample is worth where that hangs on the others; NULL: struct task_result says it.
	double (*value)(const struct frozen *f, int sample);
	// Whether it counts as right in figure[0]; NULL: that counts no right ones.
	bool (*right)(const struct frozen *f, int sample);
	// Of kinds whose reports have classes: which of these, by their places there, the sample's labels have; has[n_classes] is all false.
	void (*classes)(const struct task *t, const struct frozen *f, int sample, bool *has);
	// How far two networks' results of a sample list are apart, 0..1; NULL: the kind does not know.
	double (*apart)(const struct frozen *before, const struct frozen *after);
	void (*report)(
	    const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r); // figures and classes
	void (*look)(struct task *t, const struct looked *at, struct task_look *l); // NULL: nothing more
};
extern const struct task_ops detect_ops, pose_ops, instance_ops, obb_ops, classify_ops, segment_ops, restore_ops, agree_ops, score_ops, text_ops,
    embed_ops, depth_ops, regress_ops;

// The mean of the samples' values, each counted weight times: a kind's `score` where it has no better one.
double task_mean(const struct task *t, const struct frozen *f, const int *weight);
// Of kinds that have several figures of each sample: one of them; NAN: the sample has none.
typedef double task_figure_of(const struct frozen *f, int sample, int figure);
// Its mean over the samples that have it, each counted weight times; `weight` NULL: once. NAN: none has it.
double task_mean_of(const struct frozen *f, task_figure_of *of, int figure, const int *weight);
// Reports the means of both networks by name[n]; those behind the first `always` only where one of the networks has them.
void task_report_means(
    struct task_report *r, const struct frozen f[TASK_VARIANTS], task_figure_of *of, const char *const name[], int n, int always);
struct key task_file_key(struct key k, const char *path); // with the bytes of a file
double task_blind(const char *figure); // what a float network has at the most that is right by chance

struct task {
	enum task_kind kind;
	const struct task_ops *ops;
	const struct graph *g;
	const struct dataset *d;
	struct task_options opt;  // texts are not kept
	struct key read_by;       // of the decoder's name
	struct labels *labels;    // NULL: TASK_AGREE
	struct names names;       // of the model's classes
	int n_samples;
	void *state;              // of the kind
	pthread_mutex_t lock;     // over what `state` learns with the first sample, and what follows
	struct keymap *nets;
	size_t bytes; // of all results
	uint64_t clock;
};

struct task_result *task_net_result(struct task *t, const struct task_net *n, int sample); // counted, or NULL
void task_nets_free(struct task *t);
struct frozen task_freeze(struct task *t, const struct task_net *n, int first, int last); // net NULL: nothing
int task_count(const struct frozen *f); // samples that have a result
// Of the samples that another has by now, so that both say the same of as many; of all where it has none. Returns how many.
int task_freeze_beside(struct frozen *out, struct task *t, const struct task_net *n, const struct frozen *beside);
void task_thaw(const struct task *t, struct frozen *f);
// Samples that both have results of; `before` NULL: that `after` has.
int task_paired(const struct frozen *before, const struct frozen *after, int *out);

// The output that has a score for each class: the one with the most elements of shape [1, C], [C] or [1, C, 1, 1]; -1:
// none.
int task_class_output(const struct graph *g, const struct tensor *out);
const char *task_class_text(const struct task *t, int class, struct task_look *l); // its name, or "class N"
bool embed_is_likely(const struct graph *g); // is its output brought to the length 1?
// Is the model's only output scores of classes at each step? *characters: how many are known, 0: none.
bool texts_said(int *characters, const struct task *t);
bool task_outputs_known(const struct graph *g); // are all shapes known before it runs?
int64_t task_class_count(const struct graph *g); // how many it has scores for; 0: not known before it runs

#endif
