// What esp-ppq and PPQ are told to do: a QuantizationSetting, AutoQuant's choice of one, which has other names for the same, and what
// Espressif's espdl-quantize makes one of in each of its iterations.
// Widths, scales (operator -> scale of its first output) and the calibrator are taken over. Passes that change weights are
// named with what does it here, alignments and steps that are left out where the target has others.
#include <string.h>
#include <strings.h>
#include "read_esp_ppq.h"

enum dialect { SETTING, AUTOQUANT, DIALECTS };

// Passes that give the tool's run other weights than the model has.
static const struct weight_pass {
	const char *name[DIALECTS]; // NULL: it is not to be had
	const char *instead;
} passes[] = {
    {{"ssd_equalization", NULL}, "qtui equalize has equalization alone"},
    {{"channel_split", NULL}, "give the node more bits"},
    {{"weight_split", "horizontal_layer_split"}, "give the node more bits"},
    {{"bias_correct", "bias_correction"}, "qtui tune corrects biases"},
    {{"lsq_optimization", NULL}, "qtui tune fits weights in its own way"},
    {{"tqt_optimization", "tqt"}, "qtui tune fits weights in its own way"},
    {{"blockwise_reconstruction", "blockwise_reconstruction"}, "qtui tune fits weights in its own way"},
};

// How operators of a kind share scales.
static const struct alignment {
	const char *name[DIALECTS], *op_type[3];
} alignments[] = {
    {{"align_elementwise_to", "elementwise_to"}, {"Add", "Sub", "Sum"}},
    {{"align_concat_to", "concat_to"}, {"Concat", "ScatterND"}},
    {{"align_avgpooling_to", "avgpooling_to"}, {"AveragePool", "GlobalAveragePool"}},
    {{"align_resize_to", "resize_to"}, {"Resize"}},
};
static const struct {
	const char *text, *member; // of a target's "alignment"
} aligned[] = {{"None", ""}, {"Align to Output", "to_output"}, {"Align to Large", "to_large"}};

// Steps that every target of these tools has, and that a setting can leave out.
static const struct step {
	const char *in, *name, *instead; // `in`: NULL for the root
} steps[] = {
    {NULL, "quantize_activation", "set nodes to float"},
    {NULL, "quantize_parameter", "set nodes to float"},
    {NULL, "fusion", "the target says what fuses"},
    {"fusion_setting", "fuse_activation", "choose --target NAME,fusion.activations=[],fusion.behind_any=[]"},
    {"fusion_setting", "fuse_passive_op", "choose --target NAME,operators.passive=[]"},
    {"fusion_setting", "remove_useless_quantization", "what is quantized already is not quantized again here"},
    {"quantize_parameter_setting", "quantize_passive_parameter", "choose --target NAME,bias.quantized=false"},
    {"graph_format_setting", "fuse_conv_bn", "it is folded here"},
    {"graph_format_setting", "fuse_swish", "choose --target NAME,fusion.swish=separate"},
};

static bool is_of_ppq(const struct target *t)
{
	return target_is_of(t, "esp-ppq") || target_is_of(t, "PPQ") || target_is_of(t, "TensorRT");
}

static void note_steps(struct wishes *w, const cJSON *root)
{
	for (const struct step *s = steps; s < steps + sizeof steps / sizeof *steps; s++)
		if (!json_bool(s->in ? object_in(w, root, s->in) : root, s->name, true))
			wish_note(w, "%s: false is not read: %s", s->name, s->instead);
	const char *method = json_text(object_in(w, root, "quantize_parameter_setting"), "calib_algorithm", NULL);
	if (method)
		wish_note(w, "quantize_parameter_setting: %.40s is not read: the target has calibrators of its own for weights and constants", method);
}

// PPQ's own quantizes what computing operators lead to, that of esp-ppq for its chips all.
static void note_dispatcher(struct wishes *w, const char *name)
{
	bool all = target_is_of(w->p->target, "esp-ppq");
	if (name && strcasecmp(name, all ? "allin" : "conservative") != 0)
		wish_note(w, "dispatcher: %.40s is not read: the target takes what %s does; see operators.after_computing of targets", name,
		    all ? "allin" : "conservative");
}

// By true, or with what it is given: {"enabled": true, ..}.
static bool is_on(const cJSON *on, const char *name)
{
	const cJSON *pass = cJSON_GetObjectItemCaseSensitive(on, name);
	return cJSON_IsTrue(pass) || (cJSON_IsObject(pass) && json_bool(pass, "enabled", false));
}

static void note_passes(struct wishes *w, const cJSON *on, enum dialect d)
{
	for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
		if (passes[i].name[d] && is_on(on, passes[i].name[d]))
			wish_note(w, "%s: changes weights, which no edit says; %s", passes[i].name[d], passes[i].instead);
}

// The command that moves the same factors.
static void note_equalization(struct wishes *w, const char *name, const cJSON *o)
{
	double rounds = json_number(o, "iterations", 10), threshold = json_number(o, "value_threshold", 0.5);
	struct str command = {0};
	str_add(&command, "qtui equalize");
	str_add(&command, json_number(o, "opt_level", 1) >= 2 ? " --sums" : "");
	if (rounds != 10)
		str_addf(&command, " --rounds %.0f", rounds);
	if (threshold != 0.5)
		str_addf(&command, " --threshold %g", threshold);
	if (json_bool(o, "including_bias", false))
		str_addf(&command, " --bias %g", json_number(o, "bias_multiplier", 0.5));
	wish_note(w, "%s: changes weights, which no edit says; for the same%s, open what %s writes", name,
	    json_bool(o, "including_act", false) ? " but for its including_act" : "", str_text(&command));
	str_done(&command);
}

// The type of the first node that the alignment concerns; NULL: the model has none.
static const char *concerned(const struct wishes *w, const struct alignment *a)
{
	for (int n = 0; n < w->g->n_nodes; n++)
		for (int i = 0; i < 3 && a->op_type[i]; i++)
			if (strcmp(w->g->node[n].op->name, a->op_type[i]) == 0)
				return a->op_type[i];
	return NULL;
}

static void note_alignment(struct wishes *w, const struct alignment *a, enum dialect d, const char *said)
{
	const char *op_type = concerned(w, a), *has = op_type ? target_alignment(w->p->target, op_type) : NULL;
	if (!has)
		return;
	for (size_t i = 0; i < sizeof aligned / sizeof *aligned; i++)
		if (strcmp(aligned[i].text, said) == 0 && strcmp(aligned[i].member, has) == 0)
			return;
	wish_note(w, "%s: %.40s; target %s has %s%s for %s: one with another \"alignment\" would do as the file says", a->name[d], said,
	    target_name(w->p->target), *has ? "alignment." : "no alignment", has, op_type);
}

// `on`: all of it, or no operator is aligned. What `o` does not say is the tool's default for the chip.
static void note_alignments(struct wishes *w, const cJSON *o, bool on, enum dialect d)
{
	static const char *const forced[DIALECTS] = {"force_alignment_overlap", "force_overlap"};
	const struct target *t = w->p->target;
	if (!is_of_ppq(t))
		return;
	for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
		const char *said = on ? json_text(o, alignments[i].name[d], NULL) : "None";
		if (said)
			note_alignment(w, &alignments[i], d, said);
	}
	bool pulls = target_pulls_all(t);
	if (on && json_bool(o, forced[d], pulls) != pulls)
		wish_note(w, "%s: %s; target %s %s tensors with other readers along when it aligns", forced[d], pulls ? "false" : "true",
		    target_name(t), pulls ? "pulls" : "does not pull");
}

// Small letters or large: KL and MSE are written both ways there.
static void read_method(struct wishes *w, const char *method)
{
	int m = 0;
	while (method && m < CALIB_COUNT && strcasecmp(calib_name((enum calib_method)m), method) != 0)
		m++;
	if (method && m < CALIB_COUNT)
		w->method = m;
	else if (method)
		wish_note(w, "calib_algorithm %.40s is not known here", method);
}

static void read_custom_scale(struct wishes *w, const cJSON *item)
{
	int node = esp_ppq_operator(w, item->string), end = node >= 0 ? w->p->group[node].last : -1;
	if (node >= 0 && end != node)
		wish_note(w, "%.120s: esp-ppq skips its scale, as its output is quantized behind %.120s: name that", item->string,
		    w->g->node[end].name);
	else if (node >= 0 && cJSON_IsNumber(item) && graph_output(w->g, node) >= 0)
		wish_scale(w, graph_output(w->g, node), 8, item->valuedouble, ZERO_MIDDLE);
	else if (node >= 0)
		wish_note(w, "%.120s: its scale is not a number", item->string);
}

void read_esp_ppq_setting(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *modify = object_in(w, root, "quant_config_modify_setting"), *fusion = object_in(w, root, "fusion_setting");
	read_method(w, json_text(object_in(w, root, "quantize_activation_setting"), "calib_algorithm", NULL));
	if (json_bool(root, "equalization", false))
		note_equalization(w, "equalization", object_in(w, root, "equalization_setting"));
	note_passes(w, root, SETTING);
	if (is_of_ppq(w->p->target)) {
		note_steps(w, root);
		note_dispatcher(w, json_text(root, "dispatcher", NULL));
	}
	note_alignments(w, fusion, json_bool(root, "fusion", true) && json_bool(fusion, "align_quantization", true), SETTING);
	read_esp_ppq_dispatch(w, object_in(w, root, "dispatching_table"));
	if (!json_bool(root, "quant_config_modify", true))
		return;
	cJSON_ArrayForEach(item, object_in(w, modify, "custom_config"))
		read_custom_scale(w, item);
}

// [{"op": NAME, "bits": 16}]
static void read_widths(struct wishes *w, const cJSON *list)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		const char *name = json_text(item, "op", json_text(item, "op_name", NULL));
		double bits = json_number(item, "bits", 0);
		if (!name || (bits != 8 && bits != 16)) {
			wish_note(w, "dispatching_table: %.120s: not {\"op\": NAME, \"bits\": 8 or 16}", name ? name : "an entry");
			continue;
		}
		int node = esp_ppq_operator(w, name);
		if (node >= 0)
			wish_precision(w, node, bits == 16 ? PREC_INT16 : PREC_INT8);
	}
}

// The setting.json of one of its iterations, and of the best.
void read_espdl_quantize(struct wishes *w, const cJSON *root)
{
	const cJSON *extra = object_in(w, root, "extra");
	read_method(w, json_text(root, "calib_algorithm", NULL));
	if (is_on(root, "equalization"))
		note_equalization(w, "equalization", object_in(w, root, "equalization"));
	note_passes(w, root, SETTING);
	note_alignments(w, object_in(w, root, "fusion_alignment"), true, SETTING);
	read_widths(w, list_in(w, root, "dispatching_table"));
	note_passes(w, extra, SETTING);
	note_unread(w, extra, "extra", "ssd_equalization channel_split");
}

// Of a chip by esp-ppq's name; the numbers are those of the 8-bit platform in targets/*.json.
static void note_chip(struct wishes *w, const char *chip)
{
	static const struct {
		const char *chip, *target;
		int platform;
	} known[] = {{"esp32p4", "esp32p4", 551}, {"esp32s31", "esp32s31", 551}, {"esp32s3", "esp32s3", 553}, {"c", "esp32", 557}};
	for (size_t i = 0; chip && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].chip, chip) == 0 && target_platform(w->p->target, 8) != known[i].platform)
			wish_note(w, "AutoQuant searched for the chip %s: open with --target %s", chip, known[i].target);
}

void read_autoquant(struct wishes *w, const cJSON *root)
{
	const cJSON *on = object_in(w, root, "strategy"), *params = object_in(w, root, "params");
	double bits = json_number(object_in(w, params, "num_of_bits"), "value", 8);
	if (bits == 16)
		wish_all(w, PREC_INT16);
	else if (bits != 8)
		wish_note(w, "num_of_bits: %g bits are not known here", bits);
	read_method(w, json_text(object_in(w, params, "calib_algorithm"), "method", NULL));
	if (json_bool(on, "weight_equalization", false))
		note_equalization(w, "weight_equalization", object_in(w, params, "weight_equalization"));
	note_passes(w, on, AUTOQUANT);
	note_alignments(w, object_in(w, params, "fusion_alignment"), json_bool(on, "fusion_alignment", true), AUTOQUANT);
	if (json_bool(on, "mixed_precision", false))
		wish_note(w, "mixed_precision: which nodes have 16 bits is not in this file: import the configuration that was exported beside it");
	note_chip(w, json_text(object_in(w, root, "runtime"), "target", NULL));
}

// A list of runs: candidates.json has the best first; summary.json, where each has a hash, as they were made.
bool read_autoquant_list(struct wishes *w, const cJSON *root)
{
	const cJSON *first = cJSON_IsArray(root) ? root->child : NULL;
	if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(first, "strategy")))
		return false;
	if (json_text(first, "hash", NULL)) {
		wish_note(w, "AutoQuant's runs as they were made, of which none is taken: candidates.json has the best first, the folder of each "
		    "its config.json");
		return true;
	}
	wish_note(w, "the first of %d candidates: %.200s, score %g", cJSON_GetArraySize(root), json_text(first, "folder", "without a folder"),
	    json_number(first, "score", 0));
	read_autoquant(w, first);
	return true;
}
