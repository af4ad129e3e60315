// Reads a target's JSON by tables: a row names a member, its reader and where it goes. Unknown members are errors, since a
// misspelt rule that is silently dropped would give a plan that no device follows.
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "target_impl.h"

struct reading {
	struct target *t;
	const char *file;
	struct error *err;
};
struct field;
typedef enum status read_fn(struct reading *r, const cJSON *j, const struct field *f, void *base);
struct field {
	const char *name;
	read_fn *read;
	size_t offset;
	const void *more; // choices, a sub-table, or what the reader needs
	long flag;
};

static enum status read_members(struct reading *r, const cJSON *obj, const struct field *f, void *base);

static enum status fault(struct reading *r, const char *member, const char *what)
{
	return error_set(r->err, STATUS_FORMAT, "target %s: \"%s\" %s", r->file, member, what);
}

static void *place(void *base, const struct field *f)
{
	return (char *)base + f->offset;
}

static enum status read_text(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	if (!cJSON_IsString(j) || strlen(j->valuestring) > 200)
		return fault(r, f->name, "must be a text of at most 200 bytes");
	*(const char **)place(base, f) = arena_strdup(r->t->arena, j->valuestring);
	return STATUS_OK;
}

static enum status read_bool(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	if (!cJSON_IsBool(j))
		return fault(r, f->name, "must be true or false");
	*(bool *)place(base, f) = cJSON_IsTrue(j);
	return STATUS_OK;
}

static enum status read_int(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	if (!cJSON_IsNumber(j) || j->valuedouble != floor(j->valuedouble) || fabs(j->valuedouble) > f->flag)
		return fault(r, f->name, "must be a whole number in range");
	*(int *)place(base, f) = (int)j->valuedouble;
	return STATUS_OK;
}

static enum status read_number(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	if (!cJSON_IsNumber(j) || !(j->valuedouble > 0) || !isfinite(j->valuedouble))
		return fault(r, f->name, "must be a number above 0");
	*(double *)place(base, f) = j->valuedouble;
	return STATUS_OK;
}

static const char *nearest_choice(const char *const *choice, const char *text)
{
	const char *best = choice[0];
	for (int i = 1; choice[i]; i++)
		if (str_distance(choice[i], text) < str_distance(best, text))
			best = choice[i];
	return best;
}

// Enumerations are ints to the compiler here: every enum in struct target has int's size.
static enum status read_choice(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	const char *const *choice = f->more;
	if (!cJSON_IsString(j))
		return fault(r, f->name, "must be a text");
	for (int i = 0; choice[i]; i++) {
		if (strcmp(choice[i], j->valuestring) == 0) {
			*(int *)place(base, f) = i;
			return STATUS_OK;
		}
	}
	return error_set(r->err, STATUS_FORMAT, "target %s: \"%s\" cannot be \"%.60s\"; did you mean \"%s\"?", r->file,
	    f->name, j->valuestring, nearest_choice(choice, j->valuestring));
}

static enum status read_object(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	if (!cJSON_IsObject(j))
		return fault(r, f->name, "must be an object");
	return read_members(r, j, f->more, place(base, f));
}

static enum status read_width(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	struct width *w = place(base, f);
	w->present = !cJSON_IsNull(j);
	return w->present ? read_object(r, j, f, base) : STATUS_OK;
}

// A list of operator types replaces the one of a base target: first the flag is taken from all rules.
static enum status read_ops(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsArray(j))
		return fault(r, f->name, "must be a list of operator types");
	for (int i = 0; i < r->t->n_rules; i++)
		r->t->rule[i].flags &= ~(unsigned)f->flag;
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		if (!cJSON_IsString(op))
			return fault(r, f->name, "must be a list of operator types");
		target_rule_add(r->t, op->valuestring)->flags |= (unsigned)f->flag;
	}
	return STATUS_OK;
}

static enum status read_aligned(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsArray(j))
		return fault(r, f->name, "must be a list of operator types");
	for (int i = 0; i < r->t->n_rules; i++)
		if (r->t->rule[i].align == (enum align_mode)f->flag)
			r->t->rule[i].align = ALIGN_NONE;
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		if (!cJSON_IsString(op))
			return fault(r, f->name, "must be a list of operator types");
		target_rule_add(r->t, op->valuestring)->align = (enum align_mode)f->flag;
	}
	return STATUS_OK;
}

static enum status read_slot_mask(struct reading *r, const cJSON *list, const struct field *f, unsigned *mask)
{
	const cJSON *n;
	*mask = 0;
	cJSON_ArrayForEach(n, list) {
		if (!cJSON_IsNumber(n) || n->valuedouble < 0 || n->valuedouble > 31)
			return fault(r, f->name, "must list slot numbers 0 to 31");
		*mask |= 1u << n->valueint;
	}
	return cJSON_IsArray(list) ? STATUS_OK : fault(r, f->name, "must map an operator type to a list of slot numbers");
}

// {"Resize": [1, 2]}: f->flag is the offset of the mask in struct op_rule.
static enum status read_slots(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsObject(j))
		return fault(r, f->name, "must map operator types to slot numbers");
	for (int i = 0; i < r->t->n_rules; i++)
		*(unsigned *)((char *)&r->t->rule[i] + f->flag) = 0;
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		unsigned *mask = (unsigned *)((char *)target_rule_add(r->t, op->string) + f->flag);
		enum status st = read_slot_mask(r, op, f, mask);
		if (st)
			return st;
	}
	return STATUS_OK;
}

// {"MaxPool": 12}
static enum status read_since(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsObject(j))
		return fault(r, f->name, "must map operator types to opsets");
	for (int i = 0; i < r->t->n_rules; i++)
		r->t->rule[i].passive_since = 0;
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		if (!cJSON_IsNumber(op) || op->valuedouble < 1 || op->valuedouble > 1000)
			return fault(r, f->name, "must map operator types to opsets");
		target_rule_add(r->t, op->string)->passive_since = op->valueint;
	}
	return STATUS_OK;
}

static enum status read_ranges(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsObject(j))
		return fault(r, f->name, "must map operator types to [low, high]");
	for (int i = 0; i < r->t->n_rules; i++)
		r->t->rule[i].fixed = false;
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		const cJSON *low = cJSON_GetArrayItem(op, 0), *high = cJSON_GetArrayItem(op, 1);
		if (cJSON_GetArraySize(op) != 2 || !cJSON_IsNumber(low) || !cJSON_IsNumber(high) ||
		    !(low->valuedouble < high->valuedouble))
			return fault(r, f->name, "must map operator types to [low, high]");
		struct op_rule *rule = target_rule_add(r->t, op->string);
		rule->fixed = true;
		rule->low = (float)low->valuedouble;
		rule->high = (float)high->valuedouble;
	}
	return STATUS_OK;
}

static enum status read_axis(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	static const struct {
		const char *name;
		int axis;
	} named[] = { { "tensor", AXIS_TENSOR }, { "output", AXIS_OUTPUT }, { "last", AXIS_LAST } };
	int *axis = place(base, f);
	for (size_t i = 0; cJSON_IsString(j) && i < sizeof named / sizeof *named; i++) {
		if (strcmp(named[i].name, j->valuestring) == 0) {
			*axis = named[i].axis;
			return STATUS_OK;
		}
	}
	if (!cJSON_IsNumber(j) || j->valuedouble < 0 || j->valuedouble >= SHAPE_MAX_RANK)
		return fault(r, f->name, "must be a dimension, \"tensor\", \"output\" or \"last\"");
	*axis = j->valueint;
	return STATUS_OK;
}

static const char *const calib_names[] = { "minmax", "percentile", "kl", "mse", NULL }; // ORDER CALIB
static const char *const rounding_names[] = { "half_even", "half_up", "half_down", "half_towards_zero",
	"half_far_from_zero", "up", "down", NULL }; // ORDER ROUNDING
static const char *const kind_names[] = { "linear", "float16", "bfloat16", NULL };
static const char *const swish_names[] = { "separate", "fuse", "merge", NULL };
static const char *const percentile_names[] = { "samples", "pooled", NULL };
static const char *const mse_names[] = { "grid", "exponents", "growing", NULL };

static const struct field weight_op_fields[] = {
	{ "axis", read_axis, offsetof(struct weight_rule, axis), NULL, 0 },
	{ "power_of_two", read_bool, offsetof(struct weight_rule, pow2), NULL, 0 },
	{ "observer", read_choice, offsetof(struct weight_rule, observer), calib_names, 0 },
	{ 0 },
};

static enum status read_weights(struct reading *r, const cJSON *j, const struct field *f, void *base)
{
	(void)base;
	if (!cJSON_IsObject(j))
		return fault(r, f->name, "must map operator types to their weight's rule");
	for (int i = 0; i < r->t->n_rules; i++)
		r->t->rule[i].weight = (struct weight_rule){ 0 };
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		struct weight_rule *w = &target_rule_add(r->t, op->string)->weight;
		*w = (struct weight_rule){ .weighted = true, .axis = AXIS_TENSOR, .pow2 = r->t->scale.pow2 };
		if (!cJSON_IsObject(op))
			return fault(r, op->string, "must be an object with the weight's rule");
		enum status st = read_members(r, op, weight_op_fields, w);
		if (st)
			return st;
	}
	return STATUS_OK;
}

#define AT(member) offsetof(struct target, member)
#define IN(type, member) offsetof(struct type, member)
static const struct field scheme_fields[] = {
	{ "signed", read_bool, IN(scheme, sign), NULL, 0 },
	{ "symmetric", read_bool, IN(scheme, symmetric), NULL, 0 },
	{ "narrow", read_bool, IN(scheme, narrow), NULL, 0 },
	{ "reduce_range", read_bool, IN(scheme, reduce_range), NULL, 0 },
	{ 0 },
};
static const struct field width_fields[] = {
	{ "activation", read_int, IN(width, activation), NULL, 16 },
	{ "weight", read_int, IN(width, weight), NULL, 16 },
	{ "bias", read_int, IN(width, bias), NULL, 62 },
	{ "kl_bins", read_int, IN(width, kl_bins), NULL, 1 << 22 },
	{ 0 },
};
// Members of unnamed structs: offsets from the start of struct target.
static const struct field scale_fields[] = {
	{ "power_of_two", read_bool, AT(scale.pow2), NULL, 0 },
	{ "range_rounding", read_choice, AT(scale.range), rounding_names, 0 },
	{ "kl_rounding", read_choice, AT(scale.kl), rounding_names, 0 },
	{ "minimum", read_number, AT(scale.minimum), NULL, 0 },
	{ "below_minimum", read_number, AT(scale.below), NULL, 0 },
	{ 0 },
};
static const struct field bias_fields[] = {
	{ "quantized", read_bool, AT(bias.quantized), NULL, 0 },
	{ "per_channel", read_bool, AT(bias.per_channel), NULL, 0 },
	{ "widens_weights", read_bool, AT(bias.widens_weights), NULL, 0 },
	{ "own_scale", read_bool, AT(bias.own_scale), NULL, 0 },
	{ 0 },
};
static const struct field constants_fields[] = {
	{ "observer", read_choice, AT(constants), calib_names, 0 },
	{ 0 },
};
static const struct field precision_fields[] = {
	{ "int8", read_width, AT(width[0]), width_fields, 0 },
	{ "int16", read_width, AT(width[1]), width_fields, 0 },
	{ 0 },
};
static const struct field calibration_fields[] = {
	{ "default", read_choice, AT(calibration.method), calib_names, 0 },
	{ "rounded_weights", read_bool, AT(calibration.rounded_weights), NULL, 0 },
	{ "percentile", read_number, AT(calibration.percentile), NULL, 0 },
	{ "percentile_of", read_choice, AT(calibration.percentile_of), percentile_names, 0 },
	{ "mse", read_choice, AT(calibration.mse), mse_names, 0 },
	{ 0 },
};
static const struct field operator_fields[] = {
	{ "quantized", read_ops, 0, NULL, RULE_QUANTIZED },
	{ "computing", read_ops, 0, NULL, RULE_COMPUTING },
	{ "passive", read_ops, 0, NULL, RULE_PASSIVE },
	{ "passive_since", read_since, 0, NULL, 0 },
	{ "quantizing_input", read_ops, 0, NULL, RULE_TAKES_INPUT },
	{ "after_computing", read_bool, AT(after_computing), NULL, 0 },
	{ "needs_quantized_input", read_bool, AT(needs_input), NULL, 0 },
	{ "float_inputs", read_slots, 0, NULL, offsetof(struct op_rule, float_in) },
	{ "float_outputs", read_slots, 0, NULL, offsetof(struct op_rule, float_out) },
	{ "following_inputs", read_slots, 0, NULL, offsetof(struct op_rule, follow_in) },
	{ "fixed_ranges", read_ranges, 0, NULL, 0 },
	{ 0 },
};
static const struct field fusion_fields[] = {
	{ "activations", read_ops, 0, NULL, RULE_ACTIVATION },
	{ "behind_any", read_ops, 0, NULL, RULE_BEHIND_ANY },
	{ "promoted", read_ops, 0, NULL, RULE_PROMOTED },
	{ "promoters", read_ops, 0, NULL, RULE_PROMOTER },
	{ "swish", read_choice, AT(swish), swish_names, 0 },
	{ 0 },
};
static const struct field alignment_fields[] = {
	{ "to_output", read_aligned, 0, NULL, ALIGN_OUTPUT },
	{ "to_large", read_aligned, 0, NULL, ALIGN_LARGE },
	{ "to_first", read_aligned, 0, NULL, ALIGN_FIRST },
	{ "pull_shared", read_bool, AT(pull_shared), NULL, 0 },
	{ "pull_passive", read_bool, AT(pull_passive), NULL, 0 },
	{ "pull_inputs", read_bool, AT(pull_inputs), NULL, 0 },
	{ 0 },
};
// "base" is dealt with before (target.c); weights come after "scale", whose kind is their default.
static const struct field target_fields[] = {
	{ "name", read_text, AT(name), NULL, 0 },
	{ "title", read_text, AT(title), NULL, 0 },
	{ "base", NULL, 0, NULL, 0 },
	{ "kind", read_choice, AT(kind), kind_names, 0 },
	{ "rounding", read_choice, AT(rounding), rounding_names, 0 },
	{ "scale", read_object, 0, scale_fields, 0 },
	{ "activation", read_object, AT(activation), scheme_fields, 0 },
	{ "weight", read_object, AT(weight), scheme_fields, 0 },
	{ "weights", read_weights, 0, NULL, 0 },
	{ "bias", read_object, 0, bias_fields, 0 },
	{ "constants", read_object, 0, constants_fields, 0 },
	{ "precisions", read_object, 0, precision_fields, 0 },
	{ "calibration", read_object, 0, calibration_fields, 0 },
	{ "operators", read_object, 0, operator_fields, 0 },
	{ "fusion", read_object, 0, fusion_fields, 0 },
	{ "alignment", read_object, 0, alignment_fields, 0 },
	{ 0 },
};

static enum status unknown_member(struct reading *r, const char *name, const struct field *f)
{
	const char *best = f->name;
	for (; f->name; f++)
		if (str_distance(f->name, name) < str_distance(best, name))
			best = f->name;
	return error_set(r->err, STATUS_FORMAT, "target %s: unknown member \"%.60s\"; the nearest known is \"%s\"", r->file,
	    name, best);
}

static enum status check_known(struct reading *r, const cJSON *obj, const struct field *fields)
{
	const cJSON *j;
	cJSON_ArrayForEach(j, obj) {
		const struct field *f = fields;
		while (f->name && strcmp(f->name, j->string) != 0)
			f++;
		if (!f->name)
			return unknown_member(r, j->string, fields);
		if (cJSON_GetObjectItemCaseSensitive(obj, f->name) != j)
			return fault(r, f->name, "is given twice");
	}
	return STATUS_OK;
}

// Members are read in the order of the table, whatever their order in the file.
static enum status read_members(struct reading *r, const cJSON *obj, const struct field *fields, void *base)
{
	enum status st = check_known(r, obj, fields);
	for (const struct field *f = fields; f->name && !st; f++) {
		const cJSON *j = cJSON_GetObjectItemCaseSensitive(obj, f->name);
		if (j && f->read)
			st = f->read(r, j, f, base);
	}
	return st;
}

enum status target_read(struct target *t, const cJSON *json, const char *name, struct error *err)
{
	struct reading r = { .t = t, .file = name, .err = err };
	if (!cJSON_IsObject(json))
		return error_set(err, STATUS_FORMAT, "target %s: the file must hold one JSON object", name);
	return read_members(&r, json, target_fields, t);
}
