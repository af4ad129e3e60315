#if defined(__x86_64__)
#define VBYTES 64
#define SCAN_OPS scan_avx512
#include "scan_body.h"
#endif
