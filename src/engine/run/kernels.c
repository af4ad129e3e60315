// Prepared kernels by key, so that weights are packed once and are packed again only where an edit changed a quantizer.
#include <stdlib.h>
#include "run_impl.h"

struct held {
	struct key key;
	struct prepared p;
	unsigned long used; // clock of the last use
};
struct kernels {
	pthread_mutex_t lock;
	struct keymap *map;
	struct held **list;
	size_t n, cap, bytes;
	unsigned long clock;
};

struct kernels *kernels_new(void)
{
	struct kernels *k = xcalloc(1, sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	k->map = keymap_new();
	return k;
}

static void drop_held(struct kernels *k, size_t i)
{
	struct held *h = k->list[i];
	k->bytes -= kernel_bytes(h->p.kernel);
	keymap_remove(k->map, h->key);
	kernel_free(&h->p.kernel);
	free(h);
	k->list[i] = k->list[--k->n];
}

void kernels_free(struct kernels **kp)
{
	struct kernels *k = *kp;
	if (!k)
		return;
	while (k->n > 0)
		drop_held(k, k->n - 1);
	keymap_free(&k->map);
	pthread_mutex_destroy(&k->lock);
	free(k->list);
	free(k);
	*kp = NULL;
}

bool kernels_get(struct kernels *k, struct key key, struct prepared *out)
{
	pthread_mutex_lock(&k->lock);
	struct held *h = keymap_get(k->map, key);
	if (h) {
		h->used = ++k->clock;
		*out = h->p;
	}
	pthread_mutex_unlock(&k->lock);
	return h != NULL;
}

void kernels_add(struct kernels *k, struct key key, struct prepared *fresh)
{
	pthread_mutex_lock(&k->lock);
	struct held *h = keymap_get(k->map, key);
	if (h) { // another worker was faster
		kernel_free(&fresh->kernel);
	} else {
		h = xcalloc(1, sizeof *h);
		*h = (struct held){.key = key, .p = *fresh, .used = ++k->clock};
		k->list = xgrow(k->list, &k->cap, k->n + 1, sizeof *k->list);
		k->list[k->n++] = h;
		k->bytes += kernel_bytes(fresh->kernel);
		keymap_put(k->map, key, h);
	}
	*fresh = h->p;
	pthread_mutex_unlock(&k->lock);
}

#define KEPT ((size_t)512 << 20) // bytes of packed weights

void kernels_trim(struct kernels *k)
{
	while (k->bytes > KEPT && k->n > 0) {
		size_t oldest = 0;
		for (size_t i = 1; i < k->n; i++)
			if (k->list[i]->used < k->list[oldest]->used)
				oldest = i;
		drop_held(k, oldest);
	}
}
