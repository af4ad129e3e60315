#include <string.h>
#include "kept.h"
#include "qtui/base/parts.h"
#include "tiles.h"

enum {
	TILE_ROWS = 128,
	TILE_COLUMNS = 1024,
	LEAST_COLUMNS = 128,     // of tiles that are made narrower so that several threads have some
	FEW = 2,                 // tiles
	WORTH_THREADS = 1 << 20, // multiply-adds
};

struct tiles {
	struct kept_matmul kept;
	tiles_gemm_fn *gemm;
};

// The columns of a tile depend on the product alone.
static int64_t tile_columns(const struct matmul_task *t)
{
	int64_t rows = t->batch * ceil_div(t->m, TILE_ROWS), columns = TILE_COLUMNS;
	while (columns > LEAST_COLUMNS && rows * ceil_div(t->n, columns) < FEW && t->m * t->n * t->k >= WORTH_THREADS)
		columns /= 2;
	return columns;
}

struct tiling {
	const struct tiles *k;
	const struct kernel_io *io;
	int64_t down, across, columns;
};

// A part_fn of struct tiling.
static void run_tile(void *arg, int64_t tile, int thread)
{
	const struct tiling *cut = arg;
	const struct tiles *k = cut->k;
	const struct kernel_io *io = cut->io;
	const struct matmul_task *t = &k->kept.task;
	int64_t b = tile / cut->across / cut->down, i0 = tile / cut->across % cut->down * TILE_ROWS, j0 = tile % cut->across * cut->columns;
	int64_t rows = least(t->m - i0, TILE_ROWS), columns = least(t->n - j0, cut->columns);
	const float *x = (const float *)io->x + b * t->stride_a;
	const float *w = (t->weight ? t->weight : (const float *)io->w) + b * t->stride_b;
	float *y = (float *)io->y + (b * t->m + i0) * t->n + j0;
	struct product p = {
		.a = {x + (t->trans_a ? i0 : i0 * t->k), t->trans_a ? t->m : t->k, t->trans_a},
		.b = {w + (t->trans_b ? j0 * t->k : j0), t->trans_b ? t->k : t->n, t->trans_b},
		.m = rows, .n = columns, .k = t->k, .alpha = t->alpha, .beta = t->bias ? 1.0f : 0.0f, .c = y, .c_row = t->n,
	};
	for (int64_t i = 0; t->bias && i < rows; i++)
		memcpy(y + i * t->n, t->bias + j0, (size_t)columns * sizeof *y);
	(void)thread;
	k->gemm(&p);
	for (int64_t i = 0; i < rows; i++)
		elt_act(&t->act, y + i * t->n, y + i * t->n, columns);
}

static void matmul_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct tiles *k = (const struct tiles *)kernel;
	const struct matmul_task *t = &k->kept.task;
	int64_t columns = tile_columns(t);
	struct tiling cut = {.k = k, .io = io, .down = ceil_div(t->m, TILE_ROWS), .across = ceil_div(t->n, columns), .columns = columns};
	int before = width_set(1); // the library may follow it
	parts_deal(t->batch * cut.down * cut.across, io->width, run_tile, &cut);
	omp_set_num_threads(before);
}

static const struct kernel_ops ops = {matmul_run, NULL, kept_matmul_free};

enum status tiles_matmul(struct kernel **out, tiles_gemm_fn *gemm, const struct matmul_task *t, struct error *err)
{
	struct tiles *k = xcalloc(1, sizeof *k);
	k->gemm = gemm;
	return kept_matmul_init(out, &k->kept, &ops, t, err);
}
