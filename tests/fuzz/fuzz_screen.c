// What people write for the screen and the command line: themes, filters, scripts, configurations.
#include "../../src/cli/config.h"
#include "fuzz.h"
#include "undo.h"
#include "qtui/tui/filter.h"
#include "qtui/tui/script.h"
#include "qtui/tui/theme.h"

void fuzz_theme(const struct fuzz_input *in)
{
	struct error err = {0};
	struct theme t;
	enum status ignored = theme_load(&t, in->path, &err);
	(void)ignored;
}

void fuzz_filter(const struct fuzz_input *in)
{
	struct error err = {0};
	struct filter *f = NULL;
	if (filter_parse(&f, in->text, &err) != STATUS_OK)
		return;
	struct snapshot *s = study_snapshot(fuzz_study());
	for (int i = 0; i < s->n_rows; i++)
		filter_match(f, s, NULL, i);
	snapshot_drop(&s);
	filter_free(&f);
}

void fuzz_script(const struct fuzz_input *in)
{
	struct error err = {0};
	struct script *s = NULL;
	if (script_parse(&s, in->text, "script", &err) == STATUS_OK)
		script_free(&s);
}

// As the verb would: the options that it fills, then the edits that it asks for.
void fuzz_config(const struct fuzz_input *in)
{
	struct error err = {0};
	struct options o = {.config = in->path};
	if (config_read(&o, VERB_ANALYZE, &err) == STATUS_OK && config_apply(o.config_data, fuzz_study(), &err) == STATUS_OK)
		while (undoes(fuzz_study()))
			;
	options_done(&o);
}
