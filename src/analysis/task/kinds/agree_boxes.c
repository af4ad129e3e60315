#include "agree_boxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "boxes.h"
#include "qtui/base/mem.h"

struct agree_boxes {
	struct boxes_reader *reader;
	struct names names; // of the model's classes
};

struct agree_boxes *agree_boxes_new(const struct graph *g, const char *decoder)
{
	struct boxes_reader *reader = boxes_reader_new(g, decoder, 0, 0);
	if (!reader)
		reader = boxes_reader_of_rows(g, decoder);
	if (!reader)
		return NULL;
	struct agree_boxes *b = xcalloc(1, sizeof *b);
	b->reader = reader;
	names_of_model(&b->names, g);
	if (!b->names.n)
		names_known(&b->names, boxes_reader_classes(reader));
	return b;
}

void agree_boxes_free(struct agree_boxes **b)
{
	if (!*b)
		return;
	boxes_reader_free(&(*b)->reader);
	names_done(&(*b)->names);
	free(*b);
	*b = NULL;
}

void agree_boxes_compare(struct boxes_alike *out, const struct agree_boxes *b, const struct tensor *f, const struct tensor *q,
    const struct placement *where)
{
	const struct tensor *const said[TASK_VARIANTS] = {[TASK_FLOAT] = f, [TASK_QUANT] = q};
	struct boxes *found[TASK_VARIANTS] = {NULL, NULL};
	struct error ignored; // all else that the outputs say can be compared
	bool fit = true;
	*out = (struct boxes_alike){.value = NAN};
	for (int v = 0; v < TASK_VARIANTS && fit; v++)
		fit = boxes_read(&found[v], b->reader, &(struct sample_outputs){.out = said[v]}, &ignored) == STATUS_OK && found[v];
	if (fit) {
		double mass = boxes_mass(found[TASK_FLOAT]) + boxes_mass(found[TASK_QUANT]);
		out->value = 1 - boxes_apart((const struct boxes *const *)&found[TASK_FLOAT], (const struct boxes *const *)&found[TASK_QUANT], 1);
		out->weight = mass / (mass + 1);
		for (int v = 0; v < TASK_VARIANTS && where; v++)
			out->by[v] = boxes_in_image(found[v], where, &out->point[v]);
		const struct boxes *any = boxes_points(found[TASK_FLOAT]) ? found[TASK_FLOAT] : found[TASK_QUANT]; // where one found none
		out->points = boxes_points(any);
		out->rotated = boxes_are_rotated(any);
	}
	for (int v = 0; v < TASK_VARIANTS; v++)
		boxes_free(&found[v]);
}

size_t boxes_alike_bytes(const struct boxes_alike *a)
{
	size_t each = sizeof *a->by[TASK_FLOAT].box + (size_t)a->points * sizeof *a->point[TASK_FLOAT];
	return (size_t)(a->by[TASK_FLOAT].n + a->by[TASK_QUANT].n) * each;
}

void boxes_alike_done(struct boxes_alike *a)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		free((void *)a->by[v].box);
		free(a->point[v]);
	}
	*a = (struct boxes_alike){.weight = 0};
}

static void name_class(const struct agree_boxes *b, struct task_look *l, int class)
{
	char number[24];
	snprintf(number, sizeof number, "class %d", class);
	const char *name = class < b->names.n && b->names.at[class] ? b->names.at[class] : number;
	if (!l->class_name[class])
		l->class_name[class] = arena_strdup(l->memory, name);
}

void agree_boxes_look(const struct agree_boxes *b, const struct boxes_alike *a, struct task_look *l)
{
	struct skeleton skeleton;
	int classes = 0;
	if (!a->by[TASK_FLOAT].box)
		return;
	skeleton_init(&skeleton, a->rotated ? 0 : a->points);
	l->points = a->points;
	l->rotated = a->rotated;
	detect_look_boxes(l, a->by);
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < l->n_boxes[v]; i++)
			classes = l->box[v][i].class < classes ? classes : l->box[v][i].class + 1;
	l->class_name = xcalloc((size_t)classes + 1, sizeof *l->class_name);
	for (int v = 0; v < TASK_VARIANTS; v++)
		for (int i = 0; i < l->n_boxes[v]; i++)
			name_class(b, l, l->box[v][i].class);
	detect_look_changes(l, a->by, &(struct coco_rule){.poses = skeleton.n ? &skeleton : NULL, .rotated = a->rotated}, NULL);
	skeleton_done(&skeleton);
}
