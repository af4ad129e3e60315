// Integer Winograd convolution: creation, and running blocks of squares against panels.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "../../tensor/cpu.h"
#include "qtui/base/parts.h"
#include "qwinograd.h"

enum {
	BLOCK_BYTES = 160 * 1024,   // squares that are multiplied at once: stay in the second-level cache
	STRIP_BYTES = 20 * 1024,    // expanded inputs: in the first
	SPACE_MOST = 16 << 20,      // of a thread; beyond it the other kernel takes over
};

// A square of outputs: what of it lies inside, and its first element in the output.
struct square {
	int rows, cols;
	int64_t at;
};
struct workspace {
	int16_t *tile;              // expanded inputs of a strip
	int16_t *v;                 // [place][square][channel]
	int32_t *m;                 // [panel][place][square][QLANES]
	const char **row;           // of each square at the first place
	struct square *square;
};

// Bytes of a workspace, part by part.
struct sizes {
	size_t tile, v, m, row, square;
};

static struct sizes sizes_of(const struct qwinograd *k)
{
	int64_t pixels = QWG_IN * (k->strip * QWG_OUT + QWG_IN - QWG_OUT);
	return (struct sizes){
	    .tile = round_up((size_t)(pixels * k->conv.image.pitch + k->loops->channels) * sizeof(int16_t), 64),
	    .v = (size_t)(QWG_PLACES * k->step_v) * sizeof(int16_t),
	    .m = (size_t)(k->conv.micro->panels * QWG_PLACES * k->step_m) * sizeof(int32_t),
	    .row = (size_t)k->block * sizeof(char *),
	    .square = (size_t)k->block * sizeof(struct square),
	};
}

static size_t sizes_sum(const struct sizes *s)
{
	return s->tile + s->v + s->m + round_up(s->row + s->square, 64);
}

static struct workspace workspace_at(const struct qwinograd *k, char *scratch, int thread)
{
	const struct sizes s = sizes_of(k);
	char *base = scratch + (size_t)thread * sizes_sum(&s);
	return (struct workspace){
		.tile = (int16_t *)base, .v = (int16_t *)(base + s.tile), .m = (int32_t *)(base + s.tile + s.v),
		.row = (const char **)(base + s.tile + s.v + s.m), .square = (struct square *)(base + s.tile + s.v + s.m + s.row),
	};
}

static int64_t squares_all(const struct qwinograd *k)
{
	return k->across * k->down * k->conv.g.n;
}

static struct square square_at(const struct qconv *c, int64_t n, int64_t i, int64_t j)
{
	int64_t block = c->out == LAYOUT_BLOCK ? layout_block() : 1, stored = (c->g.oc + block - 1) / block * block;
	return (struct square){
		.rows = (int)least(c->g.oh - i, QWG_OUT), .cols = (int)least(c->g.ow - j, QWG_OUT),
		.at = stored * c->g.oh * c->g.ow * n + (i * c->g.ow + j) * block,
	};
}

// The inputs of n squares in a row, the first of which is square `first` of all,
// as they are multiplied: squares t ... of the block.
static void spread_strip(const struct qwinograd *k, const void *x, struct workspace *ws, int64_t first, int64_t t, int64_t n)
{
	const struct qconv *c = &k->conv;
	int64_t image = first / (k->across * k->down), i = first / k->across % k->down * QWG_OUT, j = first % k->across * QWG_OUT;
	int64_t cols = n * QWG_OUT + QWG_IN - QWG_OUT, pitch = c->image.pitch;
	qtile_fill(ws->tile, &c->image, c->micro, x, &(struct qarea){image, i - c->g.pad_t, QWG_IN, j - c->g.pad_l, cols});
	for (int64_t s = 0; s < n; s++) {
		ws->square[t + s] = square_at(c, image, i, j + s * QWG_OUT);
		for (int64_t at = 0; at < c->g.c; at += k->loops->channels)
			k->loops->spread(ws->v + (t + s) * k->pitch + at, k->step_v, ws->tile + s * QWG_OUT * pitch + at, cols * pitch, pitch);
	}
}

// Returns how many squares the block has.
static int64_t open_block(const struct qwinograd *k, const void *x, struct workspace *ws, int64_t first)
{
	int64_t n = least(squares_all(k) - first, k->block);
	for (int64_t t = 0; t < k->block; t++)
		ws->row[t] = (const char *)(ws->v + t * k->pitch);
	for (int64_t t = 0, some; t < n; t += some) {
		some = least(least(n - t, k->strip), k->across - (first + t) % k->across);
		spread_strip(k, x, ws, first + t, t, some);
	}
	return n;
}

// The products of n squares with `panels` panels.
static void multiply(const struct qwinograd *k, const struct workspace *ws, int64_t panel, int panels, int64_t n)
{
	const struct qmicro *micro = k->conv.micro;
	int64_t place = k->pairs * QWORD * QLANES;
	const char *w = k->weight + panel * QWG_PLACES * place;
	for (int p = 0; p < QWG_PLACES; p++, w += place) {
		const struct qrun run = {.offset = p * k->step_v * (int64_t)sizeof *ws->v, .words = k->pairs};
		for (int64_t t = 0; t < n; t += micro->rows)
			micro->gemm(ws->m + p * k->step_m + t * QLANES, QWG_PLACES * k->step_m, panels, ws->row + t, &run, 1, w,
			    QWG_PLACES * place);
	}
}

// As 8-bit codes, from registers.
static void store_codes(const struct qwinograd *k, const struct qpanel *panel, uint8_t *y, const int32_t *m, const struct square *s)
{
	static const struct qdest aside = {.lane = {[8] = 8}, .lanes = QLANES, .whole = true};
	int64_t block = layout_block(), down = k->conv.g.ow * block;
	const struct qdest *d = panel->dest;
	struct qpanel part = *panel;
	uint8_t codes[QWG_OUT][QWG_OUT][QLANES];
	if (s->rows == QWG_OUT && s->cols == QWG_OUT) {
		k->loops->collect_codes(y, down, block, m, k->step_m, panel, &k->conv.scaling);
		return;
	}
	part.dest = &aside;
	k->loops->collect_codes(codes[0][0], sizeof codes[0], sizeof codes[0][0], m, k->step_m, &part, &k->conv.scaling);
	for (int l = 0; l < d->lanes; l += 8)
		for (int i = 0; i < s->rows; i++)
			for (int j = 0; j < s->cols; j++)
				memcpy(y + d->lane[l] + i * down + j * block, codes[i][j] + l, 8);
}

// Others.
static void store_any(const struct qwinograd *k, const struct qjob *job, const struct qpanel *panel, char *y, const int32_t *m,
    const struct square *s)
{
	int64_t block = k->conv.out == LAYOUT_BLOCK ? layout_block() : 1;
	_Alignas(64) int32_t acc[QWG_OUT * QWG_OUT * QLANES];

	k->loops->collect(acc, m, k->step_m, panel->init);
	for (int i = 0; i < s->rows; i++) {
		int64_t at[QWG_OUT];
		for (int j = 0; j < QWG_OUT; j++)
			at[j] = (i * k->conv.g.ow + j) * block;
		qpanel_store(job, panel, y, acc + i * QWG_OUT * QLANES, at, s->cols);
	}
}

// The outputs of n squares, whose products with the panel are m.
static void store(const struct qwinograd *k, const struct workspace *ws, const struct qpanel *panel, char *y, const int32_t *m, int64_t n)
{
	const struct qconv *c = &k->conv;
	const struct qjob job = {.micro = c->micro, .scaling = &c->scaling, .finish = &c->finish, .split = &c->split};
	bool direct = k->loops->collect_codes && qpanel_is_direct(&job, panel);
	for (int64_t t = 0; t < n; t++) {
		const struct square *s = &ws->square[t];
		char *to = y + (size_t)s->at * dtype_size(c->finish.type);
		if (direct)
			store_codes(k, panel, (uint8_t *)to, m + t * QLANES, s);
		else
			store_any(k, &job, panel, to, m + t * QLANES, s);
	}
}

// Panels panel ... end-1 of a block of n squares.
static void run_panels(const struct qwinograd *k, const struct workspace *ws, void *y, int64_t panel, int64_t end, int64_t n)
{
	for (int64_t together; panel < end; panel += together) {
		together = least(end - panel, k->conv.micro->panels);
		multiply(k, ws, panel, (int)together, n);
		for (int64_t i = panel; i < panel + together; i++) {
			const struct qpanel p = {
				.init = k->init + i * QLANES, .scale = k->conv.scale + i * QLANES, .fbias = k->conv.fbias + i * QLANES,
				.dest = &k->conv.dest[i],
			};
			store(k, ws, &p, y, ws->m + (i - panel) * QWG_PLACES * k->step_m, n);
		}
	}
}

struct call {
	const struct qwinograd *k;
	const struct kernel_io *io;
	struct qshares shares; // of a block
	int64_t blocks;
	atomic_llong next;     // share of a block that nobody has begun
};

// A part_fn of struct call, one for each thread: draws shares, and spreads a block's
// inputs once for all that it has of it.
static void draw_shares(void *arg, int64_t drawer, int thread)
{
	struct call *c = arg;
	struct workspace ws = workspace_at(c->k, c->io->scratch, (int)drawer);
	int64_t opened = -1, squares = 0, n = c->shares.n;
	(void)thread;
	for (int64_t i; (i = atomic_fetch_add(&c->next, 1)) < c->blocks * n;) {
		if (opened != i / n) {
			opened = i / n;
			squares = open_block(c->k, c->io->x, &ws, opened * c->k->block);
		}
		run_panels(c->k, &ws, c->io->y, qshares_begin(&c->shares, i % n), qshares_begin(&c->shares, i % n + 1), squares);
	}
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qwinograd *k = (const struct qwinograd *)base;
	int64_t blocks = (squares_all(k) + k->block - 1) / k->block;
	struct call c = {k, io, qconv_shares(blocks, k->conv.panels, k->conv.micro->panels, io->width), blocks, 0};
	qconv_pad_channels(&k->conv, io->y);
	parts_share(io->width, io->width, draw_shares, &c);
}

static size_t scratch(const struct kernel *base, int width)
{
	const struct sizes s = sizes_of((const struct qwinograd *)base);
	return sizes_sum(&s) * (size_t)width;
}

static void destroy(struct kernel *base)
{
	struct qwinograd *k = (struct qwinograd *)base;
	free(k->weight);
	free(k->init);
	qconv_done(&k->conv);
	free(k);
}

static const struct kernel_ops ops = {.run = run, .scratch = scratch, .free = destroy};

static const struct qwg_loops *loops_here(void)
{
#if defined(__x86_64__)
	return cpu_level() >= CPU_AVX512 ? &qwg_avx512 : cpu_level() >= CPU_AVX2 ? &qwg_avx2 : &qwg_plain;
#else
	return &qwg_plain;
#endif
}

static bool is_plain_3x3(const struct qconv_task *t)
{
	const struct conv_geometry *g = &t->g;
	bool square = g->kh == 3 && g->kw == 3, dense = g->stride_h == 1 && g->stride_w == 1 && g->dil_h == 1 && g->dil_w == 1;
	return square && dense && !t->transposed && g->group == 1 && dtype_size(t->in_type) == 1;
}

static int64_t in_steps(int64_t n, int64_t step)
{
	return (n + step - 1) / step * step;
}

// What things cost in units of a row of a word against a panel, as measured:
// an output beside its products where they are taken directly, here a row's call, a square's spreading and collecting,
// and the making of a byte of weights, which are four times as many or more, spread over some tens of runs.
struct costs {
	double output, call, spread, collect, weight_byte;
};

// Whether it is the faster way than loops of `micro`, which take the sum directly.
static bool pays(const struct qwinograd *k, const struct qmicro *micro)
{
	static const struct costs of_pairs = {7, 3, 214, 250, 0.125}, of_bytes = {20, 0, 700, 160, 0.06};
	const struct costs *cost = micro->size == 1 ? &of_bytes : &of_pairs;
	const struct conv_geometry *g = &k->conv.g;
	int64_t squares = squares_all(k), outputs = g->n * g->oh * g->ow;
	double pairs = (double)k->pairs, panels = (double)((g->oc + QLANES - 1) / QLANES);
	double direct = (double)in_steps(outputs, micro->rows) * ((double)(QWG_TAPS * qmicro_words(micro, g->c)) + cost->output) * panels;
	double products = (double)in_steps(squares, k->conv.micro->rows) * QWG_PLACES * (pairs + cost->call) * panels;
	double around = (double)squares * (cost->spread * (double)(k->pitch / k->loops->channels) + cost->collect * panels);
	double weights = QWG_PLACES * pairs * panels * QLANES * QWORD * cost->weight_byte;
	return products + around + weights < direct;
}

// How many of n a piece takes: a multiple of `step`, and about `most`, such that all pieces are alike.
static int64_t even_pieces(int64_t n, int64_t most, int64_t step)
{
	int64_t whole = most < step ? step : most / step * step, pieces = (n + whole - 1) / whole;
	return pieces > 0 ? in_steps((n + pieces - 1) / pieces, step) : step;
}

// A step of an odd number of cache lines: the places of a square then lie in different sets.
static int64_t odd_lines(int64_t n, size_t size)
{
	int64_t line = 64 / (int64_t)size;
	return (in_steps(n, line) / line | 1) * line;
}

static void plan(struct qwinograd *k)
{
	const struct conv_geometry *g = &k->conv.g;
	k->across = (g->ow + QWG_OUT - 1) / QWG_OUT;
	k->down = (g->oh + QWG_OUT - 1) / QWG_OUT;
	k->pairs = (g->c + 1) / 2;
	k->pitch = in_steps(g->c, k->loops->channels);
	size_t square = QWG_PLACES * ((size_t)k->pitch * sizeof(int16_t) + QLANES * sizeof(int32_t) * (size_t)k->conv.micro->panels);
	size_t inputs = QWG_IN * QWG_OUT * (size_t)k->conv.image.pitch * sizeof(int16_t);
	k->block = even_pieces(squares_all(k), (int64_t)(BLOCK_BYTES / square), k->conv.micro->rows);
	k->strip = even_pieces(k->across, (int64_t)(STRIP_BYTES / inputs), 1);
	k->step_v = odd_lines(k->block * k->pitch, sizeof(int16_t));
	k->step_m = odd_lines(k->block * QLANES, sizeof(int32_t));
}

enum status qfast_winograd(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	struct qwinograd *k;
	enum status s;
	if (!is_plain_3x3(t))
		return STATUS_UNSUPPORTED;
	k = xcalloc(1, sizeof *k);
	k->conv.base.ops = &ops;
	k->loops = loops_here();
	s = qconv_init(&k->conv, t, err);
	if (s == STATUS_OK) {
		plan(k);
		const struct qmicro *bytes = qmicro_bytes();
		if (k->conv.split.wide || scratch(&k->conv.base, 1) > SPACE_MOST || !pays(k, bytes ? bytes : k->conv.micro) ||
		    !qwinograd_exact(t, &k->conv.image.entry))
			s = STATUS_UNSUPPORTED;
	}
	if (s == STATUS_OK)
		s = qconv_aim(&k->conv);
	if (s == STATUS_OK)
		s = qwinograd_pack(k, t, err);
	if (s != STATUS_OK) {
		destroy(&k->conv.base);
		return s;
	}
	*out = &k->conv.base;
	return STATUS_OK;
}
