#include "qdepthwise_body.h"

const struct qdw_table qdw_plain = {.narrow = {QDW_NARROW}, .wide = {QDW_WIDE}};
