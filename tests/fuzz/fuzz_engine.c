// Files that the engine reads: models, tensors, arrays, images, lists of samples, targets.
#include <stdlib.h>
#include "fuzz.h"
#include "../../src/engine/data/image/image.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"
#include "qtui/engine/onnx.h"

static void plan_for(const struct graph *g)
{
	static struct target *target;
	struct error err = {0};
	struct plan *p = NULL;
	struct edits *e = edits_new(g);
	if (target || target_load(&target, "esp32p4", &err) == STATUS_OK) {
		if (plan_new(&p, g, target, CALIB_MINMAX, e, NULL, &err) == STATUS_OK)
			plan_free(&p);
	}
	edits_free(&e);
}

void fuzz_onnx(const struct fuzz_input *in)
{
	struct error err = {0};
	struct graph *g = NULL;
	if (onnx_load(&g, in->path, &(struct onnx_options){0}, &err) != STATUS_OK)
		return;
	plan_for(g);
	graph_free(&g);
}

void fuzz_tensor(const struct fuzz_input *in)
{
	struct error err = {0};
	struct tensor t = {0};
	char *name = NULL;
	if (onnx_read_tensor(&t, &name, in->path, &err) == STATUS_OK)
		tensor_drop(&t);
	free(name);
}

void fuzz_npy(const struct fuzz_input *in)
{
	struct error err = {0};
	struct tensor t = {0};
	if (array_read(&t, in->path, "x", DT_F32, &err) == STATUS_OK)
		tensor_drop(&t);
}

void fuzz_npz(const struct fuzz_input *in)
{
	struct error err = {0};
	struct npz z = {0};
	if (npz_read(&z, in->path, &err) == STATUS_OK)
		npz_done(&z);
}

static void read_image(const struct fuzz_input *in)
{
	struct error err = {0};
	uint8_t *rgb = NULL;
	int w, h;
	if (image_size(&w, &h, in->path, &err) == STATUS_OK && (int64_t)w * h > 1 << 22)
		return; // read line by line, but slow under the sanitizers
	if (image_read(&rgb, &w, &h, in->path, &err) == STATUS_OK)
		free(rgb);
	if (image_whole(in->path, &err) != STATUS_OK)
		return; // told from its parts, without decoding them
}

void fuzz_jpeg(const struct fuzz_input *in)
{
	read_image(in);
}

void fuzz_webp(const struct fuzz_input *in)
{
	read_image(in);
}

void fuzz_tiff(const struct fuzz_input *in)
{
	read_image(in);
}

void fuzz_bmp(const struct fuzz_input *in)
{
	read_image(in);
}

void fuzz_pnm(const struct fuzz_input *in)
{
	read_image(in);
}

// A mask is read from the same bytes.
void fuzz_png(const struct fuzz_input *in)
{
	struct error err = {0};
	struct mask m;
	int w, h;
	read_image(in);
	if (image_size(&w, &h, in->path, &err) == STATUS_OK && (int64_t)w * h <= 1 << 22 && mask_read(&m, in->path, &err) == STATUS_OK)
		mask_done(&m);
}

void fuzz_target(const struct fuzz_input *in)
{
	struct error err = {0};
	struct target *t = NULL;
	if (target_load(&t, in->path, &err) == STATUS_OK)
		target_free(&t);
}

void fuzz_members(const struct fuzz_input *in)
{
	struct error err = {0};
	struct target *t = NULL;
	struct str name = {0};
	char member[TARGET_NAME];
	str_addf(&name, "esp32p4,%s", in->text);
	if (target_load(&t, str_text(&name), &err) == STATUS_OK)
		for (int i = 0; target_member(t, i, member); i++)
			;
	target_free(&t);
	str_done(&name);
}
