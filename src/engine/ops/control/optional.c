// OptionalHasElement. There are no optional values here:
// what stands for one is its element, or an input that is left out.
#include "../rule.h"

enum status hasoptional_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape scalar = {.rank = 0};
	(void)n;
	(void)in;
	(void)err;
	rule_set(&out[0], DT_BOOL, &scalar);
	return STATUS_OK;
}

enum status hasoptional_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)width;
	(void)err;
	*(uint8_t *)out[0].data = n->n_in > 0 && in[0];
	return STATUS_OK;
}
