// Why: findings, each with its remedy and with what that is known or expected to gain.
#include <math.h>
#include "qtui/analysis/task.h"
#include "telling.h"

enum { CHAPTERS = 3, EDIT = 120 };
static const double LITTLE = 0.001; // of noise: what has no digits
static const double MASKED_ALONE = 0.25, MASKED_GAIN = 0.02; // of the damage: alone at least, mended alone at most

// The part of the finding's nodes that gains most at 16 bit.
static const struct blame *blame_of(const struct telling *t, const struct finding *f)
{
	const struct blames *b = t->s->blames;
	const struct blame *best = NULL;
	for (int i = 0; b && !t->s->blames_old && i < f->n_nodes; i++) {
		int at = f->node[i] < b->n_nodes ? b->of_node[f->node[i]] : -1;
		const struct blame *one = at >= 0 ? &b->at[at] : NULL;
		if (one && !isnan(one->in_wide.damage) && (!best || one->in_wide.damage > best->in_wide.damage))
			best = one;
	}
	return best;
}

// It ruins the result alone, and mending it alone changes nothing: others, by themselves enough to ruin it, are left.
static bool is_masked(const struct telling *t, const struct blame *b)
{
	double total = t->s->blames->total;
	return b->alone > MASKED_ALONE * total && b->in_wide.damage < MASKED_GAIN * total && !(b->in_float.damage >= MASKED_GAIN * total);
}

// What it may take away of all noise, and what of that reaches the outputs.
static void tell_share(struct telling *t, const struct finding *f)
{
	struct str reach = {0};
	if (f->reach < LITTLE)
		str_add(&reach, "; hardly any of the noise at the outputs");
	else if (isfinite(f->reach))
		str_addf(&reach, "; about %.*f %% of the noise at the outputs", f->reach < 0.1, 100 * f->reach);
	if (f->share < LITTLE)
		tell(t, STORY_GAIN, "Takes away less than %g %% of all noise that arises%s.", 100 * LITTLE, str_text(&reach));
	else
		tell(t, STORY_GAIN, "Takes away at most %.*f %% of all noise that arises%s.", f->share < 0.1, 100 * f->share, str_text(&reach));
	str_done(&reach);
}

static void tell_gain(struct telling *t, const struct finding *f)
{
	const struct blame *b = blame_of(t, f);
	const char *task = t->s->blames ? task_word(t->s->blames->task) : "";
	if (b && is_masked(t, b))
		tell(t, STORY_GAIN,
		    "Measured (blame): %s alone does %.4f of %.4f damage, yet mending only it saves nothing, since others do as much: "
		    "the gain shows when they are mended too.",
		    telling_name(t, b->node), b->alone, t->s->blames->total);
	else if (b && !isnan(b->in_wide.score))
		tell(t, STORY_GAIN, "Measured (blame): %s gains %+.3f %s at 16 bit, %+.3f in float, for %.2f %% of the MACs.",
		    telling_name(t, b->node), b->in_wide.score, task, b->in_float.score, 100 * b->wide);
	else if (b)
		tell(t, STORY_GAIN, "Measured (blame): %s at 16 bit saves %.4f of %.4f damage, in float %.4f, for %.2f %% of the MACs.",
		    telling_name(t, b->node), b->in_wide.damage, t->s->blames->total, b->in_float.damage, 100 * b->wide);
	if (isfinite(f->gain_db))
		tell(t, STORY_GAIN, "Expected at this tensor: %+.1f dB%s; its node's other noise stays.", f->gain_db, b ? " with the remedy above" : "");
	if (isfinite(f->share))
		tell_share(t, f);
	else if (!b && !isfinite(f->gain_db) && f->edit)
		tell(t, STORY_GAIN, "Not known beforehand: the next run measures it.");
}

static void tell_remedy(struct telling *t, const struct finding *f)
{
	struct str edit = {0};
	if (f->edit)
		study_add_step(&edit, f->edit, EDIT);
	tell(t, STORY_REMEDY, "%s%s%s", f->advice, f->edit ? ". Edit: :" : "", str_text(&edit));
	str_done(&edit);
}

static void tell_cause(struct telling *t, const struct finding *f)
{
	t->node = f->n_nodes ? f->node[0] : -1;
	tell(t, STORY_CAUSE, "%s: %s", finding_name(f->rule), f->text);
	if (f->advice)
		tell_remedy(t, f);
	tell_gain(t, f);
	t->node = -1;
}

void tell_causes(struct telling *t)
{
	int n = t->f ? t->f->n : 0;
	for (int i = 0; i < n && i < CHAPTERS; i++) {
		t->chapter = i + 1;
		t->finding = i;
		tell_cause(t, &t->f->at[i]);
	}
	t->chapter = 0;
	t->finding = -1;
	if (n > CHAPTERS)
		tell(t, STORY_CAUSE, "And %d more finding%s of less weight.", n - CHAPTERS, plural(n - CHAPTERS));
	else if (n == 0 && t->lost && t->chief >= 0)
		tell(t, STORY_CAUSE, "No rule says why more than half of the noise arises at %s.", telling_name(t, t->chief));
	else if (n == 0 && t->lost)
		tell(t, STORY_CAUSE, "No rule names one cause: the noise of many nodes adds up.");
	else if (n == 0)
		tell(t, STORY_CAUSE, "Nothing here explains a loss.");
}
