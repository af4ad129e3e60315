// Private to the readers of esp-ppq's and PPQ's files.
#ifndef QTUI_INTEROP_IMPORT_READ_ESP_PPQ_H
#define QTUI_INTEROP_IMPORT_READ_ESP_PPQ_H

#include "wishes.h"

// An operator by its name there: the file's, or NAME/Swish for the Swish behind NAME. -1: there is none, which is noted.
int esp_ppq_operator(struct wishes *w, const char *name);

#endif
