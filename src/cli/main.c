// The program: picks the verb. Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/tui.h"
#include "verbs.h"

static const struct verb {
	const char *name, *usage, *about;
	unsigned bit;
	int (*run)(struct options *o);
} verbs[] = {
#define VERB(name, bit, usage, about) {#name, usage, about, VERB_##bit, verb_##name},
#include "verbs.def"
#undef VERB
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };
static const struct verb tui = {"", "MODEL CALIB [options], or qtui SESSION.json",
    "Opens the screen, where you see figures and edit decisions; ? shows its keys.", VERB_TUI, verb_tui};

// The screen is the one verb that is not in the library of verbs: that must not depend on the screen.
int verb_tui(struct options *o)
{
	struct error err = {0};
	struct study *st = NULL;
	struct session *se = NULL;
	int code;
	o->may_start_session = true;
	if (open_study(&st, &se, o, &err)) {
		code = fail(&err);
	} else {
		code = tui_run(&(struct tui_options){.study = st, .session = se, .session_path = o->session, .script = o->script,
		    .theme = o->theme, .ascii = o->ascii, .mono = o->mono, .mouse = !o->no_mouse}, &err);
		if (code == EXIT_FAILED)
			code = fail(&err);
	}
	study_close(&st);
	session_free(&se);
	return code;
}

static void print_help(const struct verb *v)
{
	printf("usage: qtui%s%s%s%s\n%s\n\n", *v->name ? " " : "", v->name, *v->usage ? " " : "", v->usage, v->about);
	enum { VERBS = 13 };
	if (v == &tui) {
		puts("The same in batch: qtui VERB. Each has its own help: qtui VERB --help");
		for (size_t i = 0; i < N_VERBS; i++)
			options_help_row(verbs[i].name, VERBS, verbs[i].about);
		puts("\nOptions of the screen:");
	}
	options_help(v->bit);
	if (v->bit == VERB_EXPORT) {
		puts("\nNAME is one of");
		export_formats_help();
	}
}

// The first word that is no option is the verb, where it is a verb's name, and is put in front; a model of that name is given as ./NAME.
static const struct verb *find_verb(int argc, char **argv, int *first)
{
	int at = options_first_word(argc, argv);
	*first = 1;
	for (size_t i = 0; at < argc && i < N_VERBS; i++)
		if (strcmp(argv[at], verbs[i].name) == 0) {
			for (*first = 2; at > 1; at--)
				argv[at] = argv[at - 1];
			argv[1] = (char *)verbs[i].name;
			return &verbs[i];
		}
	return &tui;
}

// A word alone that is no file is rather a verb than the name of a model.
static enum status check_verb(const struct options *o, struct error *err)
{
	const char *word = o->positional.n ? o->positional.at[0] : "";
	struct nearest near = {.name = word};
	for (size_t i = 0; i < N_VERBS; i++)
		nearest_try(&near, verbs[i].name);
	if (!*word || word[strcspn(word, "./")] || file_exists(word))
		return STATUS_OK;
	return error_set(err, STATUS_USAGE, "%s is neither a verb nor a file%s%s; see qtui --help", word, near.best ? "; did you mean " : "",
	    near.best ? near.best : "");
}

// Before and after a run there is nothing to save: Ctrl-C ends the program. A run and the screen take the signal over.
static void on_interrupt(int sig)
{
	(void)sig;
	_exit(EXIT_INTERRUPTED);
}

// What the command reads stays as it is, whatever name a result is given.
static void keep_inputs(const struct options *o)
{
	for (int i = 0; i < o->positional.n; i++)
		file_keep(o->positional.at[i]);
	if (o->latency)
		file_keep(o->latency);
	if (o->labels)
		file_keep(o->labels);
}

// A standard stream that is closed would leave its number to the next file or pipe that is opened, and what is printed would go
// there. It cannot be written in its place.
static void fill_standard_streams(void)
{
	int fd;
	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
		continue;
	if (fd >= 0)
		close(fd);
}

// What was printed must have arrived, or the work has failed.
static int flush_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "qtui: standard output: %s\n", strerror(errno));
	return code == EXIT_DONE ? EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	int first, code;
	fill_standard_streams();
	setlocale(LC_CTYPE, "");
	signal(SIGINT, on_interrupt);
	signal(SIGXFSZ, SIG_IGN); // a file over the limit is a write that fails, not the end of the program
	const struct verb *v = find_verb(argc, argv, &first);
	enum status st = options_parse(&o, argc, argv, first, v->bit, &err);
	if (st == STATUS_OK && o.help) {
		print_help(v);
		code = EXIT_DONE;
	} else if (st == STATUS_OK && o.version) {
		puts("qtui " QTUI_VERSION);
		code = EXIT_DONE;
	} else if (st != STATUS_OK) {
		code = fail(&err);
	} else if (argc < 2) {
		print_help(v);
		code = EXIT_USAGE;
	} else if (v == &tui && check_verb(&o, &err) != STATUS_OK) {
		code = fail(&err);
	} else {
		log_to_stderr(v != &tui && !o.quiet, LOG_WARN);
		keep_inputs(&o);
		code = options_resolve(&o, v->bit, &err) == STATUS_OK ? v->run(&o) : fail(&err);
	}
	options_done(&o);
	return flush_output(code);
}
