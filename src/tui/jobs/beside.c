#include "qtui/tui/beside.h"

#include "qtui/tui/equalize.h"
#include "qtui/tui/files.h"
#include "qtui/tui/repair.h"
#include "qtui/tui/survey.h"

static const struct {
	const char *what;             // as the subject of a sentence
	void (*news)(struct ui *ui);  // while it works; NULL: says nothing before its end
	void (*ended)(struct ui *ui); // tells what it came to
} kinds[BESIDE_COUNT] = {
	[BESIDE_SURVEY] = {"a survey", NULL, survey_ended},
	[BESIDE_EQUALIZE] = {"equalizing", NULL, equalize_ended},
	[BESIDE_REPAIR] = {"a repair", repair_news, repair_ended},
	[BESIDE_FILE] = {"a file is being read or written", NULL, file_ended},
};

void beside_begin(struct ui *ui, enum beside_kind k, struct background *job, const char *name)
{
	ui->beside[k] = (struct beside){job, name};
}

bool beside_busy(const struct ui *ui, enum beside_kind k)
{
	return ui->beside[k].job != NULL;
}

enum status beside_check(const struct ui *ui, enum beside_kind k, struct error *err)
{
	if (!beside_busy(ui, k))
		return STATUS_OK;
	return error_set(
	    err, STATUS_REFUSED, k < BESIDE_STOPPED ? "%s is under way: Ctrl-c stops it" : "%s: that must end first", kinds[k].what);
}

const struct beside *beside_first(const struct ui *ui)
{
	for (int k = 0; k < BESIDE_STOPPED; k++)
		if (beside_busy(ui, (enum beside_kind)k))
			return &ui->beside[k];
	return NULL;
}

void beside_news(struct ui *ui)
{
	for (int k = 0; k < BESIDE_COUNT; k++) {
		struct background *job = ui->beside[k].job;
		if (!job)
			continue;
		bool over = !background_running(job); // asked first, so that its last news are taken below
		if (kinds[k].news)
			kinds[k].news(ui);
		if (!over)
			continue;
		ui->beside[k].job = NULL;
		kinds[k].ended(ui);
	}
}
