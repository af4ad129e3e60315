// Files that are written in parts.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "onnx_case.h"
#include "qtui/engine/tensor.h"

enum { LARGE = 1 << 18, WHOLE = 1 << 24 }; // elements; WHOLE of them are 64 MiB

// y = Add(Add(x, small), large), and `empty` as another output.
static void begin(struct onnx_case *c, int64_t n)
{
	float *large = calloc((size_t)n, sizeof *large);
	for (int64_t i = 0; i < n; i++)
		large[i] = (float)(i % 1021) - 500;
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1));
	case_floats(c, "small", DIMS(2, 1), (const float[]){3, 4});
	case_floats(c, "large", DIMS(1, n), large);
	case_floats(c, "empty", DIMS(0), NULL);
	case_node(c, "Add", "add", "x small", "t");
	case_node(c, "Add", "add2", "t large", "y");
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "empty");
	case_load(c);
	free(large);
}

static const struct tensor *constant(const struct onnx_case *c, const char *name)
{
	return c->loaded->value[graph_find_value(c->loaded, name)].constant;
}

void test_onnx_write__large_and_small_constants(void **state)
{
	struct onnx_case c;
	begin(&c, LARGE);
	case_rewrite(&c);
	const float *small = constant(&c, "small")->data, *large = constant(&c, "large")->data;
	assert_true(small[0] == 3 && small[1] == 4);
	assert_int_equal(tensor_count(constant(&c, "large")), LARGE);
	for (int64_t i = 0; i < LARGE; i++)
		assert_true(large[i] == (float)(i % 1021) - 500);
	assert_int_equal(tensor_count(constant(&c, "empty")), 0);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
}

static bool is_written(const struct onnx_case *c, const char *file)
{
	struct rlimit most = {(rlim_t)1 << 40, (rlim_t)1 << 40};
	struct error err;
	setrlimit(RLIMIT_AS, &most);
	most.rlim_cur = most.rlim_cur - mem_address_space_left() + ((rlim_t)48 << 20);
	setrlimit(RLIMIT_AS, &most);
	return onnx_save_tuned(file, c->loaded, NULL, &err) == STATUS_OK;
}

// Where the weights are half of the memory.
void test_onnx_write__weights_are_not_copied(void **state)
{
	struct onnx_case c;
	pid_t child;
	int status = 1;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); // their memory lies where no limit allows it
#endif
	begin(&c, WHOLE);
	child = fork();
	if (!child)
		_exit(is_written(&c, support_temp("whole.onnx")) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	case_done(&c);
}
