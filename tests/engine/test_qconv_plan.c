// How an integer convolution is cut into tiles.
#include "../../src/engine/kernels/integer/qconv.h"
#include "qconv_case.h"

// A tile expands all pixels between its first tap and its last. Those of wide dilations see far:
// their tiles grow until what they expand serves enough outputs.
void test_qconv_plan__tiles_of_wide_dilations(void **state)
{
	static const struct {
		int64_t channels, size, dilation;
	} layers[] = {{320, 33, 6}, {320, 33, 12}, {320, 33, 18}, {100, 40, 20}, {640, 33, 15}};
	struct support_random r = {31};
	for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
		struct conv_geometry g = square(layers[i].channels, 17, layers[i].size, 3, 1, 1);
		g.dil_h = g.dil_w = g.pad_t = g.pad_l = g.pad_b = g.pad_r = layers[i].dilation;
		struct trial b = {.t = {.g = g, .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_U8, .in_zero = 3}};
		struct error err = {0};
		struct kernel *k;
		trial_fill(&r, &b);
		trial_check(&b);
		assert_int_equal(kernel_qconv(&k, BACKEND_ONEDNN, &b.t, &err), STATUS_OK);
		const struct qphase *p = ((const struct qconv *)k)->phases;
		bool whole = p->tile_h == p->nh && p->tile_w == p->nw;
		assert_true(whole || p->cols * (p->tile_h - 1 + p->span_h) <= 4 * p->tile_h * p->tile_w);
		kernel_free(&k);
		trial_done(&b);
	}
}
