// Repair of the shipped detector, whose last Concat joins pixels and probabilities on one grid.
#include <stdio.h>
#include <stdlib.h>
#include "engine/graph_builder.h"
#include "repair_case.h"
#include "surgery.h"
#include "two_convs.h"

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

// The shipped detector is read as one, without labels: in float it is what it is,
// and with a part alone its boxes are apart.
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
	while (undoes(st))
		;
	study_steps(st, &current);
	assert_int_equal(current, 0);
	repair_free(&r);
	study_close(&st);
}

// A scale that the user has set and that ruins the result is taken back before anything is paid for;
// one that does no harm is the user's.
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
	assert_int_equal(repair_goal_parse(&o.goal, "snr>150", &err), STATUS_OK);
	r = open_repair(st, o);
	r->run_snr_db = 151; // what the run says of all samples counts until something is tried
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_string_equal(repair_end(r), "the goal is reached");
	assert_int_equal(k.tried, 0);
	repair_free(&r);
	study_close(&st);
}

// Where much is left and no bits can be had, the weights are named, which only a repair of its own fits.
void test_repair__names_what_it_does_not_try(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	if (study_command(st, "target xint8", &err) != STATUS_OK)
		fail_msg("%s", err.text);
	study_run(st);
	wait_for_run(st);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct kept k = {.study = st};
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_true(r->figures.damage > 0.1);
	assert_non_null(strstr(repair_end(r), "tune"));
	assert_null(strstr(repair_end(r), "equalize")); // no factor passes a Swish
	assert_int_equal(repair_tune(r, on_step, &k, &err), STATUS_OK);
	assert_null(strstr(repair_end(r), "tune"));
	repair_free(&r);
	study_close(&st);
}

// One channel of 100 and others of 1, with weights behind that even them out.
void test_repair__names_equalization_where_factors_pass(void **state)
{
	enum { IN = 3, MID = 16, OUT = 4 };
	struct error err = {0};
	float front[MID * IN], behind[OUT * MID];
	for (int i = 0; i < MID * IN; i++)
		front[i] = sinf((float)(7 * i + 1)) * (i / IN == 5 ? 100 : 1);
	for (int i = 0; i < OUT * MID; i++)
		behind[i] = cosf((float)(5 * i + 2)) / (i % MID == 5 ? 100 : 1);
	char *path = two_convs(&(struct two_convs){"Relu", "uneven.onnx", IN, MID, OUT, 16, front, behind});
	struct study *st = open_for_test((struct study_options){.model = path, .target = "xint8", .method = CALIB_MINMAX, .threads = 1,
	    .data = {.random = 4, .samples = 4}, .task = {.none = true}});
	wait_for_run(st);
	struct repair *r = open_repair(st, (struct repair_options){0});
	struct kept k = {.study = st};
	assert_int_equal(repair_fix(r, on_step, &k, &err), STATUS_OK);
	assert_true(r->figures.damage > 0.1);
	assert_non_null(strstr(repair_end(r), "equalize or tune might"));
	repair_free(&r);
	study_close(&st);
	free(path);
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

// The task decides on the step of logits, and of nothing else:
// boxes that were joined with them and parted again are none.
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

// A task that is against whatever is done to the first plan that it sees.
static enum status against_all(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err)
{
	int *seen = arg;
	(void)e;
	(void)err;
	*score = !plan || !(*seen)++;
	return STATUS_OK;
}

struct undone {
	int n;
	char reason[64][256];
};

static void only_once(void *arg, const struct repair_step *s)
{
	struct undone *u = arg;
	assert_false(s->kept);
	for (int i = 0; i < u->n; i++)
		assert_string_not_equal(s->reason, u->reason[i]);
	assert_true(u->n < 64);
	snprintf(u->reason[u->n++], sizeof u->reason[0], "%s", s->reason);
}

// Remedies come again behind others, which may have changed what they find: but not where nothing was kept.
void test_repair__what_was_undone_is_not_tried_again(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair *r = NULL;
	int seen = 0;
	struct undone u = {0};
	assert_int_equal(
	    repair_open(
	        &r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default, .score = against_all, .score_arg = &seen}, &err),
	    STATUS_OK);
	assert_int_equal(repair_fix(r, only_once, &u, &err), STATUS_OK);
	assert_true(u.n > 3);
	repair_free(&r);
	study_close(&st);
}

static void note_kind(void *arg, const struct repair_step *s)
{
	*(struct repair_step *)arg = *s;
}

// A variance that rounds to 0 in front of weights: float where the target has no 16 bit, which would hold it.
void test_repair__a_divisor_that_no_step_holds(void **state)
{
	static const char *const target[] = {"tensorrt", "onnxruntime"};
	static const int64_t shape[] = {4, 12, 1, 1};
	float w[4 * 12];
	struct surgery s;
	for (int i = 0; i < 4 * 12; i++)
		w[i] = (float)(i % 7 - 3) / 8;
	surgery_open(&s, "examples/digits.onnx");
	surgery_normalization(&s, "/model.0/act/Mul_output_0", false, "y");
	surgery_floats(&s, "behind.weight", 4, shape, w);
	surgery_node(&s, "Conv", "behind", "y behind.weight", "behind_y");
	surgery_output(&s, "behind_y");
	const char *model = surgery_close(&s, "divisor.onnx");
	for (int i = 0; i < 2; i++) {
		struct error err = {0};
		struct study *st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .target = target[i],
		    .method = CALIB_MINMAX, .threads = 1, .data = {.samples = 4}, .calibrate_only = true});
		wait_for_run(st);
		struct repair *r = open_unread(st, (struct repair_options){0});
		struct repair_step step = {.kind = REPAIR_TAIL};
		struct fixing f = {.r = r, .step = note_kind, .arg = &step};
		assert_int_equal(remedy_divisors(&f, &err), STATUS_OK);
		assert_int_equal(r->kept, i == 0);
		assert_int_equal(step.kind, i == 0 ? REPAIR_DIVISORS : REPAIR_TAIL);
		if (i == 0) {
			assert_true(step.after.damage < step.before.damage);
			assert_int_equal(r->now.edits->precision[graph_find_node(r->g, "positive")], PREC_FLOAT);
			assert_int_equal(r->now.edits->precision[graph_find_node(r->g, "behind")], -1);
		}
		repair_free(&r);
		study_close(&st);
	}
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
		struct repair *r =
		    open_unread(st, (struct repair_options){.goal = repair_goal_default, .score = wide_decoder, .score_arg = &wide});
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

// Damage of the detector with a decoder, all of it quantized or (spared) not where boxes and scores share a scale: as of
// a network that decodes queries, as of one that does not, and with no boxes read; on all four samples, as points would choose others.
enum yardstick { BOTH, BY_BOXES, AT_POINTS };
static double damage_by(enum yardstick by, bool spared)
{
	struct error err = {0};
	struct study *st = open_study_of(with_a_decoder(), 1);
	struct repair *r = NULL;
	struct plan *p = NULL;
	struct repair_figures f;
	assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 4, .goal = repair_goal_default}, &err), STATUS_OK);
	assert_true(r->queries && r->reader);
	r->queries = by == BOTH;
	if (by == AT_POINTS)
		boxes_reader_free(&r->reader);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	struct trial t = trial_copy(&r->now);
	if (spared)
		t.edits->precision[graph_find_node(r->g, JOINED)] = PREC_FLOAT;
	assert_int_equal(repair_measure(r, &t, r->scales, &p, &f, &err), STATUS_OK);
	plan_free(&p);
	trial_done(&t);
	repair_free(&r);
	study_close(&st);
	return f.damage;
}

// Where boxes are left they count three times as much as the points; where there is hardly one, the points decide.
void test_repair__boxes_and_points_speak_of_a_decoder_of_queries(void **state)
{
	double boxes = damage_by(BY_BOXES, true), points = damage_by(AT_POINTS, true);
	assert_true(boxes > 0.01 && boxes < REPAIR_RUINED && fabs(boxes - points) > 0.01);
	assert_true(fabs(damage_by(BOTH, true) - (0.75 * boxes / REPAIR_RUINED + 0.25 * points)) < 1e-12);
	assert_true(damage_by(BY_BOXES, false) > REPAIR_RUINED);
	assert_true(fabs(damage_by(BOTH, false) - (0.75 + 0.25 * damage_by(AT_POINTS, false))) < 1e-12);
}

// Boxes see what lies behind the selection, which needs no labels; points alone do not.
void test_repair__what_lies_behind_a_selection_is_tried_by_its_boxes(void **state)
{
	struct error err = {0};
	struct study *st = open_study_of(with_a_decoder(), 1);
	for (int read = 0; read < 2; read++) {
		struct repair *r = open_either(st, (struct repair_options){.goal = repair_goal_default}, read);
		char reason[256] = "";
		struct fixing f = {.r = r, .step = note_reason, .arg = reason};
		assert_int_equal(remedy_behind(&f, &err), STATUS_OK);
		assert_int_equal(strstr(reason, "behind a selection by value") != NULL, read);
		repair_free(&r);
	}
	study_close(&st);
}

static void add_integers(struct surgery *s, const char *name, int n, const int64_t *x)
{
	const int64_t dim[1] = {n};
	surgery_tensor(s, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, dim, x, (size_t)n * sizeof *x);
}

enum left { LEFT_PLACES, LEFT_BOXES, LEFT_ROWS };

// The detector with a NonMaxSuppression behind it, which leaves where they are, or boxes, classes and scores, or boxes and the
// scores of all classes.
static const char *with_suppression(enum left left)
{
	static const int64_t most[] = {40}, at[] = {0, 1, 2, 3, 4, 14}, rows[] = {4, 500}, boxes[] = {1, 500, 4}, flat[] = {-1}, square[] = {4, 4};
	static const int64_t all_rows[] = {500, 10}, row_boxes[] = {1, -1, 1, 4};
	static const char *const output[][3] = {{"kept", "k", "labels"}, {"boxes", "labels", "scores"}, {"row_boxes", "row_scores"}};
	static const float overlap[] = {.5f}, least[] = {[LEFT_PLACES] = .3f, [LEFT_BOXES] = .3f, [LEFT_ROWS] = .02f};
	static const float corners[] = {1, 0, 1, 0, 0, 1, 0, 1, -.5f, 0, .5f, 0, 0, -.5f, 0, .5f};
	static const int64_t one = 1;
	struct surgery s;
	surgery_open(&s, "examples/digits.onnx");
	for (int i = 0; i < 6; i++) {
		char name[8];
		snprintf(name, sizeof name, "at%d", (int)at[i]);
		add_integers(&s, name, 1, &at[i]);
	}
	add_integers(&s, "most", 1, most);
	add_integers(&s, "rows", 2, rows);
	add_integers(&s, "boxes_shape", 3, boxes);
	add_integers(&s, "flat", 1, flat);
	add_integers(&s, "all_rows", 2, all_rows);
	add_integers(&s, "row_boxes_shape", 4, row_boxes);
	surgery_floats(&s, "overlap", 1, &one, overlap);
	surgery_floats(&s, "least", 1, &one, &least[left]);
	surgery_floats(&s, "corners", 2, square, corners);
	surgery_node(&s, "Slice", "cut_boxes", "output0 at0 at4 at1", "b");
	surgery_node(&s, "Slice", "cut_scores", "output0 at4 at14 at1", "all_scores");
	surgery_node(&s, "Reshape", "flat_boxes", "b rows", "b2");
	surgery_node(&s, "Transpose", "turned_boxes", "b2", "b3");
	surgery_node(&s, "MatMul", "corner_boxes", "b3 corners", "b4");
	surgery_node(&s, "Reshape", "all_boxes", "b4 boxes_shape", "b5");
	surgery_node(&s, "NonMaxSuppression", "suppress", "b5 all_scores most overlap least", "kept");
	surgery_node(&s, "Slice", "kept_boxes", "kept at2 at3 at1", "k2");
	surgery_node(&s, "Reshape", "kept_places", "k2 flat", "k");
	surgery_node(&s, "Slice", "kept_classes", "kept at1 at2 at1", "c2");
	surgery_node(&s, "Reshape", "classes", "c2 flat", "labels");
	surgery_node(&s, "Gather", "found_boxes", "b4 k", "boxes");
	surgery_node(&s, "GatherND", "found_scores", "all_scores kept", "scores");
	surgery_node(&s, "Transpose", "turned_scores", "all_scores", "scores3");
	surgery_node(&s, "Reshape", "scores_of_rows", "scores3 all_rows", "scores2");
	surgery_node(&s, "Gather", "found_rows", "scores2 k", "row_scores");
	surgery_node(&s, "Reshape", "boxes_of_rows", "boxes row_boxes_shape", "row_boxes");
	s.graph->n_output = 0;
	for (int i = 0; i < 3 && output[left][i]; i++)
		surgery_output(&s, output[left][i]);
	return surgery_close(&s, (const char *[]){"kept.onnx", "suppressed.onnx", "rows.onnx"}[left]);
}

// Of a network with NMS in it, whose shapes are known when it runs, boxes are the yardstick if they can be read.
void test_repair__boxes_that_a_suppression_leaves(void **state)
{
	struct error err = {0};
	for (int read = 0; read < 2; read++) {
		struct study *st = open_study_of(with_suppression(read ? LEFT_BOXES : LEFT_PLACES), 1);
		struct repair *r = NULL;
		assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default}, &err), STATUS_OK);
		assert_true(r->rows && !r->reader);
		if (repair_prepare(r, &err) != STATUS_OK)
			fail_msg("%s", err.text);
		assert_null(r->rows);
		assert_int_equal(r->reader != NULL, read);
		assert_int_equal(r->figures.damage > REPAIR_RUINED, read); // what is selected from does not tell that all are lost
		repair_free(&r);
		study_close(&st);
	}
}

// Fewer rows than there are classes cannot be told from columns: such a sample says nothing, and ends no search.
void test_repair__samples_whose_rows_are_not_read_are_left_out(void **state)
{
	struct error err = {0};
	struct study *st = open_study_of(with_suppression(LEFT_ROWS), 1);
	struct repair *r = NULL;
	assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 4, .goal = repair_goal_default}, &err), STATUS_OK);
	if (repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_non_null(r->reader);
	assert_true(r->figures.damage >= 0 && r->figures.damage <= 1);
	repair_free(&r);
	study_close(&st);
}

// The goal of a search without labels: what the boxes of the quantized network have lost.
void test_repair__agreement_is_held_against_the_float_network(void **state)
{
	struct error err = {0};
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx",
	    .calib = "examples/calib",
	    .target = "esp32p4",
	    .method = CALIB_PERCENTILE,
	    .threads = 1,
	    .data = {.samples = 4},
	    .calibrate_only = true,
	    .task = {.kind = "agree"}});
	wait_for_run(st);
	const atomic_bool never = false;
	struct repair_task *t;
	assert_int_equal(repair_task_open(&t, st, &never, &err), STATUS_OK);
	assert_string_equal(repair_task_name(t), "same_boxes");
	struct repair_options o = {
	    .samples = 2, .goal = repair_goal_default, .score = repair_task_score, .score_arg = t, .task = t, .score_name = repair_task_name(t)};
	assert_int_equal(repair_goal_parse(&o.goal, "drop<0.3", &err), STATUS_OK);
	assert_int_equal(repair_goal_task(&o.goal, o.score_name, &err), STATUS_OK);
	struct repair *r;
	assert_int_equal(repair_open(&r, st, &o, &err), STATUS_OK);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	assert_float_equal(repair_float_score(r), 1, 0);
	assert_true(r->figures.score >= 0 && r->figures.score < 0.7);
	assert_false(repair_goal_met(r));
	r->figures.score = 0.75;
	assert_true(repair_goal_met(r));
	repair_free(&r);
	repair_task_free(&t);
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

// Where no output has a shape before the network runs, damage is read in front of what makes such tensors.
void test_repair__points_in_front_of_unknown_shapes(void **state)
{
	struct builder b = builder_new();
	int n;
	(void)state;
	builder_input(&b, "x");
	builder_node(&b, "Relu", "relu", "x", "y");
	builder_node(&b, "Relu", "grows", "y", "open");
	builder_node(&b, "Relu", "last", "open", "z");
	b.g->value[builder_value(&b, "open")].shape.rank = b.g->value[builder_value(&b, "z")].shape.rank = -1;
	builder_output(&b, "z");
	struct point *p = points_find(b.g, &n);
	assert_int_equal(n, 1);
	assert_string_equal(b.g->value[p[0].value].name, "y");
	free(p);
	graph_free(&b.g);
}
