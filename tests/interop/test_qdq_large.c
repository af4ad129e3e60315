// Quantized models as large as the memory.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../engine/onnx_case.h"
#include "study_case.h"

enum { SIDE = 2048, WEIGHTS = 6 }; // all their codes are 24 MiB, those of one 4

static const char *save_model(void)
{
	struct onnx_case c;
	float *weight = xcalloc((size_t)SIDE * SIDE, sizeof *weight);
	char in[16] = "x", out[16], name[16], inputs[40];
	for (int i = 0; i < SIDE * SIDE; i++)
		weight[i] = (float)(i % 251 - 125) / (125 * 32);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, SIDE));
	for (int i = 0; i < WEIGHTS; i++) {
		weight[0] = (float)(i + 1) / 100;
		snprintf(name, sizeof name, "w%d", i);
		snprintf(out, sizeof out, "y%d", i);
		snprintf(inputs, sizeof inputs, "%s %s", in, name);
		case_floats(&c, name, DIMS(SIDE, SIDE), weight);
		case_node(&c, "MatMul", out, inputs, out);
		memcpy(in, out, sizeof in);
	}
	case_output(&c, c.graph, in);
	const char *path = case_save(&c, "weights.onnx");
	case_done(&c);
	free(weight);
	return path;
}

static bool is_saved(const struct snapshot *s, const char *file)
{
	struct rlimit most = {(rlim_t)1 << 40, (rlim_t)1 << 40};
	struct str loss = {0};
	struct error err;
	setrlimit(RLIMIT_AS, &most);
	most.rlim_cur = most.rlim_cur - mem_address_space_left() + ((rlim_t)36 << 20);
	setrlimit(RLIMIT_AS, &most);
	enum status status = export_find("qdq")->save(file, &loss, s, &err);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.text);
	return status == STATUS_OK;
}

static void assert_codes(const struct graph *g, const struct snapshot *s, int i)
{
	char name[32];
	snprintf(name, sizeof name, "w%d_quantized", i);
	const struct plan *p = snapshot_plan(s);
	const struct tensor *codes = g->value[graph_find_value(g, name)].constant;
	int slot = p->first_in[i] + 1;
	int16_t *want = xcalloc((size_t)SIDE * SIDE, sizeof *want);
	codes_of_weights(want, plan_constant(p, slot), slot_quantizer(&p->slot[slot]));
	for (int k = 0; k < SIDE * SIDE; k++)
		assert_int_equal(((const int8_t *)codes->data)[k], want[k]);
	free(want);
}

// Codes are made when the file comes to them: held for all weights they came on top of these, and the file once more.
void test_qdq_large__codes_of_one_weight_at_a_time(void **state)
{
	struct study *st = case_open(save_model(), NULL, "esp32p4");
	const char *file = support_temp("codes.onnx");
	struct graph *g = NULL;
	struct error err;
	int status = 1;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); // their memory lies where no limit allows it
#endif
	study_run(st);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	pid_t child = fork();
	if (!child)
		_exit(is_saved(s, file) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (onnx_load(&g, file, &(struct onnx_options){.codes = true}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < WEIGHTS; i++)
		assert_codes(g, s, i);
	graph_free(&g);
	snapshot_drop(&s);
	study_close(&st);
}
