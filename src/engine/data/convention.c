// A table of names that detectors and audio models use.
#include "convention.h"
#include "qtui/base/str.h"

enum meaning { SIZE_WH, SIZE_HW, ONES, SAMPLE_RATE };
enum { ANY = -1 }; // number of elements

static const struct {
	const char *pattern;
	int64_t count;
	enum meaning meaning;
	const char *text;
} rows[] = {
    {"*orig_target_sizes*", 2, SIZE_WH, "the input's width and height"},
    {"*target_size*", 2, SIZE_WH, "the input's width and height"},
    {"*orig_size*", 2, SIZE_WH, "the input's width and height"},
    {"*image_shape*", 2, SIZE_HW, "the input's height and width"},
    {"*im_shape*", 2, SIZE_HW, "the input's height and width"},
    {"*scale_factor*", 2, ONES, "1"},
    {"sr", 1, SAMPLE_RATE, "16000"},
    {"*attention_mask", ANY, ONES, "1: nothing is masked"},
    {"pixel_mask", ANY, ONES, "1: nothing is masked"},
};

static int row_of(const struct value *input)
{
	int64_t count = shape_count(&input->shape);
	if (input->type != DT_F32 && input->type != DT_I64 && input->type != DT_I32)
		return -1;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if ((rows[i].count == count || rows[i].count == ANY) && str_glob(rows[i].pattern, input->name))
			return (int)i;
	return -1;
}

bool convention_known(const struct value *input, const char **text)
{
	int row = row_of(input);
	if (row >= 0 && text)
		*text = rows[row].text;
	return row >= 0;
}

static void store(struct tensor *out, int i, int v)
{
	if (out->type == DT_F32)
		((float *)out->data)[i] = (float)v;
	else if (out->type == DT_I64)
		((int64_t *)out->data)[i] = v;
	else
		((int32_t *)out->data)[i] = v;
}

void convention_fill(struct tensor *out, const struct value *input, int w, int h)
{
	enum meaning m = rows[row_of(input)].meaning;
	int value[2] = {1, 1};
	if (m == SIZE_WH || m == SIZE_HW) {
		value[0] = m == SIZE_WH ? w : h;
		value[1] = m == SIZE_WH ? h : w;
	} else if (m == SAMPLE_RATE) {
		value[0] = 16000;
	}
	for (int i = 0; i < tensor_count(out); i++)
		store(out, i, value[i % 2]);
}
