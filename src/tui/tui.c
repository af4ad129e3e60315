// The loop: keys, signals and figures in; frames out. Nothing here waits for anything but poll.
#include "qtui/tui/tui.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qtui/base/thread.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/guard.h"
#include "qtui/tui/screen.h"
#include "qtui/tui/script.h"

#define FRAME_MS 33    // between frames that only new figures ask for
#define WAIT_POLL_MS 50

struct program {
	struct ui ui;
	struct script *script;
	struct screen *screen; // NULL: no terminal
	struct canvas canvas;
	double figures_at;     // time of the last frame with new figures
	int killed_by;         // signal
};

static void take_figures(struct program *p)
{
	ui_update(&p->ui, study_snapshot(p->ui.study));
	ui_arrange(&p->ui);
	p->figures_at = clock_seconds();
}

// Does what the script can do now: up to its next :wait, or to its end.
static enum status feed_script(struct program *p, struct error *err)
{
	struct ui *ui = &p->ui;
	if (ui->waiting && !study_running(ui->study) && !study_gathering(ui->study) && !beside_first(ui)) {
		ui->waiting = false;
		take_figures(p);
		if (ui->snap->stage == STAGE_FAILED) {
			*err = ui->snap->error;
			return err->status;
		}
	}
	while (!ui->waiting && !ui->quit && !script_over(p->script))
		if (script_step(p->script, ui, err))
			return err->status;
	return STATUS_OK;
}

static int env_size(const char *name, int dflt)
{
	long long v;
	const char *s = getenv(name);
	return s && str_to_int(s, &v) && v >= 1 && v <= 1000 ? (int)v : dflt;
}

// Without a terminal nobody resizes or stops it: what asks for an end is one.
static void take_end(struct program *p)
{
	for (int sig; (sig = guard_signal());)
		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
			p->killed_by = sig;
			p->ui.quit = true;
		}
}

// A script without a terminal: the same screen, drawn only when :save-screen asks for it.
static int run_batch(struct program *p, struct error *err)
{
	struct pollfd fd[] = {{.fd = guard_fd(), .events = POLLIN}, {.fd = study_fd(p->ui.study), .events = POLLIN}};
	ui_resize(&p->ui, env_size("COLUMNS", 120), env_size("LINES", 40));
	while (!p->ui.quit && !(script_over(p->script) && !p->ui.waiting)) {
		if (feed_script(p, err))
			return 1;
		autosave_write(&p->ui);
		poll(fd, 2, p->ui.waiting ? WAIT_POLL_MS : 0);
		take_end(p);
		if (p->ui.waiting && (fd[1].revents & POLLIN))
			take_figures(p);
	}
	return p->killed_by ? 128 + SIGINT : 0; // as the batch verbs, whichever it was
}

static void resize(struct program *p)
{
	int w, h;
	screen_size(&w, &h);
	ui_resize(&p->ui, w, h);
	screen_forget(p->screen);
}

static void take_signals(struct program *p)
{
	for (int sig; (sig = guard_signal());)
		switch (sig) {
		case SIGWINCH:
		case SIGCONT:
			resize(p);
			break;
		case SIGTSTP:
			p->ui.suspend = true;
			break;
		case SIGINT:
			action_do(&p->ui, ACTION_interrupt);
			break;
		default:
			p->killed_by = sig;
			p->ui.quit = true;
		}
}

static void take_keys(struct program *p)
{
	for (struct screen_key k; !p->ui.quit && (k = screen_read(p->screen)).key != K_NONE;) {
		p->ui.mouse_x = k.x;
		p->ui.mouse_y = k.y;
		p->ui.mouse_button = k.button;
		if (k.pasted)
			ui_pasted(&p->ui, k.key);
		else
			ui_key(&p->ui, k.key);
	}
}

static void draw(struct program *p)
{
	screen_cell(p->screen, &p->ui.cell_w, &p->ui.cell_h);
	if (p->ui.only_blocks)
		p->ui.cell_w = p->ui.cell_h = 0;
	canvas_reset(&p->canvas, p->ui.w, p->ui.h);
	p->canvas.theme = &p->ui.theme;
	draw_screen(&p->canvas, &p->ui);
	if (p->ui.redraw)
		screen_forget(p->screen);
	p->ui.redraw = false;
	screen_show(p->screen, &p->canvas);
}

// Milliseconds until figures may be shown again; 0: now.
static int figures_rest(const struct program *p)
{
	double rest = FRAME_MS - 1000 * (clock_seconds() - p->figures_at);
	if (rest <= 0 && screen_is_behind())
		return FRAME_MS;
	return rest > 0 ? (int)rest + 1 : 0;
}

// Waits for a key, a signal, or, not more often than FRAME_MS, for figures.
static void wait_and_take(struct program *p)
{
	int rest = figures_rest(p);
	struct pollfd fd[] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = guard_fd(), .events = POLLIN},
		{.fd = rest ? -1 : study_fd(p->ui.study), .events = POLLIN}, {.fd = autosave_fd(&p->ui), .events = POLLIN},
	};
	int timeout = rest ? rest : p->ui.waiting ? WAIT_POLL_MS : -1;
	if (!p->ui.waiting && !script_over(p->script))
		timeout = 0;
	poll(fd, sizeof fd / sizeof *fd, timeout);
	take_signals(p);
	if (fd[0].revents & (POLLHUP | POLLERR)) {
		p->killed_by = SIGHUP;
		p->ui.quit = true;
	} else if (fd[0].revents & POLLIN) {
		take_keys(p);
	}
	if (fd[2].revents & POLLIN)
		take_figures(p);
}

static int run_screen(struct program *p, const struct tui_options *opt, struct error *err)
{
	int code = 0;
	if (screen_open(&p->screen, opt->mono, opt->mouse, err))
		return 1;
	p->ui.blocks &= screen_shows_pictures(p->screen);
	resize(p);
	while (!p->ui.quit) {
		if (feed_script(p, err)) {
			code = 1;
			break;
		}
		autosave_write(&p->ui);
		draw(p);
		wait_and_take(p);
		if (p->ui.suspend)
			screen_suspend(p->screen);
		p->ui.suspend = false;
	}
	screen_close(&p->screen);
	return p->killed_by ? 128 + p->killed_by : code;
}

// Without one a script runs in batch: it then leaves no autosaved session behind.
static bool is_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

// $XDG_STATE_HOME/qtui/history beside the autosaved sessions; heap.
static char *history_path(const struct ui *ui)
{
	const char *slash = ui->autosave_path ? strrchr(ui->autosave_path, '/') : NULL;
	struct str s = {0};
	if (!slash)
		return NULL;
	str_addn(&s, ui->autosave_path, (size_t)(slash - ui->autosave_path));
	str_add(&s, "/history");
	return str_detach(&s);
}

static int run(struct program *p, const struct tui_options *opt, struct error *err)
{
	char *history;
	int code;
	if (!is_terminal() && !opt->script) {
		error_set(err, STATUS_USAGE, "the screen needs a terminal: use \"qtui analyze\", or --script FILE");
		return 1;
	}
	study_run(p->ui.study);
	if (!is_terminal())
		return run_batch(p, err);
	history = history_path(&p->ui);
	if (history)
		line_history_load(history);
	code = run_screen(p, opt, err);
	if (history)
		line_history_save(history);
	free(history);
	return code;
}

int tui_run(const struct tui_options *opt, struct error *err)
{
	struct program p = {0};
	struct theme theme;
	int code;
	setlocale(LC_CTYPE, "");
	if (theme_load(&theme, opt->theme ? opt->theme : "default", err) || (opt->script && script_read(&p.script, opt->script, err)))
		return 1;
	if (guard_open(err)) {
		script_free(&p.script);
		return 1;
	}
	log_to_stderr(false, LOG_INFO);
	study_yield(opt->study);
	ui_init(&p.ui, opt->study, study_snapshot(opt->study), &theme, opt->ascii || !is_utf8());
	p.ui.session = opt->session;
	if (opt->session)
		p.ui.session_stamp = opt->session->stamp;
	p.ui.session_path = xstrdup(opt->session_path);
	if (is_terminal())
		autosave_begin(&p.ui);
	canvas_init(&p.canvas, 80, 24, &p.ui.theme, p.ui.ascii);
	code = run(&p, opt, err);
	(void)file_settle(&p.ui); // whoever is killed has asked for it before
	autosave_end(&p.ui, p.killed_by);
	canvas_done(&p.canvas);
	script_free(&p.script);
	ui_done(&p.ui);
	guard_close();
	return code;
}
