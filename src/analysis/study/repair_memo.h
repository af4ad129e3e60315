// Private to src/analysis: what repairs of a study have measured, so that a blame that
// is asked for again goes on where it stopped.
#ifndef QTUI_ANALYSIS_REPAIR_MEMO_H
#define QTUI_ANALYSIS_REPAIR_MEMO_H

#include <stdbool.h>
#include "qtui/base/hash.h"
#include "qtui/engine/tuning.h"

struct cJSON;
struct dataset;
struct repair_known {
	double damage, snr_db; // of a plan, under the key of its points and of the samples they were read on
	double score;          // or the task metric of a network, under its key and that of the labels; damage is then that of task_apart
};
struct repair_memo; // any thread may use it
struct repair_memo *repair_memo_new(void);
void repair_memo_free(struct repair_memo **m);
bool repair_memo_get(struct repair_memo *m, struct key k, struct repair_known *out);
void repair_memo_put(struct repair_memo *m, struct key k, const struct repair_known *v);
// Tuned weights that the study has seen, by their names.
void repair_memo_keep_tuning(struct repair_memo *m, struct tuning *t);              // takes a count of its own
struct tuning *repair_memo_tuning(struct repair_memo *m, const char *name); // a count for the caller; NULL: not known
// A scale that a repair has measured for a node on these samples and kept:
// whatever its tensor alone says, it serves the outputs.
void repair_memo_vouch(struct repair_memo *m, const struct dataset *d, const char *target, const char *node, double scale);
bool repair_memo_vouches(struct repair_memo *m, const struct dataset *d, const char *target, const char *node, double scale);
int repair_memo_vouchers(struct repair_memo *m);
void repair_memo_save(struct repair_memo *m, struct cJSON *to);

#endif
