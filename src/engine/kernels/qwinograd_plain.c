#define QWG_LOOPS qwg_plain
#include "qwinograd_body.h"
