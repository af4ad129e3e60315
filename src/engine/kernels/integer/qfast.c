// What the fast integer kernels share: the choice of loops, how codes enter and weights split,
// and one panel against many rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../tensor/cpu.h"
#include "qfast.h"

const struct qmicro *qmicro_bytes(void)
{
#if defined(__x86_64__)
	return cpu_level() >= CPU_VNNI ? &qmicro_bytes_vnni : NULL;
#else
	return NULL;
#endif
}

const struct qmicro *qmicro_here(void)
{
#if defined(__x86_64__)
	static const struct qmicro *const levels[CPU_LEVELS] = {
		[CPU_PLAIN] = &qmicro_plain, [CPU_AVX2] = &qmicro_avx2, [CPU_AVX512] = &qmicro_avx2, [CPU_VNNI] = &qmicro_vnni,
		[CPU_VBMI] = &qmicro_vnni,
	};
	return levels[cpu_level()];
#else
	return &qmicro_plain;
#endif
}

void *qalloc(size_t n, size_t size)
{
	void *p;
	if (size && n > SIZE_MAX / 2 / size)
		return NULL;
	if (posix_memalign(&p, 64, n * size + 64) != 0)
		return NULL;
	return memset(p, 0, n * size + 64);
}

static float larger(float a, float b)
{
	return a > b ? a : b;
}

static float smaller(float a, float b)
{
	return a < b ? a : b;
}

// Multiplying a sum by two of these is exact in any order: nothing leaves the range of normal floats.
static bool moderate_power(float x)
{
	int e;
	return x > 0.0f && frexpf(x, &e) == 0.5f && e > -30 && e < 30;
}

// The same with everything counted in steps of the output's scale.
static struct qscaling in_steps(struct qscaling s)
{
	s.low = s.code_low;
	s.high = s.code_high;
	s.out.scale = s.out.inverse = 1.0f;
	return s;
}

struct qscaling qscaling_of(const struct qfinish *f)
{
	struct qscaling s = {.slope = 1.0f, .low = -INFINITY, .high = INFINITY, .type = f->type, .out = f->out};
	if (f->act.kind == ACT_LEAKY)
		s.slope = f->act.a;
	if (f->act.kind == ACT_RELU)
		s.low = 0.0f;
	if (f->act.kind == ACT_CLIP) {
		s.low = f->act.a;
		s.high = f->act.b;
	}
	if (f->to_float)
		return s;
	// Scaling by a positive number keeps the order of floats, so that clamping before it or after it is the same.
	float lo = (float)(s.out.qmin - s.out.zero), hi = (float)(s.out.qmax - s.out.zero);
	s.code_low = smaller(larger(s.low / s.out.scale, lo), hi);
	s.code_high = larger(smaller(s.high / s.out.scale, hi), lo);
	s.up = s.out.rounding == ROUND_HALF_UP;
	s.simple = dtype_size(f->type) == 1 && (s.up || s.out.rounding == ROUND_HALF_EVEN) && s.slope == 1.0f;
	s.fused = s.simple && !f->fbias && moderate_power(s.out.inverse);
	for (int64_t c = 0; s.fused && c < f->channels; c++)
		s.fused = moderate_power(f->scale[c]);
	return s.fused ? in_steps(s) : s;
}

float qscaling_scale(const struct qscaling *s, const struct qfinish *f, int64_t c)
{
	return s->fused ? f->scale[c] * f->out.inverse : f->scale[c];
}

float qscaling_fbias(const struct qfinish *f, int64_t c)
{
	return f->fbias ? f->fbias[c] : 0.0f;
}

float qscaling_nearest(const struct qscaling *s, float steps)
{
	return s->up ? floorf(steps + 0.5f) : rintf(steps);
}

bool qentry_of(struct qentry *e, enum dtype type, int32_t zero)
{
	int32_t low = type == DT_I8 ? INT8_MIN : type == DT_I16 ? INT16_MIN : 0;
	int32_t high = low + (dtype_size(type) == 1 ? UINT8_MAX : UINT16_MAX);
	if (zero < low || zero > high)
		return false;
	e->shift = dtype_size(type) == 1 ? zero : type == DT_U16 ? 32768 : 0;
	e->reach = high - e->shift > e->shift - low ? high - e->shift : e->shift - low;
	e->pad = (int16_t)(zero - e->shift);
	return true;
}

struct qentry qentry_bytes(enum dtype type, int32_t zero)
{
	int32_t shift = type == DT_I8 ? INT8_MIN : 0;
	return (struct qentry){.shift = shift, .reach = UINT8_MAX, .pad = (int16_t)(zero - shift)};
}

bool qsplit_of(struct qsplit *s, const struct qentry *e, int64_t low, int64_t high, double sum)
{
	int64_t most = -low > high ? -low : high;
	const double fits = INT32_MAX;
	const int64_t worthwhile = 64;
	if (!(sum < 0x1p53))
		return false;
	s->parts = 1;
	s->wide = sum > fits || most > INT16_MAX;
	s->bytes = !s->wide && low >= INT8_MIN && high <= INT8_MAX;
	if (most > INT16_MAX || (s->wide && 2.0 * (double)most * (double)e->reach * (double)worthwhile > fits)) {
		s->parts = 2;
		most = most / 256 + 1 > 128 ? most / 256 + 1 : 128;
	}
	double pair = 2.0 * (double)(most ? most : 1) * (double)e->reach;
	s->chunk = s->wide ? (int64_t)(fits / pair) : INT64_MAX;
	return s->chunk > 0;
}

static void sums_wide(float *v, const struct qjob *job, const struct qpanel *p, const char *const *row)
{
	double sum[QROWS * QLANES] = {0};
	int32_t acc[QROWS * QLANES];
	const char *w = p->w;
	int n = job->micro->rows * QLANES;
	for (int i = 0, j; i < job->n_runs; i = j) {
		int64_t words = 0;
		for (j = i; j < job->n_runs; j++) {
			words += job->runs[j].words;
			if (job->runs[j].flush) {
				j++;
				break;
			}
		}
		job->micro->gemm(acc, 0, 1, row, job->runs + i, j - i, w, 0);
		job->micro->add(sum, acc, n);
		w += words * QWORD * QLANES;
	}
	job->micro->narrow(v, sum, p->bias, job->split->parts, job->micro->rows);
}

// Whether lanes past the last channel come out as padding by themselves: their weights, scale and addend are zero.
bool qscaling_pads(const struct qscaling *s)
{
	return s->simple && s->code_low <= 0.0f && s->code_high >= 0.0f;
}

static void set_padding(const struct qjob *job, const struct qdest *d, char *codes, int rows)
{
	if (d->lanes > d->valid && !qscaling_pads(job->scaling))
		qfinish_pad(job->finish, codes, d->valid, d->lanes - d->valid, rows, QLANES);
}

// Groups of eight lanes; with `elem` constant a copy is one move.
static inline __attribute__((always_inline)) void scatter_groups(
    const struct qdest *d, const size_t elem, const char *codes, char *y, const int64_t *at, int rows)
{
	for (int l = 0; l < d->lanes; l += 8)
		for (int r = 0; r < rows; r++)
			memcpy(y + (size_t)(at[r] + d->lane[l]) * elem, codes + (size_t)(r * QLANES + l) * elem, 8 * elem);
}

static void scatter(const struct qdest *d, size_t elem, const char *codes, char *y, const int64_t *at, int rows)
{
	if (d->packed && elem == 1)
		scatter_groups(d, 1, codes, y, at, rows);
	else if (d->packed && elem == 2)
		scatter_groups(d, 2, codes, y, at, rows);
	else if (d->packed)
		scatter_groups(d, 4, codes, y, at, rows);
	else
		for (int l = 0; l < d->lanes; l++)
			for (int r = 0; r < rows; r++)
				memcpy(y + (size_t)(at[r] + d->lane[l]) * elem, codes + (size_t)(r * QLANES + l) * elem, elem);
}

void qpanel_store(const struct qjob *job, const struct qpanel *p, void *y, const int32_t *acc, const int64_t *at, int n)
{
	_Alignas(64) char codes[QROWS * QLANES * sizeof(float)];

	job->micro->finish(codes, acc, job->scaling, p->scale, p->fbias, n);
	set_padding(job, p->dest, codes, n);
	scatter(p->dest, dtype_size(job->finish->type), codes, y, at, n);
}

bool qpanel_is_direct(const struct qjob *job, const struct qpanel *p)
{
	return job->scaling->simple && p->dest->packed && (p->dest->valid == p->dest->lanes || qscaling_pads(job->scaling));
}

// Rows of one panel whose codes go through memory.
static void run_some(const struct qjob *job, const struct qpanel *p, char *y, const char *const *row, const int64_t *at, int64_t n)
{
	const struct qmicro *m = job->micro;
	_Alignas(64) char codes[QROWS * QLANES * sizeof(float)];
	float v[QROWS * QLANES] = {0};

	for (int64_t i = 0; i < n; i += m->rows) {
		const char *some[QROWS];
		int have = n - i < m->rows ? (int)(n - i) : m->rows;
		for (int r = 0; r < m->rows; r++)
			some[r] = row[i + (r < have ? r : have - 1)] + p->first;
		if (job->split->wide) {
			sums_wide(v, job, p, some);
			m->finish_wide(codes, v, job->scaling, p->scale, p->fbias, have);
		} else {
			m->tile(codes, p->init, some, job->runs, job->n_runs, p->w, job->scaling, p->scale, p->fbias);
		}
		set_padding(job, p->dest, codes, have);
		scatter(p->dest, dtype_size(job->finish->type), codes, y, at + i, have);
	}
}

static struct qpanel panel_at(const struct qpanel *p, int64_t i)
{
	return (struct qpanel){
		.w = p->w + i * p->step, .init = p->init + i * QLANES, .bias = p->bias + i * QLANES, .scale = p->scale + i * QLANES,
		.fbias = p->fbias + i * QLANES, .dest = p->dest + i, .step = p->step, .first = p->first,
	};
}

// How many of the panels from p on codes leave directly, all at once; 0: this one's do not.
static int direct_together(const struct qjob *job, const struct qpanel *p, int64_t panels)
{
	int n = 0;
	if (!job->micro->direct || job->split->wide)
		return 0;
	for (; n < panels && n < job->micro->panels; n++) {
		struct qpanel next = panel_at(p, n);
		if (!qpanel_is_direct(job, &next))
			break;
	}
	return n;
}

void qpanel_run(const struct qjob *job, const struct qpanel *p, int64_t panels, void *y, const char *const *row, const int64_t *at, int64_t n)
{
	for (int64_t i = 0; i < panels;) {
		const struct qpanel here = panel_at(p, i);
		int together = direct_together(job, &here, panels - i);
		int64_t took = together ? job->micro->direct(job, &here, together, y, row, at, n) : 0;
		for (int j = 0; j < (together ? together : 1); j++, i++) {
			const struct qpanel one = panel_at(p, i);
			run_some(job, &one, y, row + took, at + took, n - took);
		}
	}
}
