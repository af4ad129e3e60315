// Which of the kernels compiled for a processor level (files *_avx2.c, *_avx512.c) may be called here.
#ifndef QTUI_ENGINE_KERNELS_CPU_H
#define QTUI_ENGINE_KERNELS_CPU_H

enum cpu_level {
	CPU_PLAIN,  // portable C
	CPU_AVX2,   // AVX2, FMA, F16C
	CPU_AVX512, // those, and AVX-512 F, BW, VL, DQ and VNNI
	CPU_LEVELS
};
// The highest level that this processor has, but no higher than cpu_limit allows.
enum cpu_level cpu_level(void);
// Lowers what cpu_level answers, so that a test can run every level that the processor has; CPU_AVX512 lifts the limit.
void cpu_limit(enum cpu_level most);

#endif
