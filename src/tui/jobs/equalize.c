#include "qtui/tui/equalize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/task.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/command.h"
#include "qtui/tui/format.h"

// "FILE sums weights quark": FILE, and each of the words behind it in any order, may be left out.
static struct equalizing_wish read_wish(char *args)
{
	struct equalizing_wish wish = {0};
	const struct {
		const char *word;
		bool *flag;
	} words[] = {{"sums", &wish.sums}, {"weights", &wish.weights}, {"quark", &wish.quark}};
	while (*args) {
		char *last = strrchr(args, ' '), *word = last ? last + 1 : args;
		bool *flag = NULL;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (!strcmp(word, words[i].word))
				flag = words[i].flag;
		if (!flag)
			break;
		*flag = true;
		*(last ? last : args) = '\0';
	}
	wish.path = *args ? args : NULL;
	return wish;
}

enum status command_equalize(struct ui *ui, char *args, struct error *err)
{
	struct equalizing_wish wish = read_wish(args);
	if (beside_check(ui, BESIDE_EQUALIZE, err) || equalizing_start(&ui->equalizing, ui->study, &wish, err))
		return err->status;
	beside_begin(ui, BESIDE_EQUALIZE, equalizing_background(ui->equalizing), "equalize");
	if (*args)
		ui_note(ui, "equalizing into %.200s, and measuring it as is decided here; Ctrl-c stops it", args);
	return STATUS_OK;
}

static void add_bought(struct str *out, const struct run_note *was, const struct run_note *now)
{
	char a[FIGURE], b[FIGURE];
	str_addf(out, "worst output %s → %s", format_db(a, was->out_snr_db), format_decibels(b, now->out_snr_db));
	str_addf(out, ", mean of nodes %s → %s", format_db(a, was->mean_snr_db), format_decibels(b, now->mean_snr_db));
	if (!isnan(was->task_quant) && !isnan(now->task_quant))
		str_addf(out, ", %s %s → %s", task_word(now->task_name), format_figure(a, now->task_name, was->task_quant),
		    format_figure(b, now->task_name, now->task_quant));
}

static void tell(struct ui *ui, const struct equalizing_result *r, const char *path)
{
	struct str text = {0};
	str_addf(&text, "equalize: %d group%s of tensors, weights of %d node%s", r->groups, plural(r->groups), r->nodes,
	    plural(r->nodes));
	if (r->nodes == 0) {
		str_add(&text, ": nothing to equalize here (factors do not pass Clip, Sigmoid, SiLU or Concat)");
	} else if (!r->measured) {
		str_add(&text, "; :equalize FILE writes the model and measures what it buys");
	} else {
		str_add(&text, "; ");
		add_bought(&text, &r->now, &r->equalized);
		if (r->untuned)
			str_addf(&text, " (%d node%s with tuned weights here, none there: :tune fits new ones)", r->untuned, plural(r->untuned));
		str_addf(&text, ". Written; to go on with it: qtui %s ", path);
		study_add_samples(&text, ui->study);
	}
	log_info("%s", str_text(&text));
	ui_note(ui, "%s", str_text(&text));
	str_done(&text);
}

void equalize_ended(struct ui *ui)
{
	struct equalizing_result r;
	struct error err = {0};
	enum status st = equalizing_end(&r, ui->equalizing, &err);
	if (st == STATUS_CANCELLED && r.written)
		ui_note(ui, "stopped: %s is written, what it buys was not measured", equalizing_path(ui->equalizing));
	else if (st == STATUS_CANCELLED)
		ui_note(ui, "equalizing stopped: nothing was written");
	else if (st)
		ui_fail(ui, &err);
	else
		tell(ui, &r, equalizing_path(ui->equalizing));
	equalizing_free(&ui->equalizing);
}
