// Scales of further outputs: how they are named, in force, undone, in sessions, in variants and in the figures of runs.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "../../src/analysis/study/study_impl.h"
#include "../engine/graph_builder.h"
#include "../engine/onnx_case.h"
#include "qtui/analysis/compare.h"
#include "qtui/analysis/report.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "studies.h"

#define SPLIT "/model.12/Split"
#define FIRST SPLIT "_output_0"
#define SECOND SPLIT "_output_1"

static struct study *open_target(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = target, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
}

static void command(struct study *st, const char *text)
{
	struct error err = {0};
	if (study_command(st, text, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

static double scale_of(const struct study *st, const char *tensor)
{
	return study_edits(st)->scale[graph_find_value(study_graph(st), tensor)];
}

static const struct site *site_of(const struct snapshot *s, const char *tensor)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && strcmp(s->g->value[s->site[i].value].name, tensor) == 0)
			return &s->site[i];
	fail_msg("%s has no site", tensor);
	return NULL;
}

void test_outputs__the_second_has_a_scale_of_its_own(void **state)
{
	struct study *st = open_target("xint8");
	struct snapshot *before = run_study(st);
	double first = site_of(before, FIRST)->scale[0], second = site_of(before, SECOND)->scale[0];
	char text[300];
	snprintf(text, sizeof text, "scale " SECOND " %.9g", second / 2);
	command(st, text);
	struct snapshot *s = run_study(st);
	const struct node_row *row = &s->row[graph_find_node(s->g, SPLIT)];
	assert_true(site_of(s, SECOND)->scale[0] == second / 2 && site_of(s, SECOND)->locked);
	assert_true(site_of(s, FIRST)->scale[0] == first && !site_of(s, FIRST)->locked);
	assert_true(row->edited && row->requested == -1 && !row->refused);
	assert_int_equal(s->n_edits, 1);
	assert_non_null(strstr(study_step(st, 0), "scale " SECOND " 2^"));
	assert_true(undoes(st));
	assert_true(scale_of(st, SECOND) == 0);
	assert_true(redoes(st));
	assert_true(scale_of(st, SECOND) == second / 2);
	snapshot_drop(&s);
	snapshot_drop(&before);
	study_close(&st);
}

// What shares a scale is told with the node to which it goes.
void test_outputs__a_shared_scale_is_refused(void **state)
{
	struct study *st = open_target("esp32p4");
	struct error err = {0};
	assert_int_equal(study_command(st, "scale " SECOND " 2^-3", &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, SPLIT ": its output " SECOND " shares the scale of tensor /model.12/Concat_2_output_0"));
	assert_non_null(strstr(err.text, ": give the scale to node /model.12/Concat_2"));
	assert_int_equal(study_command(st, "scale model.0.conv.weight 2^-3", &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "is a parameter"));
	assert_int_equal(study_command(st, "scale nothing_1 2^-3", &err), STATUS_NOTFOUND);
	assert_int_equal(study_command(st, "scale tensor:" SPLIT " 2^-3", &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, "no tensor " SPLIT));
	study_close(&st);
}

// Its scale is seen where it is read; the journal and the edits of a session name the tensor.
void test_outputs__an_input_of_the_network_has_a_scale(void **state)
{
	struct study *st = open_target("esp32p4");
	struct error err = {0};
	const int images = graph_find_value(study_graph(st), "images"), conv = graph_find_node(study_graph(st), "/model.0/conv/Conv");
	assert_int_equal(study_command(st, "scale images 0.3", &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "images: target esp32p4 takes only powers of two"));
	assert_int_equal(study_command(st, "scale images 2^-5", &err), STATUS_OK);
	assert_true(study_edits(st)->scale[images] == 0x1p-5);
	struct snapshot *s = run_study(st);
	const struct node_row *row = &s->row[conv];
	const struct site *input = NULL;
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (s->site[i].value == images)
			input = &s->site[i];
	assert_true(row->edited && input && input->locked);
	assert_true(input->scale[0] == 0x1p-5f && snapshot_scalable(s, input) == images);
	assert_true(input->hist_float && input->graphwise.known && figures_snr(&input->graphwise) < 40);
	snapshot_drop(&s);
	assert_true(undoes(st));
	assert_true(study_edits(st)->scale[images] == 0);
	study_close(&st);
}

static struct graph *alike(void)
{
	struct builder b = builder_new();
	builder_input(&b, "x");
	builder_node(&b, "Split", "split", "x", "split u v w tensor:y");
	builder_node(&b, "Relu", "v", "v", "z"); // has the name of a tensor
	return b.g;
}

static void assert_found_again(const struct graph *g, int value, const char *written)
{
	struct error err = {0};
	struct str text = {0};
	int found;
	study_add_scale(&text, g, value, 0.5, ZERO_FOLLOWS);
	assert_string_equal(str_text(&text), written);
	char name[64];
	sscanf(written, "%63s", name);
	assert_int_equal(study_find_output(&found, g, name, &err), STATUS_OK);
	assert_int_equal(found, value);
	str_done(&text);
}

void test_outputs__names_are_found_again(void **state)
{
	struct graph *g = alike();
	struct error err = {0};
	int found;
	assert_found_again(g, graph_find_value(g, "split"), " split 2^-1");
	assert_found_again(g, graph_find_value(g, "u"), " u 2^-1");
	assert_found_again(g, graph_find_value(g, "v"), " tensor:v 2^-1");
	assert_found_again(g, graph_find_value(g, "tensor:y"), " tensor:tensor:y 2^-1");
	assert_found_again(g, graph_find_value(g, "z"), " v 2^-1"); // by its node
	assert_int_equal(study_find_output(&found, g, "z", &err), STATUS_OK);
	assert_int_equal(found, graph_find_value(g, "z"));
	graph_free(&g);
}

// The keys of states in sessions of before: node by node the scale of the first output.
void test_outputs__keys_of_first_outputs_stay(void **state)
{
	struct graph *g = alike();
	struct edits *e = edits_new(g), *more;
	const double first[] = {0.5, 0.25};
	e->scale[graph_find_value(g, "split")] = first[0];
	e->scale[graph_find_value(g, "z")] = first[1];
	struct key k = key_add_int((struct key){0}, g->n_nodes);
	k = key_add(key_add(k, e->precision, (size_t)g->n_nodes), first, sizeof first);
	assert_true(key_equal(edits_key(e, g), k));
	more = edits_copy(e);
	more->scale[graph_find_value(g, "u")] = 1;
	assert_false(edits_equal(e, more) || key_equal(edits_key(more, g), k));
	edits_free(&e);
	edits_free(&more);
	graph_free(&g);
}

static enum status apply(struct study *st, const char *text, struct error *err)
{
	struct session *s = NULL;
	enum status status = session_read(&s, support_temp_file("outputs.json", text, strlen(text)), err);
	if (status == STATUS_OK)
		status = session_apply(s, st, err);
	if (s)
		session_free(&s);
	return status;
}

void test_outputs__a_session_names_the_tensor(void **state)
{
	struct error err = {0};
	const char *path = support_temp("outputs_written.json");
	struct study *st = open_target("xint8"), *again = open_target("xint8");
	struct session *se = NULL;
	bool made;
	int current;
	assert_int_equal(apply(st, "{\"qtui_session\": 1, \"edits\": [{\"tensor\": \"" SECOND "\", \"scale\": \"2^-3\"},"
	    "{\"node\": \"" SPLIT "\", \"precision\": \"int8\", \"scale\": 0.25}]}", &err), STATUS_OK);
	assert_true(scale_of(st, SECOND) == 0.125 && scale_of(st, FIRST) == 0.25);
	assert_int_equal(study_variant(st, "mine", &made, &err), STATUS_OK);
	command(st, "scale " SECOND " auto");
	assert_true(scale_of(st, SECOND) == 0 && scale_of(st, FIRST) == 0.25);
	command(st, "variant mine");
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, again, &err), STATUS_OK);
	assert_true(edits_equal(study_edits(st), study_edits(again)));
	assert_int_equal(study_steps(again, &current), study_steps(st, &current));
	session_free(&se);
	study_close(&again);
	study_close(&st);
}

void test_outputs__an_edit_of_a_tensor_is_only_a_scale(void **state)
{
	static const struct {
		const char *edit, *said;
		enum status status;
	} bad[] = {
	    {"{\"tensor\": 3, \"scale\": 1}", "\"tensor\" must be a text", STATUS_FORMAT},
	    {"{\"tensor\": \"" SECOND "\", \"precision\": \"int16\"}", "only a scale goes with it", STATUS_FORMAT},
	    {"{\"tensor\": \"" SECOND "\", \"node\": \"" SPLIT "\"}", "only a scale goes with it", STATUS_FORMAT},
	    {"{\"tensor\": \"" SECOND "\", \"scale\": -1}", "a scale or zero point that there is not", STATUS_FORMAT},
	    {"{\"tensor\": \"nothing\", \"scale\": 1}", "the model has no tensor nothing that a node makes", STATUS_NOTFOUND},
	    {"{\"tensor\": \"model.0.conv.weight\", \"scale\": 1}", "no tensor model.0.conv.weight that a node makes", STATUS_NOTFOUND},
	};
	struct study *st = open_target("xint8");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[400];
		struct error err = {0};
		snprintf(text, sizeof text, "{\"qtui_session\": 1, \"edits\": [%s]}", bad[i].edit);
		assert_int_equal(apply(st, text, &err), bad[i].status);
		if (!strstr(err.text, bad[i].said))
			fail_msg("said %s, not %s", err.text, bad[i].said);
	}
	study_close(&st);
}

static cJSON *report_of(struct study *st, struct run_record *figures)
{
	struct error err = {0};
	struct snapshot *s = run_study(st);
	cJSON *j = report_json(st, s);
	assert_int_equal(study_figures(figures, st, "now", &err), STATUS_OK);
	snapshot_drop(&s);
	return j;
}

// Its place in the figures of runs is behind those of all nodes.
void test_outputs__runs_and_analyses_tell_it_apart(void **state)
{
	struct study *st = open_target("xint8");
	const struct graph *g = study_graph(st);
	struct run_record was, is;
	int n, at = 0, *further = run_further(g, &n);
	cJSON *a = report_of(st, &was);
	command(st, "scale " SECOND " 2^-9");
	cJSON *b = report_of(st, &is), *c = compare_analyses(a, b);
	while (at < n && further[at] != graph_find_value(g, SECOND))
		at++;
	assert_true(at < n);
	assert_int_equal(is.nodes->n, g->n_nodes + n);
	assert_true(is.nodes->scale[g->n_nodes + at] == 0x1p-9f && was.nodes->scale[g->n_nodes + at] != 0x1p-9f);
	assert_true(is.nodes->snr_db[g->n_nodes + at] < was.nodes->snr_db[g->n_nodes + at]);
	const cJSON *row, *found = NULL;
	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(c, "nodes"))
		if (strcmp(json_text(row, "tensor", ""), SECOND) == 0)
			found = row;
	assert_non_null(found);
	assert_string_equal(json_text(found, "name", ""), SPLIT);
	assert_non_null(cJSON_GetObjectItemCaseSensitive(found, "scale"));
	assert_true(json_number(found, "gain_db", 0) < 0);
	cJSON_Delete(a);
	cJSON_Delete(b);
	cJSON_Delete(c);
	run_record_done(&was);
	run_record_done(&is);
	free(further);
	study_close(&st);
}

// A run of before says nothing of further outputs.
void test_outputs__runs_of_nodes_alone_are_read(void **state)
{
	struct error err = {0};
	const char *path = support_temp("outputs_runs.json");
	struct study *st = open_target("xint8");
	struct snapshot *s = run_study(st);
	struct session *se = NULL;
	struct run_record r;
	cJSON *root = NULL;
	bool old;
	int nodes = study_graph(st)->n_nodes;
	snapshot_drop(&s);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	assert_int_equal(json_read(&root, path, &err), STATUS_OK);
	cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "runs"), 0);
	cJSON_GetObjectItemCaseSensitive(run, "node_precision")->valuestring[nodes] = '\0';
	for (int i = 0; i < 2; i++) {
		cJSON *list = cJSON_GetObjectItemCaseSensitive(run, i ? "node_scale" : "node_snr_db");
		while (cJSON_GetArraySize(list) > nodes)
			cJSON_DeleteItemFromArray(list, nodes);
	}
	assert_int_equal(json_write(root, path, false, &err), STATUS_OK);
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_last_run(&r, &old, se, st, &err), STATUS_OK);
	assert_non_null(r.nodes);
	assert_true(r.nodes->precision[nodes - 1] >= 0 && r.nodes->precision[nodes] == -1 && isnan(r.nodes->snr_db[nodes]));
	run_record_done(&r);
	cJSON_Delete(root);
	session_free(&se);
	study_close(&st);
}

// A half that nobody reads is an output of the network, though the other half's activation runs with the Split.
void test_outputs__a_half_that_nobody_reads(void **state)
{
	static const char *const targets[] = {"esp32p4", "onnxruntime", "xint8"};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		for (int read = 0; read < 2; read++) {
			struct onnx_case c;
			struct error err = {0};
			const char *half = read ? "first" : "second"; // the one that is the output
			case_init(&c);
			case_input(&c, "x", FLOAT, DIMS(1, 4, 3));
			case_node(&c, "Relu", "before", "x", "whole");
			case_attr_int(&c, case_node(&c, "Split", "split", "whole", "first second"), "axis", 1);
			case_node(&c, "Relu", "behind", read ? "second" : "first", "y");
			case_output(&c, c.graph, half);
			case_output(&c, c.graph, "y");
			struct study *st = open_for_test((struct study_options){.model = case_save(&c, "half.onnx"),
			    .target = targets[i],
			    .method = -1,
			    .threads = 1,
			    .backend = BACKEND_ONEDNN,
			    .data = {.random = 1, .samples = 1}});
			struct snapshot *s = run_study(st);
			const struct graph *g = study_graph(st);
			float x[12] = {.5f, 1, .25f};
			struct tensor in = {.type = DT_F32, .shape = {.rank = 3, .dim = {1, 4, 3}}, .data = x}, out[2];
			const struct inference run = {.sim = SIM_FULL, .in = &in, .want = g->output, .n_want = 2, .out = out};
			assert_int_equal(site_of(s, half)->graphwise.known, 1);
			assert_int_equal(site_of(s, "y")->graphwise.known, 1);
			assert_int_equal(s->output[0].known, 1);
			assert_int_equal(study_infer(st, &run, &err), STATUS_OK);
			for (int k = 0; k < 2; k++) {
				assert_int_equal(tensor_count(&out[k]), 6);
				tensor_drop(&out[k]);
			}
			snapshot_drop(&s);
			study_close(&st);
			case_done(&c);
		}
}
