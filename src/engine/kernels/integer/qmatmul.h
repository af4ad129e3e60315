// Fast integer matrix product (private): what is fixed at creation, and b as panels.
// A constant b is packed once, another one for every batch.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QMATMUL_H
#define QTUI_ENGINE_KERNELS_INTEGER_QMATMUL_H

#include "qtile.h"

struct qmatmul {
	struct kernel base;
	struct qfinish finish;
	struct qscaling scaling;
	struct qsplit split;
	struct qentry entry;
	const struct qmicro *micro;
	struct qmatmul_task t;      // its pointers are not used
	bool constant;
	int64_t pitch, tile_m, panels, words; // pitch: values of a row in a tile
	struct qrun *runs;
	int n_runs;
	float *scale, *fbias;       // [panel][QLANES]
	struct qdest *dest;         // [panel]
	char *packed;               // constant b: one struct qmatmul_packed a batch
};

// b as the inner loop reads it, in one piece of memory.
struct qmatmul_packed {
	char *w;                    // [panel][word][QLANES][QWORD]
	int32_t *init;              // [panel][QLANES]
	double *bias;               // [panel][QLANES]
};
size_t qmatmul_packed_size(const struct qmatmul *k); // bytes
struct qmatmul_packed qmatmul_packed_at(const struct qmatmul *k, char *p);
int64_t qmatmul_batches(const struct qmatmul_task *t); // of b: 1 where all batches share one
// Panel `panel` of a batch of b.
void qmatmul_pack_panel(const struct qmatmul *k, const struct qmatmul_packed *to, const void *b, enum dtype type, int64_t panel);
bool qmatmul_pack_constant(struct qmatmul *k, const int16_t *weight); // all of b; false: no memory

#endif
