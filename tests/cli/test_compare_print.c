// The tables of qtui compare.
#include <string.h>
#include "../../src/cli/compare_print.h"
#include "printed.h"

static const char *printed(void (*print)(const cJSON *j, const char *const *path), const char *json)
{
	cJSON *j = cJSON_Parse(json);
	assert_non_null(j);
	int saved = printed_begin();
	print(j, (const char *const[]){"a.onnx", "b.onnx"});
	cJSON_Delete(j);
	return printed_end(saved);
}

// A tensor of zeros has no cosine.
void test_compare_print__what_is_not_known_is_a_dash(void **state)
{
	(void)state;
	const char *text = printed(compare_print_models,
	    "{\"samples\":1,\"outputs\":[{\"tensor\":\"y\",\"exact\":true,\"cosine\":1}],"
	    "\"tensors\":[{\"tensor\":\"zeros\",\"snr_db\":0},{\"tensor\":\"t\",\"snr_db\":12.5,\"cosine\":0.75},{\"tensor\":\"u\",\"mse\":1}]}");
	assert_non_null(strstr(text, "    exact           y\n"));
	assert_non_null(strstr(text, "     0.00        -  zeros\n"));
	assert_non_null(strstr(text, "    12.50   0.7500  t\n"));
	assert_non_null(strstr(text, "        -        -  u  (A is all zeros)\n"));
	text = printed(compare_print_collections,
	    "{\"files\":[{\"file\":\"zeros.npy\",\"snr_db\":0,\"max_error\":1}],\"mean\":{},\"only_in_a\":[],\"only_in_b\":[]}");
	assert_non_null(strstr(text, "     0.00        -           1  zeros.npy\n"));
}

// NaN on one side stands above all that has a figure, and is no tensor that does not differ.
void test_compare_print__what_has_no_snr_comes_first(void **state)
{
	(void)state;
	const char *text = printed(compare_print_models,
	    "{\"samples\":1,\"outputs\":[],\"tensors\":[{\"tensor\":\"same\",\"exact\":true},{\"tensor\":\"near\",\"snr_db\":-3},"
	    "{\"tensor\":\"nan\"}]}");
	assert_non_null(strstr(text, "The tensors that differ most:\n"
	                              "        -        -  nan  (NaN or infinite in A or B)\n    -3.00        -  near\n"));
	text = printed(compare_print_models, "{\"samples\":1,\"outputs\":[],\"tensors\":[{\"tensor\":\"same\",\"exact\":true}]}");
	assert_non_null(strstr(text, "1 sample, 1 tensor of the same name\n"));
	assert_non_null(strstr(text, "No tensor differs.\n"));
	text = printed(compare_print_collections, "{\"files\":[{\"file\":\"near.npy\",\"snr_db\":26,\"max_error\":1},{\"file\":\"nan.npy\"}],"
	    "\"mean\":{},\"only_in_a\":[],\"only_in_b\":[]}");
	const char *nan = strstr(text, "        -        -           -  nan.npy  (NaN or infinite in A or B)\n"), *near = strstr(text, "  near.npy\n");
	assert_true(nan && near && nan < near);
}

void test_compare_print__a_node_that_became_exact_gained_most(void **state)
{
	(void)state;
	const char *text = printed(compare_print_comparison,
	    "{\"a\":{},\"b\":{},\"outputs\":[],\"nodes\":[{\"name\":\"more\",\"snr_db\":{\"a\":1,\"b\":9},\"gain_db\":8},"
	    "{\"name\":\"whole\",\"snr_db\":{\"a\":20},\"exact\":\"b\"},{\"name\":\"other\",\"precision\":{\"a\":\"int8\",\"b\":\"float\"}}]}");
	assert_non_null(strstr(text, "gain  node\n    20.00    exact        -  whole\n     1.00     9.00    +8.00  more\n"));
	assert_null(strstr(text, "-  other\n"));
}
