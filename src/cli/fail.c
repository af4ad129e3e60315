// What a verb says that could not do its work.
#include <stdio.h>
#include "verbs.h"

int fail(const struct error *err)
{
	fflush(stdout); // where both go to one file the error stands last; whether it arrived main asks again
	fprintf(stderr, "qtui: %s\n", err->text);
	return err->status == STATUS_USAGE       ? EXIT_USAGE
	       : err->status == STATUS_CANCELLED ? EXIT_INTERRUPTED
	                                         : EXIT_FAILED;
}

enum status first_failure(enum status a, enum status b, const struct error *of_b, struct error *err)
{
	if (a != STATUS_OK || b == STATUS_OK)
		return a;
	*err = *of_b;
	return b;
}
