#include "qtui/tui/script.h"

#include <stdlib.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/tui/command.h"

#define SCRIPT_LIMIT (1 << 20)

struct script {
	char *name, *text;
	char **line;
	int n, next;
};

static enum status check_keys(const struct script *s, int i, struct error *err)
{
	const char *p = s->line[i];
	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t"))
		if (keys_parse(&p) == K_NONE)
			return error_set(err, STATUS_FORMAT, "%s:%d: unknown key at \"%.20s\": write <Enter>, <Esc>, <C-r>, and <lt> for '<'",
			    s->name, i + 1, p);
	return STATUS_OK;
}

static bool is_command(const char *line)
{
	return line[strspn(line, " \t")] == ':';
}

static bool is_blank(const char *line)
{
	char c = line[strspn(line, " \t")];
	return !c || c == '#';
}

static void split_lines(struct script *s)
{
	size_t cap = 0;
	for (char *p = s->text, *end; p && *p; p = end ? end + 1 : NULL) {
		end = strchr(p, '\n');
		if (end)
			*end = '\0';
		p[strcspn(p, "\r")] = '\0';
		s->line = xgrow(s->line, &cap, (size_t)s->n + 1, sizeof *s->line);
		s->line[s->n++] = p;
	}
}

enum status script_parse(struct script **out, const char *text, const char *name, struct error *err)
{
	struct script *s = xcalloc(1, sizeof *s);
	*out = NULL;
	s->name = xstrdup(name);
	s->text = xstrdup(text);
	split_lines(s);
	for (int i = 0; i < s->n; i++)
		if (!is_blank(s->line[i]) && !is_command(s->line[i]) && check_keys(s, i, err)) {
			script_free(&s);
			return err->status;
		}
	*out = s;
	return STATUS_OK;
}

enum status script_read(struct script **out, const char *path, struct error *err)
{
	struct bytes b;
	enum status st;
	*out = NULL;
	if (file_read_text(&b, path, SCRIPT_LIMIT, err))
		return err->status;
	st = script_parse(out, (const char *)b.data, path, err);
	bytes_done(&b);
	return st;
}

void script_free(struct script **s)
{
	if (!*s)
		return;
	free((*s)->line);
	free((*s)->text);
	free((*s)->name);
	free(*s);
	*s = NULL;
}

bool script_over(const struct script *s)
{
	return !s || s->next >= s->n;
}

static bool has_failed(const struct ui *ui)
{
	return ui->note_role == ROLE_ERROR && ui->note[0];
}

// An action reports what went wrong as a message; in a script that ends it, whichever key it was.
static enum status do_keys(struct ui *ui, const char *p, struct error *err)
{
	for (p += strspn(p, " \t"); *p && !ui->quit; p += strspn(p, " \t")) {
		ui_key(ui, keys_parse(&p));
		if (has_failed(ui))
			return error_set(err, STATUS_USAGE, "%s", ui->note + strlen("E: "));
	}
	return STATUS_OK;
}

static enum status do_command(struct ui *ui, const char *line, struct error *err)
{
	ui->note[0] = '\0';
	if (command_run(ui, line, err))
		return err->status;
	ui_arrange(ui);
	return has_failed(ui) ? error_set(err, STATUS_USAGE, "%s", ui->note + strlen("E: ")) : STATUS_OK;
}

enum status script_step(struct script *s, struct ui *ui, struct error *err)
{
	int i = s->next++;
	const char *line = s->line[i];
	enum status st = STATUS_OK;
	ui->scripted = true;
	if (is_command(line))
		st = do_command(ui, line + strspn(line, " \t"), err);
	else if (!is_blank(line))
		st = do_keys(ui, line, err);
	ui->scripted = false;
	if (!st)
		return STATUS_OK;
	s->next = s->n;
	return error_prefix(err, "%s:%d", s->name, i + 1);
}
