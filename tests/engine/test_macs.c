// Multiply-accumulates that are counted by hand.
#include "onnx_case.h"

#define MS "com.microsoft"

struct product_case {
	const char *op, *domain;
	int opset; // of ai.onnx
	struct {
		int rank;
		int64_t dim[4];
	} in[3];
	struct {
		const char *name;
		int64_t value;
	} attr[2];
	int64_t macs;
};

// Nothing of ONNX Runtime's own operators is free: files that it has optimized consist of them.
static const struct product_case cases[] = {
    {"Gemm", "", 13, {{2, {3, 5}}, {2, {5, 7}}}, {{0}}, 3 * 5 * 7},
    {"Gemm", "", 13, {{2, {5, 3}}, {2, {5, 7}}}, {{"transA", 1}}, 3 * 5 * 7},
    {"FusedGemm", MS, 13, {{2, {5, 3}}, {2, {5, 7}}}, {{"transA", 1}}, 3 * 5 * 7},
    {"FusedConv", MS, 13, {{4, {1, 4, 6, 6}}, {4, {8, 2, 3, 3}}}, {{"group", 2}}, 8 * 4 * 4 * 2 * 9},
    {"FusedMatMul", MS, 13, {{3, {2, 5, 3}}, {3, {2, 5, 7}}}, {{"transA", 1}}, 2 * 3 * 5 * 7},
    {"FusedMatMul", MS, 13, {{3, {2, 3, 5}}, {3, {2, 7, 5}}}, {{"transB", 1}}, 2 * 3 * 5 * 7},
    // three projections of 6 elements to 8, then 2 rows of 4 queries with 4 keys and as many values, of 8 elements
    {"Attention", MS, 13, {{3, {2, 4, 6}}, {2, {6, 24}}, {1, {24}}}, {{"num_heads", 2}}, 2 * 4 * 6 * 24 + 2 * 2 * 4 * 4 * 8},
    // queries of 8 elements meet 5 keys, and values of 6
    {"MultiHeadAttention", MS, 13, {{3, {2, 4, 8}}, {3, {2, 5, 8}}, {3, {2, 5, 6}}}, {{"num_heads", 2}}, 2 * 4 * 5 * (8 + 6)},
    {"Attention", "", 23, {{4, {2, 3, 4, 8}}, {4, {2, 3, 5, 8}}, {4, {2, 3, 5, 6}}}, {{0}}, 2 * 3 * 4 * 5 * (8 + 6)},
    {"MatMul", "", 13, {{1, {5}}, {1, {5}}}, {{0}}, 5},
    {"CDist", MS, 13, {{2, {3, 5}}, {2, {7, 5}}}, {{0}}, 3 * 7 * 5}, // squares of differences
    {"Add", "", 13, {{2, {3, 5}}, {2, {3, 5}}}, {{0}}, 0},
};

void test_macs__of_an_equation(void **state)
{
	static const struct {
		const char *equation;
		int rank[3];
		int64_t dim[3][4], macs;
	} rows[] = {
	    {"bij,bjk->bik", {3, 3}, {{2, 3, 5}, {2, 5, 7}}, 2 * 3 * 5 * 7},
	    {"bqhd,bkhd->bhqk", {4, 4}, {{2, 4, 3, 8}, {2, 5, 3, 8}}, 2 * 3 * 4 * 5 * 8},
	    {"...d,od->...o", {4, 2}, {{2, 3, 4, 5}, {7, 5}}, 2 * 3 * 4 * 5 * 7},
	    {"ij,jk,kl->il", {2, 2, 2}, {{2, 3}, {3, 5}, {5, 7}}, 2 * 3 * 5 + 2 * 5 * 7}, // two at a time
	    {"ij,jk,kl->il", {2, 2, 2}, {{7, 5}, {5, 3}, {3, 2}}, 5 * 3 * 2 + 7 * 5 * 2}, // the last two first
	    {"i,j,ij->", {1, 1, 2}, {{3}, {5}, {3, 5}}, 3 * 5}, // the first two are a Mul
	    {"ij,ij->", {2, 2}, {{3, 5}, {3, 5}}, 3 * 5},
	    {"ij,jk->ik", {2, 2}, {{3, 1}, {5, 7}}, 3 * 5 * 7}, // the one column stands for five
	    {"ij,ij->ij", {2, 2}, {{3, 5}, {3, 5}}, 0},         // a Mul
	    {"ij->i", {2}, {{3, 5}}, 0},                        // a ReduceSum
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static const char *const name[3] = {"a", "b", "c"}, *const names[3] = {"a", "a b", "a b c"};
		int n = 0;
		struct onnx_case c;
		case_init(&c);
		for (; n < 3 && rows[i].rank[n]; n++)
			case_input(&c, name[n], FLOAT, rows[i].rank[n], rows[i].dim[n]);
		Onnx__AttributeProto *a = case_attr(
		    &c, case_node(&c, "Einsum", "product", names[n - 1], "y"), "equation", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
		a->has_s = true;
		a->s = (ProtobufCBinaryData){strlen(rows[i].equation), (uint8_t *)case_text(&c, rows[i].equation)};
		case_output(&c, c.graph, "y");
		case_load(&c);
		int64_t macs = graph_macs(c.loaded, graph_find_node(c.loaded, "product"));
		if (macs != rows[i].macs)
			fail_msg("%s: %lld multiply-accumulates, not %lld", rows[i].equation, (long long)macs, (long long)rows[i].macs);
		case_done(&c);
	}
}

void test_macs__counted_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct product_case *row = &cases[i];
		static const char *const name[3] = {"a", "b", "c"};
		struct onnx_case c;
		case_init(&c);
		c.opset.version = row->opset;
		for (int k = 0; k < 3 && row->in[k].rank; k++)
			case_input(&c, name[k], FLOAT, row->in[k].rank, row->in[k].dim);
		Onnx__NodeProto *n = case_node(&c, row->op, "product", row->in[2].rank ? "a b c" : "a b", "y");
		n->domain = case_text(&c, row->domain);
		for (int k = 0; k < 2 && row->attr[k].name; k++)
			case_attr_int(&c, n, row->attr[k].name, row->attr[k].value);
		case_output(&c, c.graph, "y");
		case_load(&c);
		int64_t macs = graph_macs(c.loaded, graph_find_node(c.loaded, "product"));
		if (macs != row->macs)
			fail_msg("%s: %lld multiply-accumulates, not %lld", row->op, (long long)macs, (long long)row->macs);
		case_done(&c);
	}
}

// A body that multiplies a state of 3x4 with a matrix of 4x4 from outside.
static void body_case(struct onnx_case *c, const char *op, const char *inputs, const char *row)
{
	static const int64_t three = 3;
	case_init(c);
	Onnx__GraphProto *body = case_graph(c);
	if (!row) {
		body->input[body->n_input++] = case_value(c, "i", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 0, NULL);
		body->input[body->n_input++] = case_value(c, "condition", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 0, NULL);
		case_node_in(c, body, "Identity", "same", "condition", "again");
		case_output(c, body, "again");
	}
	body->input[body->n_input++] = case_value(c, "s", FLOAT, 2, (const int64_t[]){3, 4});
	if (row)
		body->input[body->n_input++] = case_value(c, row, FLOAT, 1, (const int64_t[]){4});
	case_node_in(c, body, "MatMul", "product", "s m", row ? "p" : "t");
	if (row)
		case_node_in(c, body, "Add", "sum", "p row", "t");
	case_output(c, body, "t");
	case_input(c, "x", FLOAT, 2, (const int64_t[]){3, 4});
	case_input(c, "m", FLOAT, 2, (const int64_t[]){4, 4});
	case_input(c, "trips", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 0, NULL);
	case_input(c, "rows", FLOAT, 2, (const int64_t[]){5, 4});
	case_ints(c, "three", 1, &three);
	Onnx__NodeProto *n = case_node(c, op, "loop", inputs, "y");
	case_attr_graph(c, n, "body", body);
	if (row)
		case_attr_int(c, n, "num_scan_inputs", 1);
	case_output(c, c->graph, "y");
	case_load(c);
}

void test_macs__of_a_body(void **state)
{
	static const struct {
		const char *op, *inputs, *row;
		int64_t macs;
	} rows[] = {
	    {"Loop", "three - x", NULL, 3 * 3 * 4 * 4},
	    {"Loop", "trips - x", NULL, 0}, // only the value tells
	    {"Scan", "x rows", "row", 5 * 3 * 4 * 4},
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct onnx_case c;
		body_case(&c, rows[i].op, rows[i].inputs, rows[i].row);
		int node = graph_find_node(c.loaded, "loop");
		assert_int_equal(graph_macs(c.loaded, node), 0); // no decision can take them to 8 bit
		assert_int_equal(graph_macs_with_body(c.loaded, node), rows[i].macs);
		case_done(&c);
	}
}
