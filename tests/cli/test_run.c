// What qtui run leaves behind.
#include <stdlib.h>
#include "../../src/cli/verbs.h"
#include "qtui/base/npy.h"
#include "qtui/base/file.h"
#include "support.h"

static int item_of(const char *dir, const char *file)
{
	struct error err;
	struct npy a;
	char *path = file_join(dir, file);
	if (npy_read(&a, path, &err) != STATUS_OK)
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
		if (file_mkdirs(dir, &err) != STATUS_OK || write_tensors(dir, &g, quantized, (int[]){0, 1}, t, 2, &err) != STATUS_OK)
			fail_msg("%s", err.text);
		assert_int_equal(item_of(dir, "half.npy"), quantized ? 4 : 2);
		assert_int_equal(item_of(dir, "float.npy"), 4);
	}
}
