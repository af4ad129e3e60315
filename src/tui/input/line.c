#include "qtui/tui/line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <readline/history.h>
#include <readline/readline.h>

#include "qtui/base/str.h"
#include "qtui/tui/keys.h"
#include "qtui/tui/text.h"

// Readline's callbacks carry no argument, so the open line is kept here; there is one editor for the process.
static struct {
	struct line *line;
	line_complete_fn *complete;
	void *arg;
	unsigned char queue[32]; // bytes of the key that readline is about to read
	int head, tail;
	bool accepted, dropped;
	bool ready;
	HISTORY_STATE history[LINE_KINDS];
	FILE *null;
} editor;

static int next_byte(FILE *in)
{
	(void)in;
	return editor.head < editor.tail ? editor.queue[editor.head++] : EOF;
}

static int bytes_waiting(void)
{
	return editor.head < editor.tail;
}

static void draw_nothing(void)
{
}

static void prepare_nothing(int meta)
{
	(void)meta;
}

static void accepted(char *text)
{
	snprintf(editor.line->text, sizeof editor.line->text, "%s", text ? text : "");
	if (text && *text && !editor.dropped)
		add_history(text);
	free(text);
	editor.accepted = true;
}

static char *one_match(const char *text, int state)
{
	(void)text;
	return editor.complete(editor.arg, rl_line_buffer, rl_point - (int)strlen(text), state);
}

static char **find_matches(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1;
	char **match = editor.complete ? rl_completion_matches(text, one_match) : NULL;
	rl_completion_suppress_append = match && *match[0] && strchr("=/<~", match[0][strlen(match[0]) - 1]); // more follows
	return match;
}

static void keep_matches(char **match, int n, int longest)
{
	struct line *l = editor.line;
	(void)longest;
	l->n_matches = n < LINE_MATCHES ? n : LINE_MATCHES;
	for (int i = 0; i < l->n_matches; i++)
		text_cut(l->match[i], sizeof l->match[i], match[i + 1], 60, CUT_LEFT);
}

// Readline must neither touch the terminal nor the signals: it edits a line, and that is all.
static void prepare_editor(void)
{
	static char nothing[] = "";
	editor.null = fopen("/dev/null", "we");
	if (editor.null)
		rl_outstream = editor.null;
	rl_getc_function = next_byte;
	rl_input_available_hook = bytes_waiting;
	rl_redisplay_function = draw_nothing;
	rl_prep_term_function = prepare_nothing;
	rl_deprep_term_function = draw_nothing;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_change_environment = 0;
	rl_readline_name = "qtui";
	rl_attempted_completion_function = find_matches;
	rl_completion_display_matches_hook = keep_matches;
	rl_basic_word_break_characters = " ";
	rl_completer_word_break_characters = " ";
	rl_completer_quote_characters = nothing;
	rl_completion_query_items = 0;
	rl_variable_bind("bell-style", "none");
	rl_variable_bind("show-all-if-ambiguous", "on");
	rl_variable_bind("enable-bracketed-paste", "off");
	rl_variable_bind("editing-mode", "emacs");
	editor.ready = true;
}

static void copy_state(struct line *l)
{
	snprintf(l->text, sizeof l->text, "%s", rl_line_buffer ? rl_line_buffer : "");
	l->point = rl_point < (int)strlen(l->text) ? rl_point : (int)strlen(l->text);
}

void line_open(struct line *l, enum line_kind kind, const char *text, line_complete_fn *complete, void *arg)
{
	if (!editor.ready)
		prepare_editor();
	*l = (struct line){.kind = kind};
	editor.line = l;
	editor.complete = complete;
	editor.arg = arg;
	editor.accepted = editor.dropped = false;
	editor.head = editor.tail = 0;
	history_set_history_state(&editor.history[kind]);
	using_history();
	rl_callback_handler_install("", accepted);
	rl_insert_text(text);
	copy_state(l);
}

// Each kind of prompt has its own history; readline knows one at a time.
static void keep_history(enum line_kind kind)
{
	HISTORY_STATE *h = history_get_history_state();

	editor.history[kind] = *h;
	free(h);
}

// Readline only lets go of a line (its undo list, the history line under it) when that is accepted. In the middle of a
// key sequence the first Enter may mean something else.
static void finish_line(void)
{
	editor.dropped = true;
	for (int i = 0; i < 4 && !editor.accepted; i++) {
		editor.queue[0] = '\n';
		editor.head = 0;
		editor.tail = 1;
		rl_callback_read_char();
	}
}

void line_close(struct line *l)
{
	if (!l->kind)
		return;
	if (!editor.accepted)
		finish_line();
	rl_callback_handler_remove();
	keep_history(l->kind);
	l->kind = LINE_NONE;
	l->n_matches = 0;
}

// Keys that are no characters go in as the sequences that readline knows from terminals.
static void queue_key(int key)
{
	static const struct {
		int key;
		const char *bytes;
	} special[] = {
		{K_UP, "\033[A"}, {K_DOWN, "\033[B"}, {K_RIGHT, "\033[C"}, {K_LEFT, "\033[D"}, {K_HOME, "\001"}, {K_END, "\005"},
		{K_DEL, "\004"}, {K_BACKSPACE, "\177"},
	};
	char glyph[5];
	const char *bytes = glyph;
	glyph[0] = '\0';
	if (key < K_UP)
		text_encode((uint32_t)key, glyph);
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (special[i].key == key)
			bytes = special[i].bytes;
	editor.head = 0;
	editor.tail = snprintf((char *)editor.queue, sizeof editor.queue, "%s", bytes);
}

// What the prompt holds no room for is not taken: readline looks at the whole line for every key.
static bool is_full(const struct line *l, int key)
{
	return key >= ' ' && key < K_UP && key != K_BACKSPACE && rl_end + 4 >= (int)sizeof l->text;
}

static void cut_yanked(const struct line *l)
{
	int room = (int)sizeof l->text - 1;
	if (rl_end <= room)
		return;
	while (room > 0 && (rl_line_buffer[room] & 0xC0) == 0x80)
		room--;
	rl_delete_text(room, rl_end);
	rl_point = rl_point < rl_end ? rl_point : rl_end;
}

enum line_event line_key(struct line *l, int key)
{
	bool empty = !rl_line_buffer || !rl_line_buffer[0];
	l->n_matches = 0;
	if (key == K_ESC || key == ('c' & 0x1F) || (key == K_BACKSPACE && empty)) {
		line_close(l);
		return LINE_CLOSED;
	}
	if (((key == K_DEL || key == ('d' & 0x1F)) && rl_point == rl_end) || is_full(l, key))
		return LINE_EDITED;
	queue_key(key);
	while (bytes_waiting() && !editor.accepted)
		rl_callback_read_char();
	if (editor.accepted) {
		line_close(l);
		return LINE_ACCEPTED;
	}
	cut_yanked(l);
	copy_state(l);
	return LINE_EDITED;
}

void line_history_load(const char *path)
{
	history_set_history_state(&editor.history[LINE_COMMAND]);
	using_history();
	stifle_history(500);
	read_history(path);
	keep_history(LINE_COMMAND);
}

void line_history_save(const char *path)
{
	history_set_history_state(&editor.history[LINE_COMMAND]);
	write_history(path);
}
