// Private to src/analysis: the memo of figures. Sums are kept per sample, so that they merge in the order
// of samples whatever the order of work; histograms (histograms.c) are counts, whose order does not matter.
// Entries are made by the conductor before a pass and are filled by workers, each its own sample.
#ifndef QTUI_ANALYSIS_FIGURES_H
#define QTUI_ANALYSIS_FIGURES_H

#include <pthread.h>
#include "qtui/analysis/snapshot.h"
#include "qtui/base/hash.h"

struct figure {
	struct key key;
	struct tensor_sums *sums;  // [samples of the memo]
	atomic_uchar *have;        // [samples]
	bool merged;               // known from a session: only the merged figures
	struct figures saved;
	unsigned asked;            // the last run that asked for it
	struct figure **part;      // [n_part] > 0: not measured, it is that of these tensors together
	int n_part;
};
struct range_memo {
	struct key key;
	struct tensor_range *range; // [samples]
	atomic_uchar *have;
	bool merged;
	struct tensor_range saved;
	unsigned asked;
	struct range_memo **part;  // likewise
	int n_part;
};
struct hist_memo {
	struct key key;
	pthread_mutex_t lock;
	struct packed_grid *grid;  // of floats, NULL: none yet; or
	uint32_t *count;           // of codes: [levels >> shift], by their bits; NULL: none yet
	int levels, shift;
	enum dtype type;           // of the codes
	struct quantizer quant;    // likewise; its arrays are the next two
	float scale;
	int32_t zero;
	uint8_t *used;             // [levels] codes seen
	unsigned char *have;       // [samples]
	atomic_int n_have;         // written with the lock held; a composed one reads those of its parts without
	struct hist *shown;        // as last published, NULL: not yet
	int n_shown;               // over so many samples
	bool merged;               // set as a whole: only `shown`
	double used_saved;         // from a session; < 0: not known
	unsigned asked;
	struct hist_memo **part;   // likewise
	int n_part;
};

struct memo;
struct observer;
struct memo *memo_new(int samples);
void memo_free(struct memo **m);
struct figure *memo_figure(struct memo *m, struct key k);      // found or made
struct range_memo *memo_range(struct memo *m, struct key k);
struct hist_memo *memo_hist(struct memo *m, struct key k);
bool memo_scale(struct memo *m, struct key k, float *scale, int32_t *zero);
void memo_set_scale(struct memo *m, struct key k, float scale, int32_t zero);
// What an observer gathered, by tensor, samples and kind: under n > 0 keys. The memo takes the observer.
const struct observer *memo_observer(struct memo *m, struct key k);
void memo_keep_observer(struct memo *m, const struct key *k, int n, struct observer *o);
// Calls fn for every scale kept.
void memo_each_scale(struct memo *m, void (*fn)(struct key k, float scale, int32_t zero, void *arg), void *arg);

// What it holds can be forgotten, except the scales: it is computed again when another run asks for it. Between runs only,
// by the thread that begins them: entries that were found before may be gone.
size_t memo_bytes(const struct memo *m);
void memo_end_run(struct memo *m);                 // one that has asked for all of its entries
void memo_forget(struct memo *m, unsigned runs);   // what none of the latest `runs` ended ones, nor any since, has asked for

// From here on it is that of its parts together. Sums that are joined have other last bits than those of the whole: what
// is composed has a key of its own, and several parts of which a session brought the merged figures only are measured
// again. (Ranges and counts are the same either way; they are composed as long as nothing of them is from a session.) A
// part that is another tensor moved is that tensor: of a long row of moves the last one asks the first.
void figure_compose(struct figure *f, struct figure *const *part, int n);
void range_compose(struct range_memo *r, struct range_memo *const *part, int n);
void hist_compose(struct hist_memo *h, struct hist_memo *const *part, int n);
// Must the sample be measured for it? Not for one that is composed.
bool figure_lacks(const struct figure *f, int sample);
bool range_lacks(const struct range_memo *r, int sample);
bool hist_wants(const struct hist_memo *h, int samples);

bool figure_complete(const struct figure *f, int samples);
bool figure_has(const struct figure *f, int sample);
void figure_set(struct figure *f, int sample, const struct tensor_sums *s);
struct figures figure_merge(const struct figure *f, int samples);
bool range_complete(const struct range_memo *r, int samples);
void range_set(struct range_memo *r, int sample, const struct tensor_range *one);
struct tensor_range range_merge(const struct range_memo *r, int samples);
bool hist_complete(const struct hist_memo *h, int samples);
// Does it lack the sample's floats? Then *g is made ready for counting them.
bool hist_lacks_floats(struct hist_memo *h, int sample, struct grid *g);
// Adds one sample's counts once: of floats, or of codes of a quantizer (by their bits).
void hist_add_floats(struct hist_memo *h, int sample, const struct grid *g);
void hist_add_codes(struct hist_memo *h, int sample, const uint32_t *count, enum dtype type, const struct quantizer *q);
void hist_clear(struct hist_memo *h, int samples); // as if none of so many samples had been counted
// The whole of it, over all samples, takes the caller's count.
void hist_set(struct hist_memo *h, struct hist *whole);
// A histogram to publish, or NULL when there is none. New count. It is made anew when it is complete or its
// samples have doubled; over `range` or, the second form, over the edges of another.
struct hist *hist_publish(struct hist_memo *h, int samples, const struct tensor_range *range);
struct hist *hist_publish_beside(struct hist_memo *h, int samples, const struct hist *edges);
double hist_used(struct hist_memo *h); // share of levels that occur; < 0: not known

#endif
