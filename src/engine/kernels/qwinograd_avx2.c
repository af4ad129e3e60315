#define QWG_LOOPS qwg_avx2
#include "qwinograd_body.h"
