// How a verb ends that could not do its work.
#include <stdio.h>
#include "verbs.h"

int fail(const struct error *err)
{
	fprintf(stderr, "qtui: %s\n", err->text);
	return err->status == STATUS_USAGE       ? EXIT_USAGE
	       : err->status == STATUS_CANCELLED ? EXIT_INTERRUPTED
	                                         : EXIT_FAILED;
}
