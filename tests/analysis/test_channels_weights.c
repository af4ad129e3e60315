// Channels of weights whose quantizer is not the plain one: tuned in place of the model's own,
// or with scales along another axis.
#include <math.h>
#include <string.h>
#include <poll.h>
#include "../../src/analysis/study/study_impl.h"
#include "qtui/analysis/channels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"

static struct study *open_study(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = target,
	    .method = CALIB_MINMAX, .data = {.samples = 1}, .threads = 1, .task = {.none = true}});
}

static const struct site *weight_of(const struct snapshot *s, const char *node)
{
	const struct node_row *row = &s->row[graph_find_node(s->g, node)];
	for (int i = 0; i < row->n_sites; i++)
		if (s->site[row->first_site + i].kind == SITE_WEIGHT &&
		    s->site[row->first_site + i].value == s->g->node[graph_find_node(s->g, node)].in[1])
			return &s->site[row->first_site + i];
	fail_msg("%s has no weight that is quantized", node);
	return NULL;
}

static bool are_of(const struct channels *c, int slot, const struct snapshot *s)
{
	return c && c->slot == slot && key_equal(c->decision, s->decision);
}

// The caller drops them.
static struct channels *channels_of_weight(struct study *st, const char *node)
{
	struct snapshot *s = study_snapshot(st);
	int slot = weight_of(s, node)->slot;
	study_channels(st, slot);
	for (int tries = 0; tries < 15000 && !are_of(s->channels, slot, s); tries++) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 2);
		snapshot_drop(&s);
		s = study_snapshot(st);
	}
	assert_true(are_of(s->channels, slot, s));
	assert_string_equal(s->channels->problem, "");
	struct channels *c = channels_take(s->channels);
	snapshot_drop(&s);
	return c;
}

static void assert_noise(const struct channels *c, const struct figures *whole)
{
	double mse = 0, worst = 0;
	for (int i = 0; i < c->n; i++) {
		mse += c->at[i].now.mse / c->n;
		worst = fmax(worst, c->at[i].now.max_error);
	}
	assert_float_equal(mse / whole->pooled.mse, 1, 1e-6);
	assert_float_equal(worst / whole->pooled.max_error, 1, 1e-6);
}

// One channel of a weight a step away from the model's own, as tuned weights are.
static struct tuning *move_channel(const struct study *st, const char *node, int channel, float by)
{
	struct snapshot *s = study_latest((struct study *)st);
	const struct graph *g = study_graph(st);
	struct tuned one = {.node = graph_find_node(g, node), .grid = quantizer_key(&snapshot_plan(s)->slot[weight_of(s, node)->slot].quant)};
	const struct tensor *own = g->value[g->node[one.node].in[1]].constant;
	struct error err;
	one.weight = *own;
	one.weight.buf = NULL;
	assert_int_equal(tensor_alloc(&one.weight, NULL, &err), STATUS_OK);
	memcpy(one.weight.data, own->data, (size_t)shape_count(&own->shape) * sizeof(float));
	int64_t each = shape_count(&own->shape) / own->shape.dim[0];
	for (int64_t i = 0; i < each; i++)
		((float *)one.weight.data)[channel * each + i] += by;
	one.weight_key = key_of(one.weight.data, (size_t)shape_count(&own->shape) * sizeof(float));
	struct tuning *t = tuning_new();
	tuning_put(t, &one);
	snapshot_drop(&s);
	return t;
}

// Their error is that against the model's own weight, which the float network has.
void test_channels_weights__tuned_ones_are_those_in_force(void **state)
{
	enum { MOVED = 1 };
	struct study *st = open_study("esp32p4");
	struct error err = {0};
	char name[TUNING_NAME];
	wait_for_run(st);
	struct channels *own = channels_of_weight(st, CONV);
	struct tuning *t = move_channel(st, CONV, MOVED, 4 * own->at[MOVED].scale);
	tuning_name(t, name);
	repair_memo_keep_tuning(st->repairs, t);
	tuning_drop(&t);
	assert_int_equal(study_tune(st, name, &err), STATUS_OK);
	struct snapshot *run = run_study(st);
	struct channels *tuned = channels_of_weight(st, CONV);
	assert_noise(tuned, &weight_of(run, CONV)->graphwise);
	for (int i = 0; i < own->n; i++) {
		if (i != MOVED)
			assert_true(tuned->at[i].now.mse == own->at[i].now.mse);
		assert_true(tuned->at[i].min == own->at[i].min && tuned->at[i].max == own->at[i].max); // the float network is the model's
	}
	assert_float_equal(tuned->at[MOVED].shift / own->at[MOVED].scale, 4, .6);
	channels_drop(&own);
	channels_drop(&tuned);
	snapshot_drop(&run);
	study_close(&st);
}

// esp32p4, with a scale for every input channel of a Conv in place of every output channel.
static const char *other_axis(void)
{
	static const char own[] = "\"Conv\": { \"axis\": 0", other[] = "\"Conv\": { \"axis\": 1", bias[] = "\"bias\": { \"quantized\": true";
	struct bytes file = {0};
	struct error err;
	assert_int_equal(file_read(&file, "targets/esp32p4.json", 1 << 20, &err), STATUS_OK);
	char *text = (char *)file.data, *at = strstr(text, own), *to = strstr(text, bias);
	assert_true(at && to);
	memcpy(at, other, sizeof other - 1);
	memcpy(to, "\"bias\": { \"quantized\":false", sizeof bias - 1);
	const char *path = support_temp_file("other_axis.json", text, file.size);
	bytes_done(&file);
	return path;
}

// Scales of another dimension are those of no channel, whose figures are right all the same.
void test_channels_weights__scales_along_another_axis(void **state)
{
	struct study *st = open_study(other_axis());
	struct snapshot *run = run_study(st);
	const struct site *w = weight_of(run, "/model.1/conv/Conv");
	struct channels *c = channels_of_weight(st, "/model.1/conv/Conv");
	assert_int_equal(w->axis, 1);
	assert_int_equal(c->axis, 0);
	assert_true(w->n_scale > 1 && c->n > 1);
	assert_noise(c, &w->graphwise);
	for (int i = 0; i < c->n; i++) {
		assert_true(c->at[i].scale == 0 && isnan(c->at[i].used));
		assert_false(c->at[i].flags & (CHANNEL_COARSE | CHANNEL_CLIPPED | CHANNEL_SHIFTED));
	}
	channels_drop(&c);
	snapshot_drop(&run);
	study_close(&st);
}
