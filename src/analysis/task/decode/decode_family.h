// The functions that decoders.def names.
#ifndef QTUI_ANALYSIS_TASK_DECODE_DECODE_FAMILY_H
#define QTUI_ANALYSIS_TASK_DECODE_DECODE_FAMILY_H

#include "decode.h"

typedef bool decode_bind_fn(struct bound *b, const struct head *h);
typedef void decode_box_fn(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell);

#define DECODER(name, iou, bind, box, title)                                                                           \
	decode_bind_fn bind;                                                                                           \
	decode_box_fn box;
#include "decoders.def"
#undef DECODER

#endif
