// A score of the user's own: a program is given each sample's outputs as files, and answers with a number or a fraction
// (docs/TASK.md). The figure of a set is the sum of the numerators over that of the denominators, 1 each of plain numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../task_impl.h"
#include "program.h"
#include "qtui/base/str.h"

struct scored { // one sample
	struct task_result base; // value: over / under
	double over, under;
};

static enum status score_open(struct task *t, struct error *err)
{
	if (!t->opt.scorer)
		return error_set(err, STATUS_USAGE, "task score: --scorer COMMAND says which program gives it");
	t->state = program_new(t->opt.scorer, "scorer");
	return STATUS_OK;
}

static void score_close(struct task *t)
{
	struct program *p = t->state;
	program_free(&p);
}

static void score_note(struct task *t, char *out, size_t size)
{
	snprintf(out, size, "scored by %s", program_command(t->state));
}

// ---- reading

// Blanks around a number, and the \r of other systems, do not count.
static bool read_number(double *x, char *text)
{
	static const char blanks[] = " \t\r";
	char *begin = text + strspn(text, blanks), *end = begin + strlen(begin);
	while (end > begin && strchr(blanks, end[-1]))
		*--end = '\0';
	return str_to_double(begin, x) && isfinite(*x);
}

static enum status read_answer(void *to, char *answer, struct error *err)
{
	struct scored *s = to;
	char said[61], *stroke = strchr(answer, '/');
	snprintf(said, sizeof said, "%s", answer);
	if (stroke)
		*stroke = '\0';
	s->under = 1;
	if (!read_number(&s->over, answer) || (stroke && (!read_number(&s->under, stroke + 1) || s->under < 0)))
		return error_set(err, STATUS_UNSUPPORTED, "it has answered \"%s\", which is no finite number and no fraction", said);
	s->base.value = s->under > 0 ? s->over / s->under : 0; // a sample of no words has none wrong: it counts nowhere
	if (!isfinite(s->base.value) || (s->under <= 0 && s->over != 0))
		return error_set(err, STATUS_UNSUPPORTED, "it has answered \"%s\", which is no finite number", said);
	return STATUS_OK;
}

static enum status score_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct scored *s = xcalloc(1, sizeof *s);
	const struct sample_outputs of = {t->g, t->d, sample, said->out, said->stop};
	s->base = (struct task_result){.refs = 1, .bytes = sizeof *s};
	enum status st = program_ask(t->state, &of, read_answer, s, err);
	*result = st == STATUS_OK ? &s->base : NULL;
	if (st != STATUS_OK)
		free(s);
	return st;
}

static void score_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

static double score_of(const struct task *t, const struct frozen *f, const int *weight)
{
	double over = 0, under = 0;
	(void)t;
	for (int i = 0; i < f->n; i++) {
		const struct scored *s = (const struct scored *)f->at[i];
		if (!s)
			continue;
		over += (weight ? weight[i] : 1) * s->over;
		under += (weight ? weight[i] : 1) * s->under;
	}
	return under > 0 ? over / under : NAN;
}

static void score_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	r->figure = xcalloc(1, sizeof *r->figure);
	r->n_figures = 1;
	r->figure[0].name = score_ops.figure;
	for (int v = 0; v < TASK_VARIANTS; v++)
		r->figure[0].value[v] = score_of(t, &f[v], NULL);
}

const struct task_ops score_ops = {
    .name = "score", .figure = "score",
    .labels = -1,
    .shows = SHOWS_NOTHING,
    .open = score_open,
    .close = score_close,
    .note = score_note,
    .read = score_read,
    .release = score_release,
    .score = score_of,
    .report = score_report,
};
