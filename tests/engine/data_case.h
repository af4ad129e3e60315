// What the tests of datasets share: a graph that has only inputs, pictures that a formula gives, and files made of
// them.
#ifndef TESTS_ENGINE_DATA_CASE_H
#define TESTS_ENGINE_DATA_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/data.h"
#include "support.h"

#define CASE_INPUTS 3

struct data_case {
	struct graph graph;
	struct value value[CASE_INPUTS];
	int input[CASE_INPUTS];
	struct metadata metadata[3];
	struct dataset_options opt;
	struct dataset *data;
	struct tensor in[CASE_INPUTS];
	struct placement where;
	struct error err;
};

static inline void case_input(struct data_case *c, const char *name, enum dtype type, struct shape shape)
{
	int i = c->graph.n_inputs++;
	c->value[i] = (struct value){.name = name, .type = type, .shape = shape, .producer = -1, .is_input = true};
	c->input[i] = i;
	c->graph.n_values = c->graph.n_inputs;
}

#define SHAPE(...) shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

// A case may have been copied: its graph is made to point into itself.
static inline enum status case_try(struct data_case *c, const char *path)
{
	c->graph.value = c->value;
	c->graph.input = c->input;
	c->graph.metadata = c->metadata;
	return dataset_open(&c->data, path, &c->graph, &c->opt, &c->err);
}

static inline void case_open(struct data_case *c, const char *path)
{
	if (case_try(c, path))
		fail_msg("%s", c->err.text);
}

static inline void case_load(struct data_case *c, int i)
{
	for (int k = 0; k < CASE_INPUTS; k++)
		tensor_drop(&c->in[k]);
	if (dataset_load(c->data, i, c->in, &c->where, &c->err))
		fail_msg("%s", c->err.text);
}

static inline void case_done(struct data_case *c)
{
	for (int k = 0; k < CASE_INPUTS; k++)
		tensor_drop(&c->in[k]);
	dataset_free(&c->data);
}

// The picture on which the expected values below were computed.
static inline uint8_t *case_picture(int w, int h)
{
	uint8_t *rgb = malloc((size_t)w * (size_t)h * 3), *p = rgb;
	assert_non_null(rgb);
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			*p++ = (uint8_t)(x * 31 + y * 17);
			*p++ = (uint8_t)(x * x * 7 + y * 13);
			*p++ = (uint8_t)(x * y * 5 + 91);
		}
	return rgb;
}

static inline const char *case_png(const char *name, int w, int h)
{
	png_image image = {
	    .version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = PNG_FORMAT_RGB};
	const char *path = support_temp(name);
	uint8_t *rgb = case_picture(w, h);
	assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
	free(rgb);
	return path;
}

#endif
