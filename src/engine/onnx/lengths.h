// Which open dimensions of the inputs are lengths of sequences (of tokens, of what was computed for tokens before), and
// what they are taken as. A sequence of one element would leave nothing of attention: its Softmax has one element then.
#ifndef QTUI_ENGINE_ONNX_LENGTHS_H
#define QTUI_ENGINE_ONNX_LENGTHS_H

#include "onnx.pb-c.h"
#include "qtui/base/hash.h"

// One attempt, both 0: lengths are taken as any other dimension is.
struct lengths_try {
	int64_t sequence; // as many elements are new
	int64_t past;     // and so many are known from before
};
// What the model says of its lengths.
struct lengths {
	struct namemap *symbols; // those of sequences, and of the batch
	bool has_past;
};
// By names and types of the inputs. The caller calls lengths_done.
void lengths_find(struct lengths *l, const Onnx__GraphProto *g);
void lengths_done(struct lengths *l);
// Is the open dimension i of the input a length?
bool lengths_has(const struct lengths *l, const Onnx__ValueInfoProto *input, int i);
// What it is taken as. `settled`: sizes by the names of symbols.
int64_t lengths_of(
    const struct lengths *l, const struct lengths_try *t, const Onnx__ValueInfoProto *input, int i, const struct namemap *settled);

struct lengths_try lengths_first(void);
// `past`: both lengths are asked for; `few`: other sizes are tried with each. False: there are no more.
bool lengths_next(struct lengths_try *t, bool past, bool few);

#endif
