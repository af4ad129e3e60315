// Attributes by name, for code that reads few of them from many operators.
#ifndef QTUI_ENGINE_RUN_ATTR_H
#define QTUI_ENGINE_RUN_ATTR_H

#include "qtui/engine/op.h"

float attr_float(const struct node *n, const char *name, float dflt);
int64_t attr_int(const struct node *n, const char *name, int64_t dflt);
const char *attr_text(const struct node *n, const char *name, const char *dflt);

#endif
