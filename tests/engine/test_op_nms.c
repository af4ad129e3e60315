// NonMaxSuppression over more boxes than ONNX's own cases have, against its definition.
#include <stdbool.h>
#include "node_run.h"

enum { BOXES = 300, MOST = 200 };

static float area_of(const float *b)
{
	return (b[2] - b[0]) * (b[3] - b[1]);
}

static float iou(const float *a, const float *b)
{
	float h = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
	float w = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
	float both = w > 0 && h > 0 ? w * h : 0;
	return both / (area_of(a) + area_of(b) - both);
}

static int best_left(const float *scores, const bool *gone)
{
	int best = -1;
	for (int i = 0; i < BOXES; i++)
		if (!gone[i] && (best < 0 || scores[i] > scores[best]))
			best = i;
	return best;
}

// The definition: the best box that is left stays, and all that overlap it go.
static int choose(int *chosen, const float *boxes, const float *scores, float limit)
{
	bool gone[BOXES] = {false};
	int n = 0;
	for (int best; n < MOST && (best = best_left(scores, gone)) >= 0; n++) {
		chosen[n] = best;
		gone[best] = true;
		for (int i = 0; i < BOXES; i++)
			gone[i] |= iou(boxes + 4 * i, boxes + 4 * best) > limit;
	}
	return n;
}

void test_op_nms__many_boxes(void **state)
{
	struct support_random r = {5};
	struct node_run run;
	float boxes[BOXES * 4], scores[BOXES], limit = 0.3f;
	int64_t most = MOST;
	int chosen[MOST], n;
	support_random_floats(&r, boxes, BOXES * 4, 0, 1);
	for (int i = 0; i < BOXES; i++) // many are equal: the first goes first
		scores[i] = (float)support_random_int(&r, 0, 40);
	for (int i = 0; i < BOXES; i++) {
		boxes[4 * i + 2] = boxes[4 * i] + 0.2f * boxes[4 * i + 2];
		boxes[4 * i + 3] = boxes[4 * i + 1] + 0.2f * boxes[4 * i + 3];
	}
	n = choose(chosen, boxes, scores, limit);
	assert_in_range(n, 70, MOST); // more than are compared at once
	node_run_init(&run, "", "NonMaxSuppression", 11, 1);
	node_run_add(&run, DT_F32, SHAPE_OF(1, BOXES, 4), boxes);
	node_run_add(&run, DT_F32, SHAPE_OF(1, 1, BOXES), scores);
	node_run_add(&run, DT_I64, SHAPE_OF(1), &most);
	node_run_add(&run, DT_F32, SHAPE_OF(1), &limit);
	node_run(&run);
	assert_int_equal(run.out[0].shape.dim[0], n);
	for (int i = 0; i < n; i++)
		assert_int_equal(((const int64_t *)run.out[0].data)[3 * i + 2], chosen[i]);
	node_run_done(&run);
}
