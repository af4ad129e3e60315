// The activations of a recurrent network: names, and parameters that are handed out in their order to those that take
// any.
#include <stdio.h>
#include <strings.h>
#include "rnn.h"

// What a parameter is: an attribute of the function, or done around it.
enum role { NONE, ATTR, FACTOR, SUMMAND, STRETCH };
static const struct activation {
	const char *name;
	enum unary_fn fn;
	enum role alpha, beta;
	float alpha_default, beta_default;
} known[] = {
    {"Affine", FN_copy, FACTOR, SUMMAND, 1, 0},
    {"Elu", FN_elu, ATTR, NONE, 1, 0},
    {"HardSigmoid", FN_hardsigmoid, ATTR, ATTR, 0.2f, 0.5f},
    {"LeakyRelu", FN_leakyrelu, ATTR, NONE, 0.01f, 0},
    {"Relu", FN_relu, NONE, NONE, 0, 0},
    {"ScaledTanh", FN_tanh, FACTOR, STRETCH, 1, 1},
    {"Sigmoid", FN_sigmoid, NONE, NONE, 0, 0},
    {"Softplus", FN_softplus, NONE, NONE, 0, 0},
    {"Softsign", FN_softsign, NONE, NONE, 0, 0},
    {"Tanh", FN_tanh, NONE, NONE, 0, 0},
    {"ThresholdedRelu", FN_threshold, ATTR, NONE, 1, 0},
};

static const struct activation *find(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcasecmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static float next(const struct floats *list, int *at, float otherwise)
{
	return *at < list->n && list->at ? list->at[(*at)++] : otherwise;
}

static enum status make(
    struct rnn_activation *out, const char *name, const struct rnn_attrs *a, int *alphas, int *betas, struct error *err)
{
	const struct activation *act = find(name);
	float alpha, beta;
	if (!act)
		return error_set(err, STATUS_UNSUPPORTED, "activation '%s' is not known", name);
	alpha = act->alpha != NONE ? next(&a->alpha, alphas, act->alpha_default) : 0;
	beta = act->beta != NONE ? next(&a->beta, betas, act->beta_default) : 0;
	*out = (struct rnn_activation){.fn = act->fn,
	    .attrs = {.alpha = alpha, .beta = beta},
	    .scale = act->alpha == FACTOR ? alpha : 1,
	    .offset = act->beta == SUMMAND ? beta : 0,
	    .stretch = act->beta == STRETCH ? beta : 1};
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

enum status rnn_activations(
    struct rnn_activation out[RNN_ACTIVATIONS], const struct node *n, int directions, int direction, struct error *err)
{
	const struct rnn_attrs *a = n->attrs;
	bool given = a->activations[0] != '\0';
	int each = each_direction(n->op->id), wanted = given ? each * directions : each, alphas = 0, betas = 0,
	    first = given ? each * direction : 0;
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
