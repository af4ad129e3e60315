// The table of operators: versions are found, rows are consistent, docs/OPS.md is what they say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"

static const char *const names[] = {
#define OP(name) #name,
#include "qtui/engine/op_names.def"
#undef OP
};

void test_op__finds_the_highest_version(void **state)
{
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
	bool used[OP_COUNT] = {false};
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
	for (int i = 0; i < n; i++) {
		const struct op *op = &rows[i];
		assert_ptr_equal(op_find(op->domain, op->name, op->since), op);
		assert_true(op->in_min >= 0 && (op->in_max < 0 || op->in_max >= op->in_min));
		assert_true(op->out_min >= 0 && (op->out_max < 0 || op->out_max >= op->out_min));
		assert_true(strspn(op->types, "ansfbuilqQcd0123456789") == strlen(op->types) && op->types[0]);
		assert_true(op->in_max < 0 || (int)strlen(op->types) <= (op->in_max ? op->in_max : 1));
		assert_non_null(op->eval);
		assert_non_null(op->rule);
		for (int a = 0; a < op->n_attrs; a++)
			assert_true(op->attrs[a].name && op->attrs[a].offset < op->attrs_size);
	}
}

static void add_flags(struct str *s, unsigned flags)
{
	static const char *const words[] = {"unary", "binary", "moves", "view", "weighted", "data-dependent"};
	const char *between = "";
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!(flags & 1u << i))
			continue;
		str_addf(s, "%s%s", between, words[i]);
		between = ", ";
	}
}

static void add_since(struct str *s, const struct op *rows, int n, const struct op *op)
{
	const char *between = "";
	for (int i = 0; i < n; i++) {
		if (rows[i].id != op->id || strcmp(rows[i].domain, op->domain))
			continue;
		str_addf(s, "%s%d", between, rows[i].since);
		between = ", ";
	}
}

static int by_name(const void *a, const void *b)
{
	const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;
	int c = strcmp(x->domain, y->domain);
	return c ? c : strcmp(x->name, y->name) ? strcmp(x->name, y->name) : x->since - y->since;
}

// docs/OPS.md is what the rows say.
void test_op__documentation_is_current(void **state)
{
	static const char head[] =
	    "# Operators\n"
	    "\n"
	    "Which ONNX operators qtui evaluates. An operator that is not here is refused by name when a model is loaded. `qtui ops` prints the list.\n"
	    "\n"
	    "*since*: the opsets from which a meaning of the operator holds that is known here.\n"
	    "\n"
	    "| flag | meaning |\n"
	    "|---|---|\n"
	    "| unary | y = f(x) for each element; on 8-bit codes it is a table of 256 entries |\n"
	    "| binary | element by element, with broadcasting |\n"
	    "| moves | only moves or selects elements of its first input |\n"
	    "| view | gives its first input another shape |\n"
	    "| weighted | multiplies and accumulates |\n"
	    "| data-dependent | its shapes depend on values |\n"
	    "\n"
	    "These are rewritten when a model is loaded, and need no row:\n"
	    "- calls of the model's own functions;\n"
	    "- sequences whose length is known or that a Loop appends to: "
	    "SequenceConstruct, SequenceInsert, SequenceErase, SplitToSequence, SequenceAt, SequenceLength, SequenceMap, ConcatFromSequence; "
	    "a Loop of a constant number of iterations that reads one is there once an iteration;\n"
	    "- outputs of strings that are only moved (the label that a classifier picks): they are left out, with a warning;\n"
	    "- outputs of maps from labels to numbers (ai.onnx.ml's ZipMap): the numbers stand in their place, with a warning;\n"
	    "- com.microsoft's NhwcMaxPool, QLinearConv and pooling of codes with channels last;\n"
	    "- com.amd.quark's ExtendedQuantizeLinear and ExtendedDequantizeLinear, com.vai.quantize's VitisQuantizeLinear and VitisDequantizeLinear, "
	    "as com.microsoft's pair.\n"
	    "\n"
	    "| domain | operator | since | flags |\n"
	    "|---|---|---|---|\n";
	const struct op *order[512];
	struct str s = {0};
	struct bytes file = {0};
	struct error err = {0};
	int n;
	const struct op *rows = op_rows(&n);
	assert_true(n <= 512);
	for (int i = 0; i < n; i++)
		order[i] = &rows[i];
	qsort(order, (size_t)n, sizeof *order, by_name);
	str_add(&s, head);
	for (int i = 0; i < n; i++) {
		if (i > 0 && order[i]->id == order[i - 1]->id && !strcmp(order[i]->domain, order[i - 1]->domain))
			continue;
		str_addf(&s, "| %s | %s | ", *order[i]->domain ? order[i]->domain : "ai.onnx", order[i]->name);
		add_since(&s, rows, n, order[i]);
		str_add(&s, " | ");
		add_flags(&s, order[i]->flags);
		str_add(&s, " |\n");
	}
	assert_int_equal(file_read(&file, "docs/OPS.md", 1 << 20, &err), STATUS_OK);
	if (strcmp((const char *)file.data, str_text(&s))) {
		printf("%s", str_text(&s));
		fail_msg("docs/OPS.md is not what stands above");
	}
	bytes_done(&file);
	str_done(&s);
}
