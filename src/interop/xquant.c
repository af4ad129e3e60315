// xquant / XSlim: a configuration that runs as it is, but for the list of images.
#include <string.h>
#include "formats.h"

// Tensors around a node that stays in float, as a region of `custom_setting`; level 3 is float.
static cJSON *float_region(const struct graph *g, const struct node *n)
{
	cJSON *o = cJSON_CreateObject(), *in = cJSON_AddArrayToObject(o, "input_names"), *out = cJSON_AddArrayToObject(o, "output_names");
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && !g->value[n->in[i]].constant)
			cJSON_AddItemToArray(in, cJSON_CreateString(g->value[n->in[i]].name));
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0)
			cJSON_AddItemToArray(out, cJSON_CreateString(g->value[n->out[i]].name));
	cJSON_AddNumberToObject(o, "precision_level", 3);
	return o;
}

static cJSON *channels(const float *v)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(a, json_float(v[i]));
	return a;
}

static cJSON *input(const struct decided *d, const struct value *v)
{
	const struct preprocess *p = dataset_preprocess(d->data);
	cJSON *o = cJSON_CreateObject(), *shape;
	cJSON_AddStringToObject(o, "input_name", v->name);
	shape = cJSON_AddArrayToObject(o, "input_shape");
	for (int i = 0; i < v->shape.rank; i++)
		cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)v->shape.dim[i]));
	cJSON_AddStringToObject(o, "file_type", "img");
	cJSON_AddStringToObject(o, "color_format", p->bgr ? "bgr" : "rgb");
	cJSON_AddItemToObject(o, "mean_value", channels(p->mean));
	cJSON_AddItemToObject(o, "std_value", channels(p->std));
	json_add_text(o, "data_list_path", d->opt->calib);
	return o;
}

// The target's own calibrator is the tool's, which has no other name.
static const char *calibration_type(const struct snapshot *s)
{
	const struct target *t = snapshot_plan(s)->target;
	bool own = strcmp(target_name(t), "xquant") == 0 && s->method == target_default_calibration(t);
	return own ? "default" : calib_name(s->method);
}

static cJSON *calibration(const struct decided *d, const struct snapshot *s)
{
	cJSON *o = cJSON_CreateObject(), *inputs;
	cJSON_AddNumberToObject(o, "calibration_batch_size", 1);
	cJSON_AddNumberToObject(o, "calibration_step", s->samples);
	cJSON_AddStringToObject(o, "calibration_type", calibration_type(s));
	inputs = cJSON_AddArrayToObject(o, "input_parameters");
	for (int i = 0; i < s->g->n_inputs; i++)
		cJSON_AddItemToArray(inputs, input(d, &s->g->value[s->g->input[i]]));
	return o;
}

static cJSON *quantization(const struct decided *d, const struct snapshot *s)
{
	cJSON *o = cJSON_CreateObject(), *custom;
	const struct study_options *opt = d->opt;
	cJSON_AddNumberToObject(o, "precision_level", 0);
	cJSON_AddNumberToObject(o, "finetune_level", 0);
	cJSON_AddItemToObject(o, "truncate_var_names", cJSON_CreateStringArray(opt->truncate, opt->n_truncate));
	custom = cJSON_AddArrayToObject(o, "custom_setting");
	for (int n = 0; n < s->n_rows; n++)
		if (d->edits->precision[n] == PREC_FLOAT)
			cJSON_AddItemToArray(custom, float_region(s->g, &s->g->node[n]));
	return o;
}

enum status xquant(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject();
	(void)err;
	cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "model_parameters"), "onnx_model", s->g->path);
	cJSON_AddItemToObject(root, "calibration_parameters", calibration(d, s));
	cJSON_AddItemToObject(root, "quantization_parameters", quantization(d, s));
	lose_precision(loss, d, s, PREC_INT16, "xquant");
	lose_scales(loss, d, s, "xquant");
	str_add(loss, "data_list_path: xquant reads a text file with one image a line, already of the input's size\n");
	finish_json(out, root);
	return STATUS_OK;
}
