// Names of figures, as files, people and narrow columns have them, and their units.
#include <string.h>
#include "qtui/analysis/task.h"

static const struct figure {
	const char *name, *word, *head; // NULL: the same
	int decimals;                   // 0: a share
	bool decibels;
} figures[] = {
    {.name = "AP", .word = "mAP"},
    {.name = "AP50", .word = "mAP50"},
    {.name = "AP75", .word = "mAP75"},
    {.name = "AP_small", .word = "mAP small", .head = "small"},
    {.name = "AP_medium", .word = "mAP medium", .head = "medium"},
    {.name = "AP_large", .word = "mAP large", .head = "large"},
    {.name = "AR_1", .word = "AR 1"},
    {.name = "AR_10", .word = "AR 10"},
    {.name = "AR_100", .word = "AR 100"},
    {.name = "AR_small", .word = "AR small", .head = "AR sml"},
    {.name = "AR_medium", .word = "AR medium", .head = "AR med"},
    {.name = "AR_large", .word = "AR large", .head = "AR lrg"},
    {.name = "top1", .word = "top-1"},
    {.name = "top5", .word = "top-5"},
    {.name = "mIoU"},
    {.name = "pixel_accuracy", .word = "pixel acc.", .head = "pix acc"},
    {.name = "mean_accuracy", .word = "mean acc.", .head = "cls acc"},
    {.name = "psnr_db", .word = "PSNR dB", .head = "PSNR", .decimals = 2, .decibels = true},
    {.name = "psnr_y_db", .word = "PSNR Y dB", .head = "Y dB", .decimals = 2, .decibels = true},
    {.name = "ssim", .word = "SSIM"},
    {.name = "cosine", .decimals = 4}, // near 1
    {.name = "snr_db", .word = "SNR dB", .decimals = 1, .decibels = true},
    {.name = "same_top1", .word = "same top-1", .head = "top-1 ="},
    {.name = "same_pixels", .word = "same pixels", .head = "pixel ="},
};

static const struct figure *find(const char *name)
{
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		if (strcmp(name, figures[i].name) == 0)
			return &figures[i];
	return NULL;
}

const char *task_word(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->word ? f->word : figure;
}

const char *task_head(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->head ? f->head : task_word(figure);
}

int task_decimals(const char *figure, int share)
{
	const struct figure *f = find(figure);
	return f && f->decimals ? f->decimals : share;
}

const char *task_figure_name(enum task_kind k)
{
	static const char *const name[TASK_KINDS] = {[TASK_DETECT] = "AP", [TASK_POSE] = "AP", [TASK_INSTANCE] = "AP", [TASK_OBB] = "AP",
	    [TASK_CLASSIFY] = "top1", [TASK_SEGMENT] = "mIoU", [TASK_RESTORE] = "psnr_db", [TASK_AGREE] = "cosine"};
	return name[k];
}

double task_unit(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->decibels ? 20 : 1;
}
