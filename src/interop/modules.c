#include "modules.h"
#include <stdlib.h>
#include <string.h>
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

// What names of scopes ("/model.22/cv2/act") are known to stand for, learned from the nodes with weights.
struct scopes {
	struct namemap *seen; // every scope that a node is in
	struct namemap *at; // scope -> index into module
	char **module;
	size_t n, cap;
};

static char *up_to(const char *text, size_t n)
{
	struct str s = {0};
	str_addn(&s, text, n);
	return str_detach(&s);
}

// The scope of a node, "" where its name has none: all in front of the last part, which is the operator.
static char *scope_of(const char *node)
{
	const char *last = strrchr(node, '/');
	return up_to(node, node[0] == '/' && last ? (size_t)(last - node) : 0);
}

static void note_scopes(struct namemap *seen, const char *node)
{
	char *scope = scope_of(node);
	while (*scope && namemap_get(seen, scope) < 0) {
		namemap_put(seen, scope, 0);
		*strrchr(scope, '/') = '\0';
	}
	free(scope);
}

// "conv_1" is the second call of "conv".
static size_t without_count(const char *part, size_t len)
{
	size_t end = len;
	while (end > 0 && part[end - 1] >= '0' && part[end - 1] <= '9')
		end--;
	return end < len && end > 1 && part[end - 1] == '_' ? end - 1 : len;
}

// The scope of the first call, where the file has one.
static char *first_call(const struct scopes *s, const char *node)
{
	char *scope = scope_of(node);
	struct str out = {0};
	for (const char *at = scope; *at == '/';) {
		size_t len = strcspn(++at, "/"), base = without_count(at, len), before = out.len;
		str_add(&out, "/");
		str_addn(&out, at, base);
		if (base < len && namemap_get(s->seen, str_text(&out)) < 0) {
			out.len = before;
			str_add(&out, "/");
			str_addn(&out, at, len);
		}
		at += len;
	}
	free(scope);
	return str_detach(&out);
}

static const char *last_part(const char *scope)
{
	const char *slash = strrchr(scope, '/');
	return slash ? slash + 1 : scope;
}

// "model.22.cv2.conv" of a constant input "model.22.cv2.conv.weight"; NULL: none is named so.
static char *module_of_weights(const struct graph *g, const struct node *n)
{
	static const char *const suffix[] = {".weight", ".bias"};
	for (int i = 0; i < n->n_in; i++) {
		const struct value *v = n->in[i] >= 0 ? &g->value[n->in[i]] : NULL;
		for (size_t k = 0; v && v->constant && k < sizeof suffix / sizeof *suffix; k++)
			if (str_has_suffix(v->name, suffix[k]))
				return up_to(v->name, strlen(v->name) - strlen(suffix[k]));
	}
	return NULL;
}

// Is the part "m.0" an element of the scope "m" around it?
static bool is_element(const char *part, const char *outer)
{
	size_t n = strlen(outer);
	return n && strncmp(part, outer, n) == 0 && part[n] == '.';
}

static void learn(struct scopes *s, const char *scope, const char *module)
{
	if (!*scope || namemap_get(s->at, scope) >= 0)
		return;
	s->module = xgrow(s->module, &s->cap, s->n + 1, sizeof *s->module);
	s->module[s->n] = xstrdup(module);
	namemap_put(s->at, scope, (int)s->n++);
}

// A scope and those around it, as long as their parts are the ends of the module's name. An element "m.0" within the
// scope "m" is of the container that is called there.
static void learn_all(struct scopes *s, const char *scope, const char *module)
{
	char *at = xstrdup(scope), *name = xstrdup(module);
	while (*at) {
		const char *part = last_part(at);
		size_t len = strlen(part), all = strlen(name);
		if (all < len || strcmp(name + all - len, part) != 0 || (all > len && name[all - len - 1] != '.'))
			break;
		learn(s, at, name);
		at[strlen(at) - len - 1] = '\0';
		const char *outer = last_part(at);
		if (is_element(name + all - len, outer))
			name[all - len + strlen(outer)] = '\0';
		else
			name[all > len ? all - len - 1 : 0] = '\0';
	}
	free(at);
	free(name);
}

// Where nothing was learned: the parts one after the other, an element in place of its container.
static char *spell(const char *scope)
{
	struct str out = {0};
	size_t before = 0; // where the last part begins
	while (*scope == '/') {
		size_t len = strcspn(++scope, "/"), last = out.len - before;
		bool element = out.len && len > last && strncmp(scope, out.text + before, last) == 0 && scope[last] == '.';
		if (element) {
			str_addn(&out, scope + last, len - last);
		} else {
			str_add(&out, out.len ? "." : "");
			before = out.len;
			str_addn(&out, scope, len);
		}
		scope += len;
	}
	return str_detach(&out);
}

// What a scope stands for: learned, or its last part behind what is known of the scope around it. NULL: there is none.
static char *find(const struct scopes *s, const char *scope)
{
	int at = namemap_get(s->at, scope);
	if (!*scope)
		return NULL;
	if (at >= 0)
		return xstrdup(s->module[at]);
	const char *part = last_part(scope);
	char *around = up_to(scope, (size_t)(part - scope) - 1);
	at = *around ? namemap_get(s->at, around) : -1;
	const char *outer = last_part(around);
	char *path = at < 0 ? spell(scope) : is_element(part, outer) ? str_format("%s%s", s->module[at], part + strlen(outer))
	    : str_format("%s.%s", s->module[at], part);
	free(around);
	return path;
}

bool module_has(const char *module, const char *path)
{
	size_t n = strlen(module);
	return n == 0 || (strncmp(path, module, n) == 0 && (path[n] == '\0' || path[n] == '.'));
}

static int by_path(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

// A module has others in it where, in the order of names, one that begins with it and a dot follows. Those of one module
// stand together.
static void find_own(struct modules *m)
{
	char ***sorted = xcalloc((size_t)m->n + 1, sizeof *sorted);
	int n = 0;
	for (int i = 0; i < m->n; i++)
		if (m->path[i])
			sorted[n++] = &m->path[i];
	qsort(sorted, (size_t)n, sizeof *sorted, by_path);
	for (int i = 0, end; i < n; i = end) {
		const char *path = *sorted[i];
		size_t len = strlen(path);
		bool own = true;
		for (end = i + 1; end < n && strcmp(*sorted[end], path) == 0;)
			end++;
		for (int k = end; k < n && own && strncmp(*sorted[k], path, len) == 0; k++) // "a-b" too, and then "a.c"
			own = (*sorted[k])[len] != '.';
		for (int k = i; k < end; k++)
			m->own[sorted[k] - m->path] = own;
	}
	free(sorted);
}

struct modules modules_of(const struct graph *g)
{
	struct modules m = {.n = g->n_nodes, .path = xcalloc((size_t)g->n_nodes + 1, sizeof *m.path),
	    .own = xcalloc((size_t)g->n_nodes + 1, sizeof *m.own)};
	struct scopes s = {.seen = namemap_new(), .at = namemap_new()};
	for (int i = 0; i < g->n_nodes; i++)
		note_scopes(s.seen, g->node[i].name);
	for (int i = 0; i < g->n_nodes; i++) {
		char *scope = first_call(&s, g->node[i].name);
		m.path[i] = module_of_weights(g, &g->node[i]);
		if (m.path[i])
			learn_all(&s, scope, m.path[i]);
		free(scope);
	}
	for (int i = 0; i < g->n_nodes; i++) {
		char *scope = m.path[i] ? NULL : first_call(&s, g->node[i].name);
		if (scope)
			m.path[i] = find(&s, scope);
		free(scope);
	}
	find_own(&m);
	for (size_t i = 0; i < s.n; i++)
		free(s.module[i]);
	free(s.module);
	namemap_free(&s.seen);
	namemap_free(&s.at);
	return m;
}

void modules_done(struct modules *m)
{
	for (int i = 0; i < m->n; i++)
		free(m->path[i]);
	free(m->path);
	free(m->own);
	*m = (struct modules){0};
}
