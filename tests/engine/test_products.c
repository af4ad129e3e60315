// Products that the kernel for matrices computes wherever their elements lie:
// Einsum, and MatMul whose batches are broadcast. In the engine, on every backend, against the plain interpreter.
// The second operand comes from the first, so that nothing is a constant.
#include "infer_case.h"

static void begin(struct onnx_case *c, int rank, const int64_t *a, int rank_b, const int64_t *b)
{
	case_init(c);
	case_input(c, "x", FLOAT, rank, a);
	case_node(c, "ReduceMean", "one", "x", "mean");
	int64_t n = 1;
	for (int i = 0; i < rank_b; i++)
		n *= b[i];
	struct support_random r = {91};
	float *w = malloc((size_t)n * sizeof *w);
	support_random_floats(&r, w, (size_t)n, -1.0f, 1.0f);
	case_floats(c, "w", rank_b, b, w);
	free(w);
	case_ints(c, "none", 1, (int64_t[]){1});
	case_node(c, "Reshape", "flat", "mean none", "m");
	case_node(c, "Add", "shift", "w m", "b");
}

static void einsum(const char *equation, int rank, const int64_t *a, int rank_b, const int64_t *b)
{
	struct onnx_case c;
	begin(&c, rank, a, rank_b, b);
	Onnx__AttributeProto *text = case_attr(
	    &c, case_node(&c, "Einsum", "product", "x b", "y"), "equation", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	text->has_s = true;
	text->s = (ProtobufCBinaryData){strlen(equation), (uint8_t *)case_text(&c, equation)};
	infer_check(&c, 2e-5f);
}

static void matmul(const char *inputs, int rank, const int64_t *a, int rank_b, const int64_t *b)
{
	struct onnx_case c;
	begin(&c, rank, a, rank_b, b);
	case_node(&c, "MatMul", "product", inputs, "y");
	infer_check(&c, 2e-5f);
}

void test_products__einsum_as_it_lies(void **state)
{
	einsum("bhid,bhjd->bhij", DIMS(2, 3, 7, 16), DIMS(2, 3, 9, 16));
	einsum("...ij,...jd->...id", DIMS(2, 3, 7, 16), DIMS(2, 3, 16, 5));
	einsum("bki,bkj->bij", DIMS(3, 16, 7), DIMS(3, 16, 9));
	einsum("abc,cd->abd", DIMS(3, 4, 16), DIMS(16, 9));
}

void test_products__einsum_copied(void **state)
{
	einsum("bihd,bjhd->bhij", DIMS(2, 7, 3, 16), DIMS(2, 9, 3, 16));
	einsum("bhwc,wkc->bhwk", DIMS(3, 7, 5, 16), DIMS(5, 6, 16));
	einsum("ab,bc->ca", DIMS(7, 16), DIMS(16, 9));
	einsum("abcd,dcef->fbea", DIMS(2, 7, 5, 4), DIMS(4, 5, 3, 6));
	einsum("abc,cb->a", DIMS(7, 5, 16), DIMS(16, 5));
	einsum("ab,cd->acbd", DIMS(2, 7), DIMS(3, 5));
}

// Dimensions of one element that stand for all, sums and diagonals of one operand, which stay with the plain code.
void test_products__einsum_of_other_kinds(void **state)
{
	einsum("bhid,bhjd->bhij", DIMS(2, 1, 7, 16), DIMS(2, 3, 9, 16));
	einsum("abc,abd->acd", DIMS(3, 1, 5), DIMS(1, 4, 6));
	einsum("aab,bc->ac", DIMS(4, 4, 7), DIMS(7, 5));
	einsum("abc,ce->ae", DIMS(4, 3, 7), DIMS(7, 5));
	einsum("abe,bc->ac", DIMS(4, 3, 7), DIMS(3, 5));
	einsum("a,a->", DIMS(7), DIMS(7));
}

void test_products__broadcast_batches(void **state)
{
	matmul("x b", DIMS(2, 3, 4, 5, 16), DIMS(2, 3, 1, 16, 7)); // heads that share keys
	matmul("x b", DIMS(2, 3, 5, 16), DIMS(1, 3, 16, 7));
	matmul("x b", DIMS(2, 3, 5, 16), DIMS(3, 16, 7));
	matmul("x b", DIMS(1, 5, 16), DIMS(4, 16, 7));
	matmul("x b", DIMS(5, 16), DIMS(4, 16, 7));
	matmul("x b", DIMS(1, 4, 5, 16), DIMS(3, 1, 16, 7));
	matmul("x b", DIMS(16), DIMS(4, 16, 7));
	matmul("x b", DIMS(16), DIMS(16));
	matmul("b x", DIMS(4, 16, 7), DIMS(3, 1, 5, 16));
}
