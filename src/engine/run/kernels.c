// Prepared kernels by key, so that weights are packed once and are packed again only where an edit
// changed a quantizer, or where there is no memory for all.
#include <stdlib.h>
#include "run_impl.h"

struct held {
	struct key key;
	struct prepared p;
	unsigned long used; // clock of the last use
	int users;          // in whose step it is
	bool made;          // else somebody is about to, and it is in the map alone
};
struct user {
	struct held **list; // of the step that it is in
	size_t n, cap;
};
struct kernels {
	pthread_mutex_t lock;
	pthread_cond_t change; // something has been made, or could not be
	struct keymap *map;
	struct held **list;
	size_t n, cap, bytes, limit;
	unsigned long clock, turn; // now; when this pass began
	struct user *user;
	int n_users;
};

struct kernels *kernels_new(int n_users, size_t limit)
{
	struct kernels *k = xcalloc(1, sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->change, NULL);
	k->map = keymap_new();
	k->limit = limit;
	k->n_users = n_users;
	k->user = xcalloc((size_t)n_users, sizeof *k->user);
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
	for (int i = 0; i < k->n_users; i++)
		free(k->user[i].list);
	free(k->user);
	keymap_free(&k->map);
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->change);
	free(k->list);
	free(k);
	*kp = NULL;
}

// Samples come to all kernels in turn. Of what this pass has used, the last is therefore the one
// that is wanted last again, and the least recently used the next.
static bool goes_before(const struct kernels *k, const struct held *a, const struct held *b)
{
	if (a->used >= k->turn && b->used >= k->turn)
		return a->used > b->used;
	return a->used < b->used;
}

static size_t who_goes(const struct kernels *k)
{
	size_t best = k->n;
	for (size_t i = 0; i < k->n; i++)
		if (!k->list[i]->users && (best == k->n || goes_before(k, k->list[i], k->list[best])))
			best = i;
	return best;
}

static void keep_limit(struct kernels *k)
{
	while (k->bytes > k->limit) {
		size_t i = who_goes(k);
		if (i == k->n)
			return;
		drop_held(k, i);
	}
}

static void use(struct kernels *k, int user, struct held *h)
{
	struct user *u = &k->user[user];
	u->list = xgrow(u->list, &u->cap, u->n + 1, sizeof *u->list);
	u->list[u->n++] = h;
	h->users++;
	h->used = ++k->clock;
}

static void leave(struct user *u)
{
	while (u->n > 0)
		u->list[--u->n]->users--;
}

void kernels_step(struct kernels *k, int user)
{
	pthread_mutex_lock(&k->lock);
	leave(&k->user[user]);
	keep_limit(k);
	pthread_mutex_unlock(&k->lock);
}

void kernels_turn(struct kernels *k)
{
	pthread_mutex_lock(&k->lock);
	for (int i = 0; i < k->n_users; i++)
		leave(&k->user[i]);
	k->turn = ++k->clock;
	keep_limit(k);
	pthread_mutex_unlock(&k->lock);
}

bool kernels_full(struct kernels *k)
{
	pthread_mutex_lock(&k->lock);
	bool full = k->bytes >= k->limit;
	pthread_mutex_unlock(&k->lock);
	return full;
}

// What another user is making is waited for: made twice it would take as long, and twice the memory.
static struct held *find(struct kernels *k, struct key key)
{
	struct held *h;
	while ((h = keymap_get(k->map, key)) && !h->made)
		pthread_cond_wait(&k->change, &k->lock);
	return h;
}

// Makes what the map has an entry for; the entry goes if that fails. The lock is not held meanwhile.
static enum status make_held(struct kernels *k, struct held *h, kernel_maker *make, void *arg)
{
	pthread_mutex_unlock(&k->lock);
	enum status st = make(arg, &h->p);
	pthread_mutex_lock(&k->lock);
	h->made = st == STATUS_OK;
	if (h->made) {
		k->list = xgrow(k->list, &k->cap, k->n + 1, sizeof *k->list);
		k->list[k->n++] = h;
		k->bytes += kernel_bytes(h->p.kernel);
	} else {
		free(keymap_remove(k->map, h->key));
	}
	pthread_cond_broadcast(&k->change);
	return st;
}

enum status kernels_get(struct kernels *k, int user, struct key key, kernel_maker *make, void *arg, struct prepared *out)
{
	enum status st = STATUS_OK;
	pthread_mutex_lock(&k->lock);
	struct held *h = find(k, key);
	if (!h) {
		h = xcalloc(1, sizeof *h);
		h->key = key;
		keymap_put(k->map, key, h);
		st = make_held(k, h, make, arg);
	}
	if (st == STATUS_OK) {
		use(k, user, h);
		*out = h->p;
	}
	pthread_mutex_unlock(&k->lock);
	return st;
}
