// A task over one picture of 64 x 64, or wider, which lies in an input of 64 x 64: what the network says of it is made by
// hand.
#ifndef TESTS_ANALYSIS_TASK_CASE_H
#define TESTS_ANALYSIS_TASK_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "../engine/data_case.h"
#include "../engine/graph_builder.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/file.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"

enum { CASE_SIDE = 64, CASE_WIDE = 128 };

struct task_case {
	struct builder b;
	struct dataset *d;
	struct task *t;
	struct error err;
};

static inline void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9f is not %.9f", a, b);
}

static inline int draw(uint64_t *x, int below)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (int)((*x >> 33) % (unsigned)below);
}

static inline void case_add_output(struct task_case *c, const char *name, struct shape shape)
{
	builder_node(&c->b, "Relu", name, "image", name);
	builder_output(&c->b, name);
	struct value *out = &c->b.g->value[c->b.g->output[c->b.g->n_outputs - 1]];
	out->type = DT_F32;
	out->shape = shape;
}

// `metadata` may be NULL; the picture is a.png, w x 64.
static inline void case_begin(struct task_case *c, struct metadata *metadata, int n_metadata, int w)
{
	static const uint8_t rgb[CASE_WIDE * CASE_SIDE * 3] = {0};
	const char *dir = support_temp(w == CASE_SIDE ? "square" : "wide");
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = CASE_SIDE, .format = PNG_FORMAT_RGB};
	*c = (struct task_case){.b = builder_new()};
	int in = builder_input(&c->b, "image");
	c->b.g->value[in].shape = SHAPE(1, 3, CASE_SIDE, CASE_SIDE);
	c->b.g->metadata = metadata;
	c->b.g->n_metadata = metadata ? n_metadata : 0;
	assert_int_equal(file_mkdirs(dir, &c->err), STATUS_OK);
	char *path = file_join(dir, "a.png");
	assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
	free(path);
	if (dataset_open(&c->d, dir, c->b.g, &(struct dataset_options){0}, &c->err))
		fail_msg("%s", c->err.text);
}

// Instead of the picture samples 0.npy, 1.npy ... of `wide` zeros, and an output of as many numbers; labels.csv beside them has
// the text `csv` (NULL: there is none).
static inline void case_begin_arrays(struct task_case *c, const char *op, int samples, int64_t wide, const char *csv)
{
	static int n; // labels that were read cannot be written again
	char name[32];
	float *zeros = calloc((size_t)wide, sizeof *zeros);
	const struct npy one = {.kind = 'f', .item = 4, .rank = 2, .dim = {1, wide}, .data = zeros, .size = (size_t)wide * sizeof *zeros};
	snprintf(name, sizeof name, "arrays%d", n++);
	const char *dir = support_temp(name);
	*c = (struct task_case){.b = builder_new()};
	c->b.g->value[builder_input(&c->b, "x")].shape = SHAPE(1, wide);
	c->b.g->value[c->b.g->input[0]].type = DT_F32;
	builder_node(&c->b, op, "last", "x", "y");
	builder_output(&c->b, "y");
	c->b.g->value[c->b.g->output[0]].shape = SHAPE(1, wide);
	assert_int_equal(file_mkdirs(dir, &c->err), STATUS_OK);
	for (int i = 0; i < samples; i++) {
		snprintf(name, sizeof name, "%d.npy", i);
		char *path = file_join(dir, name);
		assert_int_equal(npy_write(&one, path, &c->err), STATUS_OK);
		free(path);
	}
	free(zeros);
	char *labels = file_join(dir, "labels.csv");
	if (csv)
		assert_int_equal(file_write(labels, csv, strlen(csv), &c->err), STATUS_OK);
	free(labels);
	if (dataset_open(&c->d, dir, c->b.g, &(struct dataset_options){0}, &c->err))
		fail_msg("%s", c->err.text);
}

static inline void case_end(struct task_case *c)
{
	task_free(&c->t);
	dataset_free(&c->d);
	graph_free(&c->b.g);
}

// One object at 10,10 to 50,50 of the picture, as COCO JSON; `more` are further members of it.
static inline const char *case_labels(const char *more)
{
	struct str s = {0};
	str_addf(&s, "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"annotations\":[{\"image_id\":1,\"category_id\":1,"
	    "\"bbox\":[10,10,40,40],\"area\":1600,%s}],\"categories\":[{\"id\":1,\"name\":\"thing\"}]}", more);
	const char *path = support_temp_file("case.json", str_text(&s), s.len);
	str_done(&s);
	return path;
}

static inline enum status case_task(struct task_case *c, int kind, const char *labels)
{
	task_free(&c->t);
	return task_open(&c->t, c->b.g, c->d, &(struct task_options){.kind = kind, .labels = labels}, &c->err);
}

static inline struct task_net *case_net(struct task_case *c, enum task_variant v)
{
	return v == TASK_FLOAT ? task_net(c->t, task_key(c->t, NULL)) : task_net(c->t, (struct key){1, 2});
}

// All outputs of one network for the picture.
static inline void case_say(struct task_case *c, enum task_variant v, const struct tensor *out)
{
	if (task_add(c->t, case_net(c, v), 0, &(struct task_said){out, out, NULL}, &c->err))
		fail_msg("%s", c->err.text);
}

static inline struct task_look *case_look(struct task_case *c, enum task_variant before, enum task_variant after)
{
	return task_look_new(c->t, case_net(c, before), case_net(c, after), (struct key){1, 2}, 0, .25);
}

// A report that a session or a file has kept says the same of a float network that recognizes nothing.
static inline void case_check_told_again(const struct task_report *r, const char *told)
{
	char text[TASK_BLIND_TEXT];
	cJSON *j = task_report_json(r);
	struct task_report *kept = task_report_parse(j);
	assert_non_null(kept);
	task_tell_blind(text, sizeof text, kept, ":survey");
	assert_string_equal(text, told);
	task_report_drop(&kept);
	cJSON_Delete(j);
}

// A network for rotated boxes of 64x64 that finds one thing, as its output is in float and as it is turned by `angle`. The
// numbers belong to the case that is begun; `before` and `after` have CASE_ROTATED each.
enum { CASE_CELLS = 8 * 8 + 4 * 4 + 2 * 2, CASE_ROTATED = (4 + 1 + 1) * CASE_CELLS };
static inline void case_begin_rotated(struct task_case *c, float *before, float *after, float angle)
{
	static struct metadata said[] = {{"names", "{0: 'thing'}"}, {"task", "obb"}};
	static const float object[] = {32, 30, 24, 6, .9f, 0};
	case_begin(c, said, 2, CASE_SIDE);
	case_add_output(c, "output0", SHAPE(1, CASE_ROTATED / CASE_CELLS, CASE_CELLS));
	for (int i = 0; i < CASE_ROTATED; i++)
		before[i] = after[i] = i % CASE_CELLS == 0 ? object[i / CASE_CELLS] : 0;
	after[5 * CASE_CELLS] = angle;
}

#endif
