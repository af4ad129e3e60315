// The list of backends.
#include "backend.h"

#include <string.h>

static const struct backend *const backends[BACKEND_COUNT] = {
	[BACKEND_ONEDNN] = &onednn_backend,
	[BACKEND_BLAS] = &blas_backend,
	[BACKEND_REF] = &ref_backend,
};

const char *backend_name(enum kernel_backend b)
{
	return backends[b]->name;
}

bool backend_parse(enum kernel_backend *out, const char *name)
{
	for (int b = 0; b < BACKEND_COUNT; b++) {
		if (strcmp(backends[b]->name, name) == 0) {
			*out = (enum kernel_backend)b;
			return true;
		}
	}
	return false;
}

// Libraries write code for a kernel, and oneDNN faults where it has no memory for that.
static enum status check_room(struct error *err)
{
	enum { CODE = 1 << 20 };
	return mem_may_take(CODE) ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory to prepare a kernel");
}

enum status kernel_conv(struct kernel **out, enum kernel_backend b, const struct conv_task *t, struct error *err)
{
	enum status s = check_room(err);
	*out = NULL;
	return s == STATUS_OK ? backends[b]->conv(out, t, err) : s;
}

enum status kernel_matmul(struct kernel **out, enum kernel_backend b, const struct matmul_task *t, struct error *err)
{
	enum status s = check_room(err);
	*out = NULL;
	return s == STATUS_OK ? backends[b]->matmul(out, t, err) : s;
}
