// Which of the kernels compiled for a processor level (files *_avx2.c, *_avx512.c,
// *_vnni.c, *_vbmi.c) may be called here.
#ifndef QTUI_ENGINE_TENSOR_CPU_H
#define QTUI_ENGINE_TENSOR_CPU_H

enum cpu_level {
	CPU_PLAIN,  // portable C
	CPU_AVX2,   // AVX2, FMA, F16C
	CPU_AVX512, // those, and AVX-512 F, BW, VL and DQ
	CPU_VNNI,   // those, and AVX-512 VNNI
	CPU_VBMI,   // those, and AVX-512 VBMI
	CPU_LEVELS
};
// The highest level of this processor that oneDNN may use as well (its environment variable DNNL_MAX_CPU_ISA
// lowers both): tensors lie as oneDNN's kernels for that level want them.
enum cpu_level cpu_found(void);
// The same, but no higher than cpu_limit allows.
enum cpu_level cpu_level(void);
// Lowers what cpu_level answers, so that a test can run every level that the processor has; CPU_LEVELS lifts the limit.
void cpu_limit(enum cpu_level most);

#endif
