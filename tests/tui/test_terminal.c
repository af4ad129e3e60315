// The program's end of a terminal that answers, or does not, when it is asked whether it takes pictures:
// a pseudo terminal whose other end plays Kitty, one with Sixel, iTerm2, a multiplexer, a slow line.
#define _GNU_SOURCE 1
#include "support.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qtui/tui/canvas.h"
#include "qtui/tui/graphics.h"
#include "qtui/tui/keys.h"
#include "qtui/tui/screen.h"

enum { PATIENCE_MS = 5000, SHORT_MS = 300 };

struct terminal {
	int master, report; // report: what the child says at its end
	pid_t child;
	char out[1 << 18];  // what the program wrote
	size_t n;
};

// ---- the program's side

static void draw(struct canvas *c, int w, int h)
{
	struct canvas_image *image;
	canvas_reset(c, 40, 10);
	canvas_text(c, 0, 0, 40, ROLE_TEXT, "a picture");
	canvas_text(c, 20, 0, 10, ROLE_SNR_BAD, "4.1 dB");
	canvas_ground(c, (struct rect){20, 0, 10, 1}, ROLE_CURSOR);
	image = w ? canvas_image_new(c, (struct rect){2, 2, 8, 3}, 8 * w, 3 * h) : NULL;
	if (image) {
		memset(image->rgb, 200, (size_t)image->w);
		canvas_image_done(image);
		canvas_pixels(c, 3, 3, 't', 0xffffff, 0);
	}
}

// One character for each; those of no name are '?'.
static char letter_of(int key)
{
	static const struct {
		int key;
		char letter;
	} named[] = {{K_ESC, 'E'}, {K_OTHER, '?'}, {K_UP, 'U'}, {K_HOME, 'H'}, {K_END, 'L'}, {K_PGDN, 'D'}, {K_F1, '1'}, {K_ENTER, 'R'}};
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (named[i].key == key)
			return named[i].letter;
	return (char)key;
}

// Reads keys until q, shows a picture if it may, and takes it away again.
static void program(int report)
{
	struct screen *s = NULL;
	struct canvas c;
	struct error err;
	struct theme theme;
	char keys[64] = "";
	int w = 0, h = 0;
	bool over = false, has_read = false;
	if (theme_load(&theme, "default", &err) || screen_open(&s, false, true, &err))
		_exit(3);
	canvas_init(&c, 40, 10, &theme, false);
	while (!over) {
		struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
		draw(&c, w, h);
		canvas_text(&c, 0, 8, 40, ROLE_TEXT, has_read ? "has read" : "");
		screen_show(s, &c);
		if (poll(&fd, 1, PATIENCE_MS) <= 0)
			break;
		for (struct screen_key k; !over && (k = screen_read(s)).key != K_NONE; over = k.key == 'q')
			snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%c", letter_of(k.key));
		has_read = true;
		screen_cell(s, &w, &h);
	}
	draw(&c, w, h);
	screen_show(s, &c);
	draw(&c, 0, 0);
	screen_show(s, &c);
	screen_close(&s);
	canvas_done(&c);
	dprintf(report, "%s %dx%d", keys, w, h);
	_exit(0);
}

static void become_program(const char *tty, const char *term, const char *multiplexer, int report)
{
	struct winsize size = {.ws_row = 10, .ws_col = 40};
	int fd;
	setsid();
	fd = open(tty, O_RDWR);
	ioctl(fd, TIOCSWINSZ, &size);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	setenv("TERM", term, 1);
	setenv("COLORTERM", "truecolor", 1);
	unsetenv("NO_COLOR");
	unsetenv("STY");
	unsetenv("TMUX");
	if (multiplexer)
		setenv("TMUX", multiplexer, 1);
	program(report);
}

// ---- the terminal's side

static void begin(struct terminal *t, const char *term, const char *multiplexer)
{
	int ends[2];
	memset(t, 0, sizeof *t);
	t->master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(t->master >= 0 && grantpt(t->master) == 0 && unlockpt(t->master) == 0 && pipe(ends) == 0);
	fflush(NULL);
	t->child = fork();
	if (t->child == 0)
		become_program(ptsname(t->master), term, multiplexer, ends[1]);
	close(ends[1]);
	t->report = ends[0];
}

// Reads until the program has written `what`; false when it does not in time.
static bool until(struct terminal *t, const char *what, int ms)
{
	struct pollfd fd = {.fd = t->master, .events = POLLIN};
	while (!what || !memmem(t->out, t->n, what, strlen(what))) {
		ssize_t n = poll(&fd, 1, ms) > 0 ? read(t->master, t->out + t->n, sizeof t->out - 1 - t->n) : 0;
		if (n <= 0)
			return false;
		t->n += (size_t)n;
	}
	return true;
}

static void say(struct terminal *t, const char *text)
{
	assert_int_equal(write(t->master, text, strlen(text)), (ssize_t)strlen(text));
}

// Lets the program come to its end; `expected`: its keys, and the size of a cell that it knows.
static void end(struct terminal *t, const char *expected)
{
	char said[128];
	ssize_t n;
	int status;
	say(t, "q");
	until(t, NULL, PATIENCE_MS); // its end closes the terminal
	n = read(t->report, said, sizeof said - 1);
	said[n > 0 ? n : 0] = '\0';
	assert_int_equal(waitpid(t->child, &status, 0), t->child);
	close(t->report);
	close(t->master);
	assert_int_equal(status, 0);
	assert_string_equal(said, expected);
}

static bool wrote(const struct terminal *t, const char *what)
{
	return memmem(t->out, t->n, what, strlen(what)) != NULL;
}

static struct terminal t; // too large for the stack

void test_terminal__kitty(void **state)
{
	begin(&t, "xterm-256color", NULL);
	assert_true(until(&t, "\033[c", PATIENCE_MS));
	say(&t, "\033P>|kitty(0.31.0)\033\\\033[6;20;10t\033[?62;c");
	assert_true(until(&t, "\033_Gi=31,s=1,v=1,a=q", PATIENCE_MS));
	say(&t, "\033_Gi=31;OK\033\\");
	assert_true(until(&t, "\033_Ga=T,f=100,i=31,q=2,C=1,z=-1,c=8,r=3,m=0;iVBOR", PATIENCE_MS));
	end(&t, "q 10x20");
	assert_true(wrote(&t, "\033_Ga=d,d=I,i=31,q=2\033\\"));
	assert_false(wrote(&t, "\033P0;1q"));
}

void test_terminal__sixel(void **state)
{
	begin(&t, "xterm-256color", NULL);
	assert_true(until(&t, "\033[c", PATIENCE_MS));
	say(&t, "\033[6;16;8t\033[?62;4;22c");
	assert_true(until(&t, "\033P0;1q\"1;1;64;48#0;2;0;0;0", PATIENCE_MS));
	end(&t, "q 8x16");
}

// It says nothing of cells: it scales to them.
void test_terminal__iterm(void **state)
{
	begin(&t, "xterm-256color", NULL);
	assert_true(until(&t, "\033[c", PATIENCE_MS));
	say(&t, "\033P>|iTerm2 3.5.0\033\\\033[?62;4c");
	assert_true(until(&t, "\033]1337;File=inline=1;", PATIENCE_MS));
	end(&t, "q 10x20");
	assert_true(wrote(&t, "width=8;height=3;preserveAspectRatio=0"));
}

// Half blocks go on; keys, Escape too, are keys.
void test_terminal__without_an_answer(void **state)
{
	begin(&t, "xterm-256color", NULL);
	assert_true(until(&t, "a picture", PATIENCE_MS)); // it does not wait
	say(&t, "j");
	until(&t, NULL, SHORT_MS);
	say(&t, "\033");
	until(&t, NULL, SHORT_MS);
	end(&t, "jEq 0x0");
	assert_false(wrote(&t, "\033_G"));
}

// Of eight colours red cannot be read on the blue of the cursor's row.
void test_terminal__eight_colours(void **state)
{
	begin(&t, "xterm", NULL);
	assert_true(until(&t, "4.1 dB", PATIENCE_MS));
	end(&t, "q 0x0");
	assert_true(wrote(&t, "\033[44m"));
	assert_false(wrote(&t, "\033[31m"));
}

void test_terminal__answers_late_and_in_pieces_are_no_keys(void **state)
{
	static const char *const piece[] = {"j", "\033", "[6;16", ";8t\033[?6", "2;4", "c", "k", "\033P>|x", "term(3", "\033", "\\", "\033[A"};
	begin(&t, "xterm-256color", NULL);
	assert_true(until(&t, "a picture", PATIENCE_MS));
	for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
		say(&t, piece[i]);
		until(&t, NULL, 40); // between the curses' own patience with an Escape and ours
	}
	assert_true(wrote(&t, "\033P0;1q"));
	end(&t, "jkUq 8x16");
}

// Whatever $TERM says: what every terminal sends for a common key is that key, a sequence that nobody knows is one key of
// no name, and what a terminal reports is none at all.
void test_terminal__sequences_that_the_entry_does_not_have(void **state)
{
	static const char *const term[] = {"vt100", "linux", "xterm-256color", "screen"};
	static const char *const sequence[] = {
	    "\033[A", "\033OA", "\033[1~", "\033[H", "\033OF", "\033[6~", "\033OM", "\033[11~", "\033[[A", // common keys
	    "\033[[E", "\033[1;3Q", "\033O5P", "\033[99~", "\033[3^", "\033[97;5u",           // of no name
	    "\033[I", "\033[?1;2c", "\033[24;80R", "\033]11;rgb:0/0/0\033\\", "\033]0;P\a"}; // reports
	for (size_t i = 0; i < sizeof term / sizeof *term; i++) {
		begin(&t, term[i], NULL);
		assert_true(until(&t, "a picture", PATIENCE_MS));
		for (size_t k = 0; k < sizeof sequence / sizeof *sequence; k++)
			say(&t, sequence[k]);
		end(&t, "UUHHLDR11??????q 0x0");
	}
}

// Buttons that mean nothing: the program comes back from them, and shows what else there is to show.
void test_terminal__other_buttons_of_the_mouse(void **state)
{
	static const char *const sequence[] = {
	    "\033[<2;3;4M\033[<2;3;4m", "\033[<1;3;4M\033[<1;3;4m", "\033[<66;3;4M", "\033[<67;3;4M", "\033[<0;3;4m"};
	for (size_t i = 0; i < sizeof sequence / sizeof *sequence; i++) {
		begin(&t, "xterm-256color", NULL);
		assert_true(until(&t, "a picture", PATIENCE_MS));
		say(&t, sequence[i]);
		if (!until(&t, "has read", PATIENCE_MS))
			fail_msg("it waits behind %s", sequence[i] + 1);
		end(&t, "q 0x0");
	}
}

void test_terminal__a_multiplexer_is_not_asked_for_pictures(void **state)
{
	begin(&t, "tmux-256color", "/tmp/tmux");
	assert_true(until(&t, "\033[c", PATIENCE_MS));
	say(&t, "\033P>|tmux 3.3a\033\\\033[?1;2c");
	end(&t, "q 0x0");
	assert_false(wrote(&t, "\033_G"));
}

void test_terminal__an_old_one_is_not_asked_at_all(void **state)
{
	begin(&t, "vt100", NULL);
	assert_true(until(&t, "a picture", PATIENCE_MS));
	end(&t, "q 0x0");
	assert_false(wrote(&t, "\033[>0q"));
}

// ---- what is written when

static void picture(struct canvas *c, uint8_t grey)
{
	struct canvas_image *image;
	canvas_reset(c, 20, 6);
	image = canvas_image_new(c, (struct rect){2, 1, 4, 2}, 8, 8);
	assert_non_null(image);
	memset(image->rgb, grey, 8 * 8 * 3);
	canvas_image_done(image);
}

static bool sends(struct graphics *g, const struct canvas *now, const struct canvas *before, const char *what)
{
	struct str out = {0};
	bool image = graphics_text(&out, g, now, before, false);
	assert_true(image ? out.len > 0 : what == NULL || out.len > 0);
	assert_true(!what || strstr(str_text(&out), what));
	str_done(&out);
	return image;
}

void test_terminal__a_picture_is_sent_when_it_has_changed(void **state)
{
	struct canvas now, before;
	struct graphics g = {.how = PICTURES_SIXEL};
	canvas_init(&now, 20, 6, NULL, false);
	canvas_init(&before, 20, 6, NULL, false);
	picture(&now, 10);
	picture(&before, 10);
	assert_true(sends(&g, &now, &before, "\033[2;3H\033P0;1q"));
	assert_false(sends(&g, &now, &before, NULL));
	canvas_text(&now, 0, 4, 5, ROLE_TEXT, "below");
	assert_false(sends(&g, &now, &before, NULL));
	canvas_text(&now, 10, 2, 6, ROLE_TEXT, "beside"); // curses may have written the whole line
	assert_true(sends(&g, &now, &before, NULL));
	picture(&now, 20);
	assert_true(sends(&g, &now, &before, NULL));
	canvas_text(&now, 3, 1, 2, ROLE_TEXT, "ab"); // completions over it: the picture waits
	assert_false(sends(&g, &now, &before, NULL));
	canvas_reset(&now, 20, 6);
	assert_false(sends(&g, &now, &before, NULL));
	assert_false(g.shown);
	g.how = PICTURES_KITTY;
	picture(&now, 10);
	assert_true(sends(&g, &now, &before, "a=T,f=100"));
	canvas_reset(&now, 20, 6);
	assert_false(sends(&g, &now, &before, "a=d,d=I"));
	canvas_done(&now);
	canvas_done(&before);
}

// ---- encoders

void test_terminal__sixels(void **state)
{
	uint8_t rgb[8 * 7 * 3];
	struct str out = {0};
	memset(rgb, 0, sizeof rgb);
	memset(rgb + 8 * 6 * 3, 255, 8 * 3); // the seventh line is white: a band of its own
	sixel_encode(&out, rgb, 8, 7);
	assert_true(str_has_suffix(str_text(&out), "#0!8~$-#215!8@$-\033\\"));
	str_done(&out);
}

void test_terminal__pngs(void **state)
{
	uint8_t rgb[2 * 2 * 3] = {255, 0, 0};
	struct str out = {0};
	size_t bytes;
	assert_true(png_base64(&out, rgb, 2, 2, &bytes));
	assert_int_equal(out.len, (bytes + 2) / 3 * 4);
	assert_memory_equal(str_text(&out), "iVBORw0KGgo", 11);
	str_done(&out);
}
