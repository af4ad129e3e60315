// Plans of weights that are half of the memory.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "plan_case.h"
#include "qtui/base/mem.h"

enum { SIDE = 4096, EXPONENTS = 8 }; // 64 MiB of floats

// y = x w, whose columns have values of +-2^(column % EXPONENTS).
static struct graph *large_graph(void)
{
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(2, (int64_t[]){1, SIDE});
	int w = builder_constant(&b, "w", DT_F32, shape_of(2, (int64_t[]){SIDE, SIDE}), NULL);
	float *at = b.g->value[w].constant->data;
	for (int i = 0; i < SIDE * SIDE; i++)
		at[i] = (float)(1 << i % SIDE % EXPONENTS) * (i / SIDE % 2 ? 1 : -1);
	builder_node(&b, "Gemm", "product", "x w", "y");
	builder_output(&b, "y");
	return b.g;
}

// With 40 MiB of address space beside what is in use.
static bool is_planned(const struct fixture *f)
{
	struct rlimit most = {(rlim_t)1 << 40, (rlim_t)1 << 40};
	struct error err;
	struct plan *p;
	setrlimit(RLIMIT_AS, &most);
	most.rlim_cur = most.rlim_cur - mem_address_space_left() + ((rlim_t)40 << 20);
	setrlimit(RLIMIT_AS, &most);
	enum status status = plan_new(&p, f->g, f->t, CALIB_KL, f->e, NULL, &err);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.text);
	return status == STATUS_OK;
}

static void assert_planned(const char *target, int scales)
{
	struct fixture f;
	int status = 1;
	fixture_plan(&f, large_graph(), target, -1);
	const struct quantizer *q = &in(&f, "product", 1)->quant;
	assert_int_equal(q->n, scales);
	for (int i = 0; i < q->n; i++)
		assert_true(q->scale[i] == q->scale[0] * (float)(1 << i % EXPONENTS));
	pid_t child = fork();
	if (!child)
		_exit(is_planned(&f) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	teardown(&f);
}

// Scales are found where the weights lie: without a copy of them.
void test_plan_large__weights_are_not_copied(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); // their memory lies where no limit allows it
#endif
	assert_planned("esp32p4", SIDE); // of each column
	assert_planned("a8w8", 1);
}
