// Private to src/interop: the writers, one a file, and what they share (decisions.c).
#ifndef QTUI_INTEROP_FORMATS_H
#define QTUI_INTEROP_FORMATS_H

#include "qtui/base/json.h"
#include "qtui/interop/export.h"

#define FORMAT(name, suffix, writer, told, help) \
	enum status writer(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err);
#define MODEL(name, suffix, saver, told, help) \
	enum status saver(const char *path, struct str *loss, const struct snapshot *s, struct error *err);
#include "formats.def"
#undef FORMAT
#undef MODEL

// What another tool must be told of a node: the user's precision and what --truncate
// demands; -1: the target's own choice.
int decided_precision(const struct decided *d, const struct snapshot *s, int node);
// For tools that can be told a scale and not who finds it: the user's, or the one that the user's calibrator found for what
// a node makes; 0: the tool's own choice.
double decided_scale(const struct decided *d, const struct snapshot *s, int value);
// The precisions of whole operators, [n_nodes], for tools that name each part or the end of one:
// the widest that any part is to have. The caller frees it.
signed char *operator_precisions(const struct decided *d, const struct snapshot *s);
// The node at whose output a scale that is given to `node` acts: the last of what is fused to it.
int operator_end(const struct snapshot *s, int node);
// Where the tensor itself is quantized: at its producer, else (an input of the network)
// at its first use. NULL: nowhere.
const struct site *tensor_site(const struct snapshot *s, int value);
// The tensor is rounded to float16 or bfloat16: it has no scale.
static inline bool is_cast(const struct site *x)
{
	return x->n_scale == 0;
}
// Bits that the codes qmin..qmax need: fewer than their type has where the target reduces its ranges.
static inline int range_bits(int64_t qmin, int64_t qmax)
{
	int bits = 0;
	while ((qmax - qmin) >> bits)
		bits++;
	return bits;
}
// Not so of a reduced range.
static inline bool range_is_full(int64_t qmin, int64_t qmax, int bits)
{
	return qmax > (int64_t)1 << (bits - (qmin < 0 ? 2 : 1));
}
// For tools whose widths are those of what an operator reads: a line where one at int16 is read by one that is not.
void lose_wide_ends(struct str *loss, const struct graph *g, const signed char *want, const char *tool);
// The node has 16 bits where the target's nodes have 8; where all have 16, as for a16w8, no tool need be told.
bool is_wide(const struct snapshot *s, int node);
// So has an output: a first one by the node's width, a further one if it is quantized.
bool is_wide_output(const struct snapshot *s, int value);
// The node of the file is a node of the graph or a part of one: not removed, not computed at load.
bool origin_in_graph(const struct origin *o);
// Every tensor that such a node makes -> its index in g->origin. The caller frees it.
struct namemap *tensor_makers(const struct graph *g);
// Nodes that are to stay in float, by their names in the file.
cJSON *excluded_nodes(const struct decided *d, const struct snapshot *s);
// One line of the loss report, whatever names of the model are in it.
void lose(struct str *loss, const char *fmt, ...) PRINTF(2, 3);
// Such a line for each decision of a kind that the format cannot say; `format` begins the sentence.
void lose_precision(struct str *loss, const struct decided *d, const struct snapshot *s, enum precision p, const char *format);
void lose_scales(struct str *loss, const struct decided *d, const struct snapshot *s, const char *format);
void lose_calibrators(struct str *loss, const struct decided *d, const struct snapshot *s, const char *format);
// A line where the calibrator of the whole is not the target's own.
void lose_method(struct str *loss, const struct snapshot *s, const char *format);
// What esp-ppq puts behind a node's name for the operator of this type that ends there (plan_written_out); NULL: it makes none.
const char *esp_ppq_suffix(const char *op_type);
// A line where the target's rules are not those of `tool`, by the name that targets/*.json give it.
void lose_rules(struct str *loss, const struct snapshot *s, const char *tool);
// A line for the nodes with decisions that the model's file has no name for, where `tool` goes by the names of nodes.
void lose_unnamed(struct str *loss, const struct decided *d, const struct snapshot *s, const char *tool);
// Prints the tree with a line end and deletes it.
void finish_json(struct str *out, cJSON *root);

#endif
