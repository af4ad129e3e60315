// Where sessions lie, with the tuned weights beside them.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/engine/tuning.h"
#include "session_impl.h"

char *session_tuned_path(const char *session, const char *name)
{
	struct str path = {0};
	char *real = file_follow(session);
	str_addf(&path, "%s.%s.onnx", real, name);
	free(real);
	return str_detach(&path);
}

bool session_is_tuned(const cJSON *item)
{
	return cJSON_IsString(item) && strlen(item->valuestring) == TUNING_NAME - 1 &&
	    strspn(item->valuestring, "0123456789abcdef") == TUNING_NAME - 1;
}

// The tuned weights that lie beside a session, as a list that ends with NULL.
static char **tuned_beside(const char *path)
{
	struct error err = {0};
	cJSON *root = NULL;
	const cJSON *item, *list = json_read(&root, path, &err) == STATUS_OK ? cJSON_GetObjectItemCaseSensitive(root, "tuned") : NULL;
	char **names = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *names);
	int n = 0;
	cJSON_ArrayForEach(item, list)
		if (session_is_tuned(item))
			names[n++] = xstrdup(item->valuestring);
	cJSON_Delete(root);
	return names;
}

static void free_names(char **names)
{
	for (int i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

void session_remove(const char *path)
{
	char **names = tuned_beside(path);
	for (int i = 0; names[i]; i++) {
		char *tuned = session_tuned_path(path, names[i]);
		unlink(tuned);
		free(tuned);
	}
	free_names(names);
	char *real = file_follow(path);
	unlink(real);
	unlink(path); // a link to it
	free(real);
}

// The beginning of a name, in whole characters of UTF-8, that is no longer than `most` bytes.
static int bytes_within(const char *name, size_t most)
{
	size_t n = strlen(name);
	if (n > most)
		for (n = most; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80; n--)
			;
	return (int)n;
}

static char *autosave_path(const char *model, size_t most)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *full = realpath(model, NULL), hash[33];
	struct str path = {0};
	if (state && *state)
		str_addf(&path, "%s/qtui/", state);
	else
		str_addf(&path, "%s/.local/state/qtui/", home && *home ? home : "/tmp");
	key_text(key_of(full ? full : model, strlen(full ? full : model)), hash);
	str_addf(&path, "%.*s-%.8s.json", bytes_within(file_base(model), most), file_base(model), hash);
	free(full);
	return str_detach(&path);
}

// The longest of all names that belong to an autosave is that of its tuned weights.
char *session_autosave_path(const char *model)
{
	return autosave_path(model, NAME_MAX - (sizeof "-01234567-16.json..onnx" - 1) - (TUNING_NAME - 1));
}

char *session_autosave_path_in_full(const char *model)
{
	return autosave_path(model, SIZE_MAX);
}
