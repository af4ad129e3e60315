// Blame: what each quantizer of the shipped detector does to its outputs.
#include <stdlib.h>
#include <cjson/cJSON.h>
#include "repair_case.h"

static struct blames *blame(struct repair *r)
{
	struct error err = {0};
	struct blames *b = NULL;
	if (repair_blame(r, &b, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return b;
}

void test_blame__names_the_joined_ranges(void **state)
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
void test_blame__weights_and_activations_apart(void **state)
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
void test_blame__covers_all_parts_in_any_number_of_threads(void **state)
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

// Time that is over leaves a map of regions.
void test_blame__out_of_time_is_a_map(void **state)
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
void test_blame__is_kept_with_the_session(void **state)
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
	assert_true(undoes(st[1]));
	snap = study_snapshot(st[1]);
	assert_false(snap->blames_old);
	snapshot_drop(&snap);
	for (int k = 0; k < 2; k++) {
		blames_drop(&b[k]);
		study_close(&st[k]);
	}
}

// Sixteen bits for what the last Concat needs are worth more than any other edit, and cost no multiplications.
void test_blame__ranks_by_what_16_bit_gain(void **state)
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

void test_blame__of_a_file_is_read_with_care(void **state)
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
