// Reports as JSON: what batch tools read, and what a session keeps. What is not known is absent.
#include <math.h>
#include <stdio.h>
#include "qtui/analysis/task.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"

static const char *const variant_name[TASK_VARIANTS] = {[TASK_FLOAT] = "float", [TASK_QUANT] = "quantized"};

// All 17 digits: a session that is opened again shows the same bits.
static void add_exact(cJSON *o, const char *key, double v)
{
	char text[32];
	snprintf(text, sizeof text, "%.17g", v);
	if (isfinite(v))
		cJSON_AddRawToObject(o, key, text);
}

static void add_pair(cJSON *o, const double value[TASK_VARIANTS])
{
	for (int v = 0; v < TASK_VARIANTS; v++)
		add_exact(o, variant_name[v], value[v]);
}

static void add_figures(cJSON *root, const struct task_report *r)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		cJSON *o = cJSON_AddObjectToObject(root, variant_name[v]);
		for (int i = 0; i < r->n_figures; i++)
			add_exact(o, r->figure[i].name, r->figure[i].value[v]);
	}
}

static void add_classes(cJSON *root, const struct task_report *r)
{
	cJSON *list = cJSON_AddArrayToObject(root, "classes");
	for (int i = 0; i < r->n_classes; i++) {
		const struct task_class *c = &r->class[i];
		if (c->objects == 0)
			continue;
		cJSON *o = cJSON_CreateObject();
		cJSON_AddNumberToObject(o, "id", c->id);
		json_add_text(o, "name", c->name);
		cJSON_AddNumberToObject(o, "objects", c->objects);
		add_pair(o, c->value);
		cJSON_AddItemToArray(list, o);
	}
}

static void add_verdicts(cJSON *to, const enum task_verdict verdict[TASK_VARIANTS])
{
	if (verdict[TASK_FLOAT] == TASK_NO_VERDICT)
		return;
	cJSON *o = cJSON_AddObjectToObject(to, "right");
	for (int v = 0; v < TASK_VARIANTS; v++)
		cJSON_AddBoolToObject(o, variant_name[v], verdict[v] == TASK_RIGHT);
}

static void add_samples(cJSON *root, const struct task_report *r)
{
	cJSON *list = cJSON_AddArrayToObject(root, "samples");
	for (int i = 0; i < r->n_samples; i++) {
		cJSON *o = cJSON_CreateObject();
		json_add_text(o, "name", r->sample[i].name);
		cJSON_AddNumberToObject(o, "sample", r->sample[i].sample);
		add_pair(o, r->sample[i].value);
		add_verdicts(o, r->sample[i].verdict);
		if (r->sample[i].n_classes)
			cJSON_AddItemToObject(o, "classes", cJSON_CreateIntArray(r->sample[i].class, r->sample[i].n_classes));
		cJSON_AddItemToArray(list, o);
	}
}

static void add_interval(cJSON *root, const struct task_report *r)
{
	if (!r->has_interval)
		return;
	cJSON *o = cJSON_AddObjectToObject(root, "difference");
	json_add_text(o, "of", r->figure[0].name);
	add_exact(o, "value", r->interval.difference);
	add_exact(o, "low", r->interval.low);
	add_exact(o, "high", r->interval.high);
	cJSON_AddNumberToObject(o, "samples", r->interval.samples);
}

struct cJSON *task_report_json(const struct task_report *r)
{
	cJSON *root = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "images", r->samples[TASK_QUANT]);
	cJSON_AddNumberToObject(root, "labelled", r->total);
	cJSON_AddStringToObject(root, "task", task_kind_name(r->kind));
	json_add_text(root, "dataset", r->dataset);
	json_add_text(root, "note", r->note);
	if (r->not_finite)
		cJSON_AddNumberToObject(root, "not_finite", r->not_finite);
	if (r->off)
		cJSON_AddNumberToObject(root, "off", r->off);
	if (r->by_program)
		cJSON_AddBoolToObject(root, "by_program", true);
	add_figures(root, r);
	add_interval(root, r);
	add_classes(root, r);
	add_samples(root, r);
	return root;
}

// ---- reading

static void read_pair(double value[TASK_VARIANTS], const cJSON *o)
{
	for (int v = 0; v < TASK_VARIANTS; v++)
		value[v] = json_number(o, variant_name[v], NAN);
}

static const char *copy(struct task_report *r, const cJSON *o, const char *key)
{
	const char *text = json_text(o, key, NULL);
	return text ? arena_strdup(r->memory, text) : NULL;
}

// Names of figures that the float network does not have stand in the other's object: agreement.
static void read_figures(struct task_report *r, const cJSON *root)
{
	const cJSON *of[TASK_VARIANTS], *item;
	for (int v = 0; v < TASK_VARIANTS; v++)
		of[v] = cJSON_GetObjectItemCaseSensitive(root, variant_name[v]);
	bool alone = cJSON_GetArraySize(of[TASK_FLOAT]) < cJSON_GetArraySize(of[TASK_QUANT]);
	const cJSON *names = of[alone ? TASK_QUANT : TASK_FLOAT];
	r->figure = xcalloc((size_t)cJSON_GetArraySize(names) + 1, sizeof *r->figure);
	cJSON_ArrayForEach(item, names)
	{
		struct task_figure *f = &r->figure[r->n_figures];
		if (!item->string)
			continue;
		f->name = arena_strdup(r->memory, item->string);
		for (int v = 0; v < TASK_VARIANTS; v++)
			f->value[v] = json_number(of[v], item->string, NAN);
		r->n_figures++;
	}
}

static void read_classes(struct task_report *r, const cJSON *list)
{
	const cJSON *item;
	r->class = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *r->class);
	cJSON_ArrayForEach(item, list)
	{
		struct task_class *c = &r->class[r->n_classes++];
		*c = (struct task_class){.id = json_count(item, "id"), .name = copy(r, item, "name"), .objects = json_count(item, "objects")};
		read_pair(c->value, item);
	}
}

static void read_verdicts(enum task_verdict verdict[TASK_VARIANTS], const cJSON *o)
{
	for (int v = 0; o && v < TASK_VARIANTS; v++)
		verdict[v] = json_bool(o, variant_name[v], false) ? TASK_RIGHT : TASK_WRONG;
}

static void read_ids(struct task_report *r, struct task_sample *s, const cJSON *list)
{
	const cJSON *item;
	int *class = arena_alloc(r->memory, (size_t)cJSON_GetArraySize(list) * sizeof *class);
	cJSON_ArrayForEach(item, list)
		if (cJSON_IsNumber(item))
			class[s->n_classes++] = item->valueint;
	s->class = class;
}

static void read_samples(struct task_report *r, const cJSON *list)
{
	const cJSON *item;
	r->sample = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *r->sample);
	cJSON_ArrayForEach(item, list)
	{
		struct task_sample *s = &r->sample[r->n_samples++];
		*s = (struct task_sample){.sample = json_count(item, "sample"), .name = copy(r, item, "name")};
		s->name = s->name ? s->name : "";
		read_pair(s->value, item);
		read_verdicts(s->verdict, cJSON_GetObjectItemCaseSensitive(item, "right"));
		read_ids(r, s, cJSON_GetObjectItemCaseSensitive(item, "classes"));
	}
}

static void read_interval(struct task_report *r, const cJSON *o)
{
	r->interval = (struct task_interval){.difference = json_number(o, "value", NAN), .low = json_number(o, "low", NAN),
	    .high = json_number(o, "high", NAN), .samples = json_count(o, "samples")};
	r->has_interval = isfinite(r->interval.difference) && isfinite(r->interval.low) && isfinite(r->interval.high);
}

struct task_report *task_report_parse(const struct cJSON *root)
{
	enum task_kind kind;
	if (!task_kind_parse(&kind, json_text(root, "task", "")))
		return NULL;
	struct task_report *r = xcalloc(1, sizeof *r);
	*r = (struct task_report){.refs = 1, .kind = kind, .total = json_count(root, "labelled"), .memory = arena_new()};
	r->not_finite = json_count(root, "not_finite");
	r->off = (int)fmax(-1, fmin(1, json_number(root, "off", 0)));
	r->by_program = json_bool(root, "by_program", false);
	r->note = copy(r, root, "note");
	r->dataset = copy(r, root, "dataset");
	r->note = r->note ? r->note : "";
	r->dataset = r->dataset ? r->dataset : "";
	read_figures(r, root);
	read_classes(r, cJSON_GetObjectItemCaseSensitive(root, "classes"));
	read_samples(r, cJSON_GetObjectItemCaseSensitive(root, "samples"));
	read_interval(r, cJSON_GetObjectItemCaseSensitive(root, "difference"));
	r->samples[TASK_QUANT] = json_count(root, "images");
	r->samples[TASK_FLOAT] = kind == TASK_AGREE ? 0 : r->samples[TASK_QUANT];
	if (r->n_figures == 0 || r->samples[TASK_QUANT] == 0)
		task_report_drop(&r);
	return r;
}
