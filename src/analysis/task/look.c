// One sample in the eyes of the task: see task_look.h.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "task_impl.h"
#include "qtui/base/mem.h"

const char *task_change_name(enum task_change_kind k)
{
	static const char *const name[CHANGE_KINDS] = {
	    [CHANGE_MISSED] = "missed", [CHANGE_APPEARED] = "appeared", [CHANGE_MOVED] = "moved"};
	return name[k];
}

const char *task_class_text(const struct task *t, int class, struct task_look *l)
{
	char text[24];
	const char *name = class >= 0 && class < t->labels->n_classes ? t->labels->name[class] : NULL;
	name = !name && class >= 0 && class < t->names.n ? t->names.at[class] : name;
	snprintf(text, sizeof text, "class %d", class);
	return arena_strdup(l->memory, name ? name : text);
}

struct task_look *task_look_new(struct task *t, const struct task_net *before, const struct task_net *after,
    struct key network, int sample, double least)
{
	struct task_look *l = xcalloc(1, sizeof *l);
	struct arena *a = arena_new();
	struct looked at = {.net = {before, after}};
	*l = (struct task_look){.refs = 1, .sample = sample, .network = network, .kind = t->kind, .least = least, .memory = a};
	l->name = arena_strdup(a, dataset_name(t->d, sample));
	l->file = dataset_file(t->d, sample) ? arena_strdup(a, dataset_file(t->d, sample)) : NULL;
	at.result[TASK_FLOAT] = before ? task_net_result(t, before, sample) : NULL;
	at.result[TASK_QUANT] = after ? task_net_result(t, after, sample) : NULL;
	l->known = at.result[TASK_QUANT] && (at.result[TASK_FLOAT] || t->kind == TASK_AGREE);
	for (int v = 0; v < TASK_VARIANTS; v++)
		l->value[v] = at.result[v] ? at.result[v]->value : NAN;
	if (t->ops->look)
		t->ops->look(t, &at, l);
	for (int v = 0; v < TASK_VARIANTS; v++)
		result_drop(t, at.result[v]);
	return l;
}

struct task_look *task_look_take(struct task_look *l)
{
	if (l)
		atomic_fetch_add(&l->refs, 1);
	return l;
}

void task_look_drop(struct task_look **lp)
{
	struct task_look *l = *lp;
	*lp = NULL;
	if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
		return;
	arena_free(&l->memory);
	free(l->truth);
	free(l->class_name);
	for (int v = 0; v < TASK_VARIANTS; v++) {
		free(l->box[v]);
		free(l->made[v]);
	}
	free(l->change);
	free(l->region);
	free(l->cell);
	free(l->rgb);
	free(l);
}
