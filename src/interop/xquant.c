// xquant / XSlim: a configuration that runs as it is, but for the lists of samples.
#include <stdio.h>
#include <string.h>
#include "formats.h"

static bool stays_float(const struct decided *d, int node)
{
	return d->edits->precision[node] == PREC_FLOAT;
}

// What a region of `custom_setting` gives its nodes.
struct gift {
	bool (*alike)(const struct decided *d, int node, int other); // the other is to have it too
	const char *effect;                                          // on one that is not
};

static bool float_too(const struct decided *d, int node, int other)
{
	(void)node;
	return stays_float(d, other);
}

static bool calibrated_too(const struct decided *d, int node, int other)
{
	return d->edits->calibrator[other] == d->edits->calibrator[node];
}

static const struct gift to_float = {float_too, "leaves it in float"}, to_calibrator = {calibrated_too, "calibrates it"};

// Of what XSlim makes one operator before it looks for regions, the node that ends it stands for all.
static int stands_for(const struct snapshot *s, int node)
{
	const struct written_out *w = plan_written_out(snapshot_plan(s), node);
	return w ? w->last : node;
}

// How often nodes read the tensor that are not to have the gift.
static int bystanders(const struct decided *d, const struct gift *gift, const struct snapshot *s, const struct value *v, int node)
{
	int n = 0;
	for (int i = 0; i < v->n_consumers; i++) {
		int reader = stands_for(s, v->consumer[i]);
		n += reader != node && !gift->alike(d, node, reader);
	}
	return n;
}

// The input of the node that fewest others read; -1: all are constants.
static int entrance(const struct decided *d, const struct gift *gift, const struct snapshot *s, int node)
{
	const struct graph *g = s->g;
	const struct written_out *w = plan_written_out(snapshot_plan(s), node);
	int best = -1, fewest = 0;
	if (w)
		return w->last == node ? w->input : -1;
	for (int i = 0; i < g->node[node].n_in; i++) {
		int v = g->node[node].in[i], n = v >= 0 && !g->value[v].constant ? bystanders(d, gift, s, &g->value[v], node) : -1;
		if (n >= 0 && (best < 0 || n < fewest)) {
			best = v;
			fewest = n;
		}
	}
	return best;
}

static void add_outputs(cJSON *out, const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	for (int k = 0; k < n->n_out; k++)
		if (n->out[k] >= 0)
			cJSON_AddItemToArray(out, cJSON_CreateString(g->value[n->out[k]].name));
}

// A region of `custom_setting` from a node to `end`. From input_names xquant goes into all that reads these tensors, and
// on until it meets one of output_names: one input is enough, and what else reads it has its outputs there too, or all
// that lies behind them would be of the region.
static cJSON *region(struct str *loss, const struct decided *d, const struct gift *gift, const struct snapshot *s, int node, int end)
{
	const struct graph *g = s->g;
	const struct value *in = &g->value[entrance(d, gift, s, node)];
	cJSON *o = cJSON_CreateObject(), *out;
	cJSON_AddItemToArray(cJSON_AddArrayToObject(o, "input_names"), cJSON_CreateString(in->name));
	out = cJSON_AddArrayToObject(o, "output_names");
	for (int i = 0; i < in->n_consumers; i++) {
		int reader = stands_for(s, in->consumer[i]), before = 0;
		while (before < i && stands_for(s, in->consumer[before]) != reader)
			before++;
		if (before < i)
			continue;
		add_outputs(out, g, reader == node ? end : reader);
		if (reader != node && reader != end && !gift->alike(d, node, reader))
			lose(loss, "%s: xquant %s with %s: both read %s", g->node[reader].name, gift->effect, g->node[node].name, in->name);
	}
	return o;
}

// Level 3 is float.
static cJSON *float_region(struct str *loss, const struct decided *d, const struct snapshot *s, int node)
{
	cJSON *o = region(loss, d, &to_float, s, node, node);
	cJSON_AddNumberToObject(o, "precision_level", 3);
	return o;
}

// To the end of what runs as one operator, where its quantizer is.
static cJSON *calibrated_region(struct str *loss, const struct decided *d, const struct snapshot *s, int node)
{
	cJSON *o = region(loss, d, &to_calibrator, s, node, operator_end(s, node));
	cJSON_AddNumberToObject(o, "precision_level", 0);
	cJSON_AddStringToObject(o, "calibration_type", calib_name((enum calib_method)d->edits->calibrator[node]));
	return o;
}

static cJSON *channels(const float *v)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(a, json_float(v[i]));
	return a;
}

// What xquant takes for an image of its own, it reads as three channels.
static const char *file_type(const struct decided *d, const struct value *v)
{
	const char *file = dataset_count(d->data) ? dataset_file(d->data, 0) : NULL;
	if (file && str_has_suffix(file, ".bin"))
		return "raw";
	return v->shape.rank != 4 || (file && !image_is_name(file)) ? "npy" : "img";
}

// PT_IMAGENET is torchvision's Resize and CenterCrop, both of the input's height.
static bool crops_as_imagenet(const struct decided *d, const struct value *v)
{
	const struct preprocess *p = dataset_preprocess(d->data);
	return p->resize == RESIZE_CROP && p->share == 0.875 && v->shape.rank == 4 && v->shape.dim[2] == v->shape.dim[3];
}

static cJSON *input(const struct decided *d, const struct value *v)
{
	const struct preprocess *p = dataset_preprocess(d->data);
	const char *type = file_type(d, v);
	cJSON *o = cJSON_CreateObject(), *shape;
	cJSON_AddStringToObject(o, "input_name", v->name);
	shape = cJSON_AddArrayToObject(o, "input_shape");
	for (int i = 0; i < v->shape.rank; i++)
		cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)v->shape.dim[i]));
	cJSON_AddStringToObject(o, "file_type", type);
	if (strcmp(type, "img") == 0) {
		cJSON_AddStringToObject(o, "color_format", p->bgr ? "bgr" : "rgb");
		cJSON_AddItemToObject(o, "mean_value", channels(p->mean));
		cJSON_AddItemToObject(o, "std_value", channels(p->std));
		if (crops_as_imagenet(d, v))
			cJSON_AddStringToObject(o, "preprocess_file", "PT_IMAGENET");
	}
	json_add_text(o, "data_list_path", d->opt->calib);
	return o;
}

// The target's own calibrator is the tool's, which has no other name.
static const char *calibration_type(const struct snapshot *s)
{
	const struct target *t = snapshot_plan(s)->target;
	bool own = target_is_of(t, "xquant") && s->method == target_default_calibration(t);
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
	// xquant 1 and some XSlim have this spelling only; each passes over the other's.
	cJSON_AddItemToObject(o, "input_parametres", cJSON_Duplicate(inputs, true));
	return o;
}

// It takes no other number than one with a point.
static void add_percentile(cJSON *o, double p)
{
	char text[32];
	snprintf(text, sizeof text, "%.10g%s", p, p < 1 ? "" : ".0");
	cJSON_AddRawToObject(o, "max_percentile", text);
}

static cJSON *quantization(struct str *loss, const struct decided *d, const struct snapshot *s)
{
	cJSON *o = cJSON_CreateObject(), *custom;
	const struct study_options *opt = d->opt;
	cJSON_AddNumberToObject(o, "precision_level", 0);
	cJSON_AddNumberToObject(o, "finetune_level", 0);
	add_percentile(o, target_percentile(snapshot_plan(s)->target));
	cJSON_AddItemToObject(o, "truncate_var_names", cJSON_CreateStringArray(opt->truncate, opt->n_truncate));
	custom = cJSON_AddArrayToObject(o, "custom_setting");
	for (int n = 0; n < s->n_rows; n++)
		if (stays_float(d, n) && entrance(d, &to_float, s, n) >= 0)
			cJSON_AddItemToArray(custom, float_region(loss, d, s, n));
		else if (!stays_float(d, n) && d->edits->calibrator[n] >= 0 && entrance(d, &to_calibrator, s, n) >= 0)
			cJSON_AddItemToArray(custom, calibrated_region(loss, d, s, n));
	return o;
}

// XSlim stretches a picture to the input's size; xquant 1 takes it as it is.
static const char *images_as(const struct decided *d, const struct graph *g, bool *pictures)
{
	*pictures = false;
	for (int i = 0; i < g->n_inputs; i++)
		*pictures |= strcmp(file_type(d, &g->value[g->input[i]]), "img") == 0;
	if (!*pictures)
		return "";
	for (int i = 0; i < g->n_inputs; i++)
		if (crops_as_imagenet(d, &g->value[g->input[i]]))
			return "";
	if (dataset_preprocess(d->data)->resize == RESIZE_STRETCH)
		return "; for xquant 1 the pictures must have the input's size";
	return "; it stretches, or crops squares by 0.875, and nothing else: the pictures must have the input's size";
}

// What is calibrated on stands there; the tool reads a list.
static void tell_list(struct str *loss, const struct decided *d, const struct graph *g)
{
	const char *path = d->opt->calib;
	const char *file = dataset_count(d->data) ? dataset_file(d->data, 0) : NULL;
	bool pictures, one = path && (file_is_dir(path) || (file && strcmp(file, path) == 0));
	const char *as = images_as(d, g, &pictures);
	if (one || !path)
		lose(loss, "data_list_path: put a text file there%s%s, with one %s a line, found from its own directory%s", one ? " in place of " : "",
		    one ? path : "", pictures ? "picture" : ".npy of one sample", as);
	else if (*as)
		lose(loss, "data_list_path: a list%s", as);
}

enum status xquant(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *root = cJSON_CreateObject();
	(void)err;
	cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "model_parameters"), "onnx_model", s->g->path);
	cJSON_AddItemToObject(root, "calibration_parameters", calibration(d, s));
	cJSON_AddItemToObject(root, "quantization_parameters", quantization(loss, d, s));
	lose_precision(loss, d, s, PREC_INT16, "xquant");
	lose_scales(loss, d, s, "xquant");
	tell_list(loss, d, s->g);
	finish_json(out, root);
	return STATUS_OK;
}
