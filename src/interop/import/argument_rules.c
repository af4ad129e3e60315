// What arguments of ONNX Runtime's and Quark's say of all tensors, held against the target, which decides it.
#include <math.h>
#include <string.h>
#include <strings.h>
#include "read_arguments.h"

// Types by the names of ONNX Runtime's and Quark's enumerations; Olive writes the latter small.
static const struct type known_types[] = {
    {"QInt4", 4, true}, {"QUInt4", 4, false}, {"QInt8", 8, true}, {"QUInt8", 8, false}, {"QInt16", 16, true}, {"QUInt16", 16, false},
    {"QInt32", 32, true}, {"QUInt32", 32, false}, {"QFloat16", WISH_FLOAT, true}, {"QBFloat16", WISH_FLOAT, true},
    {"Int4", 4, true}, {"UInt4", 4, false}, {"Int8", 8, true}, {"UInt8", 8, false}, {"XInt8", 8, true}, {"Int16", 16, true},
    {"UInt16", 16, false}, {"Int32", 32, true}, {"UInt32", 32, false}, {"Float16", WISH_FLOAT, true}, {"BFloat16", WISH_FLOAT, true},
};

const struct type *find_type(const char *name)
{
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++)
		if (strcasecmp(known_types[i].name, dot ? dot + 1 : name) == 0)
			return &known_types[i];
	return NULL;
}

// The quantizer of the first activation or weight at the target's own width; NULL: there is none.
static const struct quantizer *plain_quantizer(const struct plan *p, bool weight)
{
	for (const struct slot *s = p->slot; s < p->slot + p->n_slots; s++)
		if (s->state == SLOT_ACTIVE && s->quant.kind == QUANT_LINEAR && s->parameter == weight && (!weight || s->index == 1) &&
		    p->precision[s->node] == PREC_INT8)
			return &s->quant;
	return NULL;
}

static bool has_weights_per_channel(const struct plan *p)
{
	for (const struct slot *s = p->slot; s < p->slot + p->n_slots; s++)
		if (s->parameter && s->index == 1 && s->state == SLOT_ACTIVE && s->quant.axis >= 0)
			return true;
	return false;
}

// 16 bit for all, where the target has it besides its own width. Without a sign or with one,
// the grid is the same: zero points follow.
void read_activation_type(struct wishes *w, const char *name, bool symmetric)
{
	const struct type *type = find_type(name);
	const struct quantizer *q = plain_quantizer(w->p, false);
	if (!type || type->bits == WISH_FLOAT)
		wish_note(w, "activation_type: %.40s is not known here", name);
	else if (q && type->bits == 16 && q->bits == 8 && target_has_precision(w->p->target, 16))
		wish_all(w, PREC_INT16);
	else if (q && type->bits != q->bits)
		wish_note(w, "activation_type: %.40s has %d bits, activations of the target have %d: choose another --target", name, type->bits,
		    q->bits);
	if (type && q && symmetric != q->symmetric)
		wish_note(w, "ActivationSymmetric: %s, but activations of the target are %ssymmetric: choose another --target",
		    symmetric ? "true" : "false", q->symmetric ? "" : "not ");
}

static void note_channels(struct wishes *w, const char *where, const char *member, const char *said, bool channels)
{
	if (channels != has_weights_per_channel(w->p))
		wish_note(w, "%s%s: %.40s, but weights of the target have a scale for each %s: choose another --target", where, member, said,
		    channels ? "tensor" : "channel");
}

static void note_weight_type(struct wishes *w, const char *where, const char *member, const char *name, int bits)
{
	const struct type *type = name ? find_type(name) : NULL;
	if (type && type->bits == WISH_FLOAT)
		wish_note(w, "%s%s: %.40s is no integer, weights of the target have %d bits: choose another --target", where, member, name, bits);
	else if (type && type->bits != bits)
		wish_note(w, "%s%s: %.40s has %d bits, weights of the target have %d: choose another --target", where, member, name, type->bits,
		    bits);
}

static void note_weight_symmetry(struct wishes *w, const char *where, const char *member, const cJSON *symmetric,
    const struct quantizer *q)
{
	if (cJSON_IsBool(symmetric) && cJSON_IsTrue(symmetric) != q->symmetric)
		wish_note(w, "%s%s: %s, but weights of the target are %ssymmetric: choose another --target", where, member,
		    cJSON_IsTrue(symmetric) ? "true" : "false", q->symmetric ? "" : "not ");
}

// With the enumeration in front that it is of: ScaleType, PowerOfTwoMethod.
void note_scales(struct wishes *w, const char *where, const char *member, const char *said, bool pow2, bool weight)
{
	const struct quantizer *q = plain_quantizer(w->p, weight);
	if (q && pow2 != q->pow2)
		wish_note(w, "%s%s: %.40s, but %s of the target have scales that are %spowers of two: choose another --target", where, member,
		    said, weight ? "weights" : "activations", q->pow2 ? "" : "no ");
}

// What a file says of weights is the target's own business: only where they differ is it told.
void note_other_weights(struct wishes *w, const cJSON *root, const cJSON *extra)
{
	const struct quantizer *q = plain_quantizer(w->p, true);
	const cJSON *by_channel = cJSON_GetObjectItemCaseSensitive(root, "per_channel");
	if (!q)
		return;
	note_weight_type(w, "", "weight_type", json_text(root, "weight_type", NULL), q->bits);
	if (cJSON_IsBool(by_channel))
		note_channels(w, "", "per_channel", cJSON_IsTrue(by_channel) ? "true" : "false", cJSON_IsTrue(by_channel));
	note_weight_symmetry(w, "", "WeightSymmetric", cJSON_GetObjectItemCaseSensitive(extra, "WeightSymmetric"), q);
	if (json_bool(root, "reduce_range", false) && range_is_full(q->qmin, q->qmax, q->bits))
		wish_note(w, "reduce_range: weights of the target use all their bits: choose --target NAME,weight.reduce_range=true");
}

// Quark's newer way to say it, of a tensor; `inputs` are activations of `p`. `where` begins each line.
void note_other_tensors(struct wishes *w, const char *where, const cJSON *inputs, const cJSON *weight, enum precision p)
{
	const struct quantizer *q = plain_quantizer(w->p, true);
	const char *by = json_text(weight, "quant_granularity", NULL), *scale = json_text(inputs, "scale_type", NULL);
	if (scale)
		note_scales(w, where, "scale_type", scale, str_has_suffix(scale, "PowerOf2"), false);
	if (!q || !weight)
		return;
	note_weight_type(w, where, "weight.data_type", json_text(weight, "data_type", NULL),
	    p == PREC_INT16 && target_widens_weights(w->p->target) ? 16 : q->bits);
	if (by)
		note_channels(w, where, "weight.quant_granularity", by, !str_has_suffix(by, "Tensor"));
	note_weight_symmetry(w, where, "weight.symmetric", cJSON_GetObjectItemCaseSensitive(weight, "symmetric"), q);
	if ((scale = json_text(weight, "scale_type", NULL)))
		note_scales(w, where, "weight.scale_type", scale, str_has_suffix(scale, "PowerOf2"), true);
}

// In hundredths; 0: it says none.
void note_percentile(struct wishes *w, const cJSON *extra, const char *name)
{
	double percent = json_number(extra, name, 0), own = 100 * target_percentile(w->p->target);
	if (percent != 0 && fabs(percent - own) > 1e-7)
		wish_note(w, "%s: %.9g, the target has %.9g: choose --target NAME,calibration.percentile=%.9g", name, percent, own,
		    percent / 100);
}

// Options of Quark's that are members of its targets here.
static const struct option {
	const char *name;
	enum target_trait trait;
	bool has;                // the target has it where the option is true
	const char *members[2];  // that take it away, that give it
} options[] = {
    {"Int32Bias", TRAIT_OWN_BIAS, false,
        {"bias.own_scale=false,precisions.int8.bias=32", "bias.own_scale=true,precisions.int8.bias=8"}},
    {"QuantizeAllOpTypes", TRAIT_ALL_TYPES, true, {"operators.all_types=false", "operators.all_types=true"}},
    {"ConvertSigmoidToHardSigmoid", TRAIT_HARD_SIGMOID, true,
        {"operators.becomes.Sigmoid=itself", "operators.becomes.Sigmoid=hard_sigmoid"}},
};

static void note_npu(struct wishes *w, const cJSON *o, const char *member)
{
	const cJSON *npu = cJSON_GetObjectItemCaseSensitive(o, member);
	if (cJSON_IsBool(npu))
		note_scales(w, "", member, cJSON_IsTrue(npu) ? "true" : "false", cJSON_IsTrue(npu), false);
}

void note_quark_options(struct wishes *w, const cJSON *root, const cJSON *extra)
{
	if (!plain_quantizer(w->p, false)) // casts have neither biases nor scales
		return;
	for (const struct option *o = options; o < options + sizeof options / sizeof *options; o++) {
		const cJSON *said = cJSON_GetObjectItemCaseSensitive(extra, o->name);
		bool wanted = cJSON_IsTrue(said) == o->has;
		if (cJSON_IsBool(said) && wanted != target_has_trait(w->p->target, o->trait))
			wish_note(w, "%s: %s, the target does otherwise: choose --target NAME,%s", o->name, cJSON_IsTrue(said) ? "true" : "false",
			    o->members[wanted]);
	}
	note_npu(w, root, "enable_npu_cnn");
	note_npu(w, extra, "EnableNPUCnn");
}
