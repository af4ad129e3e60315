#include "attr.h"
#include <string.h>

static const void *find(const struct node *n, const char *name, enum attr_kind kind)
{
	for (int i = 0; i < n->op->n_attrs; i++)
		if (n->op->attrs[i].kind == kind && strcmp(n->op->attrs[i].name, name) == 0)
			return (const char *)n->attrs + n->op->attrs[i].offset;
	return NULL;
}

float attr_float(const struct node *n, const char *name, float dflt)
{
	const float *v = find(n, name, ATTR_FLOAT);
	return v ? *v : dflt;
}

int64_t attr_int(const struct node *n, const char *name, int64_t dflt)
{
	const int64_t *v = find(n, name, ATTR_INT);
	return v ? *v : dflt;
}

const char *attr_text(const struct node *n, const char *name, const char *dflt)
{
	const char *const *v = find(n, name, ATTR_TEXT);
	return v && *v ? *v : dflt;
}
