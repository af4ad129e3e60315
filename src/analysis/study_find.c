// The findings of a study: the conductor looks for them when figures are complete, or when the survey is another. The figures are on the
// screen by then. They are kept for the states that undo goes back to.
#include "qtui/analysis/findings.h"
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

// A snapshot of a finished run whose findings are not known yet, else NULL.
static struct snapshot *begin(struct study *s, struct key *basis)
{
	pthread_mutex_lock(&s->lock);
	struct snapshot *snap = s->snap;
	*basis = basis_of(s, snap->decision);
	bool due = snapshot_plan(snap) && !snap->dirty && !find(s, *basis);
	snap = due ? snapshot_take(snap) : NULL;
	s->find = false;
	pthread_mutex_unlock(&s->lock);
	return snap;
}

void study_find(struct study *s)
{
	struct key basis;
	struct snapshot *snap = begin(s, &basis);
	if (!snap)
		return;
	struct findings *f = findings_new(s, snap);
	snapshot_drop(&snap);
	pthread_mutex_lock(&s->lock);
	if (f)
		put(s, basis, f);
	else
		s->find = true; // stopped: again, unless there is another run before
	struct snapshot *old = s->snap;
	s->snap = snapshot_copy(old);
	findings_drop(&s->snap->findings);
	s->snap->findings = study_findings_of(s, old->decision);
	pthread_mutex_unlock(&s->lock);
	snapshot_drop(&old);
	study_wake(s);
}

void study_found_free(struct study *s)
{
	for (int i = 0; i < STUDY_FOUND; i++)
		findings_drop(&s->found[i].findings);
}

// ---- the survey

void study_set_survey(struct study *s, struct survey *v)
{
	pthread_mutex_lock(&s->lock);
	struct survey *old = s->survey;
	s->survey = v;
	s->n_surveys++;
	s->find = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
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
	struct study *m = (struct study *)s; // the lock is not part of the value
	pthread_mutex_lock(&m->lock);
	struct survey *v = fits(s->survey, samples) ? survey_take(s->survey) : NULL;
	pthread_mutex_unlock(&m->lock);
	return v;
}
