// Private to src/interop/import: what a file of another tool asks for, node by node, before it becomes edits.
#ifndef QTUI_INTEROP_IMPORT_WISHES_H
#define QTUI_INTEROP_IMPORT_WISHES_H

#include "../formats.h"
#include "qtui/engine/file_grid.h"

// What the file has in place of a node's constants.
struct weight_wish {
	int node;
	struct file_codes codes; // of the weight, input 1; without codes: the model's own on that grid
	struct tensor bias;      // of input 2, float32; without data: the model's own holds
};
#define AXIS_UNSAID (-2) // of codes.q: that of the target

struct limits {
	double min, max;
};

struct wishes {
	const struct plan *p;   // as the study's edits make it, without scales: groups, widths
	const struct plan *bare; // what may be edited
	const struct graph *g;  // the plan's
	struct namemap *makers; // tensor_makers
	struct str *notes;      // a line for everything that is not taken over; the first 100000
	int n_notes;            // of all
	char *no_node;          // what is said of names that are no nodes, heap; NULL: there was none yet
	signed char *precision; // [n_nodes] enum precision, -1: nothing is said
	double *scale;          // [n_values] of tensors that nodes make, 0: nothing is said
	bool *inside;           // [n_values] that scale is of a tensor inside of what runs as one operator in `p`: the widths may part it
	int32_t *zero;          // [n_values] the zero point of that scale as the target has it, or ZERO_FOLLOWS
	double *bits;           // [n_values] of the codes that the scale is of: a tensor with fewer cannot have it
	int reduced;            // bits by which the ranges of the target's tensors are narrower than its codes
	int no_zeros;           // scales that are not wished, as they have a zero point and the target none
	struct limits *range;   // [n_values] of which a scale follows, as soon as the tensor's width is known; 0 to 0: nothing is said
	bool steps;             // some of these are no powers of two
	int no_steps;           // scales that were wished, but are no powers of two where the target has nothing else
	bool *each;             // [n_nodes] of an operator's owner: `precision` is that of each of its nodes, also where they run by themselves
	signed char *part;      // [n_nodes] enum precision of a part that runs by itself in the file, -1: that of its operator holds
	signed char *further;   // [n_values] of further outputs, enum precision, -1: nothing is said
	signed char *said;      // [n_nodes] the rank of what said `precision`
	int rank; // of what is being read, where a file speaks of nodes on several levels: a higher one wins, float wins among equals
	enum precision wanted;  // for readers of lists: what is wished of the names
	int method;             // enum calib_method, -1: nothing is said
	signed char *calibrator; // [n_nodes] of its own, likewise
	struct weight_wish *weight;
	size_t n_weights, cap_weights;
	int calibrates;         // for readers of nodes: the one that goes with the width that is wished, -1: none
};
void wishes_init(struct wishes *w, const struct plan *p, struct str *notes);
void wishes_done(struct wishes *w);
void wish_note(struct wishes *w, const char *fmt, ...) PRINTF(2, 3);
// Once all is read: notes further outputs that are to have another width than their nodes, whose first output decides.
void wishes_note_widths(struct wishes *w);

// Does the target round everything to floats of 16 bits, so that a file which says so of a node says nothing?
bool is_half_anyway(const struct wishes *w);
// A width that files have and nodes do not: a float of 16 bits, which is float where it says anything.
#define WISH_HALF PREC_COUNT
// Of the owner of the node's group; with it goes `calibrates`.
void wish_precision(struct wishes *w, int node, enum precision p);
// Where a file has zero: so many codes above the lowest one, or one of these.
#define ZERO_MIDDLE (-1.) // in the middle, as all symmetric scales have it
#define ZERO_UNSAID (-2.) // somewhere else, which follows from the range
// Of an output. `bits` are those of the file's codes. False, and
// nothing is wished, where zero is not in the middle and the target has it nowhere else.
bool wish_scale(struct wishes *w, int value, double bits, double scale, double zero);
// The same of a tensor that is made in float: on which scale it is read. Notes instead.
void wish_read_scale(struct wishes *w, int value, double bits, double scale, double zero);
// The node that stands for the one which makes the tensor in the file; -1: none does.
int node_of_tensor(const struct wishes *w, const char *tensor);
#define WISH_INSIDE "inside a fused operator, where nothing is quantized"
// The output of a node which the tensor is and behind which a group ends.
// -1: it is none, and *why says so, or is NULL: a parameter.
int quantized_output(const struct wishes *w, const char *tensor, const char **why);
// Of a node's output; of what comes in float, as an input of the network does, that with which its first reader quantizes it.
const struct quantizer *tensor_quantizer(const struct plan *p, int value);
// Of a tensor: its width as the file has it (bits: 8, 16, so many less where the target reduces its ranges, or WISH_FLOAT;
// others are noted), and its scale unless that is 0, with `zero` as wish_scale has it; one that the target cannot have is
// noted. Parameters are left out: their scales follow from their values.
#define WISH_FLOAT 0
void wish_tensor(struct wishes *w, const char *tensor, double bits, double scale, double zero);
// The same of a tensor whose table says the largest value that is not cut off,
// rounded to a multiple of `step`, and the least and the greatest value (NULL: it does not). Only its scale, from the range
// where the target has zero points.
void wish_threshold(struct wishes *w, const char *tensor, double threshold, double step, const double range[2]);
// The same of a tensor whose range some calibrator has found: what the target's own rule makes of it at the width that it gets.
void wish_range(struct wishes *w, const char *tensor, double min, double max);
// Takes over what it holds. The shapes are those of the node's own constants.
void wish_weight(struct wishes *w, const struct weight_wish *wish);
// The grid of a constant by its name, for those who read it as their weights: n scales (1: one for all), and where the file has
// zero, as above. What is no weight of the model is left out.
void wish_parameter(struct wishes *w, const char *tensor, double bits, const double *scale, const double *zero, int n);
// The same from a number or a list of numbers each. Of `zeros` (NULL: the middle) ZERO_OFFSETS are lowest codes, counted from
// zero, ZERO_POINTS codes of a type whose lowest one is -lowest.
enum zeros { ZERO_OFFSETS, ZERO_POINTS };
void wish_parameter_lists(struct wishes *w, const char *tensor, double bits, const struct cJSON *scales, const struct cJSON *zeros,
    enum zeros kind, double lowest);
// Once all is read: the tuning in which the file's weights stand in for the model's where `p`, a plan with the widths that are
// wished, would quantize the model's own to other codes. What the node had in `now` gives way. *out is NULL where there is
// nothing to take; *nodes says of how many nodes something is taken. weights.c
MUST_CHECK enum status wished_tuning(struct tuning **out, int *nodes, struct wishes *w, const struct plan *p, const struct tuning *now,
    struct error *err);
// Once all is read: the scales that `p`, a plan with the widths that are wished, can have and `now` has not; what it cannot have is
// noted. The caller frees *out. scales.c
void wished_scales(struct scale_edit **out, int *n, struct wishes *w, const struct plan *p, const struct edits *now);
// Of a node by its name in the file; a name that is not there is noted. False: there is none.
bool wish_name(struct wishes *w, const char *name, enum precision p);
// Of all nodes that a regular expression matches: from the first character on (Python's re.match).
void wish_pattern(struct wishes *w, const char *pattern, enum precision p);
void wish_type(struct wishes *w, const char *op_type, enum precision p);
// Of a tool that goes by nodes: an activation that runs with the operator in front here stays in float by itself.
void wish_node_in_float(struct wishes *w, int node);
// Nodes, or types of nodes, that a list names are quantized, all others stay in float. NULL or empty: nothing is said.
void wish_only(struct wishes *w, const struct cJSON *list, bool types);
// Of every node that the target quantizes.
void wish_all(struct wishes *w, enum precision p);
// Of the nodes that lie behind one of some tensors and before one of others, each a text or a list of texts.
void wish_between(struct wishes *w, const struct cJSON *from, const struct cJSON *to, enum precision p);
// Of the nodes on the ways from some nodes to others, both ends included: names as there.
void wish_region(struct wishes *w, const struct cJSON *from, const struct cJSON *to, enum precision p);

// A tool's word for one of our enums.
struct word {
	const char *text;
	int means;
};
#define WORD_MEANS(table, text) word_means(table, sizeof(table) / sizeof *(table), text)
int word_means(const struct word *table, size_t n, const char *text); // -1: it is not in the table

// The number that it is or holds, as a text or in a list of one.
MUST_CHECK bool one_number(double *out, const struct cJSON *x);
// A member of that kind, or NULL: files may hold anything. One of another kind (null is none) is noted.
const struct cJSON *object_in(struct wishes *w, const struct cJSON *o, const char *name);
const struct cJSON *list_in(struct wishes *w, const struct cJSON *o, const char *name);
// A note that names the members of `o` which are not among the words of `known`; `where` begins it.
void note_unread(struct wishes *w, const struct cJSON *o, const char *where, const char *known);
// The texts of such a list are given to `wish`; what else is in it is noted.
void each_text_in(struct wishes *w, const struct cJSON *o, const char *name, void (*wish)(struct wishes *w, const char *text));

#define READER(name, members, reader) void reader(struct wishes *w, const struct cJSON *root);
#define TABLE_READER(name, reader) bool reader(struct wishes *w, const struct cJSON *root);
// Lines of text, which it cuts up. False: it is not such a file, and nothing was touched.
#define TEXT_READER(name, reader) bool reader(struct wishes *w, char *text);
#include "readers.def"
#undef READER
#undef TABLE_READER
#undef TEXT_READER
// Reads whichever of them the file is, or a model; *format is its name (a literal). recognise.c
MUST_CHECK enum status read_decisions(struct wishes *w, const char **format, const char *path, struct error *err);
// A model with the pairs of another tool.
MUST_CHECK enum status read_qdq(struct wishes *w, const char *path, struct error *err);

#endif
