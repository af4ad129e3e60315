// Convolutions by a 1x1 kernel on few pixels, against ref, which sums in double.
#include "kernel_case.h"
#include "../../src/engine/backend/pointwise.h"

static struct conv_task task(int64_t c, int64_t oc, int64_t h, int64_t w)
{
	return (struct conv_task){
		.g = {.n = 1, .c = c, .h = h, .w = w, .oc = oc, .kh = 1, .kw = 1, .oh = h, .ow = w, .stride_h = 1, .stride_w = 1, .dil_h = 1,
		    .dil_w = 1, .group = 1},
		.in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK,
	};
}

// Every remainder of channels, of panels and of groups of pixels; sums of one section and of several.
void test_pointwise__shapes(void **state)
{
	static const struct {
		int64_t n, c, oc, h, w;
	} shapes[] = {{1, 16, 16, 7, 7}, {1, 1, 1, 1, 1}, {1, 1280, 100, 1, 1}, {2, 20, 12, 9, 11}, {1, 40, 49, 3, 5}, {3, 33, 80, 1, 2},
	    {1, 128, 96, 13, 13}, {1, 129, 33, 20, 20}, {1, 300, 65, 4, 7}, {2, 17, 113, 15, 1}};
	struct support_random r = {61};
	if (cpu_level() < CPU_AVX512)
		skip();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct conv_task t = task(shapes[i].c, shapes[i].oc, shapes[i].h, shapes[i].w);
		t.g.n = shapes[i].n;
		check_made_by(pointwise_conv, &r, t, i % 2);
	}
	for (int64_t pixels = 2; pixels < 30; pixels++)
		check_made_by(pointwise_conv, &r, task(24, 16 * (1 + pixels % 3), 1, pixels), true);
}

// Groups that begin and end within blocks, of inputs and of outputs; on any number of pixels.
void test_pointwise__groups(void **state)
{
	static const struct {
		int64_t c, oc, group, h, w;
	} shapes[] = {
	    {240, 60, 3, 7, 7}, {60, 216, 3, 28, 28}, {120, 120, 3, 5, 9}, {84, 90, 6, 25, 25}, {100, 60, 4, 1, 3}, {34, 170, 2, 4, 4}};
	struct support_random r = {63};
	if (cpu_level() < CPU_AVX512)
		skip();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct conv_task t = task(shapes[i].c, shapes[i].oc, shapes[i].h, shapes[i].w);
		t.g.group = shapes[i].group;
		t.g.n = 1 + (int64_t)i % 2;
		check_made_by(pointwise_conv, &r, t, i % 2);
	}
}

// Every activation and place of the residual, with padding channels that some activations change.
void test_pointwise__epilogues(void **state)
{
	struct support_random r = {62};
	if (cpu_level() < CPU_AVX512)
		skip();
	for (int i = 0; i < 3 * (ACT_GELU + 1); i++) {
		struct conv_task t = task(12, 53, 3, 6);
		t.g.n = 2;
		t.epi = (struct epilogue){{(enum act_kind)(i / 3), 0.25f, 0.5f}, (enum add_kind)(i % 3)};
		check_made_by(pointwise_conv, &r, t, true);
	}
}

void test_pointwise__leaves_the_rest(void **state)
{
	float weight[9 * 64] = {0};
	if (cpu_level() < CPU_AVX512)
		skip();
	struct conv_task base = task(8, 8, 8, 8), other[10];
	base.weight = weight;
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		other[i] = base;
	other[0].transposed = other[1].ordered = true;
	other[2].in = other[3].out = LAYOUT_PLAIN;
	other[4].g.group = 8;
	other[5].g.kh = 2;
	other[6].g.stride_w = 2;
	other[7].g.pad_b = other[7].g.pad_t = 1;
	other[7].g.oh = 10;
	other[8].g.pad_r = 1;
	other[8].g.ow = 9;
	other[9].g.h = other[9].g.oh = other[9].g.w = other[9].g.ow = 40; // large: oneDNN's is as fast
	assert_true(is_made_by(pointwise_conv, &base));
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_false(is_made_by(pointwise_conv, &other[i]));
	cpu_limit(CPU_AVX2);
	bool lesser = is_made_by(pointwise_conv, &base);
	cpu_limit(CPU_LEVELS);
	assert_false(lesser);
}
