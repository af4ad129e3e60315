// Names of classes in files: a line each, or what YAML has under "names".
#include <stdlib.h>
#include <string.h>
#include "names.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { LINES_MAX = 100000 };
#define NAMES_FILE_MAX ((size_t)4 << 20)

static void put(struct names *out, int i, char *name)
{
	for (; out->n <= i; out->n++) {
		out->at = xrealloc(out->at, ((size_t)out->n + 1) * sizeof *out->at);
		out->at[out->n] = NULL;
	}
	free(out->at[i]);
	out->at[i] = name;
}

void names_of_lines(struct names *out, const char *text)
{
	*out = (struct names){.n = 0};
	while (*text && out->n < LINES_MAX) {
		size_t n = strcspn(text, "\r\n");
		if (n) {
			char *line = xmalloc(n + 1);
			memcpy(line, text, n);
			line[n] = '\0';
			put(out, out->n, line);
		}
		text += n;
		text += strspn(text, "\r\n");
	}
}

// A list, or pairs of number and name.
static void take_yaml(struct names *out, const cJSON *list)
{
	const cJSON *item;
	int place = 0;
	cJSON_ArrayForEach(item, list)
	{
		long long i = place++;
		if (item->string && (!str_to_int(item->string, &i) || i < 0 || i >= LINES_MAX))
			continue;
		if (cJSON_IsString(item))
			put(out, (int)i, xstrdup(item->valuestring));
	}
}

static bool is_yaml(const char *path)
{
	return str_has_suffix(path, ".yaml") || str_has_suffix(path, ".yml");
}

void names_read(struct names *out, const char *path)
{
	struct error err = {0};
	struct bytes b = {0};
	cJSON *root = NULL;
	*out = (struct names){.n = 0};
	if (file_is_dir(path))
		return;
	enum status st = file_read_text(&b, path, NAMES_FILE_MAX, &err);
	if (st == STATUS_OK && !is_yaml(path))
		names_of_lines(out, (const char *)b.data);
	else if (st == STATUS_OK && (st = json_parse_yaml(&root, (const char *)b.data, b.size, path, &err)) == STATUS_OK)
		take_yaml(out, cJSON_GetObjectItemCaseSensitive(root, "names"));
	if (st != STATUS_OK)
		log_warn("%s: no names of classes are taken from it", err.text);
	cJSON_Delete(root);
	bytes_done(&b);
}

static void read_beside_model(struct names *out, const char *model)
{
	const char *base = file_base(model), *dot = strrchr(base, '.');
	struct str path = {0};
	str_addn(&path, model, dot ? (size_t)(dot - model) : strlen(model));
	str_add(&path, ".names");
	if (file_exists(str_text(&path)))
		names_read(out, str_text(&path));
	str_done(&path);
}

void names_of_model(struct names *out, const struct graph *g)
{
	*out = (struct names){.n = 0};
	if (g->path)
		read_beside_model(out, g->path);
	out->of_file = out->n > 0;
	if (!out->n)
		names_parse(out, graph_metadata(g, "names"));
}

// ---- beside labels

void names_of_labels(struct names *out, const char *dir, char **path)
{
	static const struct {
		int up;
		const char *name;
	} places[] = {{0, "classes.txt"}, {0, "_darknet.labels"}, {0, "obj.names"}, {0, "data.yaml"}, {1, "classes.txt"}, {1, "obj.names"},
	    {1, "data.yaml"}, {1, "dataset.yaml"}, {2, "data.yaml"}, {2, "dataset.yaml"}};
	*out = (struct names){.n = 0};
	*path = NULL;
	for (size_t i = 0; i < sizeof places / sizeof *places && !out->n; i++) {
		char *at = xstrdup(dir);
		for (int up = places[i].up; up; up--) {
			char *outer = file_dir(at);
			free(at);
			at = outer;
		}
		free(*path);
		*path = file_join(at, places[i].name);
		free(at);
		if (file_exists(*path))
			names_read(out, *path);
	}
}
