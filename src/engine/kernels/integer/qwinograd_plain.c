#include "qwinograd_body.h"

const struct qwg_loops qwg_plain = {QWG_COMMON};
