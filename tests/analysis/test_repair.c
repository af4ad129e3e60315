// Blame and repair on the shipped detector, whose last Concat joins pixels and probabilities on one grid.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../../src/analysis/task/boxes.h"
#include "engine/graph_builder.h"
#include "studies.h"
#include "surgery.h"

#define JOINED "/model.12/Concat_4"

static struct study *open_study_of(const char *model, int threads)
{
	struct study *st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .target = "esp32p4",
	    .method = CALIB_PERCENTILE, .threads = threads, .memory = (size_t)512 << 20, .data = {.samples = 4}, .calibrate_only = true});
	wait_for_run(st);
	return st;
}

static struct study *open_study(int threads)
{
	return open_study_of("examples/digits.onnx", threads);
}

static struct repair *open_either(struct study *st, struct repair_options o, bool read)
{
	struct error err = {0};
	struct repair *r = NULL;
	o.samples = 2;
	o.goal.max_wide = o.goal.max_wide > 0 ? o.goal.max_wide : 0.15;
	o.goal.max_time = o.goal.max_time > 0 ? o.goal.max_time : NAN;
	if (repair_open(&r, st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	if (!read)
		boxes_reader_free(&r->reader);
	if (repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

static struct repair *open_repair(struct study *st, struct repair_options o)
{
	return open_either(st, o, true);
}

// As of a network whose outputs no decoder reads.
static struct repair *open_unread(struct study *st, struct repair_options o)
{
	return open_either(st, o, false);
}

static void give_times(struct study *st, const char *text)
{
	struct error err = {0};
	struct latency *l = NULL;
	if (latency_read(&l, study_graph(st), support_temp_file("times.csv", text, strlen(text)), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	study_set_latency(st, l);
	latency_drop(&l);
}

static struct blames *blame(struct repair *r)
{
	struct error err = {0};
	struct blames *b = NULL;
	if (repair_blame(r, &b, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return b;
}

// Quantized, the weight is a number again, so that the study has a plan.
void test_repair__a_float_network_without_numbers_is_no_measure(void **state)
{
	struct repair_options o = {.goal = {.max_time = NAN}};
	struct error err = {0};
	struct repair *r = NULL;
	struct surgery s;
	surgery_open(&s, "examples/digits.onnx");
	surgery_weights(&s, "model.0.conv.weight")[0] = INFINITY;
	struct study *st = open_study_of(surgery_close(&s, "infinite.onnx"), 1);
	assert_int_equal(repair_open(&r, st, &o, &err), STATUS_OK);
	assert_int_equal(repair_prepare(r, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "finite"));
	repair_free(&r);
	study_close(&st);
}

void test_repair__blame_names_the_joined_ranges(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct blames *b = blame(r);
	const struct graph *g = study_graph(st);
	assert_true(b->complete);
	assert_string_equal(g->node[b->at[0].node].name, JOINED);
	assert_false(b->at[0].run);
	assert_true(b->at[0].value >= 0);
	assert_true(b->at[0].alone > 0.5 * b->total);
	assert_true(b->at[0].in_float.damage > 0.5 * b->total);
	for (int i = 1; i < b->n; i++)
		assert_true(b->at[i].alone <= b->at[i - 1].alone);
	blames_drop(&b);
	repair_free(&r);
	study_close(&st);
}

// The joined ranges are a tensor's: activations do the damage by themselves, weights hardly any. A file says the same.
void test_repair__weights_and_activations_apart(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct blames *b = blame(r);
	assert_true(b->activations.damage > 0.9 * b->total);
	assert_true(b->weights.damage > 0 && b->weights.damage < 0.2 * b->total);
	assert_true(b->weights.snr_db > b->activations.snr_db);
	struct cJSON *j = blames_json(b, study_graph(st));
	struct blames *again = blames_parse(j, study_graph(st));
	assert_non_null(again);
	assert_float_equal(again->weights.damage, b->weights.damage, 1e-12);
	assert_float_equal(again->activations.snr_db, b->activations.snr_db, 1e-9);
	struct str text = {0};
	blames_halves(&text, again);
	assert_true(strncmp(str_text(&text), "weights 0.", 10) == 0 && strstr(str_text(&text), " dB), activations 0."));
	str_done(&text);
	cJSON_Delete(j);
	blames_drop(&again);
	blames_drop(&b);
	repair_free(&r);
	study_close(&st);
}

// Every part of the network is in the ranking once: alone or in a run.
void test_repair__blame_covers_all_parts_in_any_number_of_threads(void **state)
{
	int parts[2] = {0};
	double total[2], first[2];
	for (int k = 0; k < 2; k++) {
		struct study *st = open_study(k + 1);
		struct repair *r = open_repair(st, (struct repair_options){0});
		struct blames *b = blame(r);
		for (int i = 0; i < b->n; i++)
			parts[k] += b->at[i].parts;
		total[k] = b->total;
		first[k] = b->at[0].alone;
		blames_drop(&b);
		repair_free(&r);
		study_close(&st);
	}
	assert_true(parts[0] > 50);
	assert_int_equal(parts[0], parts[1]);
	assert_memory_equal(&total[0], &total[1], sizeof total[0]);
	assert_memory_equal(&first[0], &first[1], sizeof first[0]);
}

struct kept {
	struct study *study;
	int tried, commands;
	double damage;
	enum repair_kind first;
};

static void on_step(void *arg, const struct repair_step *s)
{
	struct kept *k = arg;
	struct error err = {0};
	if (k->tried++ == 0)
		k->first = s->kind;
	if (!s->kept)
		return;
	assert_true(s->after.damage < s->before.damage);
	assert_true(s->n_commands > 0);
	for (int i = 0; i < s->n_commands; i++)
		if (study_command(k->study, s->command[i], &err) != STATUS_OK)
			fail_msg("%s: %s", s->command[i], err.text);
	k->commands += s->n_commands;
	k->damage = s->after.damage;
}

// The shipped detector is read as one, without labels: in float it is what it is, and with a part alone its boxes are apart.
void test_repair__boxes_are_the_yardstick_of_a_detector(void **state)
{
	struct error err = {0};
	struct study *st = open_study(1);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct plan *p = NULL;
	struct damage none, all;
	assert_non_null(r->reader);
	assert_int_equal(scales_plan(r->scales, &p, &r->now, &err), STATUS_OK);
	struct parts *parts = parts_new(p);
	assert_int_equal(probe_damage(r->probe, p, &all, &err), STATUS_OK);
	parts_isolate(parts, p, 0, 0, false);
	assert_int_equal(probe_damage(r->probe, p, &none, &err), STATUS_OK);
	assert_true(none.damage < 1e-12);
	assert_true(all.damage > 0.3 && all.damage <= 1);
	parts_free(&parts);
	plan_free(&p);
	repair_free(&r);
	study_close(&st);
}

// What the steps say is what the study's own edits bring, and undo takes all of it back.
void test_repair__fix_is_edits_of_the_study(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct kept k = {.study = st};
	int current;
	assert_true(repair_begin(r)->damage > 0.3);
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_int_equal(k.first, REPAIR_TAIL);
	assert_true(repair_now(r)->damage < 0.05);
	assert_true(repair_now(r)->wide <= 0.15);
	assert_true(repair_now(r)->snr_db > repair_begin(r)->snr_db);
	study_steps(st, &current);
	assert_int_equal(current, k.commands);
	repair_free(&r);
	study_run(st);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	r = open_repair(st, (struct repair_options){0});
	assert_true(repair_begin(r)->damage == k.damage); // to the bit: what is kept is measured with the scales of the next run
	while (study_undo(st))
		;
	study_steps(st, &current);
	assert_int_equal(current, 0);
	repair_free(&r);
	study_close(&st);
}

// A scale that the user has set and that ruins the result is taken back before anything is paid for; one that does no harm is the user's.
void test_repair__takes_back_what_the_user_has_ruined(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	const char *good = "/model.0/act/Mul", *bad = "/model.12/cv2.0/cv2.0.0/conv/Conv";
	const int node[] = {graph_find_node(study_graph(st), good), graph_find_node(study_graph(st), bad)};
	struct snapshot *s = study_snapshot(st);
	double own = snapshot_output(s, node[0])->scale[0];
	snapshot_drop(&s);
	assert_int_equal(scale_node(st, node[0], own, &err), STATUS_OK);
	assert_int_equal(scale_node(st, node[1], 8, &err), STATUS_OK);
	study_run(st);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct kept k = {.study = st};
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_true(r->now.edits->scale[graph_output(r->g, node[0])] == own);
	assert_true(r->now.edits->scale[graph_output(r->g, node[1])] != 8);
	repair_free(&r);
	study_close(&st);
}

void test_repair__stops_at_the_goal(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair_options o = {.goal = repair_goal_default};
	assert_int_equal(repair_goal_parse(&o.goal, "snr>10", &err), STATUS_OK);
	struct repair *r = open_repair(st, o);
	struct kept k = {.study = st};
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_true(repair_goal_met(r));
	assert_string_equal(repair_end(r), "the goal is reached");
	assert_int_equal(k.tried, 0); // the largest tensors are good: this SNR is there from the beginning
	repair_free(&r);
	study_close(&st);
}

void test_repair__cancelled_it_leaves_what_was_kept(void **state)
{
	struct error err = {0};
	atomic_bool cancel = false;
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){.cancel = &cancel});
	struct kept k = {.study = st};
	atomic_store(&cancel, true);
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_string_equal(repair_end(r), "cancelled");
	assert_int_equal(k.tried, 0);
	repair_free(&r);
	study_close(&st);
}

// Time that is over leaves a map of regions.
void test_repair__blame_out_of_time_is_a_map(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){.seconds = 1e-6});
	struct blames *b = blame(r);
	assert_false(b->complete);
	assert_int_equal(b->n, 1);
	assert_true(b->at[0].run);
	assert_true(b->at[0].alone > 0);
	blames_drop(&b);
	repair_free(&r);
	study_close(&st);
}

void test_repair__a_job_tells_and_ends(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair_job *j = NULL;
	struct repair_options o = {.samples = 1, .goal = repair_goal_default};
	const char *why = NULL;
	char text[200];
	assert_int_equal(repair_goal_parse(&o.goal, "wide<0.01", &err), STATUS_OK);
	assert_int_equal(repair_job_start(&j, st, &o, REPAIR_FIX, &err), STATUS_OK);
	while (background_running(repair_job_background(j)))
		snapshot_drop(&(struct snapshot *){study_snapshot(st)});
	assert_true(repair_job_steps(j) > 0);
	assert_int_equal(repair_job_step(j, 0).kind, REPAIR_TAIL);
	assert_null(repair_job_blames(j));
	repair_job_text(j, text, sizeof text);
	assert_true(text[0] != '\0');
	assert_int_equal(repair_job_end(j, &err, &why), STATUS_OK);
	assert_true(strlen(why) > 0);
	repair_job_free(&j);
	assert_null(j);
	study_close(&st);
}

struct allocation {
	struct study *st;
	struct repair *r;
	struct snapshot *snap;
	struct parts *parts;
	double *alone;
	struct allocator *a;
	bool *wide;
};

// Of the demo, each part doing less than the one before.
static struct allocation allocation_open(const char *times)
{
	struct allocation x = {.st = open_study(2)};
	if (times)
		give_times(x.st, times);
	x.r = open_repair(x.st, (struct repair_options){0});
	x.snap = study_snapshot(x.st);
	x.parts = parts_new(snapshot_plan(x.snap));
	x.alone = xcalloc((size_t)x.parts->n + 1, sizeof *x.alone);
	for (int i = 0; i < x.parts->n; i++)
		x.alone[i] = 1. / (i + 1);
	x.a = allocator_new(x.r, x.parts, snapshot_plan(x.snap), x.alone);
	x.wide = xcalloc((size_t)study_graph(x.st)->n_nodes + 1, 1);
	return x;
}

static void allocation_close(struct allocation *x)
{
	allocator_free(&x->a);
	parts_free(&x->parts);
	free(x->alone);
	free(x->wide);
	snapshot_drop(&x->snap);
	repair_free(&x->r);
	study_close(&x->st);
}

static struct outlay fill(struct allocation *x, struct outlay budget)
{
	memset(x->wide, 0, (size_t)study_graph(x->st)->n_nodes);
	allocator_fill(x->a, budget, x->wide);
	return allocator_outlay(x->a, x->wide);
}

// Whatever the budget, it holds; more of it leaves less at 8 bit. A MAC at 16 bit is one more: both limits are the same.
void test_repair__allocation_stays_within_its_budget(void **state)
{
	struct allocation x = allocation_open(NULL);
	static const double budget[] = {0.01, 0.1, 0.4, 1};
	double before = INFINITY;
	for (size_t i = 0; i < sizeof budget / sizeof *budget; i++) {
		struct outlay o = fill(&x, (struct outlay){budget[i], NAN});
		double left = allocator_left(x.a, x.wide);
		assert_true(o.wide <= budget[i] && o.wide == o.cost);
		assert_true(left < before);
		before = left;
		assert_true(fill(&x, (struct outlay){NAN, budget[i]}).cost == o.cost && allocator_left(x.a, x.wide) == left);
	}
	assert_true(before < 0.05 * allocator_left(x.a, NULL));
	allocation_close(&x);
}

#define FIRST "/model.0/conv/Conv"

// What a board does as fast at 16 bit costs nothing; what it does slowly is not bought.
void test_repair__allocation_pays_in_a_boards_time(void **state)
{
	struct allocation x = allocation_open("name,us,bits\n" FIRST ",100,8\n" FIRST ",100,16\n");
	assert_true(fill(&x, (struct outlay){NAN, 0}).wide > 0.1); // of all convolutions: as of the one that the file knows
	int first = graph_find_node(x.r->g, FIRST);
	assert_true(x.wide[first]);
	allocation_close(&x);
	x = allocation_open("name,us,bits\n" FIRST ",100,8\n" FIRST ",1000,16\n");
	memset(x.wide, 0, (size_t)x.r->g->n_nodes);
	x.wide[first] = true;
	assert_true(fabs(allocator_outlay(x.a, x.wide).cost - 900 / x.r->costs->narrow) < 1e-12);
	struct outlay o = fill(&x, (struct outlay){0.5, 0.5});
	assert_true(o.cost <= 0.5 && o.wide < 0.5 / 8); // nine times the time for every MAC
	allocation_close(&x);
}

void test_repair__time_limits_what_is_kept(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair *r = NULL;
	struct repair_options o = {.samples = 2, .goal = repair_goal_default};
	assert_int_equal(repair_goal_parse(&o.goal, "time<1", &err), STATUS_OK);
	assert_int_equal(repair_open(&r, st, &o, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "time<1: no times are known"));
	give_times(st, "name,us\n" FIRST ",100\n");
	struct snapshot *s = study_snapshot(st);
	o.goal.max_time = 1.02 * s->costs->narrow / 1000;
	snapshot_drop(&s);
	assert_int_equal(repair_open(&r, st, &o, &err), STATUS_OK);
	struct kept k = {.study = st};
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	const struct repair_figures *begin = repair_begin(r), *now = repair_now(r);
	assert_true(begin->us < now->us && now->us <= 1000 * o.goal.max_time);
	assert_true(fabs(now->us / begin->us - now->cost / begin->cost) < 1e-9);
	assert_true(now->damage < begin->damage);
	repair_free(&r);
	study_close(&st);
}

#define LOGITS "/model.12/cv3.0/cv3.0.2/Conv"
#define BOXES "/model.12/cv2.0/cv2.0.2/Conv"

// A task that likes fine logits: the finer by so many powers of two, the better.
static enum status fine_logits(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err)
{
	(void)arg;
	(void)e;
	(void)err;
	const struct slot *s = plan ? plan_out(plan, graph_find_node(plan->g, LOGITS), 0) : NULL;
	*score = s ? 0.5 - 0.01 * log2((double)s->quant.scale[0]) : 1;
	return STATUS_OK;
}

// The task decides on the step of logits, and of nothing else: boxes that were joined with them and parted again are none.
void test_repair__logits_are_asked_of_the_task(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair *r = open_unread(st, (struct repair_options){.score = fine_logits});
	struct fixing f = {.r = r};
	const struct graph *g = study_graph(st);
	assert_int_equal(remedy_tail(&f, &err), STATUS_OK); // until then boxes and logits share their scale
	double before = r->figures.score;
	assert_int_equal(remedy_logits(&f, &err), STATUS_OK);
	assert_int_equal(f.r->kept, 2);
	assert_true(fabs(r->figures.score - before - 0.04) < 1e-9); // four halvings
	assert_true(r->now.edits->scale[graph_output(g, graph_find_node(g, LOGITS))] > 0);
	assert_true(r->now.edits->scale[graph_output(g, graph_find_node(g, BOXES))] == 0);
	repair_free(&r);
	study_close(&st);
}

// The detector with a product behind a selection of its largest values, as a decoder of queries has.
static const char *with_a_decoder(void)
{
	enum { K = 8 };
	static const int64_t count = K, one[1] = {1}, square[2] = {K, K};
	float w[K * K];
	struct surgery s;
	for (int i = 0; i < K * K; i++)
		w[i] = (float)(i % 7) - 3;
	surgery_open(&s, "examples/digits.onnx");
	surgery_tensor(&s, "k", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, one, &count, sizeof count);
	surgery_floats(&s, "decoder.weight", 2, square, w);
	surgery_node(&s, "TopK", "select", "output0 k", "selected");
	Onnx__NodeProto *topk = s.graph->node[s.graph->n_node - 1];
	char *values = topk->output[0];
	topk->output = arena_alloc(s.arena, 2 * sizeof *topk->output);
	topk->output[topk->n_output++ - 1] = values;
	topk->output[1] = surgery_text(&s, "places");
	surgery_node(&s, "MatMul", "decoder", "selected decoder.weight", "decoded");
	surgery_output(&s, "decoded");
	return surgery_close(&s, "decoder.onnx");
}

static enum status wide_decoder(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err)
{
	(void)e;
	(void)err;
	bool wide = !plan || plan->precision[graph_find_node(plan->g, "decoder")] == PREC_INT16;
	*score = wide == *(const bool *)arg;
	return STATUS_OK;
}

static void note_reason(void *arg, const struct repair_step *s)
{
	snprintf(arg, 256, "%s", s->reason);
}

// Damage does not see it: the task alone speaks for it, or against it.
void test_repair__what_lies_behind_a_selection_is_asked_of_the_task(void **state)
{
	struct error err = {0};
	struct study *st = open_study_of(with_a_decoder(), 1);
	int decoder = graph_find_node(study_graph(st), "decoder");
	for (int wanted = 0; wanted < 2; wanted++) {
		bool wide = wanted;
		struct repair *r = open_unread(st, (struct repair_options){.goal = repair_goal_default, .score = wide_decoder, .score_arg = &wide});
		char reason[256] = "";
		struct fixing f = {.r = r, .step = note_reason, .arg = reason};
		assert_int_equal(remedy_behind(&f, &err), STATUS_OK);
		assert_int_equal(f.r->kept, wanted);
		assert_int_equal(strstr(reason, " Undone: the task gains nothing.") != NULL, !wanted); // the figures alone would not tell why
		assert_int_equal(r->now.edits->precision[decoder], wanted ? PREC_INT16 : -1);
		repair_free(&r);
	}
	study_close(&st);
}

void test_repair__needs_a_calibrated_study(void **state)
{
	struct error err = {0};
	struct study *st = NULL;
	struct repair *r = NULL;
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX, .threads = 1,
	    .data = {.samples = 1}};
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	assert_int_equal(repair_open(&r, st, &(struct repair_options){0}, &err), STATUS_REFUSED);
	assert_null(r);
	study_close(&st);
}

void test_repair__goals(void **state)
{
	struct error err = {0};
	struct repair_goal g = repair_goal_default;
	assert_int_equal(repair_goal_parse(&g, "map_drop<0.005", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "snr>-3.5", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "cost<1.1", &err), STATUS_OK);
	assert_int_equal(repair_goal_parse(&g, "snr>9,wide<0.1,time<12.5", &err), STATUS_OK);
	assert_true(g.min_snr == 9 && g.max_wide == 0.1 && g.max_time == 12.5);
	assert_int_equal(repair_goal_parse(&g, "snr>-3.5,wide<0.15", &err), STATUS_OK);
	assert_true(g.max_drop == 0.005 && g.min_snr == -3.5 && g.max_cost == 1.1 && g.max_wide == 0.15);
	static const char *const bad[] = {"", "snr", "snr<3", "map_drop>1", "cost<0.5", "wide<2", "snr>nan", "snr>", "speed>3", "map_drop<"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(repair_goal_parse(&g, bad[i], &err), STATUS_USAGE);
}

static struct point point_of_shape(struct shape shape)
{
	struct builder b = builder_new();
	int n;
	builder_input(&b, "x");
	builder_node(&b, "Relu", "relu", "x", "y");
	b.g->value[builder_value(&b, "y")].shape = shape;
	builder_output(&b, "y");
	struct point *p = points_find(b.g, &n), one = p[0];
	assert_int_equal(n, 1);
	free(p);
	graph_free(&b.g);
	return one;
}

// Of a map its dimension 1, of rows the shorter of the last two; too few elements a channel are taken as a whole.
void test_repair__channels_of_outputs(void **state)
{
	static const struct {
		struct shape shape;
		int axis;
		int64_t channels, inner;
	} row[] = {{{4, {1, 20, 8, 8}}, 1, 20, 64}, {{3, {1, 20, 400}}, 1, 20, 400}, {{3, {1, 400, 20}}, 2, 20, 1}, {{2, {400, 20}}, 1, 20, 1},
	    {{2, {1, 1000}}, -1, 1, 1000}, {{3, {1, 1, 400}}, -1, 1, 400}};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct point p = point_of_shape(row[i].shape);
		assert_int_equal(p.axis, row[i].axis);
		assert_int_equal(p.channels, row[i].channels);
		assert_int_equal(p.inner, row[i].inner);
	}
}

// A limit is to be passed, not reached; what nobody limits is limited to some more work.
void test_repair__goals_are_passed_not_reached(void **state)
{
	(void)state;
	struct error err = {0};
	struct repair r = {.float_score = 0.75, .opt.goal = repair_goal_default};
	struct repair_figures f = {.score = 0.5, .snr_db = 25};
	assert_false(repair_goal_met_by(&r, &f)); // nothing is asked for
	assert_int_equal(repair_goal_parse(&r.opt.goal, "drop<0.25", &err), STATUS_OK);
	assert_false(repair_goal_met_by(&r, &f));
	f.score = 0.5625;
	assert_true(repair_goal_met_by(&r, &f));
	assert_int_equal(repair_goal_parse(&r.opt.goal, "snr>25", &err), STATUS_OK);
	assert_false(repair_goal_met_by(&r, &f));
	f.snr_db = 25.5;
	assert_true(repair_goal_met_by(&r, &f));
	f.score = NAN;
	assert_false(repair_goal_met_by(&r, &f));
	struct repair_goal timed = repair_goal_default, untimed = timed;
	assert_int_equal(repair_goal_limits(&timed, true, &err), STATUS_OK);
	assert_int_equal(repair_goal_limits(&untimed, false, &err), STATUS_OK);
	assert_true(timed.max_cost == 1.15 && isnan(timed.max_wide) && untimed.max_wide == 0.15 && isnan(untimed.max_cost));
}

static void assert_same(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-12 * fabs(b) || (isnan(a) && isnan(b)));
}

static void assert_same_blames(const struct blames *a, const struct blames *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->of_node, b->of_node, (size_t)b->n_nodes * sizeof *b->of_node);
	for (int i = 0; i < b->n; i++) {
		const struct blame *x = &a->at[i], *y = &b->at[i];
		const double of_x[] = {x->alone, x->wide, x->in_float.damage, x->in_float.snr_db, x->in_wide.damage, x->in_wide.snr_db};
		const double of_y[] = {y->alone, y->wide, y->in_float.damage, y->in_float.snr_db, y->in_wide.damage, y->in_wide.snr_db};
		assert_int_equal(x->node, y->node);
		assert_int_equal(x->last_node, y->last_node);
		assert_int_equal(x->value, y->value);
		assert_int_equal(x->parts, y->parts);
		for (size_t k = 0; k < sizeof of_x / sizeof *of_x; k++)
			assert_same(of_x[k], of_y[k]);
	}
}

// The next one of the same state finds everything measured, also in a study that a session brings back.
void test_repair__blame_is_kept_with_the_session(void **state)
{
	struct error err = {0};
	struct study *st[2] = {open_study(2), open_study(1)};
	struct blames *b[2];
	struct snapshot *snap;
	for (int k = 0; k < 2; k++) {
		struct repair *r = open_repair(st[k], (struct repair_options){0});
		b[k] = blame(r);
		repair_free(&r);
		if (k == 0) {
			study_set_blames(st[0], b[0]);
			struct results_save *save = results_save_begin(st[0]);
			struct cJSON *kept = results_save_end(&save);
			char *text = cJSON_PrintUnformatted(kept);
			cJSON_Delete(kept);
			kept = cJSON_Parse(text);
			study_load_results(st[1], kept);
			assert_int_equal(study_wait(st[1], &err), STATUS_OK);
			free(text);
		}
	}
	snap = study_snapshot(st[1]);
	assert_non_null(snap->blames);
	assert_false(snap->blames_old);
	assert_same_blames(snap->blames, b[0]);
	assert_same_blames(b[1], b[0]);
	snapshot_drop(&snap);

	assert_int_equal(study_command(st[1], "set " JOINED " float", &err), STATUS_OK);
	snap = study_snapshot(st[1]);
	assert_true(snap->blames_old);
	snapshot_drop(&snap);
	assert_true(study_undo(st[1]));
	snap = study_snapshot(st[1]);
	assert_false(snap->blames_old);
	snapshot_drop(&snap);
	for (int k = 0; k < 2; k++) {
		blames_drop(&b[k]);
		study_close(&st[k]);
	}
}

// Sixteen bits for what the last Concat needs are worth more than any other edit, and cost no multiplications.
void test_repair__blame_ranks_by_what_16_bit_gain(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct blames *b = blame(r);
	const struct blame *best = &b->at[0];
	for (int i = 1; i < b->n; i++)
		if (blame_worth(&b->at[i]) > blame_worth(best))
			best = &b->at[i];
	assert_true(strstr(study_graph(st)->node[best->node].name, "/model.12/") != NULL);
	assert_true(best->in_wide.damage > 0.2 * b->total);
	assert_float_equal(best->wide, 0, 1e-9);
	assert_int_equal(b->at[b->of_node[best->node]].node, best->node);
	blames_drop(&b);
	repair_free(&r);
	study_close(&st);
}

void test_repair__blame_of_a_file_is_read_with_care(void **state)
{
	static const char *const bad[] = {"{}", "[]", "{\"decision\":\"00000000000000000000000000000001\"}",
	    "{\"decision\":\"00000000000000000000000000000001\",\"parts\":[{\"node\":\"nosuch\",\"alone\":1}]}",
	    "{\"decision\":\"00000000000000000000000000000001\",\"parts\":[{\"node\":\"" JOINED "\"}]}"};
	struct study *st = open_study(1);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct cJSON *j = cJSON_Parse(bad[i]);
		assert_null(blames_parse(j, study_graph(st)));
		cJSON_Delete(j);
	}
	struct cJSON *odd = cJSON_Parse("{\"decision\":\"00000000000000000000000000000001\",\"rows\":{\"" JOINED "\":7},"
	    "\"parts\":[{\"node\":\"" JOINED "\",\"alone\":1,\"parts\":-1}]}");
	struct blames *b = blames_parse(odd, study_graph(st));
	assert_non_null(b);
	assert_int_equal(b->of_node[b->at[0].node], -1);
	assert_int_equal(b->at[0].parts, 1);
	blames_drop(&b);
	cJSON_Delete(odd);
	study_close(&st);
}
