#if defined(__x86_64__)
#define VBYTES 32
#define SCAN_OPS scan_avx2
#include "scan_body.h"
#endif
