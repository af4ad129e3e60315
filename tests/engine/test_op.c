#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qtui/engine/op.h"

static const char *const names[] = {
#define OP(name) #name,
#include "qtui/engine/op_names.def"
#undef OP
};

void test_op__finds_the_highest_version(void **state)
{
	(void)state;
	assert_int_equal(op_find("", "Softmax", 12)->since, 1);
	assert_int_equal(op_find("ai.onnx", "Softmax", 13)->since, 13);
	assert_int_equal(op_find(NULL, "Softmax", 99)->since, 13);
	assert_null(op_find("", "HardSwish", 13));
	assert_null(op_find("", "NoSuchOperator", 17));
	assert_string_equal(op_find("com.microsoft", "QuantizeLinear", 1)->domain, "com.microsoft");
	assert_null(op_find("org.nowhere", "Relu", 17));
}

void test_op__names_and_rows_agree(void **state)
{
	int n;
	const struct op *rows = op_rows(&n);
	bool used[OP_COUNT] = { false };

	(void)state;
	for (int i = 0; i < n; i++) {
		assert_string_equal(rows[i].name, names[rows[i].id]);
		used[rows[i].id] = true;
	}
	for (int i = 0; i < OP_COUNT; i++) {
		assert_true(used[i]);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
	}
}

void test_op__rows_are_consistent(void **state)
{
	int n;
	const struct op *rows = op_rows(&n);

	(void)state;
	for (int i = 0; i < n; i++) {
		const struct op *op = &rows[i];
		assert_ptr_equal(op_find(op->domain, op->name, op->since), op);
		assert_true(op->in_min >= 0 && (op->in_max < 0 || op->in_max >= op->in_min));
		assert_true(op->out_min >= 0 && (op->out_max < 0 || op->out_max >= op->out_min));
		assert_true(strspn(op->types, "ansfbuilqQc0123456789") == strlen(op->types) && op->types[0]);
		assert_true(op->in_max < 0 || (int)strlen(op->types) <= (op->in_max ? op->in_max : 1));
		assert_non_null(op->eval);
		assert_non_null(op->rule);
		for (int a = 0; a < op->n_attrs; a++)
			assert_true(op->attrs[a].name && op->attrs[a].offset < op->attrs_size);
	}
}
