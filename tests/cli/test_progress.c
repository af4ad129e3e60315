// Signals while a verb works, and while it saves what came of that.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../src/cli/verbs.h"
#include "support.h"

struct job {
	atomic_bool cancel;
	atomic_int done;
};

// Ends when it is asked to, by the first signal.
static enum status until_cancelled(void *arg, struct error *err)
{
	struct job *j = arg;
	(void)err;
	kill(getpid(), SIGHUP);
	while (!atomic_load(&j->cancel))
		usleep(1000);
	return STATUS_OK;
}

// A verb whose line drops: one signal while it works and another one behind that. 0: it lived to save.
static int drop_line(bool saves, bool behind_saving)
{
	struct job j = {0};
	struct error err;
	const struct watch watch = {until_cancelled, &j, "working", &j.done, 1, &j.cancel, .quiet = true};
	signal(SIGHUP, SIG_DFL);
	if (saves)
		interrupts_hold();
	enum status st = run_watched(&watch, &err);
	if (behind_saving)
		interrupts_release();
	kill(getpid(), SIGHUP);
	interrupts_release();
	return st;
}

static int end_of(bool saves, bool behind_saving)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(drop_line(saves, behind_saving));
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void test_progress__a_second_signal_waits_until_all_is_saved(void **state)
{
	assert_int_equal(end_of(true, false), 0);
}

void test_progress__where_nothing_is_to_be_saved_a_second_one_ends_it(void **state)
{
	assert_int_equal(end_of(false, false), SIGHUP);
	assert_int_equal(end_of(true, true), SIGHUP);
}
