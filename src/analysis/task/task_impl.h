// Private to src/analysis/task: what the kinds of task implement.
#ifndef QTUI_ANALYSIS_TASK_IMPL_H
#define QTUI_ANALYSIS_TASK_IMPL_H

#include <pthread.h>
#include "labels.h"
#include "names.h"
#include "qtui/analysis/task.h"

// Results of all samples of one variant at one moment, ready to be scored again and again. The owner frees it with
// task_ops.thaw.
struct frozen;
struct task_ops {
	const char *name;
	enum status (*open)(struct task *t, struct error *err);
	void (*close)(struct task *t);
	enum status (*add)(
	    struct task *t, int sample, const struct tensor *const out[TASK_VARIANTS], struct error *err);
	void (*forget)(struct task *t, enum task_variant v);
	void (*note)(struct task *t, char *out, size_t size);          // the lock is held
	struct frozen *(*freeze)(struct task *t, enum task_variant v); // the lock is held
	void (*thaw)(struct frozen **f);
	bool (*has)(const struct frozen *f, int sample);
	double (*score)(
	    const struct frozen *f, const int *weight);      // figure[0], each sample counted weight times (NULL: once)
	double (*value)(const struct frozen *f, int sample); // of one sample
	void (*report)(
	    const struct task *t, struct frozen *const f[TASK_VARIANTS], struct task_report *r); // figures and classes
};
extern const struct task_ops detect_ops, classify_ops, agree_ops;

struct task {
	enum task_kind kind;
	const struct task_ops *ops;
	const struct graph *g;
	const struct dataset *d;
	struct task_options opt;  // texts are not kept
	const char *decoder_name; // lives until open returns
	struct labels *labels;    // NULL: TASK_AGREE
	struct names names;       // of the model's classes
	int n_samples;
	pthread_mutex_t lock; // over what `state` holds
	void *state;          // of the kind
};

// Elements as floats: t->data itself when it holds floats, else a copy in *heap, which the caller frees.
const float *task_floats(const struct tensor *t, float **heap);
// The output that has a score for each class: the one with the most elements of shape [1, C], [C] or [1, C, 1, 1]; -1:
// none.
int task_class_output(const struct graph *g, const struct tensor *out);

#endif
