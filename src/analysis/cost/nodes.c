// Which node a profiler means. A name is looked for as the file of the model writes it
// (a node, or a tensor: its maker), then as tools write it that know only letters, digits and '_'.
#include <ctype.h>
#include <string.h>
#include <stdlib.h>
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "table.h"

static int find_exactly(const struct graph *g, const char *name)
{
	int node = graph_find_node(g, name), v = node < 0 ? graph_find_value(g, name) : -1;
	return v >= 0 ? g->value[v].producer : node;
}

// Heap.
static char *loosen(const char *name)
{
	char *out = xcalloc(strlen(name) + 1, 1), *to = out;
	for (; *name; name++) {
		bool plain = isalnum((unsigned char)*name);
		if (plain)
			*to++ = (char)tolower((unsigned char)*name);
		else if (to > out && to[-1] != '_')
			*to++ = '_';
	}
	if (to > out && to[-1] == '_')
		to[-1] = '\0';
	return out;
}

static void put_loose(struct node_finder *f, const char *name, int node)
{
	char *loose = loosen(name);
	int other = namemap_get(f->loose, loose);
	if (node >= 0 && *loose)
		namemap_put(f->loose, loose, other >= 0 && other != node ? NODE_AMBIGUOUS : node);
	free(loose);
}

static int find_loosely(struct node_finder *f, const char *name)
{
	if (!f->loose) {
		f->loose = namemap_new();
		for (int i = 0; i < f->g->n_origins; i++)
			put_loose(f, f->g->origin[i].name, graph_find_node(f->g, f->g->origin[i].name));
		for (int v = 0; v < f->g->n_values; v++)
			put_loose(f, f->g->value[v].name, f->g->value[v].producer);
	}
	char *loose = loosen(name);
	int node = namemap_get(f->loose, loose);
	free(loose);
	return node;
}

// Of operators that the board runs as one ("A + B") the first that is known has the time of all.
static int find_fused(const struct node_finder *f, const char *name)
{
	const char *at = name, *end;
	int node = -1;
	for (; node < 0 && (end = strstr(at, " + ")); at = end + 3) {
		char *part = xcalloc((size_t)(end - at) + 1, 1);
		memcpy(part, at, (size_t)(end - at));
		node = find_exactly(f->g, part);
		free(part);
	}
	return node >= 0 || at == name ? node : find_exactly(f->g, at);
}

// Behind a node's name ONNX Runtime's profile writes what was done to it, "/QuickGeluFusion/" or "_token_17"
// (a name that was there twice) among that. False: there is nothing more to cut off.
static bool cut_suffix(char *name)
{
	static const char *const suffix[] = {"_kernel_time", "_nchwc", "_nhwc", "_quant", "/"};
	size_t n = strlen(name), digits = n;
	for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++)
		if (str_has_suffix(name, suffix[i])) {
			name[n - strlen(suffix[i])] = '\0';
			return n > 0;
		}
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	char *last = strrchr(name, '/'), *token = digits >= 7 && digits < n ? name + digits - 7 : NULL;
	bool fusion = last && str_has_suffix(name, "Fusion"), again = token && strncmp(token, "_token_", 7) == 0;
	if (fusion || again)
		*(fusion ? last : token) = '\0';
	return fusion || again;
}

int node_by_name(struct node_finder *f, char *name)
{
	int node;
	while ((node = find_exactly(f->g, name)) < 0 && cut_suffix(name))
		;
	if (node < 0)
		node = find_fused(f, name);
	return node < 0 ? find_loosely(f, name) : node;
}

int node_by_index(const struct node_finder *f, const char *text)
{
	long long i;
	if (!str_to_int(text, &i) || i < 0 || i >= f->g->n_origins)
		return -1;
	return graph_find_node(f->g, f->g->origin[i].name);
}

void node_finder_done(struct node_finder *f)
{
	namemap_free(&f->loose);
}
