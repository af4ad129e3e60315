// The ONNX node tests (Debian package libonnx-testdata), every one of them: a model, its inputs and the expected
// outputs. Cases that cannot pass stand in conformance_skip.txt with a reason. That list may only shrink: a listed case
// that passes is a failure too.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/eval.h"
#include "support.h"

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"

#define NODE_TESTS "/usr/share/libonnx-testdata/data/node"
#define SKIP_LIST "tests/engine/conformance_skip.txt"
#define MAX_TENSORS 32
#define MAX_SKIPS 512

struct skips {
	struct bytes file;
	char *pattern[MAX_SKIPS];
	int n;
};

// Lines "PATTERN REASON"; empty lines and those that begin with # are comments.
static void read_skips(struct skips *s)
{
	struct error err;
	char *save = NULL;
	*s = (struct skips){0};
	if (file_read(&s->file, SKIP_LIST, 1 << 20, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (char *line = strtok_r((char *)s->file.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *space = strchr(line, ' ');
		if (*line == '#')
			continue;
		if (!space || s->n == MAX_SKIPS)
			fail_msg("%s: a line without a reason, or too many: %s", SKIP_LIST, line);
		*space = '\0';
		s->pattern[s->n++] = line;
	}
}

static bool is_skipped(const struct skips *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (str_glob(s->pattern[i], name))
			return true;
	return false;
}

static double tolerance(const char *name)
{
	static const struct {
		const char *pattern;
		double relative;
	} looser[] = {
	    {"*float16*", 2e-3}, {"*FLOAT16*", 2e-3}, {"gridsample*", 2e-4},
	    {"roialign*", 2e-4},         // the expected values have four decimals
	    {"*window*_expanded", 3e-4}, // the expected values were made with a short pi
	};
	for (size_t i = 0; i < sizeof looser / sizeof *looser; i++)
		if (str_glob(looser[i].pattern, name))
			return looser[i].relative;
	return 1e-5;
}

static bool same_float(float a, float b, double relative)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	if (isinf(a) || isinf(b))
		return a == b;
	return fabs((double)a - (double)b) <= relative * fabs((double)b) + relative * 0.1;
}

static enum status compare(
    const struct tensor *got, const struct tensor *want, int i, double relative, struct error *err)
{
	char a[128], b[128];
	if (got->type != want->type || !shape_equal(&got->shape, &want->shape))
		return error_set(err, STATUS_FORMAT, "output %d is %s %s, expected %s %s", i, dtype_name(got->type),
		    shape_text(&got->shape, a, sizeof a), dtype_name(want->type),
		    shape_text(&want->shape, b, sizeof b));
	for (int64_t k = 0; k < tensor_count(want) && want->type == DT_F32; k++) {
		float x = ((const float *)got->data)[k], y = ((const float *)want->data)[k];
		if (!same_float(x, y, relative))
			return error_set(err, STATUS_FORMAT, "output %d[%lld] is %.9g, expected %.9g", i, (long long)k,
			    (double)x, (double)y);
	}
	if (want->type != DT_F32 && memcmp(got->data, want->data, tensor_bytes(want)))
		return error_set(err, STATUS_FORMAT, "output %d has other values than expected", i);
	return STATUS_OK;
}

// Reads DIR/test_data_set_0/KIND_0.pb, KIND_1.pb ... as far as they go.
static enum status read_set(struct tensor *t, int *n, const char *dir, const char *kind, struct error *err)
{
	enum status s = STATUS_OK;
	for (*n = 0; *n < MAX_TENSORS && s == STATUS_OK; ++*n) {
		struct str path = {0};
		char *name = NULL;
		str_addf(&path, "%s/test_data_set_0/%s_%d.pb", dir, kind, *n);
		if (!file_exists(str_text(&path))) {
			str_done(&path);
			break;
		}
		s = onnx_read_tensor(&t[*n], &name, str_text(&path), err);
		free(name);
		str_done(&path);
	}
	return s;
}

static void drop_all(struct tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		tensor_drop(&t[i]);
}

static enum status run_model(const struct graph *g, const struct tensor *in, int n_in, const struct tensor *want,
    int n_want, double relative, struct error *err)
{
	const struct tensor *inputs[MAX_TENSORS];
	struct tensor out[MAX_TENSORS] = {0};
	enum status s;
	if (g->n_inputs != n_in || g->n_outputs != n_want)
		return error_set(err, STATUS_FORMAT, "has %d inputs and %d outputs, the data %d and %d", g->n_inputs,
		    g->n_outputs, n_in, n_want);
	for (int i = 0; i < n_in; i++)
		inputs[i] = &in[i];
	s = graph_eval(g, inputs, out, 1, err);
	for (int i = 0; s == STATUS_OK && i < n_want; i++)
		s = compare(&out[i], &want[i], i, relative, err);
	drop_all(out, n_want);
	return s;
}

static enum status run_case(const char *dir, const char *name, struct error *err)
{
	struct tensor in[MAX_TENSORS] = {0}, want[MAX_TENSORS] = {0};
	struct graph *g = NULL;
	struct str model = {0};
	int n_in = 0, n_want = 0;
	enum status s;
	str_addf(&model, "%s/model.onnx", dir);
	s = onnx_load(&g, str_text(&model), NULL, err);
	if (s == STATUS_OK)
		s = read_set(in, &n_in, dir, "input", err);
	if (s == STATUS_OK)
		s = read_set(want, &n_want, dir, "output", err);
	if (s == STATUS_OK)
		s = run_model(g, in, n_in, want, n_want, tolerance(name), err);
	drop_all(in, n_in);
	drop_all(want, n_want);
	graph_free(&g);
	str_done(&model);
	return s;
}

static int is_case(const struct dirent *d)
{
	return str_has_prefix(d->d_name, "test_");
}

void test_conformance__onnx_node_tests(void **state)
{
	struct dirent **cases;
	struct skips skips;
	int n = scandir(NODE_TESTS, &cases, is_case, alphasort), passed = 0, wrong = 0;
	if (n <= 0) {
		skip();
		return;
	}
	read_skips(&skips);
	for (int i = 0; i < n; i++) {
		const char *name = cases[i]->d_name + strlen("test_");
		struct error err = {0};
		char *dir = file_join(NODE_TESTS, cases[i]->d_name);
		bool good = run_case(dir, name, &err) == STATUS_OK, listed = is_skipped(&skips, name);
		passed += good;
		if (good == listed) {
			wrong++;
			printf("%s: %s\n", name, good ? "passes: take it off " SKIP_LIST : err.text);
		}
		free(dir);
		free(cases[i]);
	}
	free(cases);
	bytes_done(&skips.file);
	printf("%d of %d node tests pass\n", passed, n);
	assert_int_equal(wrong, 0);
}
