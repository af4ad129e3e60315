// Private to src/interop: the writers, one a file.
#ifndef QTUI_INTEROP_FORMATS_H
#define QTUI_INTEROP_FORMATS_H

#include "qtui/interop/export.h"

enum status esp_ppq_dispatch(struct str *out, struct str *loss, const struct study *st, const struct snapshot *s, struct error *err);

#endif
