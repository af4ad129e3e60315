#include "panel.h"

#include <math.h>
#include <string.h>

int64_t panel_count(int64_t out_blocks)
{
	return out_blocks < 2 ? 1 : out_blocks / 2;
}

int64_t panel_begin(int64_t out_blocks, int64_t panel)
{
	int64_t first = out_blocks % 2 == 0 ? 2 : out_blocks < 3 ? out_blocks : 3;
	return panel == 0 ? 0 : first + 2 * (panel - 1);
}

bool panel_finish_of(struct panel_finish *f, const struct epilogue *e)
{
	enum act_kind kind = e->act.kind;
	bool swish = kind == ACT_SWISH || kind == ACT_SIGMOID, all = swish || kind == ACT_CLIP || kind == ACT_RELU || kind == ACT_NONE;
	f->act = swish ? kind : ACT_CLIP;
	f->low = kind == ACT_CLIP ? e->act.a : kind == ACT_RELU ? 0.0f : -INFINITY;
	f->high = kind == ACT_CLIP ? e->act.b : INFINITY;
	f->add = all ? e->add : ADD_NONE;
	return all;
}

enum status panel_memory(float **weight, size_t bytes, float **bias, int64_t outputs, const struct conv_task *t, struct error *err)
{
	*weight = mem_try_array(bytes, 1);
	*bias = mem_try_array((size_t)outputs, sizeof **bias);
	if (!*weight || !*bias)
		return error_set(err, STATUS_NOMEM, "no memory for the weights of a convolution");
	if (t->bias)
		memcpy(*bias, t->bias, (size_t)t->g.oc * sizeof **bias);
	return STATUS_OK;
}
