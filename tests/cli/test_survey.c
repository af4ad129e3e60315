// When a survey is worth its time.
#include "../../src/cli/verbs.h"
#include "support.h"
#include "qtui/analysis/survey.h"
#include "qtui/base/log.h"

// Whether `qtui analyze` with labels and this option, which may have a value, makes one.
static bool surveys(const char *option, const char *value)
{
	char *argv[] = {"qtui", "analyze", "--quiet", "--threads=2", "--samples=4", "examples/digits.onnx", "examples/val",
	    "--labels=examples/val.json", (char *)option, (char *)value};
	struct options o;
	struct study *st = NULL;
	struct session *se = NULL;
	struct error err = {0};
	int n = (int)(sizeof argv / sizeof *argv) - (option ? !value : 2);
	log_to_stderr(false, LOG_ERROR);
	if (options_parse(&o, n, argv, 2, VERB_ANALYZE, &err) || options_resolve(&o, VERB_ANALYZE, &err) || open_study(&st, &se, &o, &err) ||
	    run_study(st, true, &err) || survey_study(st, &o, &err))
		fail_msg("%s", err.text);
	bool made = study_survey(st);
	study_close(&st);
	session_free(&se);
	options_done(&o);
	return made;
}

void test_survey__made_where_its_findings_are_shown(void **state)
{
	(void)state;
	assert_false(surveys(NULL, NULL));
	assert_false(surveys("--check", "map_drop<1"));
	assert_false(surveys("--report", "r.csv"));
	assert_true(surveys("--report", "r.md"));
	assert_true(surveys("--json", "r.json"));
	assert_true(surveys("--findings", NULL));
}
