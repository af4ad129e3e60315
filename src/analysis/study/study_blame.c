// The blame that a study has been told of: one for each decision that it was measured for.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/story.h"
#include "study_impl.h"

enum { KEPT = 32 };

struct key decision_key(const char *target, enum calib_method method, const struct edits *effective, const struct bench *b)
{
	struct key k = key_add_text(key_add_int(edits_key(effective), method), target);
	return key_add_key(k, preprocess_key(dataset_preprocess(b->d)));
}

static int find(const struct study *s, struct key decision)
{
	for (int i = s->n_blames - 1; i >= 0; i--)
		if (key_equal(s->blames[i]->decision, decision))
			return i;
	return -1;
}

static void put(struct study *s, struct blames *b)
{
	int at = find(s, b->decision);
	if (at < 0 && s->n_blames == KEPT)
		at = 0;
	if (at >= 0) {
		blames_drop(&s->blames[at]);
		memmove(&s->blames[at], &s->blames[at + 1], (size_t)(s->n_blames - at - 1) * sizeof *s->blames);
		s->n_blames--;
	}
	if (!s->blames)
		s->blames = xcalloc(KEPT, sizeof *s->blames);
	s->blames[s->n_blames++] = b;
}

// The lock is held.
struct blames *study_blames_of(const struct study *s, struct key decision, bool *old)
{
	int at = find(s, decision);
	*old = at < 0;
	return s->n_blames ? blames_take(s->blames[at >= 0 ? at : s->n_blames - 1]) : NULL;
}

void study_set_blames(struct study *s, struct blames *b)
{
	pthread_mutex_lock(&s->lock);
	put(s, blames_take(b));
	struct snapshot *old = s->snap, *snap = snapshot_copy(old);
	blames_drop(&snap->blames);
	snap->blames = study_blames_of(s, snap->decision, &snap->blames_old);
	story_drop(&snap->story); // it goes on with what is known now
	s->snap = snap;
	study_find_again(s);
	pthread_mutex_unlock(&s->lock);
	snapshot_drop(&old);
	study_wake(s);
}

void study_blames_lose_task(struct study *s)
{
	pthread_mutex_lock(&s->lock);
	for (int i = s->n_blames - 1; i >= 0; i--)
		if (s->blames[i]->task[0]) {
			blames_drop(&s->blames[i]);
			memmove(&s->blames[i], &s->blames[i + 1], (size_t)(s->n_blames - i - 1) * sizeof *s->blames);
			s->n_blames--;
		}
	pthread_mutex_unlock(&s->lock);
}

void study_blames_free(struct study *s)
{
	for (int i = 0; i < s->n_blames; i++)
		blames_drop(&s->blames[i]);
	free(s->blames);
}

// ---- sessions

struct cJSON *study_blames_save(const struct study *s)
{
	struct study *m = (struct study *)s; // the lock is not part of the value
	cJSON *list = cJSON_CreateArray();
	pthread_mutex_lock(&m->lock);
	for (int i = 0; i < s->n_blames; i++)
		cJSON_AddItemToArray(list, blames_json(s->blames[i], s->g));
	pthread_mutex_unlock(&m->lock);
	return list;
}

void study_blames_load(struct study *s, const struct cJSON *list)
{
	const cJSON *item;
	if (!cJSON_IsArray(list))
		return;
	cJSON_ArrayForEach(item, list)
	{
		struct blames *b = blames_parse(item, s->g);
		if (b) {
			study_set_blames(s, b);
			blames_drop(&b);
		}
	}
}
