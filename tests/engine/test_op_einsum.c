// Einsum against the sums as they are defined, written out here: of two operands, which are matrix products, and of more,
// which go in pairs.
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

enum { OPERANDS = 4, ROOM = 500 }; // floats of an operand

// The equation "TERM,TERM->TERM" of up to OPERANDS terms over x, of which each has ROOM.
static void run(struct node_run *r, const char *equation, const float *x)
{
	const char *term = equation;
	node_run_init(r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(r, "equation") = equation;
	for (int k = 0; k < OPERANDS; k++, term++) {
		size_t n = strcspn(term, ",-");
		node_run_add(r, DT_F32, term_shape(term, n), x + k * ROOM);
		term += n;
		if (*term == '-')
			break;
	}
	node_run(r);
}

// Where the element of a term lies for one value of every label.
static int64_t element(const char *term, const int64_t *value)
{
	int64_t at = 0;
	for (; *term && *term != ',' && *term != '-'; term++)
		at = at * size_of(*term) + value[*term - 'a'];
	return at;
}

// The sums as they are defined, over all values of all labels that occur, in double.
static void sums(double *y, const char *equation, const float *x)
{
	enum { LABELS = 8 };
	int64_t value[LABELS] = {0}, count = 1;
	for (char l = 'a'; l < 'a' + LABELS; l++)
		count *= strchr(equation, l) ? size_of(l) : 1;
	for (int64_t i = 0; i < count; i++) {
		const char *term = equation;
		double product = 1;
		int64_t rest = i;
		for (int l = 0; l < LABELS; l++)
			if (strchr(equation, 'a' + l)) {
				value[l] = rest % size_of((char)('a' + l));
				rest /= size_of((char)('a' + l));
			}
		for (int k = 0; k < OPERANDS; k++, term++) {
			product *= (double)x[k * ROOM + element(term, value)];
			term += strcspn(term, ",-");
			if (*term == '-')
				break;
		}
		y[element(term + 2, value)] += product;
	}
}

static void check(const char *equation, const float *x)
{
	static double want[4000];
	struct node_run r;
	run(&r, equation, x);
	memset(want, 0, sizeof want);
	sums(want, equation, x);
	for (int64_t k = 0; k < tensor_count(&r.out[0]); k++) {
		double y = (double)((float *)r.out[0].data)[k];
		if (!(fabs(y - want[k]) <= 4e-6 * (1 + fabs(want[k]))))
			fail_msg("%s: element %d is %g, not %g", equation, (int)k, y, want[k]);
	}
	node_run_done(&r);
}

void test_op_einsum__is_the_sums(void **state)
{
	static const char *const equation[] = {"ab,bc->ac", "ab,cb->ca", "abc,adc->abd", "acbd,aebd->abce", "abce,aebd->acbd", "a,b->ab",
	    "a,a->", "ab,ab->a", "ab,b->ab", "abc,c->b", "ab,cd->dbca", "aa,ab->b", "aab,bc->ac", "abcd,bcde->ae", "ab,bc->", "b,bac->ca",
	    "ab,->ba", ",ab->ab", "ab->ba", "aab->b", "ab->",
	    "ab,bc,cd->ad", "ab,bc,cd->da", "cd,ab,bc->ad", "abc,bcd,cde->ace", "ab,ab,ab->", "ab,ab,ab->ab",
	    "a,b,c->cab", "ab,,bc->ac", ",,a->a", "aab,bc,ce->be", "ab,bc,cd,de->ae", "acbd,aebd,aebf->acbf", "a,b,c,->", "ab,cd,e->b",
	    "abc,def,ad->cf", "ab,ac,ad,ae->bcde"};
	struct support_random random = {5};
	float x[OPERANDS * ROOM];
	(void)state;
	support_random_floats(&random, x, OPERANDS * ROOM, -1, 1);
	for (size_t i = 0; i < sizeof equation / sizeof *equation; i++)
		check(equation[i], x);
}

// Of a chain of matrices, summed over all labels at once, this would be 10^14 products.
void test_op_einsum__operands_go_in_pairs(void **state)
{
	enum { N = 128 };
	static float x[N * N];
	struct node_run r;
	(void)state;
	for (int i = 0; i < N; i++)
		x[i * N + (i + 1) % N] = (float)(i % 3 + 1); // a permutation with factors
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "ab,bc,cd,de,ef,fg->ag";
	for (int k = 0; k < 6; k++)
		node_run_add(&r, DT_F32, SHAPE_OF(N, N), x);
	node_run(&r);
	for (int i = 0; i < N * N; i++) {
		float want = 1;
		for (int k = 0; k < 6; k++)
			want *= (float)((i / N + k) % N % 3 + 1);
		want = i % N == (i / N + 6) % N ? want : 0;
		assert_true(((float *)r.out[0].data)[i] == want);
	}
	node_run_done(&r);
}

void test_op_einsum__threads_do_not_matter(void **state)
{
	static const char *const equation[] = {"ab,bc->ac", "acbd,aebd->abce", "abc,bcd,cde->ace"};
	struct support_random random = {6};
	struct error err;
	float x[OPERANDS * ROOM];
	support_random_floats(&random, x, OPERANDS * ROOM, -1, 1);
	for (size_t i = 0; i < sizeof equation / sizeof *equation; i++) {
		struct node_run one;
		run(&one, equation[i], x);
		const struct tensor *in[] = {&one.in[0], &one.in[1], &one.in[2]};
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
	node_run_init(&r, "", "Einsum", 12, 1); // the same among three operands
	*(const char **)node_run_field(&r, "equation") = "ij,jk,k->i";
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1), x);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 1), (float[]){2, 3});
	node_run_add(&r, DT_F32, SHAPE_OF(3), (float[]){1, 2, 4});
	node_run(&r);
	assert_true(((float *)r.out[0].data)[0] == 245);
	node_run_done(&r);
	node_run_init(&r, "", "Einsum", 12, 1);
	*(const char **)node_run_field(&r, "equation") = "ij,jk,kl->il";
	node_run_add(&r, DT_F32, SHAPE_OF(2, 0), x);
	node_run_add(&r, DT_F32, SHAPE_OF(0, 3), x);
	node_run_add(&r, DT_F32, SHAPE_OF(3, 1), (float[]){1, 2, 4});
	node_run(&r);
	assert_true(((float *)r.out[0].data)[0] == 0 && ((float *)r.out[0].data)[1] == 0);
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
	node_run_init(&r, "", "Einsum", 12, 1); // beyond what a double holds
	*(const char **)node_run_field(&r, "equation") = "i,i->";
	node_run_add(&r, DT_I64, SHAPE_OF(2), ((int64_t[]){((int64_t)1 << 60) + 1, 3}));
	node_run_add(&r, DT_I64, SHAPE_OF(2), ((int64_t[]){3, 1}));
	node_run(&r);
	assert_true(*(int64_t *)r.out[0].data == ((int64_t)3 << 60) + 6);
	node_run_done(&r);
	node_run_init(&r, "", "Einsum", 12, 1); // a row and a column with a matrix between them
	*(const char **)node_run_field(&r, "equation") = "i,ij,j->";
	node_run_add(&r, DT_I32, SHAPE_OF(2), y);
	node_run_add(&r, DT_I32, SHAPE_OF(2, 2), y);
	node_run_add(&r, DT_I32, SHAPE_OF(2), y + 2);
	node_run(&r);
	assert_int_equal(*(int32_t *)r.out[0].data, 9 * (7 * 7 - 8 * 9) + 10 * (7 * -8 - 8 * 10));
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
