#include "qtui/tui/theme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/embed.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/text.h"

extern const struct embed theme_embedded[];

struct role_row {
	const char *name;
	unsigned mono;
};
static const struct role_row role_rows[ROLE_COUNT] = {
#define ROLE(id, name, mono, help) [ROLE_##id] = {name, mono},
#include "qtui/tui/roles.def"
#undef ROLE
};

struct glyph_row {
	const char *name, *utf8, *ascii;
};
static const struct glyph_row glyph_rows[GLYPH_COUNT] = {
#define GLYPH(id, name, utf8, ascii) [GLYPH_##id] = {name, utf8, ascii},
#include "qtui/tui/glyphs.def"
#undef GLYPH
};

static const char *const colour_names[] = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
static const char *const attr_names[] = {"bold", "dim", "reverse", "underline", "italic"}; // in the order of INK_*

const char *role_name(enum role r)
{
	return role_rows[r].name;
}

const char *glyph_text(enum glyph g)
{
	return glyph_rows[g].utf8;
}

static uint32_t first_glyph(const char *s)
{
	return text_next(&s);
}

int glyph_find(uint32_t utf8)
{
	static uint32_t code[GLYPH_COUNT];
	if (!code[0])
		for (int i = 0; i < GLYPH_COUNT; i++)
			code[i] = first_glyph(glyph_rows[i].utf8);
	for (int i = 0; i < GLYPH_COUNT; i++)
		if (code[i] == utf8)
			return i;
	return -1;
}

// "unknown KIND NAME" with the nearest of the names that next(i) gives.
static enum status unknown(struct error *err, const char *file, const char *kind, const char *name,
    const char *(*next)(int i, const void *arg), const void *arg)
{
	struct nearest near = {.name = name};
	for (int i = 0; next(i, arg); i++)
		nearest_try(&near, next(i, arg));
	return error_set(err, STATUS_FORMAT, "%s: unknown %s \"%.60s\"%s%s%s", file, kind, name, near.best ? ", did you mean \"" : "",
	    near.best ? near.best : "", near.best ? "\"?" : "");
}

static const char *next_role(int i, const void *arg)
{
	(void)arg;
	return i < ROLE_COUNT ? role_rows[i].name : NULL;
}

static const char *next_glyph(int i, const void *arg)
{
	(void)arg;
	return i < GLYPH_COUNT ? glyph_rows[i].name : NULL;
}

static const char *next_attr(int i, const void *arg)
{
	(void)arg;
	return i < (int)(sizeof attr_names / sizeof *attr_names) ? attr_names[i] : NULL;
}

static const char *next_colour(int i, const void *arg)
{
	const cJSON *item = cJSON_GetArrayItem(arg, i);
	return item ? item->string : NULL;
}

static const char *next_text(int i, const void *arg)
{
	return ((const char *const *)arg)[i];
}

static bool parse_rgb(const char *s, int *out)
{
	char *end;
	if (strlen(s) != 7 || s[0] != '#' || strspn(s + 1, "0123456789abcdefABCDEF") != 6)
		return false;
	*out = (int)strtol(s + 1, &end, 16);
	return true;
}

static bool parse_c8(const cJSON *j, int *out)
{
	const char *name = cJSON_GetStringValue(j);
	for (int i = -1; name && i < 8; i++)
		if (!strcmp(name, i < 0 ? "default" : colour_names[i])) {
			*out = i;
			return true;
		}
	return false;
}

// ["#ff5f5f", 203, "red"]: true colour, of 256, of 8.
static enum status parse_colour(struct colour *out, const cJSON *j, const char *file, struct error *err)
{
	const char *rgb = cJSON_GetStringValue(cJSON_GetArrayItem(j, 0));
	const cJSON *c256 = cJSON_GetArrayItem(j, 1);
	if (!cJSON_IsArray(j) || cJSON_GetArraySize(j) != 3 || !rgb || !parse_rgb(rgb, &out->rgb) || !cJSON_IsNumber(c256) ||
	    c256->valuedouble < 0 || c256->valuedouble > 255 || !parse_c8(cJSON_GetArrayItem(j, 2), &out->c8))
		return error_set(err, STATUS_FORMAT,
		    "%s: colour \"%.40s\" must be like [\"#ff5f5f\", 203, \"red\"]: true colour, of 256, of 8", file, j->string);
	out->c256 = c256->valueint;
	return STATUS_OK;
}

static enum status named_colour(struct colour *out, const cJSON *palette, const cJSON *name, const char *file, struct error *err)
{
	const char *text = cJSON_GetStringValue(name);
	const cJSON *row;
	if (!text)
		return error_set(err, STATUS_FORMAT, "%s: fg and bg are names of the palette, or \"default\"", file);
	*out = (struct colour){-1, -1, -1};
	if (!strcmp(text, "default"))
		return STATUS_OK;
	row = cJSON_GetObjectItemCaseSensitive(palette, text);
	if (!row)
		return unknown(err, file, "colour", text, next_colour, palette);
	return parse_colour(out, row, file, err);
}

static enum status parse_attrs(unsigned *out, const cJSON *j, const char *file, struct error *err)
{
	const char *s = cJSON_GetStringValue(j);
	char word[32];
	int n;
	*out = 0;
	if (!s)
		return error_set(err, STATUS_FORMAT, "%s: attr is text such as \"bold underline\"", file);
	for (; sscanf(s, "%31s%n", word, &n) == 1; s += n) {
		int i = 0;
		while (next_attr(i, NULL) && strcmp(word, attr_names[i]))
			i++;
		if (!next_attr(i, NULL))
			return unknown(err, file, "attribute", word, next_attr, NULL);
		*out |= 1u << i;
	}
	return STATUS_OK;
}

static int find_role(const char *name, size_t len)
{
	for (int i = 0; i < ROLE_COUNT; i++)
		if (strlen(role_rows[i].name) == len && !memcmp(role_rows[i].name, name, len))
			return i;
	return -1;
}

// roles.def lists parents before their children, so one pass in its order inherits rightly.
static const struct style *parent_style(const struct theme *t, int role)
{
	const char *dot = strrchr(role_rows[role].name, '.');
	int parent = dot ? find_role(role_rows[role].name, (size_t)(dot - role_rows[role].name)) : -1;
	return &t->style[parent >= 0 ? parent : ROLE_TEXT];
}

static enum status parse_role(struct style *s, const cJSON *j, const cJSON *palette, const char *file, struct error *err)
{
	static const char *const members[] = {"fg", "bg", "attr", NULL};
	enum status st = STATUS_OK;
	const cJSON *item;
	if (!cJSON_IsObject(j))
		return error_set(err, STATUS_FORMAT, "%s: role \"%s\" must be an object with fg, bg, attr", file, j->string);
	cJSON_ArrayForEach(item, j) {
		if (!strcmp(item->string, "fg"))
			st = named_colour(&s->fg, palette, item, file, err);
		else if (!strcmp(item->string, "bg"))
			st = named_colour(&s->bg, palette, item, file, err);
		else if (!strcmp(item->string, "attr"))
			st = parse_attrs(&s->attr, item, file, err);
		else
			st = unknown(err, file, "member", item->string, next_text, members);
		if (st)
			return st;
	}
	return STATUS_OK;
}

static enum status parse_roles(struct theme *out, const cJSON *roles, const cJSON *palette, const char *file, struct error *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, roles)
		if (find_role(item->string, strlen(item->string)) < 0)
			return unknown(err, file, "role", item->string, next_role, NULL);
	for (int i = 0; i < ROLE_COUNT; i++) {
		out->style[i] = *parent_style(out, i);
		out->style[i].mono = role_rows[i].mono;
		item = cJSON_GetObjectItemCaseSensitive(roles, role_rows[i].name);
		if (item && parse_role(&out->style[i], item, palette, file, err))
			return err->status;
	}
	return STATUS_OK;
}

static bool one_column(const char *s, uint32_t *out)
{
	const char *p = s;
	*out = s ? text_next(&p) : 0;
	return *out && !*p && text_glyph_width(*out) == 1;
}

static enum status parse_glyphs(struct theme *out, const cJSON *glyphs, const char *file, struct error *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, glyphs) {
		const char *utf8 = cJSON_GetStringValue(cJSON_GetArrayItem(item, 0));
		const char *ascii = cJSON_GetStringValue(cJSON_GetArrayItem(item, 1));
		int i = 0;
		while (i < GLYPH_COUNT && strcmp(item->string, glyph_rows[i].name))
			i++;
		if (i == GLYPH_COUNT)
			return unknown(err, file, "glyph", item->string, next_glyph, NULL);
		if (!one_column(utf8, &out->glyph[0][i]) || !one_column(ascii, &out->glyph[1][i]) || out->glyph[1][i] > 126)
			return error_set(err, STATUS_FORMAT, "%s: glyph \"%s\" must be like [\"●\", \"#\"], one column each", file,
			    item->string);
	}
	return STATUS_OK;
}

static enum status check_members(const cJSON *json, const char *file, struct error *err)
{
	static const char *const members[] = {"name", "palette", "roles", "glyphs", NULL};
	const cJSON *item;
	if (!cJSON_IsObject(json))
		return error_set(err, STATUS_FORMAT, "%s: a theme is a JSON object with palette, roles, glyphs", file);
	cJSON_ArrayForEach(item, json) {
		int i = 0;
		while (members[i] && strcmp(members[i], item->string))
			i++;
		if (!members[i])
			return unknown(err, file, "member", item->string, next_text, members);
		if (i > 0 && !cJSON_IsObject(item))
			return error_set(err, STATUS_FORMAT, "%s: \"%s\" must be an object", file, item->string);
	}
	return STATUS_OK;
}

enum status theme_parse(struct theme *out, const cJSON *json, const char *file, struct error *err)
{
	const cJSON *palette = cJSON_GetObjectItemCaseSensitive(json, "palette");
	*out = (struct theme){.style[ROLE_TEXT] = {.fg = {-1, -1, -1}, .bg = {-1, -1, -1}}};
	for (int i = 0; i < GLYPH_COUNT; i++) {
		out->glyph[0][i] = first_glyph(glyph_rows[i].utf8);
		out->glyph[1][i] = first_glyph(glyph_rows[i].ascii);
	}
	if (check_members(json, file, err))
		return err->status;
	snprintf(out->name, sizeof out->name, "%s", json_text(json, "name", file));
	if (parse_roles(out, cJSON_GetObjectItemCaseSensitive(json, "roles"), palette, file, err))
		return err->status;
	return parse_glyphs(out, cJSON_GetObjectItemCaseSensitive(json, "glyphs"), file, err);
}

// $XDG_CONFIG_HOME/qtui/themes, heap; NULL where no home is known.
static char *user_themes(void)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (xdg && *xdg)
		return str_format("%s/qtui/themes", xdg);
	return home ? str_format("%s/.config/qtui/themes", home) : NULL;
}

// In the directory of themes; heap, NULL when there is none.
static char *user_theme(const char *name)
{
	char *dir = user_themes(), *path = dir ? str_format("%s/%s.json", dir, name) : NULL;
	free(dir);
	if (path && !file_exists(path)) {
		free(path);
		path = NULL;
	}
	return path;
}

static const struct embed *find_builtin(const char *name)
{
	int i = 0;
	while (theme_embedded[i].name && strcmp(name, theme_embedded[i].name))
		i++;
	return theme_embedded[i].name ? &theme_embedded[i] : NULL;
}

// But for those that take the place of one that is built in.
static void each_of_user(void (*take)(void *arg, const char *name), void *arg)
{
	static const char end[] = ".json";
	struct file_list files = {0};
	struct error none; // few have the directory
	char *dir = user_themes();
	enum status st = dir ? file_list_dir(&files, dir, &none) : STATUS_OK;
	for (size_t i = 0; st == STATUS_OK && i < files.n; i++) {
		char *name = files.name[i];
		if (!str_has_suffix(name, end))
			continue;
		name[strlen(name) - strlen(end)] = '\0';
		if (!find_builtin(name))
			take(arg, name);
	}
	if (st == STATUS_OK)
		file_list_done(&files);
	free(dir);
}

void theme_each(void (*take)(void *arg, const char *name), void *arg)
{
	for (int i = 0; theme_embedded[i].name; i++)
		take(arg, theme_embedded[i].name);
	each_of_user(take, arg);
}

static void add_known(void *arg, const char *name)
{
	struct str *known = arg;
	str_addf(known, "%s%s", known->len ? ", " : "", name);
}

static enum status load_builtin(cJSON **out, const char *name, struct error *err)
{
	const struct embed *builtin = find_builtin(name);
	struct str known = {0};
	if (builtin)
		return json_parse(out, builtin->text, strlen(builtin->text), name, err);
	theme_each(add_known, &known);
	error_set(err, STATUS_NOTFOUND, "theme %.80s is not known; known are %.300s", name, str_text(&known));
	str_done(&known);
	return err->status;
}

enum status theme_load(struct theme *out, const char *name, struct error *err)
{
	bool is_path = strchr(name, '/') || str_has_suffix(name, ".json");
	char *path = is_path ? xstrdup(name) : user_theme(name);
	cJSON *json = NULL;
	enum status st = path ? json_read(&json, path, err) : load_builtin(&json, name, err);
	if (!st)
		st = theme_parse(out, json, path ? path : name, err);
	cJSON_Delete(json);
	free(path);
	return st;
}
