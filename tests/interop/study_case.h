// What the tests of formats share: a study, calibrated, with some edits, and its export as text.
#ifndef TESTS_INTEROP_STUDY_CASE_H
#define TESTS_INTEROP_STUDY_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "qtui/base/json.h"
#include "qtui/interop/export.h"

#define MODEL "examples/digits.onnx"
#define CALIB "examples/calib"
#define STEM "/model.0/conv/Conv"
#define STEM_OUT "/model.0/conv/Conv_output_0"
#define SUB "/model.12/Sub"
#define CLASS_CONV "/model.12/cv3.0/cv3.0.2/Conv"

static inline struct study *case_open(const char *model, const char *calib, const char *target)
{
	struct error err = {0};
	struct study *st = NULL;
	struct study_options o = {.model = model, .calib = calib, .target = target, .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .calibrate_only = true, .data = {.samples = 1, .random = calib ? 0 : 1}};
	if (study_open(&st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return st;
}

static inline void case_set(struct study *st, const char *selection, enum precision p)
{
	struct error err = {0};
	int *nodes = NULL, n = 0;
	if (study_select(st, selection, NULL, &nodes, &n, &err) != STATUS_OK || study_set(st, nodes, n, (int)p, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(nodes);
}

// The target's own calibrator in place of min-max, of which some formats say that they cannot say it.
static inline void case_own_method(struct study *st)
{
	struct error err = {0};
	assert_int_equal(study_set_method(st, target_default_calibration(study_target(st)), &err), STATUS_OK);
}

// Of a node's first output, or of the output with this name.
static inline void case_scale(struct study *st, const char *name, double scale)
{
	struct error err = {0};
	struct scale_edit e = {.scale = scale, .zero = ZERO_FOLLOWS};
	if (study_find_output(&e.value, study_graph(st), name, &err) || study_scales(st, &e, 1, &err))
		fail_msg("%s", err.text);
}

// A node in float, one at 16 bit, and a scale.
static inline struct study *case_edited(const char *target)
{
	struct study *st = case_open(MODEL, CALIB, target);
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	return st;
}

// What the format's row writes: its text, or the model that it saves.
static inline enum status case_write(
    struct str *out, const char *format, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	const struct export_format *f = export_find(format);
	const char *path = support_temp(f->suffix);
	struct bytes model = {0};
	if (f->write)
		return f->write(out, loss, d, s, err);
	enum status status = f->save(path, loss, s, err);
	if (status == STATUS_OK)
		status = file_read(&model, path, SIZE_MAX, err);
	if (status == STATUS_OK)
		str_addn(out, (const char *)model.data, model.size);
	bytes_done(&model);
	return status;
}

// Runs the study; *loss (may be NULL) gets the loss report. The caller owns the text.
static inline struct str case_export(struct study *st, const char *format, struct str *loss)
{
	struct error err = {0};
	struct str out = {0}, none = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct snapshot *s = study_snapshot(st);
	const struct decided d = decided_now(st);
	if (case_write(&out, format, loss ? loss : &none, &d, s, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	snapshot_drop(&s);
	str_done(&none);
	return out;
}

static inline cJSON *case_export_json(struct study *st, const char *format, struct str *loss)
{
	struct error err = {0};
	cJSON *j = NULL;
	struct str text = case_export(st, format, loss);
	if (json_parse(&j, str_text(&text), text.len, format, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	str_done(&text);
	return j;
}

// A member by its path, the names separated by '|'.
static inline const cJSON *case_at(const cJSON *j, const char *path)
{
	char copy[512], *save = NULL;
	snprintf(copy, sizeof copy, "%s", path);
	for (char *name = strtok_r(copy, "|", &save); name; name = strtok_r(NULL, "|", &save))
		j = cJSON_GetObjectItemCaseSensitive(j, name);
	return j;
}

static inline bool case_has_text(const cJSON *list, const char *text)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

static inline void assert_has(const struct str *text, const char *part)
{
	if (!strstr(str_text(text), part))
		fail_msg("%s is not in: %s", part, str_text(text));
}

// Of a list of AIMET's encodings.
static inline const cJSON *encoding_of(const cJSON *list, const char *name)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
		if (strcmp(json_text(item, "name", ""), name) == 0)
			return item;
	fail_msg("no encoding of %s", name);
	return NULL;
}

#endif
