// Reads a target's JSON by tables of its members.
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "target_members.h"

static enum status read_width(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	struct width *w = member_place(base, f);
	w->present = !cJSON_IsNull(j);
	return w->present ? member_object(r, j, f, base) : STATUS_OK;
}

static void mark_flag(struct op_rule *rule, long flag, bool on)
{
	rule->flags = on ? rule->flags | (unsigned)flag : rule->flags & ~(unsigned)flag;
}

static void mark_align(struct op_rule *rule, long mode, bool on)
{
	if (on || rule->align == (enum align_mode)mode)
		rule->align = on ? (enum align_mode)mode : ALIGN_NONE;
}

// A list of operator types replaces the one of a base target: first the mark is taken from all rules.
static enum status read_types(
    struct member_reading *r, const cJSON *j, const struct member *f, void (*mark)(struct op_rule *rule, long what, bool on))
{
	if (!cJSON_IsArray(j))
		return member_fault(r, f->name, "must be a list of operator types");
	for (int i = 0; i < r->t->n_rules; i++)
		mark(&r->t->rule[i], f->flag, false);
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		if (!cJSON_IsString(op))
			return member_fault(r, f->name, "must be a list of operator types");
		mark(target_rule_add(r->t, op->valuestring), f->flag, true);
	}
	return STATUS_OK;
}

static enum status read_ops(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	(void)base;
	return read_types(r, j, f, mark_flag);
}

static enum status read_aligned(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	(void)base;
	return read_types(r, j, f, mark_align);
}

// A member that maps operator types to a part of their rules, which is all zero for the types that it does not name.
struct rule_map {
	size_t size;         // of the part
	member_reader *read; // reads it, from what stands under the type's name
	const void *more;    // for the reader
};

// Replaces the map of a base target.
static enum status read_map(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	const struct rule_map *map = f->more;
	(void)base;
	if (!cJSON_IsObject(j))
		return member_fault(r, f->name, "must be an object with a member for each operator type");
	for (int i = 0; i < r->t->n_rules; i++)
		memset(member_place(&r->t->rule[i], f), 0, map->size);
	const cJSON *op;
	cJSON_ArrayForEach(op, j) {
		struct member part = {.name = op->string, .read = map->read, .offset = f->offset, .more = map->more};
		enum status st = part.read(r, op, &part, target_rule_add(r->t, op->string));
		if (st)
			return st;
	}
	return STATUS_OK;
}

// {"Resize": [1, 2]}
static enum status read_mask(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	unsigned *mask = member_place(base, f);
	bool sound = cJSON_IsArray(j);
	const cJSON *n;
	*mask = 0;
	cJSON_ArrayForEach(n, j) {
		sound = sound && cJSON_IsNumber(n) && n->valuedouble >= 0 && n->valuedouble <= 31;
		*mask |= sound ? 1u << n->valueint : 0;
	}
	return sound ? STATUS_OK : member_fault(r, f->name, "must be a list of slot numbers 0 to 31");
}

// {"MaxPool": 12}
static enum status read_opset(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsNumber(j) || j->valuedouble < 1 || j->valuedouble > 1000)
		return member_fault(r, f->name, "must be an opset");
	*(int *)member_place(base, f) = j->valueint;
	return STATUS_OK;
}

static bool read_pair(double pair[2], const cJSON *j)
{
	const cJSON *a = cJSON_GetArrayItem(j, 0), *b = cJSON_GetArrayItem(j, 1);
	if (cJSON_GetArraySize(j) != 2 || !cJSON_IsNumber(a) || !cJSON_IsNumber(b))
		return false;
	pair[0] = a->valuedouble;
	pair[1] = b->valuedouble;
	return true;
}

static enum status read_range(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	double range[2];
	if (!read_pair(range, j) || !(range[0] < range[1]))
		return member_fault(r, f->name, "must be [low, high]");
	*(struct fixed_range *)member_place(base, f) = (struct fixed_range){true, (float)range[0], (float)range[1]};
	return STATUS_OK;
}

static bool is_scale(double x)
{
	return x > 1e-30 && x < 1e30;
}

// {"Sigmoid": [0.00390625, 0]}
static enum status read_fixed_scale(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	double given[2];
	if (!read_pair(given, j) || !is_scale(given[0]) || !(fabs(given[1]) <= 65535))
		return member_fault(r, f->name, "must be [scale, zero point]");
	*(struct fixed_scale *)member_place(base, f) = (struct fixed_scale){(float)given[0], (int)given[1]};
	return STATUS_OK;
}

// {"GRU": 0.001953125}
static enum status read_scale(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	if (!cJSON_IsNumber(j) || !is_scale(j->valuedouble))
		return member_fault(r, f->name, "must be a scale");
	*(float *)member_place(base, f) = (float)j->valuedouble;
	return STATUS_OK;
}

static enum status read_clips(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	(void)base;
	if (!cJSON_IsArray(j) || cJSON_GetArraySize(j) > MAX_CLIPS)
		return member_fault(r, f->name, "must list at most 4 pairs [low, high]");
	r->t->n_clips = 0;
	const cJSON *pair;
	cJSON_ArrayForEach(pair, j) {
		double limits[2];
		if (!read_pair(limits, pair))
			return member_fault(r, f->name, "must list at most 4 pairs [low, high]");
		float *clip = r->t->clip[r->t->n_clips++];
		clip[0] = (float)limits[0];
		clip[1] = (float)limits[1];
	}
	return STATUS_OK;
}

static enum status read_axis(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	static const struct {
		const char *name;
		int axis;
	} named[] = {{"tensor", AXIS_TENSOR}, {"output", AXIS_OUTPUT}, {"last", AXIS_COLUMN}};
	int *axis = member_place(base, f);
	for (size_t i = 0; cJSON_IsString(j) && i < sizeof named / sizeof *named; i++) {
		if (strcmp(named[i].name, j->valuestring) == 0) {
			*axis = named[i].axis;
			return STATUS_OK;
		}
	}
	if (!cJSON_IsNumber(j) || j->valuedouble < 0 || j->valuedouble >= SHAPE_MAX_RANK)
		return member_fault(r, f->name, "must be a dimension, \"tensor\", \"output\" or \"last\"");
	*axis = j->valueint;
	return STATUS_OK;
}

static const char *const rounding_names[] = {"half_even", "half_up", "half_down", "half_towards_zero",
	"half_far_from_zero", "up", "down", NULL}; // ORDER ROUNDING
static const char *const kind_names[] = {"linear", "float16", "bfloat16", NULL};
static const char *const swish_names[] = {"separate", "fuse", "merge", "merge_and_fuse", NULL}; // ORDER SWISH
static const char *const limit_names[] = {"read", "write", "cut", "bias", "hard_sigmoid", "swish", NULL}; // ORDER LIMIT
static const char *const becoming_names[] = {"itself", "hard_sigmoid", "rounded_slope", "pooled_mean", "shifted_mean", NULL}; // ORDER BECOMES
static const char *const percentile_names[] = {"samples", "pooled", NULL};
static const char *const kl_names[] = {"threshold", "ranges", NULL};
static const char *const mse_names[] = {"grid", "exponents", "growing", "joint", NULL};

static const struct member weight_op_fields[] = {
	{"axis", read_axis, offsetof(struct weight_rule, axis), NULL, 0},
	{"power_of_two", member_bool, offsetof(struct weight_rule, pow2), NULL, 0},
	{"observer", member_choice, offsetof(struct weight_rule, observer), target_calibrations, 0},
	{0},
};

static enum status read_weight(struct member_reading *r, const cJSON *j, const struct member *f, void *base)
{
	struct weight_rule *w = member_place(base, f);
	*w = (struct weight_rule){.weighted = true, .axis = AXIS_TENSOR, .pow2 = r->t->scale.pow2};
	return cJSON_IsObject(j) ? members_read(r, j, weight_op_fields, w)
	                         : member_fault(r, f->name, "must be an object with the weight's rule");
}

#define AT(member) offsetof(struct target, member)
#define IN(type, member) offsetof(struct type, member)
#define MAP(part, reader, more) \
	read_map, IN(op_rule, part), &(const struct rule_map){sizeof((struct op_rule *)0)->part, reader, more}, 0
static const struct member scheme_fields[] = {
	{"signed", member_bool, IN(scheme, sign), NULL, 0},
	{"symmetric", member_bool, IN(scheme, symmetric), NULL, 0},
	{"narrow", member_bool, IN(scheme, narrow), NULL, 0},
	{"reduce_range", member_bool, IN(scheme, reduce_range), NULL, 0},
	{"balanced", member_bool, IN(scheme, balanced), NULL, 0},
	{0},
};
static const struct member width_fields[] = {
	{"activation", member_int, IN(width, activation), NULL, 16},
	{"weight", member_int, IN(width, weight), NULL, 16},
	{"bias", member_int, IN(width, bias), NULL, 62},
	{"kl_bins", member_int, IN(width, kl_bins), NULL, 1 << 22},
	{"platform", member_int, IN(width, platform), NULL, 9999},
	{0},
};
// Members of unnamed structs: offsets from the start of struct target.
static const struct member scale_fields[] = {
	{"power_of_two", member_bool, AT(scale.pow2), NULL, 0},
	{"range_rounding", member_choice, AT(scale.range), rounding_names, 0},
	{"kl_rounding", member_choice, AT(scale.kl), rounding_names, 0},
	{"minimum", member_number, AT(scale.minimum), NULL, 0},
	{"zero_rounding", member_choice, AT(scale.zero), rounding_names, 0},
	{"double_precision", member_bool, AT(scale.precise), NULL, 0},
	{"below_minimum", member_number, AT(scale.below), NULL, 0},
	{"least_range", member_number, AT(scale.least_range), NULL, 0},
	{"single_precision", member_bool, AT(scale.single), NULL, 0},
	{0},
};
static const struct member bias_fields[] = {
	{"quantized", member_bool, AT(bias.quantized), NULL, 0},
	{"per_channel", member_bool, AT(bias.per_channel), NULL, 0},
	{"own_scale", member_bool, AT(bias.own_scale), NULL, 0},
	{"widens_weights", member_bool, AT(bias.widens_weights), NULL, 0},
	{"headroom", member_number, AT(bias.headroom), NULL, 0},
	{0},
};
static const struct member constants_fields[] = {
	{"observer", member_choice, AT(constants), target_calibrations, 0},
	{"whole_numbers", member_bool, AT(whole_constants), NULL, 0},
	{"like_weights", read_ops, 0, NULL, RULE_LIKE_WEIGHTS},
	{0},
};
static const struct member precision_fields[] = {
	{"int8", read_width, AT(width[0]), width_fields, 0},
	{"int16", read_width, AT(width[1]), width_fields, 0},
	{0},
};
static const struct member calibration_fields[] = {
	{"default", member_choice, AT(calibration.method), target_calibrations, 0},
	{"rounded_weights", member_bool, AT(calibration.rounded_weights), NULL, 0},
	{"percentile", member_number, AT(calibration.percentile), NULL, 0},
	{"percentile_of", member_choice, AT(calibration.percentile_of), percentile_names, 0},
	{"kl", member_choice, AT(calibration.kl), kl_names, 0},
	{"mse", member_choice, AT(calibration.mse), mse_names, 0},
	{"gate_reach", member_number, AT(calibration.gate_reach), NULL, 0},
	{0},
};
static const struct member operator_fields[] = {
	{"quantized", read_ops, 0, NULL, RULE_QUANTIZED},
	{"all_types", member_bool, AT(all_types), NULL, 0},
	{"only_hard_sigmoid_of_sixths", member_bool, AT(gates), NULL, 0},
	{"computing", read_ops, 0, NULL, RULE_COMPUTING},
	{"passive", read_ops, 0, NULL, RULE_PASSIVE},
	{"passive_since", MAP(passive_since, read_opset, NULL)},
	{"passive_with_zeros", read_ops, 0, NULL, RULE_ONLY_ZEROS},
	{"quantizing_input", read_ops, 0, NULL, RULE_TAKES_INPUT},
	{"following", read_ops, 0, NULL, RULE_FOLLOWS},
	{"quantized_by_constant", read_ops, 0, NULL, RULE_BY_CONSTANT},
	{"written_out", read_ops, 0, NULL, RULE_WRITTEN_OUT},
	{"after_computing", member_bool, AT(after_computing), NULL, 0},
	{"needs_quantized_input", member_bool, AT(needs_input), NULL, 0},
	{"float_inputs", MAP(float_in, read_mask, NULL)},
	{"float_outputs", MAP(float_out, read_mask, NULL)},
	{"following_inputs", MAP(follow_in, read_mask, NULL)},
	{"fixed_ranges", MAP(fixed_range, read_range, NULL)},
	{"fixed_scales", MAP(fixed_scale, read_fixed_scale, NULL)},
	{"becomes", MAP(becomes, member_choice, becoming_names)},
	{"step_scales", MAP(step_scale, read_scale, NULL)},
	{0},
};
static const struct member fusion_fields[] = {
	{"activations", read_ops, 0, NULL, RULE_ACTIVATION},
	{"in_front", read_ops, 0, NULL, RULE_FRONT},
	{"clips", read_clips, 0, NULL, 0},
	{"behind_any", read_ops, 0, NULL, RULE_BEHIND_ANY},
	{"only_asymmetric", member_bool, AT(only_asymmetric), NULL, 0},
	{"promoted", read_ops, 0, NULL, RULE_PROMOTED},
	{"promoters", read_ops, 0, NULL, RULE_PROMOTER},
	{"swish", member_choice, AT(swish), swish_names, 0},
	{"ends_at_outputs", member_bool, AT(outputs_end), NULL, 0},
	{"behind_float", member_bool, AT(behind_float), NULL, 0},
	{0},
};
static const struct member alignment_fields[] = {
	{"to_output", read_aligned, 0, NULL, ALIGN_OUTPUT},
	{"to_output_read", read_aligned, 0, NULL, ALIGN_READ},
	{"to_large", read_aligned, 0, NULL, ALIGN_LARGE},
	{"to_first", read_aligned, 0, NULL, ALIGN_FIRST},
	{"to_output_whole", read_aligned, 0, NULL, ALIGN_WHOLE},
	{"to_coarsest", read_aligned, 0, NULL, ALIGN_COARSEST},
	{"shift_limits", member_flags, AT(shift_limits), limit_names, 0},
	{"pull_shared", member_bool, AT(pull_shared), NULL, 0},
	{"pull_passive", member_bool, AT(pull_passive), NULL, 0},
	{"pull_inputs", member_bool, AT(pull_inputs), NULL, 0},
	{0},
};

const char *target_alignment(const struct target *t, const char *op_type)
{
	enum align_mode mode = target_rule(t, op_type)->align;
	for (const struct member *m = alignment_fields; m->name; m++)
		if (m->read == read_aligned && m->flag == (long)mode && mode != ALIGN_NONE)
			return m->name;
	return "";
}

// "base" is dealt with before (target.c); weights come after "scale", whose kind is their default.
static const struct member target_fields[] = {
	{"name", member_text, AT(name), NULL, 0},
	{"title", member_text, AT(title), NULL, 0},
	{"tool", member_text, AT(tool), NULL, 0},
	{"base", NULL, 0, NULL, 0},
	{"kind", member_choice, AT(kind), kind_names, 0},
	{"rounding", member_choice, AT(rounding), rounding_names, 0},
	{"scale", member_object, 0, scale_fields, 0},
	{"activation", member_object, AT(activation), scheme_fields, 0},
	{"weight", member_object, AT(weight), scheme_fields, 0},
	{"weights", MAP(weight, read_weight, NULL)},
	{"bias", member_object, 0, bias_fields, 0},
	{"constants", member_object, 0, constants_fields, 0},
	{"precisions", member_object, 0, precision_fields, 0},
	{"calibration", member_object, 0, calibration_fields, 0},
	{"operators", member_object, 0, operator_fields, 0},
	{"fusion", member_object, 0, fusion_fields, 0},
	{"alignment", member_object, 0, alignment_fields, 0},
	{0},
};

static void add_name(char ***list, size_t *cap, int *n, const char *in, const char *name)
{
	struct str s = {0};
	str_addf(&s, "%s%s%s", in, *in ? "." : "", name);
	*list = xgrow(*list, cap, (size_t)*n + 1, sizeof **list);
	(*list)[(*n)++] = str_detach(&s);
}

char **target_member_names(int *n)
{
	char **list = NULL;
	size_t cap = 0;
	*n = 0;
	for (const struct member *f = target_fields; f->name; f++) {
		if (strcmp(f->name, "name") == 0 || !f->read)
			continue;
		if (f->read != member_object)
			add_name(&list, &cap, n, "", f->name);
		for (const struct member *in = f->read == member_object ? f->more : NULL; in && in->name; in++)
			add_name(&list, &cap, n, f->name, in->name);
	}
	return list;
}

enum status target_read(struct target *t, const cJSON *json, const char *name, struct error *err)
{
	struct member_reading r = {.t = t, .file = name, .err = err};
	if (!cJSON_IsObject(json))
		return error_set(err, STATUS_FORMAT, "target %s: the file must hold one JSON object", name);
	return members_read(&r, json, target_fields, t);
}
