// A session that is opened where its samples have changed.
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "studies.h"
#include "../engine/onnx_case.h"

static void copy_picture(const char *name, const char *to)
{
	struct error err = {0};
	struct bytes b = {0};
	char path[256];
	snprintf(path, sizeof path, "examples/calib/%s", name);
	if (file_read(&b, path, 1 << 20, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	support_temp_file(to, b.data, b.size);
	bytes_done(&b);
}

static struct study *open_samples(const char *dir, struct dataset_options data)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = dir, .target = "esp32p4", .method = CALIB_MINMAX,
	    .threads = 1, .data = data, .calibrate_only = true, .task = {.none = true}});
}

static int warnings_of(const char *session, const char *dir, struct dataset_options data)
{
	struct error err = {0};
	struct session *se = NULL;
	struct study *st = open_samples(dir, data);
	int before = log_warnings();
	if (session_read(&se, session, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	session_check_samples(se, st);
	session_free(&se);
	study_close(&st);
	return log_warnings() - before;
}

void test_session_samples__others_than_it_was_written_for_are_said(void **state)
{
	struct error err = {0};
	char dir[256], session[256];
	const struct dataset_options as_it_was = {.samples = 2};
	snprintf(dir, sizeof dir, "%s", support_temp("samples"));
	snprintf(session, sizeof session, "%s", support_temp("samples.json"));
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	copy_picture("000.jpg", "samples/a.jpg");
	copy_picture("001.jpg", "samples/b.jpg");
	struct study *st = open_samples(dir, as_it_was);
	assert_int_equal(session_write(st, session, NULL, &err), STATUS_OK);
	study_close(&st);

	assert_int_equal(warnings_of(session, dir, as_it_was), 0);
	copy_picture("002.jpg", "samples/b.jpg");
	assert_int_equal(warnings_of(session, dir, as_it_was), 1);
	// They differ because somebody says so.
	assert_int_equal(warnings_of(session, dir, (struct dataset_options){.samples = 1}), 0);
	assert_int_equal(warnings_of(session, dir, (struct dataset_options){.samples = 2, .pre = {.bgr = true, .color_set = true}}), 0);
	copy_picture("001.jpg", "samples/b.jpg");
	assert_int_equal(warnings_of(session, dir, as_it_was), 0);
}

static struct study *open_sized(const char *model, const struct session *from, const struct onnx_input_shape *shape)
{
	struct study_options o = {.model = model, .calib = "examples/calib", .threads = 1, .method = -1, .data = {.samples = 1},
	    .calibrate_only = true, .task = {.none = true}, .shape = shape, .n_shapes = shape != NULL};
	if (from)
		session_options(from, &o);
	return open_for_test(o);
}

// The pictures of a network of any size: of which it was is not in the model.
void test_session_samples__the_size_that_was_given_is_kept(void **state)
{
	struct onnx_case c;
	struct error err = {0};
	struct session *se = NULL;
	char session[256], model[256];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(-1, 3, -2, -3));
	case_floats(&c, "w", DIMS(1, 3, 1, 1), (float[]){1, 2, 3});
	case_node(&c, "Conv", "conv", "x w", "y");
	case_output(&c, c.graph, "y");
	snprintf(model, sizeof model, "%s", case_save(&c, "sized.onnx"));
	case_done(&c);
	snprintf(session, sizeof session, "%s", support_temp("sized.json"));
	const struct onnx_input_shape given = {.place = 1, .shape = shape_of(4, (int64_t[]){1, 3, 48, 80}), .file = "given"};
	struct study *st = open_sized(model, NULL, &given);
	assert_int_equal(study_graph(st)->value[study_graph(st)->input[0]].shape.dim[3], 80);
	assert_int_equal(session_write(st, session, NULL, &err), STATUS_OK);
	study_close(&st);
	if (session_read(&se, session, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	st = open_sized(model, se, NULL);
	const struct shape *x = &study_graph(st)->value[study_graph(st)->input[0]].shape;
	assert_int_equal(x->dim[0], 1);
	assert_int_equal(x->dim[2], 48);
	assert_int_equal(x->dim[3], 80);
	study_close(&st);
	session_free(&se);
}
