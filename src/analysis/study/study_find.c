// The findings of a study, and the story that is told of them: the conductor looks for them when
// figures are complete, or when a survey or a repair knows more. The figures are on the screen by then.
// Findings are kept for the states that undo goes back to.
#include "qtui/analysis/story.h"
#include "qtui/analysis/survey.h"
#include "study_impl.h"

// What they are read from: the figures of a decision, and what surveys and repairs know beside. The lock is held.
static struct key basis_of(const struct study *s, struct key decision)
{
	return key_add_int(key_add_int(decision, s->n_surveys), repair_memo_vouchers(s->repairs));
}

static struct findings *find(const struct study *s, struct key basis)
{
	for (int i = 0; i < STUDY_FOUND; i++)
		if (s->found[i].findings && key_equal(s->found[i].basis, basis))
			return s->found[i].findings;
	return NULL;
}

struct findings *study_findings_of(const struct study *s, struct key decision)
{
	return findings_take(find(s, basis_of(s, decision)));
}

static void put(struct study *s, struct key basis, struct findings *f)
{
	struct found *slot = &s->found[s->n_found++ % STUDY_FOUND];
	findings_drop(&slot->findings);
	*slot = (struct found){basis, f};
}

// A snapshot of a finished run whose findings or story are not known yet, else NULL.
// *f: its findings, where it is only the story.
static struct snapshot *begin(struct study *s, struct key *basis, struct findings **f)
{
	study_lock(s);
	struct snapshot *snap = s->snap;
	*basis = basis_of(s, snap->decision);
	*f = findings_take(find(s, *basis));
	bool due = snapshot_plan(snap) && !snap->dirty && !(*f && snap->story);
	snap = due ? snapshot_take(snap) : NULL;
	s->find = false;
	study_unlock(s);
	if (!snap)
		findings_drop(f);
	return snap;
}

// Publishes the snapshot that is shown once more, with the findings that are known of it by now,
// and with the story where it still is what the story was told of.
static void show(struct study *s, const struct snapshot *from, const struct findings *f, struct story *story)
{
	struct snapshot *old, *snap = study_renew(s, &old);
	findings_drop(&snap->findings);
	snap->findings = study_findings_of(s, old->decision);
	bool same = key_equal(old->decision, from->decision) && old->blames == from->blames && old->task == from->task;
	if (f && same && !old->dirty) {
		story_drop(&snap->story);
		snap->story = story_take(story);
	}
	study_renewed(s, &old);
}

void study_find(struct study *s)
{
	struct key basis;
	struct findings *f;
	struct snapshot *snap = begin(s, &basis, &f);
	if (!snap)
		return;
	bool known = f != NULL;
	if (!known)
		f = findings_new(s, snap);
	struct story *story = f ? story_new(snap, f) : NULL;
	study_lock(s);
	if (f && !known)
		put(s, basis, findings_take(f));
	s->find |= !f; // the search was stopped: it begins again when the conductor is idle
	study_unlock(s);
	show(s, snap, f, story);
	findings_drop(&f);
	story_drop(&story);
	snapshot_drop(&snap);
}

void study_find_again(struct study *s)
{
	s->find = true;
	pthread_cond_broadcast(&s->changed);
}

void study_found_free(struct study *s)
{
	for (int i = 0; i < STUDY_FOUND; i++)
		findings_drop(&s->found[i].findings);
}

// ---- the survey

void study_set_survey(struct study *s, struct survey *v)
{
	study_lock(s);
	struct survey *old = s->survey;
	s->survey = v;
	s->n_surveys++;
	study_find_again(s);
	study_unlock(s);
	survey_drop(&old);
}

static bool fits(const struct survey *v, const struct dataset *samples)
{
	return v && key_equal(v->prepared, preprocess_key(dataset_preprocess(samples)));
}

const struct survey *study_survey(const struct study *s)
{
	return fits(s->survey, study_dataset(s)) ? s->survey : NULL;
}

struct survey *study_take_survey(const struct study *s, const struct dataset *samples)
{
	study_lock(s);
	struct survey *v = fits(s->survey, samples) ? survey_take(s->survey) : NULL;
	study_unlock(s);
	return v;
}
