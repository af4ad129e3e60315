// Rows of the reports: figures of any size.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/onnx_case.h"
#include "qtui/analysis/report.h"
#include "qtui/base/file.h"
#include "studies.h"

// The report of a network of small weights, and of a convolution by zeros, which loses nothing; to be freed.
static char *report_of(const char *name, struct snapshot **s, struct study **st, struct onnx_case *file)
{
	struct error err = {0};
	struct bytes b;
	float small[16], zeros[16] = {0};
	for (int i = 0; i < 16; i++)
		small[i] = 1e-4f * (float)(i + 1) / 16;
	case_begin_conv(file, "y");
	case_floats(file, "small", DIMS(4, 4, 1, 1), small);
	case_floats(file, "zeros", DIMS(4, 4, 1, 1), zeros);
	case_node(file, "Conv", "little", "y small", "z");
	case_node(file, "Conv", "none", "z zeros", "o");
	case_output(file, file->graph, "o");
	*st = open_for_test((struct study_options){
	    .model = case_save(file, "rows.onnx"), .target = "onnxruntime", .data = {.random = 2}, .threads = 1});
	*s = run_study(*st);
	const char *path = support_temp(name);
	if (report_write(*st, *s, path, &err) || file_read(&b, path, 1 << 24, &err))
		fail_msg("%s", err.text);
	char *text = xstrdup((const char *)b.data);
	bytes_done(&b);
	return text;
}

static const struct site *weight_of(const struct snapshot *s, const char *tensor)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_WEIGHT && strcmp(s->g->value[s->site[i].value].name, tensor) == 0)
			return &s->site[i];
	fail_msg("%s has no row", tensor);
	return NULL;
}

void test_report__small_numbers_have_digits(void **state)
{
	struct study *st;
	struct snapshot *s;
	struct onnx_case file;
	char *text = report_of("rows.md", &s, &st, &file);
	const char *row = strstr(text, "| small[Constant] |");
	const struct site *w = weight_of(s, "small");
	double mse, min, max;
	assert_non_null(row);
	assert_int_equal(sscanf(row, "| small[Constant] | %*f | %lf | %*f | %*f, %*f | %lf, %lf |", &mse, &min, &max), 3);
	assert_true(w->graphwise.pooled.mse > 0 && w->graphwise.pooled.mse < 1e-9);
	assert_true(fabs(mse / w->graphwise.pooled.mse - 1) < 1e-3);
	assert_true(fabs(min / w->range.min - 1) < 1e-3 && fabs(max / w->range.max - 1) < 1e-3);
	free(text);
	snapshot_drop(&s);
	study_close(&st);
	case_done(&file);
}

void test_report__what_loses_nothing_is_exact(void **state)
{
	static const char *const name[] = {"exact.md", "exact.html"}, *const row[] = {"| zeros[Constant] |", "<td>zeros<td>exact<td>"};
	for (int i = 0; i < 2; i++) {
		struct study *st;
		struct snapshot *s;
		struct onnx_case file;
		char *text = report_of(name[i], &s, &st, &file);
		const char *at = strstr(text, row[i]);
		assert_non_null(at);
		*strchr(at, '\n') = '\0';
		assert_non_null(strstr(at, i ? "<td>exact<td>8<td>" : "| exact | exact | 8 |"));
		free(text);
		snapshot_drop(&s);
		study_close(&st);
		case_done(&file);
	}
}
