// Reading an xquant configuration (docs of XSlim: configuration; the spelling "input_parametres" is that of xquant 1).
#include <stdlib.h>
#include <string.h>
#include "config_impl.h"
#include "qtui/analysis/preprocess.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/engine/target.h"
#include "shapes.h"

// Members that mean something here; all others are ignored and said so.
static const char *const used[] = {
    "model_parameters", "model_parameters.onnx_model", "calibration_parameters", "calibration_parameters.calibration_batch_size",
    "calibration_parameters.calibration_step", "calibration_parameters.calibration_type", "calibration_parameters.input_parameters",
    "calibration_parameters.input_parametres", "quantization_parameters", "quantization_parameters.precision_level",
    "quantization_parameters.truncate_var_names", "quantization_parameters.ignore_op_types", "quantization_parameters.ignore_op_names",
    "quantization_parameters.custom_setting", "quantization_parameters.analysis_enable", "quantization_parameters.max_percentile",
    "quantization_parameters.finetune_level",
    "input.input_name", "input.input_shape", "input.dtype", "input.file_type", "input.color_format", "input.mean_value", "input.std_value",
    "input.preprocess_file", "input.data_list_path",
    "custom_setting.input_names", "custom_setting.output_names", "custom_setting.precision_level", "custom_setting.calibration_type"};

static bool is_used(const char *name)
{
	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		if (strcmp(used[i], name) == 0)
			return true;
	return false;
}

// A step that is not asked for is left out here, too.
static bool asks_nothing(const cJSON *m)
{
	return cJSON_IsNull(m) || cJSON_IsFalse(m) || (cJSON_IsNumber(m) && m->valuedouble == 0);
}

static void list_ignored(struct str *out, const cJSON *object, const char *prefix)
{
	const cJSON *m;
	cJSON_ArrayForEach(m, object)
	{
		struct str name = {0};
		str_addf(&name, "%s%s", prefix, m->string ? m->string : "");
		if (!is_used(str_text(&name)) && !asks_nothing(m))
			str_addf(out, "%s%s", out->len ? ", " : "", str_text(&name));
		str_done(&name);
	}
}

// Another tool's file would be ignored member by member.
static bool is_foreign(const cJSON *root)
{
	const cJSON *m;
	cJSON_ArrayForEach(m, root)
	{
		if (is_used(m->string))
			return false;
	}
	return cJSON_GetArraySize(root) > 0;
}

const cJSON *config_inputs(const struct config *c)
{
	const cJSON *s = config_section(c, "calibration_parameters"), *list = cJSON_GetObjectItemCaseSensitive(s, "input_parameters");
	return list ? list : cJSON_GetObjectItemCaseSensitive(s, "input_parametres");
}

// A line for each section: one for all would be cut.
static void tell_ignored(struct str *names, const struct config *c)
{
	if (names->len)
		log_warn("%s: ignored: %s", c->path, str_text(names));
	str_clear(names);
}

static void warn_ignored(const struct config *c)
{
	static const char *const sections[] = {"model_parameters", "calibration_parameters", "quantization_parameters"};
	struct str out = {0}, prefix = {0};
	const cJSON *item;
	list_ignored(&out, c->root, "");
	tell_ignored(&out, c);
	for (int i = 0; i < 3; i++) {
		str_clear(&prefix);
		str_addf(&prefix, "%s.", sections[i]);
		list_ignored(&out, config_section(c, sections[i]), str_text(&prefix));
		tell_ignored(&out, c);
	}
	cJSON_ArrayForEach(item, config_inputs(c))
		list_ignored(&out, item, "input.");
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(config_section(c, "quantization_parameters"), "custom_setting"))
		list_ignored(&out, item, "custom_setting.");
	tell_ignored(&out, c);
	str_done(&prefix);
	str_done(&out);
}

// Also where the file is silent: 1 is the level of the tool itself.
static void warn_of_tuning(const struct config *c)
{
	double level = json_number(config_section(c, "quantization_parameters"), "finetune_level", 1);
	if (level > 0)
		log_warn("%s: at finetune_level %g, which is xquant's own if a file says none, it equalizes weights and corrects biases, which is not "
		         "done here: qtui equalize and qtui tune do alike", c->path, level);
}

// ---- options

static enum status check_items(const cJSON *list, const char *name, const struct json_member *member, size_t n, struct error *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsObject(item))
			return error_set(err, STATUS_FORMAT, "\"%s\" must be a list of objects", name);
		if (json_check(item, member, n, true, err) != STATUS_OK)
			return error_prefix(err, "%s", name);
	}
	return STATUS_OK;
}

static const char *keep(struct config *c, char *heap)
{
	c->text = xgrow(c->text, &c->cap_texts, c->n_texts + 1, sizeof *c->text);
	return c->text[c->n_texts++] = heap;
}

// As given, from the working directory; else from the directory of the configuration.
static enum status find_path(struct config *c, const char **out, const char *member, const char *path, struct error *err)
{
	if (path[0] == '/' || file_exists(path)) {
		*out = keep(c, xstrdup(path));
		return STATUS_OK;
	}
	char *dir = file_dir(c->path);
	const char *beside = keep(c, file_join(dir, path));
	free(dir);
	*out = beside;
	return file_exists(beside) ? STATUS_OK
	                           : error_set(err, STATUS_NOTFOUND, "%s: %s %s is neither here nor beside the file: start qtui where xquant is "
	                                 "started, or give MODEL CALIB", c->path, member, path);
}

// STATUS_FORMAT with the file's name and `what`, unless it is right.
static enum status config_need(const struct config *c, bool right, const char *what, struct error *err)
{
	return right ? STATUS_OK : error_set(err, STATUS_FORMAT, "%s: %s", c->path, what);
}

static enum status numbers(struct config *c, const char **out, const cJSON *in, const char *member, bool divides, struct error *err)
{
	struct str text = {0};
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(in, member), *item;
	float channel[4];
	if (*out)
		return STATUS_OK;
	if (!a || cJSON_IsNull(a)) {
		*out = divides ? "1" : "0";
		return STATUS_OK;
	}
	bool right = cJSON_IsArray(a) && cJSON_GetArraySize(a) > 0;
	cJSON_ArrayForEach(item, a)
	{
		right &= cJSON_IsNumber(item);
		str_addf(&text, "%s%.9g", text.len ? "," : "", item->valuedouble);
	}
	*out = keep(c, str_detach(&text));
	if (right && channels_parse(channel, *out, divides, err) != STATUS_OK)
		return error_set(err, STATUS_FORMAT, "%s: %s %s", c->path, member, err->text);
	return config_need(c, right, "mean_value and std_value are lists of numbers", err);
}

// What it does with a picture, by its preprocess_file; NULL: what only its Python knows.
static const char *resize_by(const char *preprocess)
{
	if (!preprocess)
		return "stretch";
	return strcmp(preprocess, "PT_IMAGENET") == 0 || strcmp(preprocess, "IMAGENET") == 0 ? "crop:0.875" : NULL;
}

static enum status read_image_input(struct config *c, struct options *o, const cJSON *in, struct error *err)
{
	const char *preprocess = json_text(in, "preprocess_file", NULL), *color = json_text(in, "color_format", "bgr");
	const char *resize = resize_by(preprocess);
	enum status s = numbers(c, &o->mean, in, "mean_value", false, err);
	if (s == STATUS_OK)
		s = numbers(c, &o->std, in, "std_value", true, err);
	if (s == STATUS_OK && !o->color && strcmp(color, "bgr") != 0 && strcmp(color, "rgb") != 0)
		s = error_set(err, STATUS_FORMAT, "%s: color_format %s: rgb or bgr", c->path, color);
	if (!o->color)
		o->color = color;
	if (!o->resize)
		o->resize = resize;
	if (preprocess && !resize)
		log_warn("%s: preprocess_file %s is Python and does not run here: mean, std, color and resize only", c->path, preprocess);
	return s;
}

// By place where no name is said: one input after the other. An open batch is one sample.
static enum status read_shapes(struct config *c, struct options *o, struct error *err)
{
	const cJSON *list = config_inputs(c), *in;
	int place = 0;
	cJSON_ArrayForEach(in, list)
	{
		const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(in, "input_shape");
		struct onnx_input_shape at = {.name = json_text(in, "input_name", NULL), .place = ++place, .file = c->path};
		if (!sizes || cJSON_IsNull(sizes))
			continue;
		if (!session_shape(&at.shape, sizes))
			return config_need(c, false, "input_shape is a list of sizes", err);
		shapes_add(o, &at, 1);
	}
	return STATUS_OK;
}

static enum status read_inputs(struct config *c, struct options *o, unsigned verb, struct error *err)
{
	const cJSON *list = config_inputs(c), *first = cJSON_GetArrayItem(list, 0);
	const char *data = json_text(first, "data_list_path", NULL);
	enum status s = read_shapes(c, o, err);
	if (s == STATUS_OK && first && strcmp(json_text(first, "file_type", "img"), "img") == 0)
		s = read_image_input(c, o, first, err);
	if (s != STATUS_OK || !data || o->random)
		return s;
	if (cJSON_GetArraySize(list) > 1) {
		log_warn("%s: %d inputs with a list each: give CALIB as NPZ files or as one subdirectory an input", c->path,
		    cJSON_GetArraySize(list));
		return STATUS_OK;
	}
	if (verb == VERB_EVAL && !o->calib)
		return find_path(c, &o->calib, "data_list_path", data, err);
	if (verb != VERB_EVAL && o->positional.n == 1 && (s = find_path(c, &data, "data_list_path", data, err)) == STATUS_OK)
		list_add(&o->positional, data);
	return s;
}

static enum status read_calibration(struct config *c, struct options *o, struct error *err)
{
	const cJSON *s = config_section(c, "calibration_parameters");
	const char *type = json_text(s, "calibration_type", "default");
	double step = json_number(s, "calibration_step", 0), samples = step * json_number(s, "calibration_batch_size", 1);
	enum calib_method known;
	if (strcmp(type, "default") != 0 && !calib_parse(&known, type))
		return error_set(err, STATUS_FORMAT, "%s: calibration_type %s: default, minmax, percentile, kl or mse", c->path, type);
	if (!o->method && strcmp(type, "default") != 0)
		o->method = type;
	if (cJSON_GetObjectItemCaseSensitive(s, "calibration_step") && !(samples >= 1 && samples <= 1e6))
		return error_set(err, STATUS_FORMAT, "%s: calibration_step is out of range", c->path);
	c->no_step = !o->samples && !o->random && step <= 0;
	if (!o->samples && !o->random && step > 0) {
		struct str text = {0};
		str_addf(&text, "%.0f", samples);
		o->samples = keep(c, str_detach(&text));
	}
	return STATUS_OK;
}

// The percentile is a member of the target: its own observer has a use for it, too.
static enum status read_target(struct config *c, struct options *o, struct error *err)
{
	struct target *own;
	if (o->target)
		return STATUS_OK;
	o->target = "xquant";
	enum status s = target_load(&own, o->target, err);
	if (s != STATUS_OK)
		return s;
	double has = target_percentile(own), p = json_number(config_section(c, "quantization_parameters"), "max_percentile", has);
	target_free(&own);
	if (!(p > .5 && p <= 1))
		return error_set(err, STATUS_FORMAT, "%s: max_percentile %g: a number above 0.5 and at most 1", c->path, p);
	if (p != has) {
		struct str text = {0};
		str_addf(&text, "%s,calibration.percentile=%.10g", o->target, p);
		o->target = keep(c, str_detach(&text));
	}
	return STATUS_OK;
}

static enum status read_truncation(const struct config *c, struct options *o, struct error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(config_section(c, "quantization_parameters"), "truncate_var_names"), *item;
	bool given = o->truncate.n > 0;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return config_need(c, false, "truncate_var_names is a list of tensors", err);
		if (!given)
			list_add(&o->truncate, item->valuestring);
	}
	if (!given)
		o->study.truncate_in = c->path;
	return STATUS_OK;
}

// In front of the words that are given; those of eval have a DATASET, which no configuration names.
static enum status read_model(struct config *c, struct options *o, unsigned verb, struct error *err)
{
	const char *model = json_text(config_section(c, "model_parameters"), "onnx_model", NULL);
	struct list *words = &o->positional;
	const int given = verb == VERB_EVAL;
	if (!model || words->n != given)
		return STATUS_OK;
	if (find_path(c, &model, "onnx_model", model, err) != STATUS_OK)
		return err->status;
	list_add(words, model);
	words->at[given] = words->at[0];
	words->at[0] = model;
	return STATUS_OK;
}

// A member of another type would be taken as not given.
static enum status check_types(const struct config *c, struct error *err)
{
	static const struct json_member root[] = {
	    {NULL, "model_parameters", cJSON_Object}, {"model_parameters", "onnx_model", cJSON_String},
	    {NULL, "calibration_parameters", cJSON_Object}, {"calibration_parameters", "calibration_batch_size", cJSON_Number},
	    {"calibration_parameters", "calibration_step", cJSON_Number}, {"calibration_parameters", "calibration_type", cJSON_String},
	    {"calibration_parameters", "input_parameters", cJSON_Array}, {"calibration_parameters", "input_parametres", cJSON_Array},
	    {NULL, "quantization_parameters", cJSON_Object}, {"quantization_parameters", "precision_level", cJSON_Number},
	    {"quantization_parameters", "max_percentile", cJSON_Number}, {"quantization_parameters", "finetune_level", cJSON_Number},
	    {"quantization_parameters", "truncate_var_names", cJSON_Array}, {"quantization_parameters", "ignore_op_types", cJSON_Array},
	    {"quantization_parameters", "ignore_op_names", cJSON_Array}, {"quantization_parameters", "custom_setting", cJSON_Array},
	};
	static const struct json_member input[] = {{NULL, "input_name", cJSON_String}, {NULL, "file_type", cJSON_String},
	    {NULL, "color_format", cJSON_String}, {NULL, "mean_value", cJSON_Array}, {NULL, "std_value", cJSON_Array},
	    {NULL, "preprocess_file", cJSON_String}, {NULL, "data_list_path", cJSON_String}, {NULL, "input_shape", cJSON_Array}};
	static const struct json_member region[] = {
	    {NULL, "input_names", cJSON_Array}, {NULL, "output_names", cJSON_Array}, {NULL, "precision_level", cJSON_Number},
	    {NULL, "calibration_type", cJSON_String}};
	enum status s = json_check(c->root, root, sizeof root / sizeof *root, true, err);
	if (s == STATUS_OK)
		s = check_items(config_inputs(c), "input_parameters", input, sizeof input / sizeof *input, err);
	if (s == STATUS_OK)
		s = check_items(cJSON_GetObjectItemCaseSensitive(config_section(c, "quantization_parameters"), "custom_setting"),
		    "custom_setting", region, sizeof region / sizeof *region, err);
	return s == STATUS_OK ? s : error_prefix(err, "%s", c->path);
}

// The examples of its documents have comments.
static enum status read_commented(cJSON **root, const char *path, struct error *err)
{
	enum { MOST = 1 << 24 };
	struct bytes b = {0};
	enum status s = file_read_text(&b, path, MOST, err);
	if (s != STATUS_OK)
		return s;
	json_blank_comments((char *)b.data);
	s = json_parse(root, (const char *)b.data, b.size, path, err);
	bytes_done(&b);
	return s;
}

enum status config_read(struct options *o, unsigned verb, struct error *err)
{
	struct config *c = o->config_data = xcalloc(1, sizeof *c);
	c->path = xstrdup(o->config);
	enum status s = read_commented(&c->root, o->config, err);
	if (s == STATUS_OK)
		s = config_need(c, cJSON_IsObject(c->root), "a JSON object is needed", err);
	if (s == STATUS_OK)
		s = config_need(c, !is_foreign(c->root),
		    "no xquant configuration: it has none of model_parameters, calibration_parameters, quantization_parameters", err);
	if (s == STATUS_OK)
		s = check_types(c, err);
	if (s != STATUS_OK)
		return s;
	if ((s = read_model(c, o, verb, err)) != STATUS_OK)
		return s;
	if ((s = read_target(c, o, err)) != STATUS_OK)
		return s;
	if ((s = read_inputs(c, o, verb, err)) != STATUS_OK || (s = read_calibration(c, o, err)) != STATUS_OK)
		return s;
	warn_ignored(c);
	warn_of_tuning(c);
	return read_truncation(c, o, err);
}

void config_free(struct config **cp)
{
	struct config *c = *cp;
	if (!c)
		return;
	for (size_t i = 0; i < c->n_texts; i++)
		free(c->text[i]);
	free(c->text);
	free(c->path);
	cJSON_Delete(c->root);
	free(c);
	*cp = NULL;
}
