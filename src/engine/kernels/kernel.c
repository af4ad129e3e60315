// Prepared kernels of all kinds: calls through a kernel's own table.
#include "kernel_impl.h"

void kernel_run(const struct kernel *k, const struct kernel_io *io)
{
	k->ops->run(k, io);
}

size_t kernel_scratch(const struct kernel *k, int width)
{
	return k->ops->scratch ? k->ops->scratch(k, width) : 0;
}

size_t kernel_bytes(const struct kernel *k)
{
	return k->bytes;
}

void kernel_free(struct kernel **k)
{
	if (*k)
		(*k)->ops->free(*k);
	*k = NULL;
}
