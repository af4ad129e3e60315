#include "qtui/tui/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "qtui/tui/text.h"

static const struct key_row rows[ACTION_COUNT] = {
#define KEY(id, ctx, keys, group, hint, help) [ACTION_##id] = {#id, ctx, keys, group, hint, help},
#include "qtui/tui/keys.def"
#undef KEY
};

struct key_name {
	const char *name;
	int key;
};
static const struct key_name names[] = {
	{"Enter", K_ENTER}, {"Esc", K_ESC}, {"Space", ' '}, {"Tab", '\t'}, {"S-Tab", K_SHIFT_TAB}, {"BS", K_BACKSPACE},
	{"Del", K_DEL}, {"F1", K_F1}, {"Up", K_UP}, {"Down", K_DOWN}, {"Left", K_LEFT}, {"Right", K_RIGHT}, {"PgUp", K_PGUP},
	{"PgDn", K_PGDN}, {"Home", K_HOME}, {"End", K_END}, {"lt", '<'},
};
enum { N_NAMES = sizeof names / sizeof *names };

const struct key_row *keys_row(enum action a)
{
	return &rows[a];
}

// What stands between '<' and '>'.
static int named_key(const char *s, size_t len)
{
	if (len == 3 && s[0] == 'C' && s[1] == '-' && s[2] >= '@' && s[2] <= '~')
		return s[2] & 0x1F;
	for (int i = 0; i < N_NAMES; i++)
		if (strlen(names[i].name) == len && !memcmp(names[i].name, s, len))
			return names[i].key;
	return K_NONE;
}

int keys_parse(const char **p)
{
	const char *end = **p == '<' ? strchr(*p, '>') : NULL;
	uint32_t g;
	int key;
	if (**p == '<') {
		if (!end)
			return K_NONE;
		key = named_key(*p + 1, (size_t)(end - *p - 1));
		if (key != K_NONE)
			*p = end + 1;
		return key;
	}
	g = text_next(p);
	return g && g != TEXT_UNKNOWN ? (int)g : K_NONE;
}

void keys_text(char *out, size_t size, int key)
{
	char glyph[5];
	for (int i = 0; i < N_NAMES; i++)
		if (names[i].key == key && key != '<') {
			snprintf(out, size, "%s", names[i].name);
			return;
		}
	if (key >= 0 && key < 0x20) {
		snprintf(out, size, "Ctrl-%c", key | 0x60);
		return;
	}
	if (key < 0 || key >= K_UP) {
		snprintf(out, size, "this key");
		return;
	}
	text_encode((uint32_t)key, glyph);
	snprintf(out, size, "%s", glyph);
}

static bool has_key(const char *keys, int key)
{
	while (*keys) {
		int k = keys_parse(&keys);
		if (k == key)
			return true;
		if (k == K_NONE)
			return false;
		keys += strspn(keys, " ");
	}
	return false;
}

enum action keys_action(int key, unsigned contexts)
{
	contexts |= 1u << CTX_ANY;
	for (int ctx = 0; ctx < CTX_COUNT; ctx++)
		for (int a = 0; contexts >> ctx & 1 && a < ACTION_COUNT; a++)
			if ((int)rows[a].context == ctx && has_key(rows[a].keys, key))
				return (enum action)a;
	return ACTION_NONE;
}

static bool same_name(const char *row, const char *name)
{
	for (; *row && *name; row++, name++)
		if (*row != *name && !(*row == '_' && *name == '-'))
			return false;
	return *row == *name;
}

enum action keys_named(const char *name)
{
	for (int a = 0; a < ACTION_COUNT; a++)
		if (same_name(rows[a].name, name))
			return (enum action)a;
	return ACTION_NONE;
}
