// Inputs of qtui run that come together in one .npz file.
#include <stdio.h>
#include <zip.h>
#include "../../src/cli/verbs.h"
#include "engine/onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "support.h"

// An archive of vectors {value, value}, of this length each.
static const char *save_npz(const char *file, const char *const *name, const float *value, const int *length, int n)
{
	enum { LONGEST = 3 };
	const char *path = support_temp(file);
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	assert_non_null(z);
	for (int i = 0; i < n; i++) {
		struct error err;
		char own[64];
		float x[LONGEST] = {value[i], value[i], value[i]};
		struct tensor t = {.type = DT_F32, .shape = shape_of(2, (int64_t[]){1, length[i]}), .data = x};
		snprintf(own, sizeof own, "%s.npy", name[i]);
		const char *part = support_temp(own);
		assert_int_equal(array_write(&t, 0, part, &err), STATUS_OK);
		assert_true(zip_file_add(z, own, zip_source_file(z, part, 0, -1), 0) >= 0);
	}
	assert_int_equal(zip_close(z), 0);
	return path;
}

// a - b, of open sizes.
static const char *difference(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "a", FLOAT, DIMS(1, -1));
	case_input(c, "b", FLOAT, DIMS(1, -2));
	case_node(c, "Sub", "sub", "a b", "y");
	case_output(c, c->graph, "y");
	return case_save(c, "difference.onnx");
}

static int run(const char *model, const char *first, const char *second, const char *dir)
{
	struct options o = {.output = dir, .quiet = true};
	list_add(&o.positional, model);
	list_add(&o.input, first);
	if (second)
		list_add(&o.input, second);
	int code = verb_run(&o);
	options_done(&o);
	return code;
}

static void assert_difference(const char *dir, int n, float first)
{
	struct npy a;
	struct error err;
	char *path = file_join(dir, "y.npy");
	if (support_npy_read(&a, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(a.size, n * (int)sizeof(float));
	assert_float_equal(((const float *)a.data)[0], first, 0);
	npy_done(&a);
	free(path);
}

void test_run_npz__gives_the_inputs_whose_names_it_has(void **state)
{
	struct onnx_case c;
	char dir[256], all[256], b[256], named[300];
	const char *model = difference(&c);
	snprintf(dir, sizeof dir, "%s", support_temp("bundle"));
	snprintf(all, sizeof all, "%s", save_npz("all.npz", (const char *const[]){"label", "b", "a"}, (float[]){9, 5, 7}, (int[]){1, 3, 3}, 3));
	snprintf(b, sizeof b, "%s", save_npz("b.npz", (const char *const[]){"b"}, (float[]){1}, (int[]){3}, 1));
	snprintf(named, sizeof named, "a=%s", all);
	assert_int_equal(run(model, all, NULL, dir), EXIT_DONE);
	assert_difference(dir, 3, 2);
	assert_int_equal(run(model, named, b, dir), EXIT_DONE); // a name takes that array alone
	assert_difference(dir, 3, 6);
	assert_int_equal(run(model, all, b, dir), EXIT_USAGE); // b is given twice
	case_done(&c);
}

void test_run_npz__one_array_of_another_name_is_the_input_in_its_place(void **state)
{
	struct onnx_case c;
	char dir[256], x[256], y[256];
	const char *model = difference(&c);
	snprintf(dir, sizeof dir, "%s", support_temp("places"));
	snprintf(x, sizeof x, "%s", save_npz("x.npz", (const char *const[]){"arr_0"}, (float[]){7}, (int[]){2}, 1));
	snprintf(y, sizeof y, "%s", save_npz("y.npz", (const char *const[]){"arr_0"}, (float[]){3}, (int[]){2}, 1));
	assert_int_equal(run(model, x, y, dir), EXIT_DONE);
	assert_difference(dir, 2, 4);
	case_done(&c);
}

void test_run_npz__a_run_that_fails_leaves_no_directory(void **state)
{
	struct onnx_case c;
	char dir[256], b[256];
	const char *model = difference(&c);
	snprintf(dir, sizeof dir, "%s", support_temp("failed"));
	snprintf(b, sizeof b, "%s", save_npz("only_b.npz", (const char *const[]){"b"}, (float[]){1}, (int[]){3}, 1));
	assert_int_equal(run(model, b, NULL, dir), EXIT_USAGE);
	assert_false(file_exists(dir));
	struct error err;
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK); // one that was there stays
	assert_int_equal(run(model, b, NULL, dir), EXIT_USAGE);
	assert_true(file_exists(dir));
	case_done(&c);
}
