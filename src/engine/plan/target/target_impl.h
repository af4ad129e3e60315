// A target as the planner sees it: settings, and one rule for every operator type that the target's file names.
#ifndef QTUI_ENGINE_PLAN_TARGET_TARGET_IMPL_H
#define QTUI_ENGINE_PLAN_TARGET_TARGET_IMPL_H

#include <cjson/cJSON.h>
#include "qtui/base/mem.h"
#include "qtui/engine/target.h"

enum {
	RULE_QUANTIZED = 1 << 0,  // has quantizers at all
	RULE_COMPUTING = 1 << 1,  // a multiply-accumulate operator in the tool's sense
	RULE_PASSIVE = 1 << 2,    // outputs keep the quantizer of input 0
	RULE_ACTIVATION = 1 << 3, // fused to an operator in front of it that takes activations
	RULE_BEHIND_ANY = 1 << 4, // fused to whatever is in front of it
	RULE_PROMOTED = 1 << 5,   // fused at another precision: takes the precision of a promoter in front of it
	RULE_PROMOTER = 1 << 6,
	RULE_TAKES_INPUT = 1 << 7, // passive, but quantizes a float tensor that it reads (needs_input)
	RULE_FRONT = 1 << 8,      // takes activations
	RULE_FOLLOWS = 1 << 9,    // not passive, but stays float behind a float tensor (needs_input)
	RULE_LIKE_WEIGHTS = 1 << 10, // all its constants are quantized as weights are
	RULE_ONLY_ZEROS = 1 << 11, // passive where it adds no other value than 0 (Pad), else it has a quantizer of its own
	RULE_WRITTEN_OUT = 1 << 12, // several nodes that make such an operator are one
	RULE_BY_CONSTANT = 1 << 13, // quantized where input 1 is a constant
};
enum align_mode { ALIGN_NONE, ALIGN_OUTPUT, ALIGN_READ, ALIGN_LARGE, ALIGN_FIRST, ALIGN_WHOLE, ALIGN_COARSEST };
// Channel axis of a weight: a dimension, or one of these.
enum {
	AXIS_TENSOR = -1,
	AXIS_OUTPUT = -2, // of the output's channels: Gemm's columns, by trans_b; else the first
	AXIS_COLUMN = -3, // MatMul: the last of two and more
};

enum becoming { BECOMES_ITSELF, BECOMES_HARD_SIGMOID, BECOMES_ROUNDED_SLOPE, BECOMES_POOLED_MEAN, BECOMES_SHIFTED_MEAN };

struct weight_rule {
	bool weighted;              // input 1 is a weight
	int axis;
	bool pow2;
	enum calib_method observer;
};
struct fixed_range { // that of output 0 is known
	bool known;
	float low, high;
};
struct fixed_scale { // of output 0, in the full range of its bits; scale 0: it has none
	float scale;
	int zero;
};
struct op_rule {
	unsigned flags;
	unsigned float_in, float_out; // bit i: that input or output is never quantized
	unsigned follow_in;           // bit i: that input takes the quantizer of input 0 (Clip's limits)
	enum align_mode align;
	int passive_since;            // RULE_PASSIVE holds from this opset of the model on
	struct fixed_range fixed_range;
	struct fixed_scale fixed_scale;
	enum becoming becomes;        // where it is quantized
	float step_scale;             // of GRU and LSTM: their biases, cell state and the sums of a time step have 16 bits of it; 0: no others
	struct weight_rule weight;
};

enum target_kind { TARGET_LINEAR, TARGET_FLOAT16, TARGET_BFLOAT16 };
enum shift_limit { LIMIT_READ, LIMIT_WRITE, LIMIT_CUT, LIMIT_BIAS, LIMIT_GATE, LIMIT_SWISH, LIMIT_COUNT };
enum swish_rule { // ORDER SWISH
	SWISH_SEPARATE,
	SWISH_FUSE,           // with the computing operator in front
	SWISH_MERGE,          // one operator
	SWISH_MERGE_AND_FUSE, // the same, an activation that fuses to a computing operator in front
};
enum kl_form { KL_THRESHOLD, KL_RANGES };
enum mse_form { MSE_GRID, MSE_EXPONENTS, MSE_GROWING, MSE_JOINT };
enum percentile_of { PERCENTILE_SAMPLES, PERCENTILE_POOLED };

struct width {            // what a node at int8 or int16 gets
	bool present;
	int activation, weight, bias; // bits
	int kl_bins;
	int platform;                // the number that esp-ppq has for it; 0: none
};
struct scheme {
	bool sign, symmetric, narrow, reduce_range;
	bool balanced; // scales are chosen as if narrow; the lowest code is used all the same
};
enum { MAX_CLIPS = 4 };
struct target {
	struct arena *arena;
	const char *members; // of the name, from the first comma on; NULL: none
	const char *name, *title;
	const char *tool;            // NULL: nobody's
	enum target_kind kind;
	enum rounding rounding;
	struct {
		bool pow2;
		enum rounding range, kl; // of log2(scale)
		double minimum, below;   // a scale under `minimum` becomes `below`
		double least_range;      // a range no wider than this reaches half of it to both sides of 0
		enum rounding zero;      // of zero points
		bool precise;            // ranges are subtracted in double, zero points follow from the end whose terms are smaller
		bool single;             // zero points are computed in single precision, of the scale as it is stored
	} scale;
	struct scheme activation, weight;
	struct {
		bool quantized, per_channel;
		bool widens_weights; // steps of weights grow until the bias fits into its integers
		double headroom;     // so well that its largest code times this is the largest that there is
		bool own_scale;      // as other constants have, instead of input's times weight's
	} bias;
	enum calib_method constants;     // observer of constants that are no weights
	bool whole_constants;            // those that are codes themselves have scale 1
	struct width width[2];          // int8, int16 (ORDER PRECISION)
	struct {
		enum calib_method method;
		bool rounded_weights;
		double percentile;
		enum percentile_of percentile_of;
		enum kl_form kl;
		enum mse_form mse;
		double gate_reach;           // how far below 0 the input of a Sigmoid is observed; 0: without limit
	} calibration;
	bool after_computing;            // quantize only what follows a computing operator
	bool needs_input;                // passive operators and activations stay float behind a float tensor
	bool gates;                      // a HardSigmoid is quantized only if it is x / 6 + 1/2
	bool all_types;                  // also operators that no list names are quantized
	int n_clips;                     // limits with which a Clip is an activation; 0: any
	float clip[MAX_CLIPS][2];
	bool refines;                    // has a rule that plan_refine knows
	unsigned shift_limits;           // bit i: scales keep shifts of that kind within what AMD's NPU has (ORDER LIMIT)
	enum swish_rule swish;
	bool only_asymmetric;            // RULE_BEHIND_ANY holds only while activations are not symmetric
	bool outputs_end;                // nothing fuses to what makes an output of the network
	bool behind_float;               // what fuses to an operator, or passes it on, does so too where an edit left it in float
	bool pull_shared, pull_passive, pull_inputs;
	struct op_rule *rule;
	int n_rules;
	size_t rule_cap;
	struct namemap *rule_by_name;
};

// How methods of calibration are called; NULL at the end.
extern const char *const target_calibrations[CALIB_COUNT + 1];
// The rule of an operator type; an empty one for types that the file does not name. Never NULL.
const struct op_rule *target_rule(const struct target *t, const char *op_type);
// The rule to fill in while a file is read.
struct op_rule *target_rule_add(struct target *t, const char *op_type);
// Of "BASE,MEMBER=VALUE,...": BASE, and the others as an object (a dot leads into one); *members NULL: there are none. The caller
// frees both, also on failure.
MUST_CHECK enum status target_split(char **base, cJSON **members, const char *name, struct error *err);
bool target_is_path(const char *name); // without members behind it
// The path of a "base" that is one, as the file `from` names it; heap.
char *target_base_path(const char *base, const char *from);
// Puts the members of a parsed file into `t`; `name` is for messages.
MUST_CHECK enum status target_read(struct target *t, const cJSON *json, const char *name, struct error *err);
// Refuses what is inconsistent once all members are there.
MUST_CHECK enum status target_validate(const struct target *t, const char *name, struct error *err);

#endif
