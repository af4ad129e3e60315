// What qtui run leaves behind.
#include <stdio.h>
#include <stdlib.h>
#include "../../src/cli/verbs.h"
#include "engine/onnx_case.h"
#include "qtui/base/npy.h"
#include "qtui/base/file.h"
#include "support.h"

static int item_of(const char *dir, const char *file)
{
	struct error err;
	struct npy a;
	char *path = file_join(dir, file);
	if (support_npy_read(&a, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	int item = a.kind == 'f' ? a.item : 0;
	npy_done(&a);
	free(path);
	return item;
}

// An output that the file declares as half is one; that of the quantized network is float32.
void test_run__outputs_have_the_types_of_the_file(void **state)
{
	static const float x[] = {1, 2};
	struct value value[] = {{.name = "half", .type = DT_F32, .float_bytes = 2}, {.name = "float", .type = DT_F32}};
	struct graph g = {.value = value, .n_values = 2};
	struct tensor t[] = {{.type = DT_F32, .shape = shape_of(1, (int64_t[]){2}), .data = (void *)x}, {0}};
	struct error err;
	const char *dir = support_temp("run");
	t[1] = t[0];
	for (int quantized = 0; quantized < 2; quantized++) {
		if (file_mkdirs(dir, &err) != STATUS_OK || tensors_write(dir, &g, quantized, (int[]){0, 1}, t, 2, &err) != STATUS_OK)
			fail_msg("%s", err.text);
		assert_int_equal(item_of(dir, "half.npy"), quantized ? 4 : 2);
		assert_int_equal(item_of(dir, "float.npy"), 4);
	}
}

// A decoder with its past has dozens of inputs, all of open sizes:
// each has the size of its file, not only the first ones.
void test_run__many_inputs_of_open_sizes(void **state)
{
	enum { N = 20, SIZE = 5 };
	static const float x[SIZE] = {1, 2, 3, 4, 5};
	struct onnx_case c;
	struct error err;
	struct options o = {.output = support_temp("many")};
	char names[N * 4] = "", option[N][256];
	case_init(&c);
	for (int i = 0; i < N; i++) {
		char name[8];
		snprintf(name, sizeof name, "x%d", i);
		case_input(&c, name, FLOAT, DIMS(1, -i - 1));
		strcat(strcat(names, i ? " " : ""), name);
	}
	case_node(&c, "Sum", "sum", names, "y");
	case_output(&c, c.graph, "y");
	list_add(&o.positional, case_save(&c, "many.onnx"));
	struct tensor t = {.type = DT_F32, .shape = shape_of(2, (int64_t[]){1, SIZE}), .data = (void *)x};
	const char *file = support_temp("many.npy");
	assert_int_equal(array_write(&t, 0, file, &err), STATUS_OK);
	for (int i = 0; i < N; i++) {
		snprintf(option[i], sizeof option[i], "x%d=%s", i, file);
		list_add(&o.input, option[i]);
	}
	assert_int_equal(verb_run(&o), EXIT_DONE);
	options_done(&o);
	case_done(&c);
}
