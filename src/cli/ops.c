// qtui ops: the operators that the engine evaluates, from the op table.
#include <stdio.h>
#include "qtui/engine/op.h"
#include "verbs.h"

int verb_ops(struct options *o)
{
	int n;
	const struct op *row = op_rows(&n);
	struct error err = {0};
	if (o->positional.n && error_set(&err, STATUS_USAGE, "unexpected argument %s", o->positional.at[0]))
		return fail(&err);
	for (int i = 0; i < n; i++)
		printf("%s%s%s %d\n", row[i].domain, row[i].domain[0] ? "." : "", row[i].name, row[i].since);
	return EXIT_DONE;
}
