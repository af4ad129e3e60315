// Loop beyond what ONNX's own cases show: no iteration, no end, what it captures and collects,
// and the executor that runs it.
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "onnx_case.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/op.h"
#include "qtui/engine/run.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define BOOL ONNX__TENSOR_PROTO__DATA_TYPE__BOOL
#define INT64 ONNX__TENSOR_PROTO__DATA_TYPE__INT64

// s = s + h (h from outside) as long as the condition holds, and every s is collected.
static void loop_of(struct onnx_case *c, const char *inputs, const char *condition_out, int64_t length)
{
	Onnx__GraphProto *body;
	Onnx__NodeProto *n;
	case_init(c);
	body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(c, "condition", BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(c, "s", FLOAT, 1, &length);
	case_node_in(c, body, "Add", "sum", "s h", "t");
	case_node_in(c, body, "Neg", "negative", "t", "u");
	case_node_in(c, body, "Identity", "same", "condition", "again");
	case_node_in(c, body, "Not", "other", "condition", "once");
	case_output(c, body, condition_out);
	case_output(c, body, "t");
	case_output(c, body, "u");
	case_input(c, "x", FLOAT, 1, &length);
	case_input(c, "trips", INT64, 0, NULL);
	case_node(c, "Relu", "before", "x", "h");
	n = case_node(c, "Loop", "loop", inputs, "y all");
	case_attr_graph(c, n, "body", body);
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "all");
}

static void loop_case(struct onnx_case *c, const char *inputs, const char *condition_out)
{
	loop_of(c, inputs, condition_out, 4);
}

static enum status run(const struct graph *g, int64_t trips, struct tensor out[2], struct error *err)
{
	static float x[4] = {1, 2, 3, 4}; // a loop of no iterations gives its input itself
	struct tensor in[2] = {{.type = DT_F32, .shape = g->value[g->input[0]].shape, .data = x}, {.type = DT_I64, .data = &trips}};
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	enum status s = engine_infer(e, NULL, &(struct inference){.in = in, .want = g->output, .n_want = g->n_outputs, .out = out}, err);
	engine_free(&e);
	return s;
}

void test_loop__carries_and_collects(void **state)
{
	struct onnx_case c;
	struct tensor out[2];
	struct error err = {0};
	loop_case(&c, "trips - x", "again");
	case_load(&c);
	for (int times = 0; times < 2; times++) {
		assert_int_equal(run(c.loaded, 3, out, &err), STATUS_OK);
		for (int i = 0; i < 4; i++)
			assert_true(((float *)out[0].data)[i] == 4.0f * (float)(i + 1));
		assert_int_equal(out[1].shape.rank, 2);
		assert_int_equal(out[1].shape.dim[0], 3);
		for (int t = 0; t < 3; t++)
			assert_true(((float *)out[1].data)[4 * t + 3] == -4.0f * (float)(t + 2));
		tensor_drop(&out[0]);
		tensor_drop(&out[1]);
		case_rewrite(&c);
	}
	case_done(&c);
}

void test_loop__without_an_iteration_gives_what_it_was_given(void **state)
{
	struct onnx_case c;
	struct tensor out[2];
	struct error err = {0};
	loop_case(&c, "trips - x", "again");
	case_load(&c);
	assert_int_equal(run(c.loaded, 0, out, &err), STATUS_OK);
	assert_true(((float *)out[0].data)[2] == 3.0f);
	assert_int_equal(tensor_count(&out[1]), 0);
	tensor_drop(&out[0]);
	tensor_drop(&out[1]);
	case_done(&c);
}

static const struct value *output(const struct onnx_case *c, int i)
{
	return &c->loaded->value[c->loaded->output[i]];
}

// What it carries in one shape has that shape behind it; what it collects as often as it runs.
void test_loop__shapes_that_every_iteration_keeps(void **state)
{
	struct onnx_case c;
	loop_case(&c, "trips - x", "again");
	case_load(&c);
	assert_true(output(&c, 0)->type == DT_F32 && output(&c, 0)->shape.rank == 1 && output(&c, 0)->shape.dim[0] == 4);
	assert_int_equal(output(&c, 1)->shape.rank, -1); // how often is told when it runs
	case_done(&c);

	loop_case(&c, "three - x", "again");
	case_ints(&c, "three", 1, (const int64_t[]){3});
	case_load(&c);
	assert_true(output(&c, 1)->shape.rank == 2 && output(&c, 1)->shape.dim[0] == 3 && output(&c, 1)->shape.dim[1] == 4);
	case_done(&c);
}

// How often it runs is known where the number is, and nothing but the number ends it.
void test_loop__how_often_it_runs_is_known(void **state)
{
	static const struct {
		int64_t trips;
		const char *inputs, *condition_out;
		int64_t known; // -1: not
	} row[] = {
	    {3, "number - x", "condition", 3},
	    {-2, "number - x", "again", 0},
	    {1 << 21, "number - x", "again", -1}, // too often to be run at all
	    {3, "number - x", "once", -1},
	    {3, "number flag x", "again", -1},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct onnx_case c;
		loop_case(&c, row[i].inputs, row[i].condition_out);
		case_input(&c, "flag", BOOL, 0, NULL);
		case_ints(&c, "number", 1, &row[i].trips);
		case_load(&c);
		const struct shape *all = &output(&c, 1)->shape;
		if (all->rank != (row[i].known < 0 ? -1 : 2) || (row[i].known >= 0 && all->dim[0] != row[i].known))
			fail_msg("row %d: rank %d of %d", (int)i, all->rank, all->rank > 0 ? (int)all->dim[0] : 0);
		case_done(&c);
	}
}

// The columns of x from the last one on, the rows of w from the first: s = s + column, and the products of s
// and the rows are the columns of the output, which it writes from the last one on, too.
static void scan_case(struct onnx_case *c, int64_t rows)
{
	Onnx__GraphProto *body;
	case_init(c);
	body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "s", FLOAT, DIMS(2));
	body->input[body->n_input++] = case_value(c, "column", FLOAT, DIMS(2));
	body->input[body->n_input++] = case_value(c, "row", FLOAT, DIMS(2));
	case_node_in(c, body, "Add", "sum", "s column", "t");
	case_node_in(c, body, "Mul", "product", "t row", "u");
	case_output(c, body, "t");
	case_output(c, body, "u");
	case_input(c, "s0", FLOAT, DIMS(2));
	case_input(c, "x", FLOAT, DIMS(2, 3));
	case_input(c, "w", FLOAT, DIMS(rows, 2));
	Onnx__NodeProto *n = case_node(c, "Scan", "scan", "s0 x w", "y all");
	case_attr_graph(c, n, "body", body);
	case_attr_int(c, n, "num_scan_inputs", 2);
	case_attr_ints(c, n, "scan_input_axes", 2, (const int64_t[]){1, 0});
	case_attr_ints(c, n, "scan_input_directions", 2, (const int64_t[]){1, 0});
	case_attr_ints(c, n, "scan_output_axes", 1, (const int64_t[]){1});
	case_attr_ints(c, n, "scan_output_directions", 1, (const int64_t[]){1});
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "all");
	case_load(c);
}

static enum status run_scan(const struct onnx_case *c, struct tensor out[2], struct error *err)
{
	static const float s[2] = {1, -1}, x[6] = {1, 2, 3, 10, 20, 30}, w[6] = {2, 3, 5, 7, 11, 13};
	const struct graph *g = c->loaded;
	struct tensor in[3] = {{.data = (void *)s}, {.data = (void *)x}, {.data = (void *)w}};
	for (int i = 0; i < 3; i++) {
		in[i].type = DT_F32;
		in[i].shape = g->value[g->input[i]].shape;
	}
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	enum status st = engine_infer(e, NULL, &(struct inference){.in = in, .want = g->output, .n_want = 2, .out = out}, err);
	engine_free(&e);
	return st;
}

void test_loop__scan_along_any_axis_from_either_end(void **state)
{
	static const float y[2] = {7, 59}, all[6] = {7 * 11, 6 * 5, 4 * 2, 59 * 13, 49 * 7, 29 * 3};
	struct onnx_case c;
	struct tensor out[2];
	struct error err = {0};
	scan_case(&c, 3);
	assert_true(output(&c, 1)->shape.rank == 2 && output(&c, 1)->shape.dim[1] == 3);
	assert_int_equal(run_scan(&c, out, &err), STATUS_OK);
	assert_memory_equal(out[0].data, y, sizeof y);
	assert_memory_equal(out[1].data, all, sizeof all);
	tensor_drop(&out[0]);
	tensor_drop(&out[1]);
	case_done(&c);
	scan_case(&c, 2);
	assert_int_equal(run_scan(&c, out, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "differ in length"));
	case_done(&c);
}

// Every node takes some of the work that is left, however small it is; a product takes all of its multiplications.
void test_loop__work_is_bounded(void **state)
{
	struct onnx_case c;
	struct error err = {0};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1));
	case_node(&c, "Neg", "first", "x", "a");
	case_node(&c, "Abs", "second", "a", "b");
	case_node(&c, "Neg", "third", "b", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	for (int64_t nodes = 2; nodes <= 4; nodes++) {
		int64_t work = nodes * (EVAL_NODE_WORK + 1);
		float x = 3;
		const struct tensor in = {.type = DT_F32, .shape = shape_of(1, (const int64_t[]){1}), .data = &x}, *list = &in;
		struct tensor y = {0};
		eval_limit((struct eval_limits){.work = &work});
		assert_int_equal(graph_eval(c.loaded, &list, &y, 1, &err), nodes < 3 ? STATUS_UNSUPPORTED : STATUS_OK);
		eval_limit((struct eval_limits){0});
		assert_true(nodes < 3 ? work < 0 : work == (nodes - 3) * (EVAL_NODE_WORK + 1));
		tensor_drop(&y);
	}
	case_done(&c);
	const struct node product = {.op = op_find("", "MatMul", 13), .n_in = 2, .n_out = 1},
	                  sum = {.op = op_find("", "Add", 13), .n_in = 2, .n_out = 1};
	const struct tensor a = {.shape = shape_of(2, (const int64_t[]){1 << 30, 4})}, *in[2] = {&a, &a},
	                    y = {.shape = shape_of(2, (const int64_t[]){1 << 30, 8})};
	assert_true(eval_work(&product, in, &y) == INT64_MAX); // more than 2^64
	assert_true(eval_work(&sum, in, &y) == (int64_t)8 << 30);
}

// Of two states one grows: its shape is nobody's before it runs, the other keeps its own.
static void growing_case(struct onnx_case *c, const char *inputs)
{
	Onnx__GraphProto *body;
	case_init(c);
	body = case_graph(c);
	body->input[body->n_input++] = case_value(c, "i", INT64, 0, NULL);
	body->input[body->n_input++] = case_value(c, "condition", BOOL, 0, NULL);
	body->input[body->n_input++] = case_value(c, "s", FLOAT, 1, (const int64_t[]){4});
	body->input[body->n_input++] = case_value(c, "g", FLOAT, 1, (const int64_t[]){4});
	case_node_in(c, body, "Neg", "negative", "s", "t");
	case_attr_int(c, case_node_in(c, body, "Concat", "longer", "g s", "u"), "axis", 0);
	case_output(c, body, "condition");
	case_output(c, body, "t");
	case_output(c, body, "u");
	case_input(c, "x", FLOAT, 1, (const int64_t[]){4});
	case_input(c, "trips", INT64, 0, NULL);
	case_attr_graph(c, case_node(c, "Loop", "loop", inputs, "y z"), "body", body);
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "z");
}

void test_loop__a_shape_that_grows_is_not_known(void **state)
{
	struct onnx_case c;
	struct error err = {0};
	struct tensor out[2];
	growing_case(&c, "trips - x x");
	case_load(&c);
	assert_true(output(&c, 0)->shape.rank == 1 && output(&c, 0)->shape.dim[0] == 4);
	assert_int_equal(output(&c, 1)->shape.rank, -1);
	assert_int_equal(run(c.loaded, 2, out, &err), STATUS_OK);
	assert_int_equal(out[1].shape.dim[0], 12);
	assert_true(((float *)out[0].data)[1] == 2 && ((float *)out[1].data)[9] == -2);
	tensor_drop(&out[0]);
	tensor_drop(&out[1]);
	case_done(&c);
}

void test_loop__without_an_end_is_an_error(void **state)
{
	struct onnx_case c;
	struct tensor out[2];
	struct error err = {0};
	loop_case(&c, "- - x", "again");
	case_load(&c);
	assert_int_equal(run(c.loaded, 0, out, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "node loop (Loop)"));
	assert_non_null(strstr(err.text, "runs more than"));
	case_done(&c);
}

// A gigabyte in pieces of one MiB, with room for a quarter of it:
// no piece alone would be refused before memory is full.
static bool refuses_in_time(const struct onnx_case *c)
{
	enum { LENGTH = 1 << 18 };
	int64_t trips = 1000;
	float *x = calloc(LENGTH, sizeof *x);
	struct tensor in[2] = {{.type = DT_F32, .shape = {1, {LENGTH}}, .data = x}, {.type = DT_I64, .data = &trips}}, out[2];
	struct engine *e = engine_new(c->loaded, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	struct rlimit most = {(rlim_t)1 << 40, (rlim_t)1 << 40};
	struct error err = {0};
	setrlimit(RLIMIT_AS, &most);
	most.rlim_cur = most.rlim_cur - mem_address_space_left() + ((rlim_t)256 << 20);
	setrlimit(RLIMIT_AS, &most);
	return engine_infer(e, NULL, &(struct inference){.in = in, .want = c->loaded->output, .n_want = 2, .out = out}, &err) == STATUS_NOMEM &&
	    strstr(err.text, "node loop (Loop): no memory for what it collects: 128 MiB");
}

void test_loop__what_it_collects_is_refused_before_memory_is_full(void **state)
{
	struct onnx_case c;
	pid_t child;
	int status = 1;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); // their memory lies where no limit allows it
#endif
	loop_of(&c, "trips - x", "again", 1 << 18);
	case_load(&c);
	child = fork();
	if (!child)
		_exit(refuses_in_time(&c) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	case_done(&c);
}

static void nothing(void *arg, const struct sighting *s)
{
	(void)arg, (void)s;
}

static void *set_soon(void *flag)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

// A million iterations are one step.
void test_loop__is_cancelled_between_iterations(void **state)
{
	struct onnx_case c;
	struct dataset *d = NULL;
	struct error err = {0};
	atomic_bool cancel = false;
	bool want[16];
	pthread_t thread;
	struct pass p = {.want = {[SIM_FLOAT] = want}, .last = 1, .visit = nothing, .cancel = &cancel};
	loop_case(&c, "- - x", "again");
	case_load(&c);
	memset(want, true, sizeof want);
	assert_int_equal(dataset_open(&d, NULL, c.loaded, &(struct dataset_options){.random = 1, .samples = 1}, &err), STATUS_OK);
	struct engine *e = engine_new(c.loaded, d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	assert_int_equal(pthread_create(&thread, NULL, set_soon, &cancel), 0);
	assert_int_equal(engine_pass(e, &p, &err), STATUS_CANCELLED);
	pthread_join(thread, NULL);
	engine_free(&e);
	dataset_free(&d);
	case_done(&c);
}

// Where all its inputs are constant it is run for its shapes when the model opens, unless that would take long.
void test_loop__that_takes_long_waits_until_the_network_runs(void **state)
{
	const int64_t trips[] = {10, 40000};
	struct onnx_case c;
	for (int i = 0; i < 2; i++) {
		growing_case(&c, "constant_trips - start start");
		case_ints(&c, "constant_trips", 1, &trips[i]);
		case_floats(&c, "start", 1, (const int64_t[]){4}, (const float[]){1, 2, 3, 4});
		case_load(&c);
		if (i == 0)
			assert_int_equal(output(&c, 1)->shape.dim[0], 44);
		else
			assert_int_equal(output(&c, 1)->shape.rank, -1);
		assert_int_equal(output(&c, 0)->shape.dim[0], 4);
		case_done(&c);
	}
}

void test_loop__a_body_that_does_not_fit_is_refused(void **state)
{
	struct onnx_case c;
	struct tensor out[2];
	struct error err = {0};
	loop_case(&c, "trips -", "again");
	case_load(&c);
	assert_int_equal(run(c.loaded, 1, out, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "do not fit"));
	case_done(&c);
}
