// What oneDNN may use of the processor (private): its own limit, DNNL_MAX_CPU_ISA, holds for all kernels.
#ifndef QTUI_ENGINE_BACKEND_ONEDNN_LEVEL_H
#define QTUI_ENGINE_BACKEND_ONEDNN_LEVEL_H

#include "../kernels/cpu.h"

enum cpu_level onednn_level(void);

#endif
