// A stack of samples as an input of qtui run: what is computed of each is what the sample alone gives.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/cli/stack.h"
#include "../../src/cli/verbs.h"
#include "engine/onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "support.h"

enum { N = 3, LENGTH = 4 };
#define DIMENSIONS(...) ((int64_t[]){__VA_ARGS__})

static const char *save(const char *file, int rank, const int64_t *dim, float *x)
{
	struct error err;
	const struct tensor t = {.type = DT_F32, .shape = shape_of(rank, dim), .data = x};
	const char *path = support_temp(file);
	if (array_write(&t, 0, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return path;
}

// y = x - b of one sample each, and z, the sum of y, of no dimension.
static void make_model(char *model, size_t size)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, LENGTH));
	case_input(&c, "b", FLOAT, DIMS(1, LENGTH));
	case_node(&c, "Sub", "sub", "x b", "y");
	case_attr_int(&c, case_node(&c, "ReduceSum", "sum", "y", "z"), "keepdims", 0);
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	snprintf(model, size, "%s", case_save(&c, "stack.onnx"));
	case_done(&c);
}

static int run(const char *model, bool quantized, const char *x, const char *b, const char *dir)
{
	char given[2][300];
	struct options o = {.output = dir, .quiet = true, .random = quantized ? 2 : 0, .study.data.random = quantized ? 2 : 0, .study.method = -1};
	snprintf(given[0], sizeof given[0], "x=%s", x);
	snprintf(given[1], sizeof given[1], "b=%s", b);
	list_add(&o.positional, model);
	list_add(&o.input, given[0]);
	list_add(&o.input, given[1]);
	int code = verb_run(&o);
	options_done(&o);
	return code;
}

static void read_result(struct npy *a, const char *dir, const char *file)
{
	struct error err;
	char *path = file_join(dir, file);
	if (support_npy_read(a, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(path);
}

static void assert_stacked(const char *dir, const char *file, const char *const *single, int rank, size_t each)
{
	struct npy all, one;
	read_result(&all, dir, file);
	assert_int_equal(all.rank, rank);
	assert_int_equal(all.dim[0], N);
	assert_int_equal(all.size, N * each);
	for (int k = 0; k < N; k++) {
		read_result(&one, single[k], file);
		assert_memory_equal(one.data, (const char *)all.data + (size_t)k * each, each);
		npy_done(&one);
	}
	npy_done(&all);
}

// In front as a dimension of its own, or in place of the batch; b is no stack, and goes with every sample.
void test_run_stack__each_sample_is_as_alone(void **state)
{
	float x[N][LENGTH] = {{0.1f, 0.2f, 0.3f, 0.9f}, {0.5f, 0.5f, 0.1f, 0}, {1, 0.7f, 0.3f, 0.25f}}, b[LENGTH] = {0.5f, 0.25f, 0, 0.1f};
	char model[256], path[3][256], of_b[256], name[2][32], dir[256], single[N][256];
	const char *alone[N];
	make_model(model, sizeof model);
	snprintf(of_b, sizeof of_b, "%s", save("b.npy", 2, DIMENSIONS(1, LENGTH), b));
	snprintf(path[1], sizeof path[1], "%s", save("batch.npy", 2, DIMENSIONS(N, LENGTH), &x[0][0]));
	snprintf(path[2], sizeof path[2], "%s", save("front.npy", 3, DIMENSIONS(N, 1, LENGTH), &x[0][0]));
	for (int quantized = 0; quantized < 2; quantized++) {
		for (int k = 0; k < N; k++) {
			snprintf(name[0], sizeof name[0], "alone_%d_%d", quantized, k);
			snprintf(single[k], sizeof single[k], "%s", support_temp(name[0]));
			alone[k] = single[k];
			snprintf(name[1], sizeof name[1], "one_%d_%d.npy", quantized, k);
			snprintf(path[0], sizeof path[0], "%s", save(name[1], 2, DIMENSIONS(1, LENGTH), x[k]));
			assert_int_equal(run(model, quantized, path[0], of_b, alone[k]), EXIT_DONE);
		}
		for (int i = 1; i < 3; i++) {
			snprintf(name[0], sizeof name[0], "stack_%d_%d", quantized, i);
			snprintf(dir, sizeof dir, "%s", support_temp(name[0]));
			assert_int_equal(run(model, quantized, path[i], of_b, dir), EXIT_DONE);
			assert_stacked(dir, "y.npy", alone, 2, sizeof x[0]);
			assert_stacked(dir, "z.npy", alone, 1, sizeof(float));
		}
	}
}

void test_run_stack__of_other_heights_are_refused(void **state)
{
	float x[N * LENGTH] = {0};
	char model[256], three[256], two[256];
	make_model(model, sizeof model);
	snprintf(three, sizeof three, "%s", save("three.npy", 2, DIMENSIONS(N, LENGTH), x));
	snprintf(two, sizeof two, "%s", save("two.npy", 2, DIMENSIONS(N - 1, LENGTH), x));
	assert_int_equal(run(model, false, three, two, support_temp("uneven")), EXIT_FAILED);
	assert_int_equal(run(model, false, three, save("wide.npy", 2, DIMENSIONS(N, LENGTH - 1), x), support_temp("wide")), EXIT_FAILED);
}

// What a detector finds may be of another number in every picture.
void test_run_stack__results_of_other_shapes_are_refused(void **state)
{
	struct error err;
	float x[2 * LENGTH] = {0};
	const struct tensor first = {.type = DT_F32, .shape = shape_of(2, DIMENSIONS(1, LENGTH)), .data = x};
	const struct tensor second = {.type = DT_F32, .shape = shape_of(2, DIMENSIONS(2, LENGTH)), .data = x};
	struct tensor stack = {0};
	assert_int_equal(stack_put(&stack, &first, 0, 2, "boxes", &err), STATUS_OK);
	assert_int_equal(stack_put(&stack, &second, 1, 2, "boxes", &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "boxes"));
	tensor_drop(&stack);
}

// As many dimensions as a tensor can have, and one more than that.
void test_run_stack__has_no_more_dimensions_than_a_tensor(void **state)
{
	for (int rank = SHAPE_MAX_RANK - 1; rank <= SHAPE_MAX_RANK; rank++) {
		struct error err = {0};
		struct tensor one = {.type = DT_F32, .shape = {.rank = rank}}, stack = {0};
		float x[1 << SHAPE_MAX_RANK] = {1};
		one.data = x;
		for (int i = 0; i < rank; i++)
			one.shape.dim[i] = 2;
		bool fits = rank < SHAPE_MAX_RANK;
		assert_int_equal(stack_put(&stack, &one, 0, 3, "y", &err), fits ? STATUS_OK : STATUS_UNSUPPORTED);
		assert_int_equal(stack.data != NULL, fits);
		assert_true(!fits || (stack.shape.rank == SHAPE_MAX_RANK && stack.shape.dim[0] == 3 && stack.shape.dim[1] == 2));
		tensor_drop(&stack);
	}
}
