// Integer convolutions after Winograd: exact where they are taken, and taken where they pay.
#include "../../src/engine/kernels/integer/qkernel.h"
#include "qconv_case.h"

// Whether the convolution is done after Winograd. Not asked of AVX-512,
// where more rows are taken at once and few squares do not pay.
static bool is_taken(const struct trial *b)
{
	struct error err = {0};
	struct kernel *k;
	cpu_limit(CPU_AVX2);
	enum status s = qfast_winograd(&k, &b->t, &err);
	cpu_limit(CPU_LEVELS);
	assert_true(s == STATUS_OK || s == STATUS_UNSUPPORTED);
	if (s == STATUS_OK)
		kernel_free(&k);
	return s == STATUS_OK;
}

static struct conv_geometry random_geometry(struct support_random *r)
{
	struct conv_geometry g = square(support_random_int(r, 9, 44), support_random_int(r, 9, 44), 1, 3, 1, 1);
	g.n = support_random_int(r, 1, 2);
	g.h = support_random_int(r, 5, 26);
	g.w = support_random_int(r, 5, 26);
	g.pad_t = support_random_int(r, 0, 2);
	g.pad_l = support_random_int(r, 0, 2);
	g.pad_b = support_random_int(r, 0, 2);
	g.pad_r = support_random_int(r, 0, 2);
	g.oh = g.h + g.pad_t + g.pad_b - 2;
	g.ow = g.w + g.pad_l + g.pad_r - 2;
	return g;
}

static void random_trials(int n, uint64_t seed, enum dtype type)
{
	struct support_random r = {seed};
	int32_t low, high;
	int taken = 0;
	code_limits(type, &low, &high);
	for (int i = 0; i < n; i++) {
		struct trial b = {.t = {.g = random_geometry(&r), .in_type = type}};
		b.t.in = support_random_int(&r, 0, 3) ? LAYOUT_BLOCK : LAYOUT_PLAIN;
		b.t.out = support_random_int(&r, 0, 3) ? LAYOUT_BLOCK : LAYOUT_PLAIN;
		b.t.in_zero = support_random_int(&r, 0, 1) ? support_random_int(&r, low, high) : type == DT_I8 ? 0 : low;
		trial_fill(&r, &b);
		taken += is_taken(&b);
		trial_check(&b);
		trial_done(&b);
	}
	assert_true(taken > n / 2);
}

void test_qwinograd__equals_ref_on_int8(void **state)
{
	random_trials(60, 1, DT_I8);
}

void test_qwinograd__equals_ref_on_uint8(void **state)
{
	random_trials(60, 2, DT_U8);
}

// Weights of `plus` channels of c are 127, of the others -128, and the inputs are what makes the largest sum of that.
static void extreme_trial(struct trial *b, int64_t c, int64_t plus, int32_t zero)
{
	struct support_random r = {3};
	int64_t above = 127 * plus, below = 128 * (c - plus);
	int32_t low, high;
	*b = (struct trial){.t = {.g = square(c, 17, 16, 3, 1, 1), .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .in_type = DT_U8,
		.in_zero = zero}};
	trial_fill(&r, b);
	code_limits(b->t.in_type, &low, &high);
	for (int64_t i = 0; i < 17 * c * 9; i++)
		b->weight[i] = i / 9 % c < plus ? 127 : -128;
	for (int64_t i = 0; i < c * 16 * 16; i++) {
		int64_t channel = i / (16 * 16);
		bool up = (channel < plus) == ((above - below) * (high - zero) > (above - below) * (zero - low));
		put_code(b->x, DT_U8, place(LAYOUT_BLOCK, c, 16 * 16, 0, channel, i % (16 * 16)), up ? low : high);
	}
}

// One channel more than sums of 25 bits allow, and the direct way takes over: either way the result is right.
void test_qwinograd__sums_at_the_limit(void **state)
{
	static const struct {
		int64_t c, plus;
		int32_t zero;
		bool taken;
	} rows[] = {
		{114, 0, 0, true}, {115, 0, 0, false}, {115, 115, 0, true}, {116, 116, 0, false}, {114, 0, 255, true},
		{115, 0, 255, false}, {228, 114, 0, true}, {229, 115, 0, true}, {230, 115, 0, false}, {227, 0, 128, true},
		{228, 0, 128, false}, {228, 114, 128, true}, {230, 115, 127, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct trial b;
		extreme_trial(&b, rows[i].c, rows[i].plus, rows[i].zero);
		if (is_taken(&b) != rows[i].taken)
			fail_msg("%d channels, %d of them positive, zero point %d", (int)rows[i].c, (int)rows[i].plus, (int)rows[i].zero);
		trial_check(&b);
		trial_done(&b);
	}
}

// Layers of known networks for which it is the faster way, and others.
void test_qwinograd__taken_where_it_pays(void **state)
{
	static const struct {
		int64_t c, size, oc;
		bool taken;
	} rows[] = {
		{16, 32, 16, true}, {32, 16, 32, true}, {64, 16, 64, true}, {80, 80, 80, true}, {128, 28, 128, true},
		{3, 64, 16, false}, {8, 7, 8, false},   {16, 3, 16, false}, {512, 7, 512, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct support_random r = {4};
		struct trial b = {.t = {.g = square(rows[i].c, rows[i].oc, rows[i].size, 3, 1, 1), .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK,
			.in_type = DT_I8}};
		trial_fill(&r, &b);
		if (is_taken(&b) != rows[i].taken)
			fail_msg("%d to %d at %d", (int)rows[i].c, (int)rows[i].oc, (int)rows[i].size);
		trial_done(&b);
	}
}

void test_qwinograd__leaves_what_it_is_not_made_for(void **state)
{
	struct conv_geometry usual = square(32, 32, 32, 3, 1, 1), grouped = square(32, 32, 32, 3, 1, 2), wide = usual, none = usual;
	none.n = 0;
	wide.dil_h = wide.dil_w = wide.pad_t = wide.pad_l = wide.pad_b = wide.pad_r = 2;
	const struct trial trials[] = {
		{.t = {.g = square(32, 32, 32, 3, 2, 1), .in_type = DT_I8}},
		{.t = {.g = square(32, 32, 32, 1, 1, 1), .in_type = DT_I8}},
		{.t = {.g = square(32, 32, 32, 5, 1, 1), .in_type = DT_I8}},
		{.t = {.g = grouped, .in_type = DT_I8}},
		{.t = {.g = wide, .in_type = DT_I8}},
		{.t = {.g = none, .in_type = DT_I8}},
		{.t = {.g = usual, .in_type = DT_I8, .transposed = true}},
		{.t = {.g = usual, .in_type = DT_I16}},
		{.t = {.g = usual, .in_type = DT_I8}, .wide = true},
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
		struct support_random r = {5};
		struct trial b = trials[i];
		trial_fill(&r, &b);
		if (is_taken(&b))
			fail_msg("trial %d", (int)i);
		trial_done(&b);
	}
}
