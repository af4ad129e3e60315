// What was measured, by key.
#include "../study/repair_memo.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

enum { SAMPLES = 8 }; // that a voucher is for

struct repair_memo {
	pthread_mutex_t lock;
	struct keymap *known; // -> struct repair_known
	atomic_int vouchers;
	struct tuning **tuning;
	size_t n_tunings, cap_tunings;
};

struct repair_memo *repair_memo_new(void)
{
	struct repair_memo *m = xcalloc(1, sizeof *m);
	pthread_mutex_init(&m->lock, NULL);
	m->known = keymap_new();
	return m;
}

static void drop_known(struct key k, void *value, void *arg)
{
	(void)k, (void)arg;
	free(value);
}

void repair_memo_free(struct repair_memo **mp)
{
	struct repair_memo *m = *mp;
	*mp = NULL;
	if (!m)
		return;
	keymap_each(m->known, drop_known, NULL);
	keymap_free(&m->known);
	for (size_t i = 0; i < m->n_tunings; i++)
		tuning_drop(&m->tuning[i]);
	free(m->tuning);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

bool repair_memo_get(struct repair_memo *m, struct key k, struct repair_known *out)
{
	pthread_mutex_lock(&m->lock);
	const struct repair_known *v = keymap_get(m->known, k);
	if (v)
		*out = *v;
	pthread_mutex_unlock(&m->lock);
	return v;
}

void repair_memo_put(struct repair_memo *m, struct key k, const struct repair_known *v)
{
	pthread_mutex_lock(&m->lock);
	struct repair_known *at = keymap_get(m->known, k);
	if (!at) {
		at = xcalloc(1, sizeof *at);
		keymap_put(m->known, k, at);
	}
	*at = *v;
	pthread_mutex_unlock(&m->lock);
}

static struct tuning *find_tuning(const struct repair_memo *m, const char *name)
{
	for (size_t i = 0; i < m->n_tunings; i++) {
		char own[TUNING_NAME];
		tuning_name(m->tuning[i], own);
		if (strcmp(own, name) == 0)
			return m->tuning[i];
	}
	return NULL;
}

void repair_memo_keep_tuning(struct repair_memo *m, struct tuning *t)
{
	char name[TUNING_NAME];
	tuning_name(t, name);
	pthread_mutex_lock(&m->lock);
	if (!find_tuning(m, name)) {
		m->tuning = xgrow(m->tuning, &m->cap_tunings, m->n_tunings + 1, sizeof *m->tuning);
		m->tuning[m->n_tunings++] = tuning_take(t);
	}
	pthread_mutex_unlock(&m->lock);
}

struct tuning *repair_memo_tuning(struct repair_memo *m, const char *name)
{
	pthread_mutex_lock(&m->lock);
	struct tuning *t = tuning_take(find_tuning(m, name));
	pthread_mutex_unlock(&m->lock);
	return t;
}

static struct key voucher(const struct dataset *d, const char *target, const char *node, double scale)
{
	struct key k = key_add_text(key_add_text(key_add_text((struct key){0}, "scale"), target), node);
	for (int i = 0; i < dataset_count(d) && i < SAMPLES; i++)
		k = key_add_key(k, dataset_key(d, i));
	return key_add(k, &scale, sizeof scale);
}

void repair_memo_vouch(struct repair_memo *m, const struct dataset *d, const char *target, const char *node, double scale)
{
	repair_memo_put(m, voucher(d, target, node, scale), &(struct repair_known){NAN, NAN, NAN});
	atomic_fetch_add(&m->vouchers, 1);
}

int repair_memo_vouchers(struct repair_memo *m)
{
	return atomic_load(&m->vouchers);
}

bool repair_memo_vouches(struct repair_memo *m, const struct dataset *d, const char *target, const char *node, double scale)
{
	struct repair_known ignored;
	return repair_memo_get(m, voucher(d, target, node, scale), &ignored);
}

// All 17 digits, and null for what is not known.
static cJSON *number(double v)
{
	char text[32];
	snprintf(text, sizeof text, "%.17g", v);
	return isfinite(v) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

static void save_one(struct key k, void *value, void *to)
{
	const struct repair_known *v = value;
	char name[33];
	key_text(k, name);
	cJSON *a = cJSON_AddArrayToObject(to, name);
	cJSON_AddItemToArray(a, number(v->damage));
	cJSON_AddItemToArray(a, number(v->snr_db));
	cJSON_AddItemToArray(a, number(v->score));
}

void repair_memo_save(struct repair_memo *m, struct cJSON *to)
{
	pthread_mutex_lock(&m->lock);
	keymap_each(m->known, save_one, to);
	pthread_mutex_unlock(&m->lock);
}
