// Channels of a study's tensors: they add up to the tensor's own figures,
// are what a plain computation gives, and never get in a run's way.
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "qtui/analysis/channels.h"
#include "qtui/analysis/report.h"
#include "qtui/base/mem.h"
#include "studies.h"

enum { SAMPLES = 3 };

static struct study *open_study(int threads)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX,
	    .data = {.samples = SAMPLES}, .threads = threads});
}

// Of the site; the caller drops the snapshot.
static struct snapshot *gather(struct study *st, const struct site *site)
{
	struct snapshot *s = NULL;
	study_channels(st, site->slot);
	for (int tries = 0; tries < 15000 && !(s && !study_gathering(st) && s->channels && s->channels->slot == site->slot); tries++) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 2);
		snapshot_drop(&s);
		s = study_snapshot(st);
	}
	assert_true(s->channels && s->channels->slot == site->slot && key_equal(s->channels->decision, s->decision));
	return s;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-300))
		fail_msg("%.17g is not %.17g", a, b);
}

// All channels have equally many elements.
static void check_together(const struct channels *c, const struct site *site)
{
	double mse = 0, worst = 0, clipped = 0, share = 0;
	float min = INFINITY, max = -INFINITY;
	for (int i = 0; i < c->n; i++) {
		mse += c->at[i].now.mse / c->n;
		clipped += c->at[i].now.clipped / c->n;
		worst = fmax(worst, c->at[i].now.max_error);
		min = fminf(min, c->at[i].min);
		max = fmaxf(max, c->at[i].max);
		share += isnan(c->at[i].share) ? 0 : c->at[i].share;
	}
	assert_near(mse, site->graphwise.pooled.mse);
	assert_near(clipped, site->graphwise.pooled.clipped);
	assert_near(worst, site->graphwise.pooled.max_error);
	assert_true(min == site->range.min && max == site->range.max);
	assert_near(share, site->graphwise.pooled.exact ? 0 : 1);
}

// The mean of the samples' ratios is the tensor's.
static void check_samples(const struct channels *c, const struct site *site)
{
	double nsr = 0;
	if (site->kind == SITE_WEIGHT) {
		assert_int_equal(c->n_samples, 0);
		return;
	}
	assert_int_equal(c->n_samples, SAMPLES);
	for (int i = 0; i < SAMPLES; i++) {
		assert_true(c->sample[i].name[0] && (i == 0 || !(c->sample[i].snr_db < c->sample[i - 1].snr_db)));
		nsr += pow(10, -c->sample[i].snr_db / 10) / SAMPLES;
	}
	assert_true(fabs(nsr - site->graphwise.nsr_mean) <= 1e-3 * nsr);
}

// As the node alone has it; false where a channel without noise hides what its signal is.
static bool check_alone(const struct channels *c, const struct site *site)
{
	double signal = 0, noise = 0;
	for (int i = 0; i < c->n; i++) {
		const struct channel *one = &c->at[i];
		if (site->kind == SITE_WEIGHT || !(one->now.nsr > 0) || isnan(one->alone_db))
			return false;
		signal += one->now.mse / one->now.nsr;
		noise += one->now.mse / one->now.nsr * pow(10, -one->alone_db / 10);
	}
	assert_true(fabs(10 * log10(signal / noise) - site->layerwise.pooled.snr_db) < 1e-3);
	return true;
}

void test_channels__they_add_up_to_the_tensor(void **state)
{
	struct study *st = open_study(2);
	struct snapshot *run = run_study(st);
	int many = 0, alone = 0;
	for (int i = 0; i < run->n_sites; i++) {
		const struct site *site = &run->site[i];
		struct snapshot *s = gather(st, site);
		const struct channels *c = s->channels;
		if (c->problem[0] && c->axis == CHANNELS_UNKNOWN) {
			snapshot_drop(&s);
			continue;
		}
		assert_string_equal(c->problem, "");
		assert_int_equal(c->samples, site->kind == SITE_WEIGHT ? 1 : SAMPLES);
		assert_int_equal(c->samples, c->of);
		check_together(c, site);
		check_samples(c, site);
		many += c->n > 8;
		alone += check_alone(c, site);
		snapshot_drop(&s);
	}
	assert_true(many > 20 && alone > 20);
	snapshot_drop(&run);
	study_close(&st);
}

// Figures of one channel of a rank-4 tensor from what both networks give on every sample.
static void check_plainly(struct study *st, const struct site *site, const struct channels *c, int channel)
{
	struct error err = {0};
	double f2 = 0, e2 = 0, shift = 0, n = 0;
	for (int i = 0; i < SAMPLES; i++) {
		struct tensor in = {0}, f = {0}, q = {0};
		assert_int_equal(dataset_load(study_dataset(st), i, &in, NULL, &err), STATUS_OK);
		assert_int_equal(study_infer(st, &(struct inference){.in = &in, .want = &site->value, .n_want = 1, .out = &f}, &err), STATUS_OK);
		struct inference run = {.sim = SIM_FULL, .in = &in, .want = &site->value, .n_want = 1, .out = &q};
		assert_int_equal(study_infer(st, &run, &err), STATUS_OK);
		int64_t size = f.shape.dim[2] * f.shape.dim[3];
		for (int64_t k = 0; k < size; k++, n++) {
			double a = (double)((float *)f.data)[channel * size + k], e = (double)((float *)q.data)[channel * size + k] - a;
			f2 += a * a;
			e2 += e * e;
			shift += e;
		}
		tensor_drop(&in);
		tensor_drop(&f);
		tensor_drop(&q);
	}
	assert_true(fabs(c->at[channel].now.snr_db - 10 * log10(f2 / e2)) < 1e-3);
	assert_true(fabs(c->at[channel].shift - shift / n) < 1e-4 * sqrt(e2 / n));
}

void test_channels__an_activation_is_what_a_plain_computation_gives(void **state)
{
	struct study *st = open_study(1);
	struct snapshot *run = run_study(st);
	int checked = 0;
	for (int i = 0; i < run->n_sites && checked < 5; i++) {
		const struct site *site = &run->site[i];
		if (site->kind != SITE_OUTPUT || run->g->value[site->value].shape.rank != 4 || strcmp(run->g->node[site->node].op->name, "Conv"))
			continue;
		struct snapshot *s = gather(st, site);
		assert_int_equal(s->channels->axis, 1);
		check_plainly(st, site, s->channels, s->channels->n - 1);
		check_plainly(st, site, s->channels, s->channels->n / 2);
		checked++;
		snapshot_drop(&s);
	}
	assert_int_equal(checked, 5);
	snapshot_drop(&run);
	study_close(&st);
}

void test_channels__same_bits_for_any_threads(void **state)
{
	struct snapshot *s[2];
	struct study *st[2];
	for (int i = 0; i < 2; i++) {
		st[i] = open_study(i ? 3 : 1);
		struct snapshot *run = run_study(st[i]);
		s[i] = gather(st[i], &run->site[run->n_sites / 2]);
		snapshot_drop(&run);
	}
	assert_int_equal(s[0]->channels->n, s[1]->channels->n);
	assert_memory_equal(s[0]->channels->at, s[1]->channels->at, (size_t)s[0]->channels->n * sizeof *s[0]->channels->at);
	for (int i = 0; i < 2; i++) {
		snapshot_drop(&s[i]);
		study_close(&st[i]);
	}
}

void test_channels__nothing_before_a_run(void **state)
{
	struct study *st = open_study(2);
	study_channels(st, 0);
	while (study_gathering(st))
		poll(NULL, 0, 5);
	struct snapshot *s = study_snapshot(st);
	assert_null(s->channels);
	snapshot_drop(&s);
	study_close(&st);
}

void test_channels__the_newest_wish_counts_and_a_run_goes_first(void **state)
{
	struct study *st = open_study(2);
	struct snapshot *run = run_study(st), *s;
	const struct site *last = &run->site[run->n_sites - 1];
	for (int i = 0; i < run->n_sites - 1; i++)
		study_channels(st, run->site[i].slot);
	s = gather(st, last);
	snapshot_drop(&s);
	study_channels(st, run->site[0].slot);
	wait_for_run(st);
	s = gather(st, last);
	assert_int_equal(s->channels->samples, s->channels->of);
	snapshot_drop(&s);
	study_channels(st, run->site[0].slot);
	study_cancel(st);
	while (study_gathering(st))
		poll(NULL, 0, 5);
	snapshot_drop(&run);
	study_close(&st);
}

static const struct site *first_output(const struct snapshot *s, const char *node)
{
	const struct node_row *row = &s->row[graph_find_node(s->g, node)];
	const struct site *site = &s->site[row->first_site];
	while (site->kind != SITE_OUTPUT)
		site++;
	return site;
}

// Whether one of `wanted` was stopped in time, which a busy machine may not let happen.
static bool stop_gathering(struct study *st, const struct site *there, const struct site *wanted)
{
	struct snapshot *s = gather(st, there);
	assert_int_not_equal(wanted->slot, s->channels->slot);
	snapshot_drop(&s);
	study_channels(st, wanted->slot);
	study_cancel(st);
	while (study_gathering(st))
		poll(NULL, 0, 5);
	s = study_snapshot(st);
	bool stopped = s->channels->slot == there->slot;
	if (!stopped)
		assert_int_equal(s->channels->slot, wanted->slot);
	snapshot_drop(&s);
	return stopped;
}

// What is stopped shows nothing: those that were there stay.
void test_channels__a_gathering_is_stopped(void **state)
{
	enum { TRIES = 20 };
	struct study *st = open_study(1);
	struct snapshot *run = run_study(st), *s;
	const struct site *wanted = first_output(run, "/model.0/conv/Conv");
	int tries = 0;
	while (tries < TRIES && !stop_gathering(st, &run->site[run->n_sites - 1], wanted))
		tries++;
	assert_true(tries < TRIES);
	s = gather(st, wanted); // another wish is heard
	assert_int_equal(s->channels->samples, SAMPLES);
	snapshot_drop(&s);
	snapshot_drop(&run);
	study_close(&st);
}

// Those of the run before stay what they were, said to be of that; asked for again they are of this one.
void test_channels__after_a_run_they_are_asked_for_again(void **state)
{
	struct study *st = open_study(2);
	struct snapshot *run = run_study(st), *s = gather(st, first_output(run, "/model.2/Add"));
	struct channels *before = channels_take(s->channels);
	struct error err = {0};
	snapshot_drop(&s);
	snapshot_drop(&run);
	assert_int_equal(study_command(st, "scale /model.2/Add 2^-1", &err), STATUS_OK);
	run = run_study(st);
	assert_false(key_equal(run->channels->decision, run->decision));
	s = gather(st, first_output(run, "/model.2/Add"));
	check_together(s->channels, first_output(run, "/model.2/Add"));
	assert_true(s->channels->at[0].now.mse != before->at[0].now.mse);
	channels_drop(&before);
	snapshot_drop(&s);
	snapshot_drop(&run);
	study_close(&st);
}

static double number(const cJSON *o, const char *key)
{
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, key);
	assert_true(cJSON_IsNumber(n));
	return n->valuedouble;
}

// What the JSON says of the weight of a convolution is what its channels say.
void test_channels__a_report_tells_how_unlike_those_of_a_weight_are(void **state)
{
	struct study *st = open_study(2);
	struct snapshot *run = run_study(st);
	cJSON *root = report_json(st, run), *node;
	int seen = 0;
	cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(root, "nodes")) {
		const cJSON *weights = cJSON_GetObjectItemCaseSensitive(node, "weights");
		const cJSON *told = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(weights, 0), "channels");
		if (!told || seen == 3)
			continue;
		assert_null(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(weights, 1), "channels")); // a bias has one element each
		int n = graph_find_node(run->g, cJSON_GetObjectItemCaseSensitive(node, "name")->valuestring);
		const struct site *site = &run->site[run->row[n].first_site];
		while (site->kind != SITE_WEIGHT)
			site++;
		struct snapshot *s = gather(st, site);
		assert_true(number(told, "axis") == s->channels->axis && number(told, "count") == s->channels->n);
		assert_near(number(told, "unused_bits"), s->channels->spread);
		assert_true(number(told, "dead") == s->channels->count[0] && number(told, "outliers") == s->channels->count[1]);
		snapshot_drop(&s);
		seen++;
	}
	assert_int_equal(seen, 3);
	cJSON_Delete(root);
	snapshot_drop(&run);
	study_close(&st);
}

// ---- what is conspicuous

static struct channel_sums sums_of(float min, float max, double shift)
{
	return (struct channel_sums){
	    .sums = {.n = 100, .f2 = 100, .q2 = 100, .fq = 100, .e2 = 1, .fmin = min, .fmax = max, .qmin = min, .qmax = max},
	    .shift = 100 * shift,
	    .seen = {0xFF}};
}

void test_channels__flags(void **state)
{
	const struct quantizer q = {.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .scale = (float[]){0.1f}, .zero = (int32_t[]){0},
	    .qmin = -128, .qmax = 127};
	const struct channel_split split = {1, 1, 6};
	struct channel_sums s[] = {sums_of(-1, 1, 0.02), sums_of(0, 0, 0), sums_of(-8, 2, 0), sums_of(-0.5f, 0.7f, 0), sums_of(-1.2f, 1, -0.06),
	    sums_of(-1, 1.5f, 0.04)};
	s[5].sums.clipped = 2;
	struct channels *c = channels_of(&split, s, NULL, &q, 1, 1);
	const unsigned flags[] = {0, CHANNEL_DEAD, CHANNEL_OUTLIER, CHANNEL_COARSE, CHANNEL_SHIFTED, CHANNEL_CLIPPED};
	for (int i = 0; i < 6; i++)
		assert_int_equal(c->at[i].flags, flags[i]);
	assert_true(c->at[0].unused_bits == 3 && isinf(c->at[1].unused_bits) && c->at[2].unused_bits == 0);
	assert_true(c->at[0].used == 8.0 / 256 && isnan(c->at[0].alone_db) && fabs(c->at[0].share - 1.0 / 6) < 1e-12);
	assert_true(fabs(c->spread - (3 + 0 + log2(8 / (double)0.7f) + log2(8 / (double)1.2f) + log2(8 / 1.5)) / 5) < 1e-12);
	for (int bit = 0; bit < CHANNEL_FLAGS; bit++)
		assert_int_equal(c->count[bit], 1);
	channels_drop(&c);
}

void test_channels__the_median_is_of_those_that_live(void **state)
{
	const double reach[] = {0, 0, 0, 1, 1, 5, 5, 5, 30};
	const struct channel_spread s = channel_spread(reach, 9);
	assert_true(s.top == 30 && s.median == 5);
	assert_int_equal(s.dead, 3);
	assert_int_equal(s.outliers, 1);
}

void test_channels__the_worst_samples_come_first(void **state)
{
	const struct channel_sample sample[] = {{"zeros", NAN}, {"b", 3}, {"exact", INFINITY}, {"a", 3}, {"worst", -1}};
	const char *order[] = {"worst", "a", "b", "exact", "zeros"};
	struct channels *c = xcalloc(1, sizeof *c);
	c->refs = 1;
	channels_set_samples(c, sample, 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(c->sample[i].name, order[i]);
	channels_drop(&c);
}
