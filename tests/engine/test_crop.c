// Crops of which a share is kept, against torchvision's Resize and CenterCrop by their formulas.
#include "data_case.h"

static void open_pixels(struct data_case *c, int h, int w, enum resize_mode mode, double share, const char *picture)
{
	*c = (struct data_case){.opt.pre = {.std = {1, 1, 1, 1}, .std_set = true, .mean_set = true, .color_set = true,
	                            .resize = mode, .share = share, .resize_set = true}};
	case_input(c, "image", DT_F32, SHAPE(1, 3, h, w));
	case_open(c, picture);
	case_load(c, 0);
}

// The shorter side is int(size / share), the longer one truncated in proportion, the corner rounded half to even.
void test_crop__is_the_middle_of_the_whole_picture_made_smaller(void **state)
{
	static const struct {
		double share;
		int w, h, size, all_w, all_h, left, top;
	} rows[] = {
	    {0.875, 100, 80, 56, 80, 64, 12, 4},
	    {0.875, 80, 101, 56, 64, 80, 4, 12},
	    {0.8, 90, 90, 224, 280, 280, 28, 28}, // 224 / 0.8f would be 279
	    {0.95, 90, 90, 224, 235, 235, 6, 6},  // 5.5
	    {0.875, 60, 40, 7, 12, 8, 2, 0},      // 2.5 and 0.5
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *picture = case_png("share.png", rows[i].w, rows[i].h);
		int size = rows[i].size;
		struct data_case cut, all;
		open_pixels(&cut, size, size, RESIZE_CROP, rows[i].share, picture);
		open_pixels(&all, rows[i].all_h, rows[i].all_w, RESIZE_STRETCH, 0, picture);
		assert_float_equal(cut.where.pad_x, -rows[i].left, 0);
		assert_float_equal(cut.where.pad_y, -rows[i].top, 0);
		assert_float_equal(cut.where.scale_x, (double)rows[i].all_w / rows[i].w, 1e-12);
		for (int c = 0; c < 3; c++)
			for (int y = 0; y < size; y++)
				assert_memory_equal((float *)cut.in[0].data + (c * size + y) * size,
				    (float *)all.in[0].data + (c * rows[i].all_h + rows[i].top + y) * rows[i].all_w + rows[i].left,
				    (size_t)size * sizeof(float));
		case_done(&cut);
		case_done(&all);
	}
}

// What is kept under the key of a sample is of these pixels.
void test_crop__shares_are_other_samples(void **state)
{
	const char *picture = case_png("share.png", 100, 80);
	struct data_case all, most;
	open_pixels(&all, 56, 56, RESIZE_CROP, 0, picture);
	open_pixels(&most, 56, 56, RESIZE_CROP, 0.875, picture);
	assert_false(key_equal(dataset_key(all.data, 0), dataset_key(most.data, 0)));
	case_done(&all);
	case_done(&most);
}

void test_crop__of_next_to_nothing_is_refused(void **state)
{
	struct data_case c = {.opt.pre = {.std = {1, 1, 1, 1}, .resize = RESIZE_CROP, .share = 1e-300, .resize_set = true}};
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 56, 56));
	case_open(&c, case_png("share.png", 100, 80));
	assert_int_equal(dataset_load(c.data, 0, c.in, &c.where, &c.err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "less than a 64th"));
	case_done(&c);
}
