// What files of targets said when they were last read: a step back still leads to one that is gone by now.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "target_impl.h"

// For the whole process, as the files themselves are. Targets are loaded in several threads.
static struct {
	pthread_mutex_t lock;
	char **path, **text;
	size_t n, cap_paths, cap_texts;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t find(const char *path)
{
	size_t i = 0;
	while (i < kept.n && strcmp(kept.path[i], path) != 0)
		i++;
	return i;
}

void target_keep(const char *path, const char *text)
{
	pthread_mutex_lock(&kept.lock);
	size_t i = find(path);
	if (i == kept.n) {
		kept.path = xgrow(kept.path, &kept.cap_paths, kept.n + 1, sizeof *kept.path);
		kept.text = xgrow(kept.text, &kept.cap_texts, kept.n + 1, sizeof *kept.text);
		kept.path[kept.n] = xstrdup(path);
		kept.text[kept.n++] = NULL;
	}
	free(kept.text[i]);
	kept.text[i] = xstrdup(text);
	pthread_mutex_unlock(&kept.lock);
}

char *target_kept(const char *path)
{
	pthread_mutex_lock(&kept.lock);
	size_t i = find(path);
	char *text = i < kept.n ? xstrdup(kept.text[i]) : NULL;
	pthread_mutex_unlock(&kept.lock);
	return text;
}

// The path of the base in a file with this text, heap; NULL: it has none, or that is no path.
static char *base_of(const char *path, const char *text)
{
	struct error ignored;
	cJSON *json = NULL;
	const char *base = json_parse(&json, text, strlen(text), path, &ignored) == STATUS_OK ? json_text(json, "base", NULL) : NULL;
	char *full = base && target_is_path(base) ? target_base_path(base, path) : NULL;
	cJSON_Delete(json);
	return full;
}

void target_add_files(cJSON *into, const char *name)
{
	struct str first = {0};
	str_addn(&first, name, target_path(name));
	char *path = first.len ? str_detach(&first) : NULL;
	str_done(&first);
	while (path) { // ends at the latest where a chain comes back to a file that is in there
		char *text = cJSON_GetObjectItemCaseSensitive(into, path) ? NULL : target_kept(path);
		char *base = text ? base_of(path, text) : NULL;
		if (text)
			cJSON_AddStringToObject(into, path, text);
		free(text);
		free(path);
		path = base;
	}
}
