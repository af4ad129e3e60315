// A board's times: what profilers write, what people break, and what a width that nobody measured is taken to cost.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/cost.h"
#include "qtui/analysis/session.h"
#include "qtui/base/mem.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"
#define OTHER "/model.1/conv/Conv"
#define THIRD "/model.2/cv1/conv/Conv"

static struct study *open_study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_MINMAX, .threads = 1,
	    .calibrate_only = true, .data = {.random = 1, .samples = 1}});
}

static enum status read_bytes(struct latency **l, const struct study *st, const char *text, size_t size, struct error *err)
{
	*l = NULL;
	return latency_read(l, study_graph(st), support_temp_file("board.csv", text, size), err);
}

static struct latency *read_text(const struct study *st, const char *text)
{
	struct latency *l;
	struct error err = {0};
	if (read_bytes(&l, st, text, strlen(text), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return l;
}

static double us(const struct study *st, const struct latency *l, const char *node, int width)
{
	return l->us[graph_find_node(study_graph(st), node)][width];
}

// Each way of writing gives CONV 1500 us and OTHER 250 us.
void test_latency__takes_what_profilers_write(void **state)
{
	static const struct {
		const char *text;
		int width;
	} way[] = {
	    {"name,latency_us\n" CONV ",1500\n" OTHER ",250", LATENCY_UNSAID},
	    {"\xef\xbb\xbfname;time (ms)\r\n" CONV ";1,5\r\n" OTHER ";0,25\r\n", LATENCY_UNSAID},
	    {"id\ttype\tname\tlatency[\xc2\xb5s]\n0\tConv\t" CONV "\t1.5e3\n3\tConv\t" OTHER "\t250", LATENCY_UNSAID},
	    {"\"node\",\"precision\",\"averageMs\"\n\"" CONV "\",INT8,1.5\n" OTHER ",uint8,.25\n", PREC_INT8},
	    {"bits,layer,duration ms\n16," CONV ",1.5\nfp16," OTHER ",7\n16 bit," OTHER ",0.25\n", PREC_INT16},
	    {"name,dur\n" CONV "_kernel_time,1000\n" CONV "_kernel_time,2000\n" OTHER "_kernel_time,250\n", LATENCY_UNSAID},
	    {"name,time_us\n_model_0_conv_Conv,1500\nMODEL.1.CONV.CONV,250\n", LATENCY_UNSAID},
	    {"name,time_us\nnowhere + " CONV " + " OTHER ",1500\n/model.1/conv/Conv_output_0,250\n", LATENCY_UNSAID},
	    {"I (10) dl::Model: model:m\nI (11) dl::Model: | name | module_type | latency |\nI (11) dl::Model: +---+---+---+\n"
	     "\x1b[0;32mI (12) dl::Model: | " CONV " | Conv | 1500us |\x1b[0m\nI (12) dl::Model: | " OTHER " | Conv | 250us |\n"
	     "I (12) dl::Model: | total | | 1750us |\n\n",
	        LATENCY_UNSAID},
	    {"[{\"cat\":\"Session\",\"dur\":9,\"name\":\"model_run\"},{\"cat\":\"Node\",\"dur\":1,\"name\":\"" CONV "_fence_before\"},"
	     "{\"cat\":\"Node\",\"dur\":1400,\"name\":\"" CONV "_kernel_time\",\"args\":{\"op_name\":\"Conv\",\"node_index\":\"7\"}},"
	     "{\"cat\":\"Node\",\"dur\":1600,\"name\":\"" CONV "_kernel_time\"},{\"cat\":\"Node\",\"dur\":250,\"name\":\"" OTHER
	     "_kernel_time\"}]",
	        LATENCY_UNSAID},
	    {"[{\"count\":100},{\"name\":\"" CONV "\",\"timeMs\":150,\"averageMs\":1.5,\"percentage\":80},"
	     "{\"name\":\"" OTHER "\",\"timeMs\":25,\"averageMs\":0.25,\"percentage\":20}]",
	        LATENCY_UNSAID},
	    {"[{\"cat\":\"Node\",\"dur\":1500,\"name\":\"" CONV "_output_0_nchwc_kernel_time\"},"
	     "{\"cat\":\"Node\",\"dur\":250,\"name\":\"" OTHER "/QuickGeluFusion/_token_12_kernel_time\"}]",
	        LATENCY_UNSAID},
	    {"name,note,us\n" CONV ",\"a \"\"b\"\", c\",1500\n" OTHER ",\"\",250\n", LATENCY_UNSAID},
	    {"layer,time ms,avg time ms\n" CONV ",150,1.5\n" OTHER ",25,.25\n", LATENCY_UNSAID},
	};
	struct study *st = open_study();
	for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
		struct latency *l = read_text(st, way[i].text);
		if (us(st, l, CONV, way[i].width) != 1500 || us(st, l, OTHER, way[i].width) != 250)
			fail_msg("way %zu: %g and %g us", i, us(st, l, CONV, way[i].width), us(st, l, OTHER, way[i].width));
		latency_drop(&l);
	}
	study_close(&st);
}

void test_latency__finds_nodes_by_their_place_in_the_file(void **state)
{
	struct study *st = open_study();
	struct latency *l = read_text(st, "index,latency_us\n0,7\n99999,1\n-1,1\n");
	assert_true(us(st, l, study_graph(st)->origin[0].name, LATENCY_UNSAID) == 7);
	assert_int_equal(l->taken, 1);
	assert_non_null(strstr(str_text(&l->notes), "board.csv:3: the model has no node of number 99999"));
	latency_drop(&l);
	study_close(&st);
}

// What is wrong with a line is said with its number, and the others are taken.
void test_latency__says_what_it_does_not_take(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
	    {CONV ",-1,8", "a time of \"-1\" cannot be"},
	    {CONV ",nan,8", "\"nan\" is no time"},
	    {CONV ",inf,8", "\"inf\" is no time"},
	    {CONV ",1e999,8", "\"1e999\" is no time"},
	    {CONV ",1e305 s,8", "a time of \"1e305 s\" cannot be"},
	    {CONV ",12 cycles,8", "\"12 cycles\" is no time"},
	    {CONV ",1", "only 2 cells"},
	    {"\"" CONV ",1,8", "a quote is not closed"},
	    {CONV ",1,int4", "\"int4\" is no precision"},
	    {"/model.0/conv/Con,1,8", "the model has no node /model.0/conv/Con; the nearest is " CONV},
	    {CONV ",,8", "\"\" is no time"},
	};
	struct study *st = open_study();
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[400], want[200];
		snprintf(text, sizeof text, "name,us,bits\n%s\n" OTHER ",3,8\n", bad[i].line);
		snprintf(want, sizeof want, "board.csv:2: %s", bad[i].why);
		struct latency *l = read_text(st, text);
		if (l->taken != 1 || l->n_notes != 1 || !strstr(str_text(&l->notes), want))
			fail_msg("%s: %s", bad[i].line, str_text(&l->notes));
		assert_true(isnan(us(st, l, CONV, PREC_INT8)));
		latency_drop(&l);
	}
	study_close(&st);
}

void test_latency__a_name_said_again_counts_as_a_mean_and_is_said(void **state)
{
	struct study *st = open_study();
	struct latency *l = read_text(st, "name,us,bits\n" CONV ",2,8\n" CONV ",6,16\n" CONV ",4,8\n" CONV ",6,8\n");
	assert_true(us(st, l, CONV, PREC_INT8) == 4 && us(st, l, CONV, PREC_INT16) == 6);
	assert_int_equal(l->n_notes, 1);
	assert_non_null(strstr(str_text(&l->notes), "board.csv:4: " CONV " at int8 is in line 2 too"));
	latency_drop(&l);
	study_close(&st);
}

void test_latency__refuses_what_is_no_table_of_the_model(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	    {"", "board.csv:1: nothing names a column"}, {"\n\n\r\n", "board.csv:1: nothing names a column"},
	    {"name,op\na,b\n", "board.csv:1: nothing names a column"},
	    {"name,start time us,time ratio %\na,1,2\n", "board.csv:1: nothing names a column"},
	    {"{\"a\": 1}", "board.csv: entry 1: nothing names a column"}, {"[{\"name\": \"x\", \"dur\": 1}", "board.csv:1: not valid JSON"},
	    {"[{\"name\": \"x\", \"dur\": 1}]", "board.csv: entry 1: the model has no node x"},
	    {"name,us\n", "there is no line below the heading"}, {"name,us\nnowhere,1\n", "board.csv:2: the model has no node nowhere"},
	    {"name,latency\n" CONV ",1\n", "board.csv:2: \"1\" of what? Name the column latency_us or latency_ms"},
	};
	struct study *st = open_study();
	struct latency *l;
	struct error err = {0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(read_bytes(&l, st, bad[i].text, strlen(bad[i].text), &err), STATUS_FORMAT);
		if (!strstr(err.text, bad[i].why) || strchr(err.text, '\n'))
			fail_msg("%zu: %s", i, err.text);
	}
	assert_int_equal(read_bytes(&l, st, "name,us\n\0x,1\n", 13, &err), STATUS_FORMAT);
	assert_int_equal(latency_read(&l, study_graph(st), "no/such.csv", &err), STATUS_IO);
	study_close(&st);
}

void test_latency__a_line_without_end_is_left_out(void **state)
{
	const size_t size = (size_t)8 << 20;
	struct study *st = open_study();
	struct str text = {0};
	char *row = xcalloc(size + 1, 1);
	memset(row, ',', size);
	str_add(&text, "name,us\n" CONV ",5\n");
	str_add(&text, row);
	str_add(&text, "\n" OTHER ",6\n");
	struct latency *l = read_text(st, str_text(&text));
	assert_int_equal(l->taken, 2);
	assert_non_null(strstr(str_text(&l->notes), "board.csv:3: a line of 8388608 bytes is not read"));
	latency_drop(&l);
	free(row);
	str_done(&text);
	study_close(&st);
}

// ---- what widths cost

static const struct node_cost *cost_of(const struct snapshot *s, const char *node)
{
	return &s->costs->node[graph_find_node(s->g, node)];
}

static struct snapshot *costed(struct study *st, const char *text)
{
	struct latency *l = read_text(st, text);
	study_set_latency(st, l);
	latency_drop(&l);
	return study_snapshot(st);
}

void test_latency__widths_that_were_not_measured_are_estimates(void **state)
{
	struct study *st = open_study();
	wait_for_run(st);
	struct snapshot *s = costed(st, "name,us,bits\n" CONV ",100,8\n" CONV ",300,16\n" OTHER ",10,\n/model.9/Concat,1000,8\n");
	const struct node_cost *known = cost_of(s, CONV), *like = cost_of(s, OTHER), *forgotten = cost_of(s, THIRD);
	assert_true(known->at[PREC_INT8] == 100 && known->at[PREC_INT16] == 300);
	assert_true(known->source[PREC_INT16] == COST_MEASURED && known->source[PREC_FLOAT] == COST_BY_WIDTH);
	assert_true(known->at[PREC_FLOAT] == 600); // twice its 16 bit
	assert_true(like->source[PREC_INT8] == COST_MEASURED && like->source[PREC_INT16] == COST_BY_OP && like->at[PREC_INT16] == 30);
	assert_int_equal(forgotten->source[PREC_INT8], COST_BY_MACS);
	double macs = (double)(s->row[graph_find_node(s->g, CONV)].macs + s->row[graph_find_node(s->g, OTHER)].macs);
	double own = (double)s->row[graph_find_node(s->g, THIRD)].macs;
	assert_true(fabs(forgotten->at[PREC_INT8] - 110 / macs * own) < 1e-9 && fabs(forgotten->at[PREC_INT16] - 330 / macs * own) < 1e-9);
	snapshot_drop(&s);
	s = costed(st, "name,us,bits\n" CONV ",100,8\n" CONV ",900,float\n" OTHER ",10,8\n" OTHER ",20,16\n");
	like = cost_of(s, OTHER); // what the operator takes goes before the nearest width
	assert_true(like->source[PREC_FLOAT] == COST_BY_OP && like->at[PREC_FLOAT] == 90);
	snapshot_drop(&s);
	s = costed(st, "name,us,bits\n" CONV ",100,8\n" CONV ",900,float\n");
	assert_true(cost_of(s, CONV)->at[PREC_INT16] == 200); // between two the narrower one's
	snapshot_drop(&s);
	study_close(&st);
}

// The file says one time of what the target leaves in float, at whatever width:
// that is its time, and no edit changes it.
void test_latency__what_stays_in_float_has_one_time(void **state)
{
	const char *model = support_data("models/yolov8n.onnx");
	if (!model)
		skip();
	struct study *st = open_for_test((struct study_options){.model = model, .method = CALIB_MINMAX, .threads = 2, .calibrate_only = true,
	    .data = {.random = 1, .samples = 1}});
	wait_for_run(st);
	struct snapshot *s = costed(st, "name,us,bits\n/model.22/dfl/Softmax,7,8\n");
	const struct node_cost *softmax = cost_of(s, "/model.22/dfl/Softmax");
	for (int p = 0; p < PREC_COUNT; p++)
		assert_true(softmax->at[p] == 7 && softmax->source[p] == COST_MEASURED);
	snapshot_drop(&s);
	study_close(&st);
}

void test_latency__sums_follow_the_widths_in_force(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	wait_for_run(st);
	struct snapshot *s = costed(st, "name,us,bits\n" CONV ",100,8\n" CONV ",300,16\n");
	const struct cost_sum narrow = costs_sum(s);
	assert_true(fabs(narrow.all - s->costs->narrow) < 1e-9 * narrow.all && narrow.from[COST_MEASURED] == 100);
	snapshot_drop(&s);
	assert_int_equal(study_command(st, "set " CONV " int16", &err), STATUS_OK);
	s = run_study(st);
	const struct cost_sum wide = costs_sum(s);
	assert_true(wide.at[PREC_INT16] == 300 && wide.from[COST_MEASURED] == 300);
	assert_true(fabs(wide.all - narrow.all - 200) < 1e-9 * wide.all);
	snapshot_drop(&s);
	study_set_latency(st, NULL);
	s = study_snapshot(st);
	assert_null(s->costs->latency);
	assert_int_equal(cost_of(s, CONV)->at[PREC_INT16], 2 * s->row[graph_find_node(s->g, CONV)].macs);
	snapshot_drop(&s);
	study_close(&st);
}

// What the board runs as one has its time under one name, here that of the Relu behind:
// the convolution is not guessed at beside it.
void test_latency__a_fused_group_is_counted_once(void **state)
{
	const char *model = support_data("models/resnet20_cifar10_folded.onnx");
	if (!model)
		skip();
	struct study *st = open_for_test((struct study_options){.model = model, .method = CALIB_MINMAX, .threads = 1, .calibrate_only = true,
	    .data = {.random = 1, .samples = 1}});
	wait_for_run(st);
	struct snapshot *s = costed(st, "name,us\nRelu_2,100\nConv_3,10\n");
	assert_int_equal(s->row[graph_find_node(s->g, "Relu_2")].fused_into, graph_find_node(s->g, "Conv_0"));
	assert_int_equal(cost_of(s, "Conv_0")->source[PREC_INT8], COST_NOTHING);
	assert_true(cost_of(s, "Relu_2")->at[PREC_INT8] == 100);
	assert_int_equal(cost_of(s, "Conv_6")->source[PREC_INT8], COST_BY_MACS);
	snapshot_drop(&s);
	study_close(&st);
}

void test_latency__a_session_remembers_the_file(void **state)
{
	struct error err = {0};
	struct session *se = NULL;
	const char *path = support_temp("latency.json");
	struct study *st = open_study();
	struct snapshot *s = costed(st, "name,us\n" CONV ",42\n");
	snapshot_drop(&s);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);
	st = open_study();
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_true(us(st, study_latency(st), CONV, LATENCY_UNSAID) == 42);
	study_close(&st);
	remove(support_temp("board.csv")); // a file that is gone is no reason not to open the session
	st = open_study();
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_null(study_latency(st));
	session_free(&se);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK); // nor to forget which it was
	study_close(&st);
	st = open_study();
	struct latency *l = read_text(st, "name,us\n" CONV ",43\n");
	latency_drop(&l); // it is there again
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_true(us(st, study_latency(st), CONV, LATENCY_UNSAID) == 43);
	session_free(&se);
	study_close(&st);
}
