// What is made beside the runs, published while the snapshot of a run is built.
#include "qtui/analysis/channels.h"
#include "qtui/analysis/task_look.h"
#include "../../src/analysis/study/study_impl.h"
#include "studies.h"

// A snapshot that was begun before does not take it away again.
void test_publish__what_came_while_it_was_built_stays(void **state)
{
	struct study *st = open_for_test((struct study_options){
	    .model = "examples/digits.onnx", .method = CALIB_MINMAX, .threads = 1, .data = {.random = 1}, .task = {.none = true}});
	struct channels *c = xcalloc(1, sizeof *c);
	struct task_look *l = xcalloc(1, sizeof *l);
	atomic_store(&c->refs, 1);
	atomic_store(&l->refs, 1);
	struct snapshot *s = study_snapshot(st), *built = snapshot_before_run(st, s);
	study_publish_channels(st, c);
	study_publish_look(st, l);
	study_publish(st, built);
	struct snapshot *now = study_snapshot(st);
	assert_ptr_equal(now, built);
	assert_ptr_equal(now->channels, c);
	assert_ptr_equal(now->look, l);
	snapshot_drop(&now);
	snapshot_drop(&s);
	study_close(&st);
}
