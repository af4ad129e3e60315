// qtui targets: what --target knows by name. One that cannot be read is named with the reason.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/engine/target.h"
#include "verbs.h"

static bool tell(const char *name, int width)
{
	struct error err = {0};
	struct target *t = NULL;
	bool known = target_load(&t, name, &err) == STATUS_OK;
	say("%-*s  %s\n", width, name, known ? target_title(t) : err.text);
	target_free(&t);
	return known;
}

int verb_targets(struct options *o)
{
	struct error err = {0};
	int n, width = 0, code = EXIT_DONE;
	if (o->positional.n && error_set(&err, STATUS_USAGE, "unexpected argument %s", o->positional.at[0]))
		return fail(&err);
	char **name = target_list(&n);
	for (int i = 0; i < n; i++)
		width = (int)strlen(name[i]) > width ? (int)strlen(name[i]) : width;
	for (int i = 0; i < n; i++) {
		if (!tell(name[i], width))
			code = EXIT_FAILED;
		free(name[i]);
	}
	free(name);
	return code;
}
