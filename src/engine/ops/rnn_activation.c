// The activations of a recurrent network: names, and parameters that are handed out in their order to those that take any.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "rnn.h"

static const struct {
	const char *name;
	bool alpha, beta;
	float alpha_default, beta_default;
} parameters[] = {
	{ "Affine", true, true, 1, 0 }, { "Elu", true, false, 1, 0 }, { "HardSigmoid", true, true, 0.2f, 0.5f },
	{ "LeakyRelu", true, false, 0.01f, 0 }, { "ScaledTanh", true, true, 1, 1 }, { "ThresholdedRelu", true, false, 1, 0 },
};

static float next(const struct floats *list, int *at, float otherwise)
{
	return *at < list->n && list->at ? list->at[(*at)++] : otherwise;
}

static enum status make(struct rnn_activation *out, const char *name, const struct rnn_attrs *a, int *alphas, int *betas, struct error *err)
{
	float alpha = 0, beta = 0;

	*out = (struct rnn_activation){ .stretch = 1, .scale = 1 };
	if (!strcasecmp(name, "Affine"))
		out->fn = FN_copy;
	else if (!strcasecmp(name, "ScaledTanh"))
		out->fn = FN_tanh;
	else if (!unary_by_name(&out->fn, name))
		return error_set(err, STATUS_UNSUPPORTED, "activation '%s' is not known", name);
	for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
		if (strcasecmp(parameters[i].name, name))
			continue;
		alpha = parameters[i].alpha ? next(&a->alpha, alphas, parameters[i].alpha_default) : 0;
		beta = parameters[i].beta ? next(&a->beta, betas, parameters[i].beta_default) : 0;
	}
	out->attrs = (struct act_attrs){ .alpha = alpha, .beta = beta };
	if (!strcasecmp(name, "Affine") || !strcasecmp(name, "ScaledTanh"))
		out->scale = alpha;
	if (!strcasecmp(name, "Affine"))
		out->offset = beta;
	if (!strcasecmp(name, "ScaledTanh"))
		out->stretch = beta;
	return STATUS_OK;
}

static const char *own_names(enum op_id id)
{
	return id == OP_LSTM ? "Sigmoid Tanh Tanh" : id == OP_GRU ? "Sigmoid Tanh" : "Tanh";
}

static int each_direction(enum op_id id)
{
	return id == OP_LSTM ? 3 : id == OP_GRU ? 2 : 1;
}

enum status rnn_activations(struct rnn_activation out[RNN_ACTIVATIONS], const struct node *n, int directions, int direction,
    struct error *err)
{
	const struct rnn_attrs *a = n->attrs;
	bool given = a->activations[0] != '\0';
	int each = each_direction(n->op->id), wanted = given ? each * directions : each, alphas = 0, betas = 0, first = given ? each * direction : 0;
	const char *text = given ? a->activations : own_names(n->op->id);
	enum status s = STATUS_OK;

	for (int i = 0; s == STATUS_OK && i < wanted; i++) {
		struct rnn_activation one;
		char name[32];
		int used = 0;
		if (sscanf(text, "%31s%n", name, &used) != 1)
			return error_set(err, STATUS_FORMAT, "has %d activations, needs %d", i, wanted);
		text += used;
		s = make(&one, name, a, &alphas, &betas, err);
		if (i >= first && i < first + each)
			out[i - first] = one;
	}
	return s;
}
