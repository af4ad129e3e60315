// Names of figures, as files, people and narrow columns have them, and their units.
#include <math.h>
#include <string.h>
#include "task_impl.h"

static const struct figure {
	const char *name, *word, *head; // NULL: the same
	int decimals;                   // 0: a share
	bool decibels;
	bool error;         // less is better
	double blind;       // of a float network that is right by chance at the most
	const char *goal;   // what a repair commonly stops at, as :fix and --until have it
	const char *sample; // what a sample alone has in its place
} figures[] = {
    {.name = "AP", .word = "mAP", .blind = .01, .goal = "map_drop<0.005", .sample = "AP of a picture"},
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
    {.name = "top1", .word = "top-1", .blind = .01, .goal = "top1_drop<0.005", .sample = "probability of the right class"},
    {.name = "top5", .word = "top-5"},
    {.name = "mIoU", .blind = .05, .goal = "miou_drop<0.005", .sample = "IoU of a picture"}, // one class covers much by chance
    {.name = "pixel_accuracy", .word = "pixel acc.", .head = "pix acc"},
    {.name = "mean_accuracy", .word = "mean acc.", .head = "cls acc"},
    {.name = "psnr_db", .word = "PSNR dB", .head = "PSNR", .decimals = 2, .decibels = true, .blind = 10, .goal = "psnr_drop<0.1",
        .sample = "PSNR of a picture"},
    {.name = "psnr_y_db", .word = "PSNR Y dB", .head = "Y dB", .decimals = 2, .decibels = true},
    {.name = "ssim", .word = "SSIM"},
    {.name = "accuracy", .head = "acc", .blind = .01, .goal = "accuracy_drop<0.005", .sample = "nearness of a text"},
    {.name = "nearness", .head = "near"},
    {.name = "rank1", .word = "rank-1", .blind = .01, .goal = "rank1_drop<0.005", .sample = "AP of a sample"},
    {.name = "retrieval_map", .word = "retrieval mAP", .head = "ret mAP"},
    {.name = "tar", .word = "TAR@FAR 0.001", .head = "TAR"},
    {.name = "delta1", .blind = .3, .goal = "delta1_drop<0.005", .sample = "delta1 of a picture"},
    {.name = "abs_rel", .word = "AbsRel", .error = true},
    {.name = "r2", .word = "R2", .blind = .05, .goal = "r2_drop<0.005", .sample = "nearness of a sample"},
    {.name = "rmse", .word = "RMSE", .decimals = 4, .error = true},
    {.name = "mae", .word = "MAE", .decimals = 4, .error = true},
    {.name = "score", .blind = -INFINITY, .sample = "score of a sample"}, // the user's own: nothing is known of it
    {.name = "cosine", .decimals = 4}, // near 1
    {.name = "snr_db", .word = "SNR dB", .decimals = 1, .decibels = true},
    {.name = "same_top1", .word = "same top-1", .head = "top-1 ="},
    {.name = "same_pixels", .word = "same pixels", .head = "pixel ="},
    {.name = "same_boxes", .word = "same boxes", .head = "box =", .goal = "drop<0.02"},
    {.name = "same_texts", .word = "same texts", .head = "text =", .goal = "drop<0.02"},
    {.name = "same_points", .word = "same points", .head = "pts =", .goal = "drop<0.02"},
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

double task_unit(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->decibels ? 20 : 1;
}

bool task_is_error(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->error;
}

double task_blind(const char *figure)
{
	const struct figure *f = find(figure);
	return f ? f->blind : 0;
}

const char *task_goal(const char *figure)
{
	const struct figure *f = find(figure);
	return f ? f->goal : NULL;
}

const char *task_sample_word(const char *figure)
{
	const struct figure *f = find(figure);
	return f && f->sample ? f->sample : task_word(figure);
}
