// What the options of qtui equalize do to the weights that it writes.
#include <stdlib.h>
#include "../../src/cli/verbs.h"
#include "engine/equalize_pair.h"
#include "qtui/base/json.h"
#include "qtui/engine/onnx.h"
#include "support.h"

// The factor that channel `channel` of the model that is written has: that of its bias.
static double factor_with(const char *model, const char *out, int channel, const char *bias, const char *threshold)
{
	struct error err;
	struct graph *g;
	struct options o = {.output = out, .bias = bias, .threshold = threshold, .rounds = 1, .quiet = true};
	list_add(&o.positional, model);
	assert_int_equal(verb_equalize(&o), EXIT_DONE);
	options_done(&o);
	if (onnx_load(&g, out, &(struct onnx_options){0}, &err))
		fail_msg("%s", err.text);
	const struct node *one = &g->node[graph_find_node(g, "one")];
	double factor = (double)((const float *)g->value[one->in[2]].constant->data)[channel] / (double)front_bias[channel];
	graph_free(&g);
	return factor;
}

void test_equalize__options_reach_the_weights(void **state)
{
	struct onnx_case c;
	begin(&c);
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	const char *model = case_save(&c, "pair.onnx");
	// u = 8, 0.5 and d = 0.5, 2 of the first two channels, whose biases are 1 and -2.
	assert_float_equal(factor_with(model, support_temp("plain.onnx"), 0, NULL, NULL), 0.25, 1e-6);
	assert_float_equal(factor_with(model, support_temp("biased.onnx"), 0, "32", NULL), 0.125, 1e-6);
	assert_float_equal(factor_with(model, support_temp("both.onnx"), 1, NULL, NULL), 2, 1e-6);
	assert_float_equal(factor_with(model, support_temp("large.onnx"), 1, NULL, "3"), 1, 1e-6);
	case_done(&c);
}

// The JSON names both ends of a group, and counts its channels and the bits that they leave unused.
void test_equalize__json_of_a_group(void **state)
{
	struct onnx_case c;
	struct error err;
	cJSON *j = NULL;
	begin(&c);
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	const char *out = support_temp("groups.json");
	struct options o = {.json = out, .rounds = 1, .quiet = true};
	list_add(&o.positional, case_finish(&c, "pair.onnx"));
	assert_int_equal(verb_equalize(&o), EXIT_DONE);
	options_done(&o);
	if (json_read(&j, out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(json_number(j, "changed_nodes", 0), 2);
	const cJSON *group = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "groups"), 0);
	static const char *const end[][2] = {{"front", "one"}, {"behind", "two"}};
	for (int i = 0; i < 2; i++) {
		const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(group, end[i][0]);
		assert_int_equal(cJSON_GetArraySize(nodes), 1);
		assert_string_equal(nodes->child->valuestring, end[i][1]);
	}
	assert_int_equal(json_number(group, "channels", 0), MID);
	assert_true(json_number(group, "front_unused_bits_before", 0) > json_number(group, "front_unused_bits_after", 99));
	assert_true(json_number(group, "behind_unused_bits_before", -1) >= 0 && json_number(group, "behind_unused_bits_after", -1) >= 0);
	assert_null(cJSON_GetObjectItemCaseSensitive(group, "activation_unused_bits_before")); // weights alone were looked at
	cJSON_Delete(j);
}
