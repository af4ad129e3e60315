// The blame that a study has been told of: one for each decision that it was measured for.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/story.h"
#include "study_impl.h"

enum { KEPT = 32 }; // decisions whose blame is remembered, the latest ones

struct key decision_key(const struct graph *g, const char *target, enum calib_method method,
    const struct edits *effective, const struct preparation *b)
{
	struct key k = key_add_text(key_add_int(edits_key(effective, g), method), target);
	k = key_add_key(k, preprocess_key(dataset_preprocess(b->d)));
	return b->samples ? key_add_int(k, b->samples) : k; // sessions of before know no number
}

static int find(const struct study *s, struct key decision)
{
	for (int i = s->n_blames - 1; i >= 0; i--)
		if (key_equal(s->blames[i]->decision, decision))
			return i;
	return -1;
}

static void remove_at(struct study *s, int at)
{
	blames_drop(&s->blames[at]);
	memmove(&s->blames[at], &s->blames[at + 1], (size_t)(s->n_blames - at - 1) * sizeof *s->blames);
	s->n_blames--;
}

static void put(struct study *s, struct blames *b)
{
	int at = find(s, b->decision);
	if (at < 0 && s->n_blames == KEPT)
		at = 0;
	if (at >= 0)
		remove_at(s, at);
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
	struct snapshot *old, *snap = study_renew(s, &old);
	put(s, blames_take(b));
	blames_drop(&snap->blames);
	snap->blames = study_blames_of(s, snap->decision, &snap->blames_old);
	story_drop(&snap->story); // it goes on with what is known now
	study_find_again(s);
	study_renewed(s, &old);
}

void study_blames_lose_task(struct study *s)
{
	study_lock(s);
	for (int i = s->n_blames - 1; i >= 0; i--)
		if (s->blames[i]->task[0])
			remove_at(s, i);
	study_unlock(s);
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
	cJSON *list = cJSON_CreateArray();
	study_lock(s);
	for (int i = 0; i < s->n_blames; i++)
		cJSON_AddItemToArray(list, blames_json(s->blames[i], s->g));
	study_unlock(s);
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
