// Two analyses, made by hand, side by side.
#include <math.h>
#include <string.h>
#include "support.h"
#include "qtui/analysis/compare.h"
#include "qtui/base/json.h"

static cJSON *parse(const char *text)
{
	struct error err = {0};
	cJSON *j = NULL;
	if (json_parse(&j, text, strlen(text), "case", &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return j;
}

static cJSON *compare(const char *a, const char *b)
{
	cJSON *x = parse(a), *y = parse(b), *j = compare_analyses(x, y);
	cJSON_Delete(x);
	cJSON_Delete(y);
	return j;
}

static const cJSON *at(const cJSON *j, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(j, key);
}

#define NODE(name, precision, scale, figures) \
	"{\"name\":\"" name "\",\"op\":\"Conv\",\"precision\":\"" precision "\",\"outputs\":[{\"tensor\":\"" name ".out\",\"scale\":[" scale \
	"],\"graphwise\":{" figures "}}]}"
#define ANALYSIS(nodes, figures) \
	"{\"qtui\":1,\"model\":{\"path\":\"m.onnx\"},\"target\":\"esp32p4\",\"samples\":3,\"nodes\":[" nodes \
	"],\"outputs\":[{\"tensor\":\"y\",\"graphwise\":{" figures "}}]}"

void test_compare__lists_what_differs(void **state)
{
	cJSON *j = compare(
	    ANALYSIS(NODE("p", "int8", "0.5", "\"snr_db\":10") "," NODE("q", "int8", "0.25", "\"snr_db\":7"), "\"snr_db\":5,\"cosine\":0.9"),
	    ANALYSIS(
	        NODE("p", "int16", "0.5", "\"snr_db\":14.5") "," NODE("q", "int8", "0.25", "\"snr_db\":7.001"), "\"snr_db\":8,\"cosine\":0.95"));
	const cJSON *nodes = at(j, "nodes"), *p = cJSON_GetArrayItem(nodes, 0), *y = cJSON_GetArrayItem(at(j, "outputs"), 0);
	assert_int_equal(cJSON_GetArraySize(nodes), 1); // q is the same within a hundredth of a decibel
	assert_string_equal(json_text(p, "name", ""), "p");
	assert_string_equal(json_text(at(p, "precision"), "b", ""), "int16");
	assert_null(at(p, "scale"));
	assert_true(fabs(json_number(p, "gain_db", 0) - 4.5) < 1e-9);
	assert_true(json_number(y, "gain_db", 0) == 3);
	assert_true(json_number(at(y, "cosine"), "a", 0) == 0.9);
	assert_string_equal(json_text(at(j, "a"), "target", ""), "esp32p4");
	cJSON_Delete(j);
}

void test_compare__what_is_not_known_is_absent(void **state)
{
	cJSON *j =
	    compare(ANALYSIS(NODE("p", "int8", "0.5", "\"snr_db\":10"), ""), ANALYSIS(NODE("p", "float", "", "\"exact\":true"), "\"snr_db\":5"));
	const cJSON *p = cJSON_GetArrayItem(at(j, "nodes"), 0), *y = cJSON_GetArrayItem(at(j, "outputs"), 0);
	assert_null(at(p, "gain_db"));
	assert_null(at(at(p, "snr_db"), "b"));
	assert_string_equal(json_text(p, "exact", ""), "b");
	assert_null(at(y, "gain_db"));
	assert_null(at(at(y, "snr_db"), "a"));
	cJSON_Delete(j);
}

void test_compare__nodes_of_one_side_only(void **state)
{
	cJSON *j = compare(ANALYSIS(NODE("p", "int8", "0.5", ""), ""), ANALYSIS(NODE("q", "int8", "0.5", ""), ""));
	assert_int_equal(cJSON_GetArraySize(at(j, "nodes")), 2);
	assert_string_equal(json_text(cJSON_GetArrayItem(at(j, "nodes"), 0), "only_in", ""), "a");
	assert_string_equal(json_text(cJSON_GetArrayItem(at(j, "nodes"), 1), "only_in", ""), "b");
	cJSON_Delete(j);
}

// Members of other types than the contract's are as good as absent.
void test_compare__malformed_analyses(void **state)
{
	static const char *const odd[] = {"{\"qtui\":1}", "{\"nodes\":5,\"outputs\":{}}",
	    "{\"nodes\":[null,5,{\"name\":3},{\"name\":\"p\",\"outputs\":7}]}",
	    "{\"nodes\":{\"p\":{\"name\":\"p\"}},\"outputs\":[[],{\"tensor\":\"y\",\"graphwise\":[1]}]}"};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
			cJSON *j = compare(odd[i], odd[k]);
			assert_true(cJSON_IsArray(at(j, "nodes")));
			cJSON_Delete(j);
		}
}
