// The copies of a layer's weights that factors act on.
#include "equalize_case.h"
#include "equalize_pair.h"
#include "qtui/base/mem.h"
#include "../../src/engine/tune/equalize_impl.h"

// Where the copy of the bias is refused, that of the weights, which was made before, does not stay.
void test_equalize_weights__without_memory(void **state)
{
	struct onnx_case c;
	struct layer l;
	struct error err = {0};
	begin(&c);
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_true(layer_find(&l, c.loaded, 0, true));
	assert_non_null(l.bias);
	mem_fail_at(2);
	enum status st = layer_open(&l, c.loaded, &err);
	mem_fail_at(0);
	assert_int_equal(st, STATUS_NOMEM);
	assert_true(!l.w.buf && !l.w.data && !l.b.buf);
	assert_int_equal(layer_open(&l, c.loaded, &err), STATUS_OK);
	layer_close(&l);
	case_done(&c);
}
