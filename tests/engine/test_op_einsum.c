// Einsum of two operands as matrix products, against the sums as they are defined, which a third operand of 1 asks for.
#include <math.h>
#include <stdio.h>
#include "node_run.h"

static int64_t size_of(char label)
{
	return (int64_t[]){3, 4, 5, 2, 6}[(label - 'a') % 5];
}

static struct shape term_shape(const char *term, size_t n)
{
	struct shape s = {0};
	for (size_t i = 0; i < n; i++)
		s.dim[s.rank++] = size_of(term[i]);
	return s;
}

// The equation "TERM,TERM->TERM" over random operands, with `factor` after the second term: "" or ",".
static void run(struct node_run *r, const char *equation, const char *factor, const float *x)
{
	static const float one = 1;
	static char text[2][64];
	char *own = text[*factor == ','];
	size_t first = strcspn(equation, ","), second = strcspn(equation + first + 1, "-");
	snprintf(own, sizeof text[0], "%.*s%s%s", (int)(first + 1 + second), equation, factor, equation + first + 1 + second);
	node_run_init(r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(r, "equation") = own;
	node_run_add(r, DT_F32, term_shape(equation, first), x);
	node_run_add(r, DT_F32, term_shape(equation + first + 1, second), x + 500);
	if (*factor)
		node_run_add(r, DT_F32, (struct shape){0}, &one);
	node_run(r);
}

void test_op_einsum__pairs_are_their_sums(void **state)
{
	static const char *const equation[] = {"ab,bc->ac", "ab,cb->ca", "abc,adc->abd", "acbd,aebd->abce", "abce,aebd->acbd", "a,b->ab",
	    "a,a->", "ab,ab->a", "ab,b->ab", "abc,c->b", "ab,cd->dbca", "aa,ab->b", "aab,bc->ac", "abcd,bcde->ae", "ab,bc->", "b,bac->ca",
	    "ab,->ba", ",ab->ab"};
	struct support_random random = {5};
	float x[1000];
	support_random_floats(&random, x, 1000, -1, 1);
	for (size_t i = 0; i < sizeof equation / sizeof *equation; i++) {
		struct node_run pair, sums;
		run(&pair, equation[i], "", x);
		run(&sums, equation[i], ",", x);
		assert_true(shape_equal(&pair.out[0].shape, &sums.out[0].shape));
		for (int64_t k = 0; k < tensor_count(&sums.out[0]); k++)
			if (!(fabsf(((float *)pair.out[0].data)[k] - ((float *)sums.out[0].data)[k]) <= 2e-6f))
				fail_msg("%s: element %d is %g, not %g", equation[i], (int)k, ((float *)pair.out[0].data)[k],
				    ((float *)sums.out[0].data)[k]);
		node_run_done(&pair);
		node_run_done(&sums);
	}
}

void test_op_einsum__threads_do_not_matter(void **state)
{
	static const char *const equation[] = {"ab,bc->ac", "acbd,aebd->abce"};
	struct support_random random = {6};
	struct error err;
	float x[1000];
	support_random_floats(&random, x, 1000, -1, 1);
	for (size_t i = 0; i < 2; i++) {
		struct node_run one;
		run(&one, equation[i], "", x);
		const struct tensor *in[] = {&one.in[0], &one.in[1]};
		struct tensor wide = {0};
		assert_int_equal(one.n.op->shape(&one.n, in, &wide, &err), STATUS_OK);
		assert_int_equal(op_finish(&one.n, in, &wide, SUPPORT_WIDTH(4), &err), STATUS_OK);
		assert_memory_equal(wide.data, one.out[0].data, tensor_bytes(&wide));
		tensor_drop(&wide);
		node_run_done(&one);
	}
}

void test_op_einsum__nothing_to_sum(void **state)
{
	struct node_run r;
	float x[1] = {7};
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "ij,jk->ik";
	node_run_add(&r, DT_F32, SHAPE_OF(2, 0), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0, 3), x);
	node_run(&r);
	for (int i = 0; i < 6; i++)
		assert_true(((float *)r.out[0].data)[i] == 0);
	node_run_done(&r);
	node_run_init(&r, "", "Einsum", 12, 1); // a dimension of one is repeated
	*(const char **)node_run_field(&r, "equation") = "ij,jk->ik";
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1), x);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 1), (float[]){2, 3});
	node_run(&r);
	assert_true(((float *)r.out[0].data)[0] == 35);
	node_run_done(&r);
}

void test_op_einsum__integers(void **state)
{
	static const int64_t x[6] = {1, 2, 3, 4, 5, -6};
	static const int32_t y[4] = {7, -8, 9, 10};
	struct node_run r;
	(void)state;
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "ij,kj->ik";
	node_run_add(&r, DT_I64, SHAPE_OF(2, 3), x);
	node_run_add(&r, DT_I64, SHAPE_OF(2, 3), x);
	node_run(&r);
	assert_int_equal(r.out[0].type, DT_I64);
	assert_memory_equal(r.out[0].data, ((int64_t[]){14, -4, -4, 77}), 4 * sizeof(int64_t));
	node_run_done(&r);
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "ii";
	node_run_add(&r, DT_I32, SHAPE_OF(2, 2), y);
	node_run(&r);
	assert_int_equal(r.out[0].type, DT_I32);
	assert_int_equal(*(int32_t *)r.out[0].data, 17);
	node_run_done(&r);
}

// Labels that there is no room for would be summed over in silence.
void test_op_einsum__an_output_of_nine_dimensions_is_refused(void **state)
{
	struct node_run r;
	struct error err = {0};
	float x[32] = {0};
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "abcde,fghi";
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2, 2, 2, 2), x);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 1, 2), x);
	assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "more than 8 dimensions"));
	node_run_done(&r);
}
