// Resize by a filter: the sum that it stands for, the same bits in both layouts,
// on every processor level and any number of threads.
#include "../../src/engine/kernels/spatial/interp.h"
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

enum { CHANNELS = 16, MOST = 40, TAPS = 4 };

struct axis_case {
	struct interp_axis axis;
	int64_t index[MOST * TAPS];
	float weight[MOST * TAPS];
};

static void random_axis(struct support_random *r, struct axis_case *a, int64_t taps)
{
	a->axis = (struct interp_axis){.in = support_random_int(r, 1, 20), .out = support_random_int(r, 1, MOST), .taps = taps,
	    .index = a->index, .weight = a->weight};
	for (int64_t i = 0; i < a->axis.out * taps; i++) {
		a->index[i] = support_random_int(r, 0, (int)a->axis.in - 1);
		a->weight[i] = support_random_int(r, 0, 4) ? (float)support_random_int(r, -8, 8) / 8.0f : 0.0f;
	}
}

static void resize(const struct interp *p, const float *x, float *y, int width)
{
	float *buffer = malloc((size_t)interp_buffer(p, width) * sizeof *buffer);
	interp_run(p, x, y, buffer, width);
	free(buffer);
}

static double filtered(const struct axis_case *rows, const struct axis_case *columns, const float *x, int64_t oy, int64_t ox)
{
	double sum = 0;
	for (int64_t i = 0; i < rows->axis.taps; i++)
		for (int64_t j = 0; j < columns->axis.taps; j++)
			sum += (double)rows->weight[oy * rows->axis.taps + i] * (double)columns->weight[ox * columns->axis.taps + j] *
			    (double)x[rows->index[oy * rows->axis.taps + i] * columns->axis.in + columns->index[ox * columns->axis.taps + j]];
	return sum;
}

static void check_layouts(struct support_random *r, int64_t taps)
{
	struct axis_case rows, columns;
	random_axis(r, &rows, taps);
	random_axis(r, &columns, taps);
	int64_t h = rows.axis.in, w = columns.axis.in, oh = rows.axis.out, ow = columns.axis.out, lanes = layout_block();
	float *x = random_floats(r, CHANNELS * h * w, 1.0f), *y = random_floats(r, CHANNELS * oh * ow, 1.0f);
	struct interp p = {.rows = rows.axis, .columns = columns.axis, .planes = CHANNELS, .lanes = 1};
	resize(&p, x, y, 1);
	for (int64_t i = 0; i < CHANNELS * oh * ow; i += 11) {
		float expected = (float)filtered(&rows, &columns, x + i / ow / oh * h * w, i / ow % oh, i % ow);
		assert_close(&y[i], &expected, 1, 1e-5f);
	}
	float *blocked = to_layout(x, LAYOUT_PLAIN, LAYOUT_BLOCK, 1, CHANNELS, h, w), *result = random_floats(r, CHANNELS * oh * ow, 1.0f);
	p.lanes = lanes;
	p.planes = CHANNELS / lanes;
	for (int run = 0; run < 3; run++) {
		cpu_limit(run == 2 ? CPU_PLAIN : CPU_LEVELS);
		resize(&p, blocked, result, run == 1 ? 3 : 1);
		float *plain = to_layout(result, LAYOUT_BLOCK, LAYOUT_PLAIN, 1, CHANNELS, oh, ow);
		assert_memory_equal(plain, y, (size_t)(CHANNELS * oh * ow) * sizeof *y);
		free(plain);
	}
	cpu_limit(CPU_LEVELS);
	free(result);
	free(blocked);
	free(x);
	free(y);
}

void test_interp__layouts_agree(void **state)
{
	struct support_random r = {31};
	for (int i = 0; i < 30; i++)
		check_layouts(&r, 1 + i % TAPS);
}
