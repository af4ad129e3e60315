// --shape: sizes of inputs that the model leaves open, through the options, the verbs and a session.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/cli/shapes.h"
#include "../../src/cli/verbs.h"
#include "engine/onnx_case.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "support.h"

static enum status read_shapes(struct options *o, const char *const *text, int n, struct error *err)
{
	*o = (struct options){0};
	*err = (struct error){0};
	for (int i = 0; i < n; i++)
		list_add(&o->shape, text[i]);
	return shapes_read(o, err);
}

void test_shapes__are_read(void **state)
{
	struct options o;
	struct error err;
	assert_int_equal(read_shapes(&o, (const char *const[]){"1x3x320x640", "a\\=b=0x7"}, 2, &err), STATUS_OK);
	const struct shape x = shape_of(4, (int64_t[]){1, 3, 320, 640}), past = shape_of(2, (int64_t[]){0, 7});
	assert_int_equal(o.study.n_shapes, 2);
	assert_null(o.study.shape[0].name);
	assert_true(shape_equal(&o.study.shape[0].shape, &x));
	assert_string_equal(o.study.shape[1].name, "a=b");
	assert_true(shape_equal(&o.study.shape[1].shape, &past));
	options_done(&o);
	static const char *const bad[] = {"x=", "1,3,32,32", "x:1x3x32x32", "1x3xx32", "1x-1", "1x3x", "1x1x1x1x1x1x1x1x1", "99999999999"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(read_shapes(&o, &bad[i], 1, &err), STATUS_USAGE);
		options_done(&o);
	}
}

// x of any size [N, 3, H, W] and a vector of any length.
static const char *open_sizes(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(-1, 3, -2, -3));
	case_input(c, "v", FLOAT, DIMS(1, -4));
	case_floats(c, "w", DIMS(1, 3, 1, 1), (float[]){1, 2, 3});
	case_node(c, "Conv", "conv", "x w", "y");
	case_node(c, "Relu", "relu", "v", "z");
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "z");
	return case_save(c, "open.onnx");
}

static int analyze(const char *model, const char *session, int n, const char *const *shape)
{
	struct error err;
	struct options o = {.session = session, .random = model != NULL, .may_start_session = true, .quiet = true};
	if (model)
		list_add(&o.positional, model);
	for (int i = 0; i < n; i++)
		list_add(&o.shape, shape[i]);
	int code = options_resolve(&o, VERB_ANALYZE, &err) == STATUS_OK ? verb_analyze(&o) : EXIT_USAGE;
	options_done(&o);
	return code;
}

static void assert_kept(const char *session, const char *x, const char *v)
{
	struct bytes b = {0};
	struct error err;
	assert_int_equal(file_read_text(&b, session, 1 << 20, &err), STATUS_OK);
	if (!strstr((const char *)b.data, x) || !strstr((const char *)b.data, v))
		fail_msg("%s and %s are not in %s", x, v, (const char *)b.data);
	bytes_done(&b);
}

// One that is given beside a session takes the place of the session's, and the other inputs keep theirs.
void test_shapes__are_saved_with_a_session(void **state)
{
	struct onnx_case c;
	char model[256], session[256];
	snprintf(model, sizeof model, "%s", open_sizes(&c));
	case_done(&c);
	snprintf(session, sizeof session, "%s", support_temp("shapes.json"));
	assert_int_equal(analyze(model, session, 2, (const char *const[]){"1x3x24x16", "v=1x5"}), EXIT_DONE);
	assert_kept(session, "\"x\":\t[1, 3, 24, 16]", "\"v\":\t[1, 5]");
	assert_int_equal(analyze(NULL, session, 1, (const char *const[]){"x=1x3x8x40"}), EXIT_DONE);
	assert_kept(session, "\"x\":\t[1, 3, 8, 40]", "\"v\":\t[1, 5]");
}

void test_shapes__what_no_input_can_have_is_refused(void **state)
{
	struct onnx_case c;
	char model[256];
	snprintf(model, sizeof model, "%s", open_sizes(&c));
	case_done(&c);
	assert_int_equal(analyze(model, NULL, 1, (const char *const[]){"nosuch=1x3x8x8"}), EXIT_USAGE);
	assert_int_equal(analyze(model, NULL, 1, (const char *const[]){"x=1x4x8x8"}), EXIT_FAILED); // the file has 3
	assert_int_equal(analyze(model, NULL, 1, (const char *const[]){"x=3x8x8"}), EXIT_DONE);     // the batch may be left out
}

// Of one dimension there is no batch that may be left out.
void test_shapes__of_a_vector(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "v", FLOAT, DIMS(-1));
	case_node(&c, "Sigmoid", "sigmoid", "v", "y");
	case_output(&c, c.graph, "y");
	const char *const five[] = {"5"}, *const named[] = {"v=5"};
	const char *model = case_finish(&c, "vector.onnx");
	assert_int_equal(analyze(model, NULL, 1, five), EXIT_DONE);
	assert_int_equal(analyze(model, NULL, 1, named), EXIT_DONE);
}

// Raw data say nothing of their shape; an array says its own, which is not turned into another.
void test_shapes__of_raw_data(void **state)
{
	struct onnx_case c;
	struct error err;
	char model[256], dir[256], raw[256], given[2][300];
	float x[3 * 2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct npy y;
	snprintf(model, sizeof model, "%s", open_sizes(&c));
	case_done(&c);
	snprintf(dir, sizeof dir, "%s", support_temp("raw"));
	snprintf(raw, sizeof raw, "%s", support_temp_file("x.bin", x, sizeof x));
	const struct tensor t = {.type = DT_F32, .shape = shape_of(2, (int64_t[]){1, 1}), .data = x};
	const char *v = support_temp("v.npy");
	assert_int_equal(array_write(&t, 0, v, &err), STATUS_OK);
	snprintf(given[0], sizeof given[0], "x=%s", raw);
	snprintf(given[1], sizeof given[1], "v=%s", v);
	for (int wrong = 0; wrong < 2; wrong++) {
		struct options o = {.output = dir, .quiet = true};
		list_add(&o.positional, model);
		list_add(&o.input, given[0]);
		list_add(&o.input, given[1]);
		list_add(&o.shape, "x=1x3x2x4");
		if (wrong)
			list_add(&o.shape, "v=1x2");
		assert_int_equal(options_resolve(&o, VERB_RUN, &err), STATUS_OK);
		assert_int_equal(verb_run(&o), wrong ? EXIT_USAGE : EXIT_DONE);
		options_done(&o);
	}
	char *path = file_join(dir, "y.npy");
	assert_int_equal(support_npy_read(&y, path, &err), STATUS_OK);
	assert_int_equal(y.dim[3], 4);
	npy_done(&y);
	free(path);
}
