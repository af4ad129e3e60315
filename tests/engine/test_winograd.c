// Convolutions by Winograd's F(2x2, 3x3), against ref, which sums in double.
#include "../../src/engine/backend/winograd.h"
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

static bool is_here(void)
{
	return cpu_level() >= CPU_AVX2;
}

static struct conv_task task(int64_t c, int64_t oc, int64_t h, int64_t w, const int64_t pad[4])
{
	return (struct conv_task){
		.g = {.n = 1, .c = c, .h = h, .w = w, .oc = oc, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1,
		    .pad_t = pad[0], .pad_l = pad[1], .pad_b = pad[2], .pad_r = pad[3], .group = 1},
		.in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK,
	};
}

// Every remainder of channels and of panels, images of one chunk and of many, borders of every width.
void test_winograd__shapes(void **state)
{
	static const struct {
		int64_t n, c, oc, h, w, pad[4];
	} shapes[] = {
	    {1, 16, 16, 32, 32, {1, 1, 1, 1}},
	    {1, 1, 1, 4, 4, {1, 1, 1, 1}},
	    {1, 8, 8, 5, 5, {1, 1, 1, 1}},
	    {2, 20, 12, 9, 11, {1, 1, 1, 1}},
	    {1, 24, 40, 7, 8, {1, 1, 1, 1}},
	    {1, 40, 21, 8, 7, {0, 0, 0, 0}},
	    {3, 9, 56, 6, 13, {2, 2, 2, 2}},
	    {1, 7, 24, 5, 6, {0, 1, 2, 0}},
	    {1, 16, 72, 10, 9, {2, 0, 0, 2}},
	    {1, 3, 17, 6, 6, {7, 5, 1, 6}},
	    {2, 5, 6, 40, 44, {1, 1, 1, 1}},
	    {1, 300, 10, 9, 10, {1, 1, 1, 1}},
	    {1, 64, 64, 4, 40, {1, 1, 1, 1}},
	    {1, 16, 16, 3, 100, {1, 1, 1, 1}},
	    {1, 16, 16, 100, 3, {1, 1, 1, 1}},
	    {5, 33, 15, 4, 4, {1, 1, 1, 1}},
	};
	struct support_random r = {11};
	if (!is_here())
		skip();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct conv_task t = task(shapes[i].c, shapes[i].oc, shapes[i].h, shapes[i].w, shapes[i].pad);
		t.g.n = shapes[i].n;
		check_made_by(winograd_conv, &r, t, i % 2);
	}
}

// Every activation and place of the residual, with padding channels that some activations change.
void test_winograd__epilogues(void **state)
{
	struct support_random r = {12};
	if (!is_here())
		skip();
	for (int i = 0; i < 3 * (ACT_GELU + 1); i++) {
		struct conv_task t = task(12, 21, 9, 12, (int64_t[]){1, 1, 1, 1});
		t.g.n = 2;
		t.epi = (struct epilogue){{(enum act_kind)(i / 3), 0.25f, 0.5f}, (enum add_kind)(i % 3)};
		check_made_by(winograd_conv, &r, t, true);
	}
}

// The sums are as near to the exact ones as float sums of so many terms are.
void test_winograd__precision(void **state)
{
	struct support_random r = {13};
	double error = 0, power = 0;
	if (!is_here())
		skip();
	struct conv_case c = conv_case_new(&r, task(256, 16, 12, 12, (int64_t[]){1, 1, 1, 1}), false);
	float *exact = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
	float *y = conv_result(&c, BACKEND_ONEDNN, LAYOUT_BLOCK, LAYOUT_BLOCK, 1);
	for (int64_t i = 0; i < 16 * 12 * 12; i++) {
		error += pow((double)y[i] - exact[i], 2);
		power += pow(exact[i], 2);
	}
	assert_true(10 * log10(power / error) > 124); // -log2: 20.6 of 24 bits
	free(y);
	free(exact);
	conv_case_free(&c);
}

// What is no number, or none that is finite, does not become one.
void test_winograd__not_a_number(void **state)
{
	struct support_random r = {14};
	if (!is_here())
		skip();
	for (int i = 0; i < 2; i++) {
		struct conv_task t = task(8, 16, 8, 8, (int64_t[]){1, 1, 1, 1});
		t.epi.act = (struct act){i ? ACT_CLIP : ACT_RELU, -1.0f, 1.0f};
		struct conv_case c = conv_case_new(&r, t, true);
		c.x[27] = NAN; // row 3, column 3 of the first channel
		float *y = conv_result(&c, BACKEND_ONEDNN, LAYOUT_BLOCK, LAYOUT_BLOCK, 2);
		assert_true(isnan(y[27]) && isnan(y[18]) && isnan(y[36]) && isfinite(y[0]) && isfinite(y[63]));
		free(y);
		conv_case_free(&c);
	}
}

void test_winograd__leaves_the_rest(void **state)
{
	static const int64_t pad[4] = {1, 1, 1, 1};
	float weight[9 * 64] = {0};
	if (!is_here())
		skip();
	struct conv_task base = task(8, 8, 8, 8, pad);
	base.weight = weight;
	base.g.oh = base.g.ow = 8;
	struct conv_task other[11];
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		other[i] = base;
	other[0].transposed = other[1].ordered = other[2].exact = true;
	other[3].in = other[4].out = LAYOUT_PLAIN;
	other[5].g.group = 8;
	other[6].g.kh = 2;
	other[7].g.stride_w = 2;
	other[8].g.dil_h = 2;
	other[9].g.oh = other[9].g.ow = 2; // one tile: to read the kernels takes longer than the sums
	other[10].g.oh = 1;
	assert_true(is_made_by(winograd_conv, &base));
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_false(is_made_by(winograd_conv, &other[i]));
	cpu_limit(CPU_PLAIN);
	bool plain = is_made_by(winograd_conv, &base);
	cpu_limit(CPU_LEVELS);
	assert_false(plain);
}
