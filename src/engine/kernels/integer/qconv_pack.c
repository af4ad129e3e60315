// Packing of a fast integer convolution: weights in the order in which the inner loop reads them,
// sums to start from, and where the channels of each panel go.
#include <stdlib.h>
#include "qconv.h"

// Channel of lane `lane` of panel `panel` of all groups, -1 past the group's last.
static int64_t channel_of(const struct qconv *k, int64_t panel, int64_t lane)
{
	int64_t ocg = k->g.oc / k->g.group, c = panel % k->panels * qsplit_lanes(&k->split) + lane;
	return c < ocg ? panel / k->panels * ocg + c : -1;
}

// One lane of a phase's panel: its weights, and their sum.
static int64_t pack_lane(const struct qconv *k, const struct qconv_task *t, const struct qtap *taps, int64_t n, char *w, int64_t lane,
    int64_t oc)
{
	int64_t cg = t->g.c / t->g.group, pitch = k->image.pitch, sum = 0;
	const int16_t *first = t->weight + qweight_offset(t, oc, 0);
	int64_t step = (t->transposed ? t->g.oc / t->g.group : 1) * t->g.kh * t->g.kw; // from input channel to input channel
	// The elements of taps that are merged into a run follow each other with the tile's pitch;
	// a run begins with a whole word.
	for (int64_t i = 0, end; i < n; i = end) {
		end = qconv_run_end(taps, n, i, t->g.group == 1);
		for (int64_t tap = i; tap < end; tap++) {
			const int16_t *from = first + taps[tap].kh * t->g.kw + taps[tap].kw;
			for (int64_t c = 0; c < cg; c++) {
				qsplit_store(&k->split, k->micro, w, lane, (tap - i) * pitch + c, from[c * step]);
				sum += from[c * step];
			}
		}
		w += qmicro_words(k->micro, (end - i - 1) * pitch + cg) * QWORD * QLANES;
	}
	return sum;
}

static enum status pack_phase(struct qconv *k, const struct qconv_task *t, struct qphase *p, int64_t ph, int64_t pw)
{
	int64_t panels = k->panels * k->g.group, size = p->words * QWORD * QLANES;
	struct qtap *taps = mem_try_array((size_t)(t->g.kh * t->g.kw), sizeof *taps);
	p->weight = qalloc((size_t)panels, (size_t)size);
	p->init = qalloc((size_t)panels, QLANES * sizeof(int32_t));
	p->bias = qalloc((size_t)panels, QLANES * sizeof(double));
	if (!taps || !p->weight || !p->init || !p->bias) {
		free(taps);
		return STATUS_NOMEM;
	}
	k->base.bytes += (size_t)(panels * size);
	int64_t n = qconv_taps(taps, &t->g, t->transposed, ph, pw);
	for (int64_t i = 0; i < panels; i++) {
		for (int64_t lane = 0; lane < qsplit_lanes(&k->split); lane++) {
			int64_t oc = channel_of(k, i, lane);
			if (oc < 0)
				break;
			int64_t sum = pack_lane(k, t, taps, n, p->weight + i * size, lane, oc);
			int64_t bias = k->finish.bias[oc] - k->image.entry.pad * sum;
			p->bias[i * QLANES + lane] = (double)bias;
			if (!k->split.wide)
				p->init[i * QLANES + lane] = (int32_t)(uint32_t)bias; // modulo 2^32, as the sums
		}
	}
	free(taps);
	return STATUS_OK;
}

static void aim(struct qdest *d, const struct qconv *k, int64_t panel)
{
	int64_t block = k->out == LAYOUT_BLOCK ? layout_block() : 1, stored = (k->g.oc + block - 1) / block * block;
	int64_t lanes = qsplit_lanes(&k->split), first = channel_of(k, panel, 0);
	while (d->valid < lanes && channel_of(k, panel, d->valid) >= 0)
		d->valid++;
	d->lanes = d->valid;
	d->packed = k->out == LAYOUT_BLOCK && first % 8 == 0;
	if (d->packed && first + d->valid == k->g.oc) // the last panel writes what padding it can
		d->lanes = (int)(stored - first < lanes ? stored - first : lanes);
	d->packed = d->packed && d->lanes % 8 == 0;
	for (int l = 0; l < d->lanes; l++)
		d->lane[l] = act_offset(k->out, block, k->g.oc, k->g.oh * k->g.ow, 0, first + l, 0);
	d->whole = d->packed && d->lanes == QLANES && d->lane[8] == d->lane[0] + 8;
}

enum status qconv_aim(struct qconv *k)
{
	int64_t lanes = qsplit_lanes(&k->split), block = layout_block(), panels;
	k->panels = (k->g.oc / k->g.group + lanes - 1) / lanes;
	panels = k->panels * k->g.group;
	k->dest = mem_try_array((size_t)panels, sizeof *k->dest);
	k->scale = qalloc((size_t)panels, QLANES * sizeof(float));
	k->fbias = qalloc((size_t)panels, QLANES * sizeof(float));
	if (!k->dest || !k->scale || !k->fbias)
		return STATUS_NOMEM;
	for (int64_t i = 0; i < panels; i++) {
		aim(&k->dest[i], k, i);
		for (int64_t l = 0; l < k->dest[i].valid; l++) {
			k->scale[i * QLANES + l] = qscaling_scale(&k->scaling, &k->finish, channel_of(k, i, l));
			k->fbias[i * QLANES + l] = qscaling_fbias(&k->finish, channel_of(k, i, l));
		}
	}
	const struct qdest *last = &k->dest[panels - 1];
	k->pads_last = k->out == LAYOUT_BLOCK && k->g.oc % block != 0 &&
	    channel_of(k, panels - 1, 0) + last->lanes < (k->g.oc + block - 1) / block * block;
	return STATUS_OK;
}

enum status qconv_pack(struct qconv *k, const struct qconv_task *t, struct error *err)
{
	int64_t phases_w = t->transposed ? t->g.stride_w : 1;
	enum status s = qconv_aim(k);
	for (int i = 0; s == STATUS_OK && i < k->n_phases; i++)
		s = pack_phase(k, t, &k->phases[i], i / phases_w, i % phases_w);
	if (s == STATUS_NOMEM)
		return error_set(err, s, "no memory to pack the weights of %lld channels", (long long)t->g.oc);
	return s;
}
