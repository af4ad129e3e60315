// What the speed benchmark asks of the libraries, one line `NAME VALUE` a figure.
//   study inputs MODEL DIR                      writes one sample of random data as DIR/0.npy ..., prints NAME=FILE a line
//   study list MODEL CALIB                      opens, prints the number of layers: the time to the first screen
//   study full MODEL CALIB SAMPLES THREADS [MEMORY_MIB]      a first analysis, the model's size
//   study analyze MODEL CALIB SAMPLES THREADS [MEMORY_MIB]   a first analysis, edits, undo, cancel, integer inference
// CALIB "-" is random data.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "qtui/analysis/study.h"
#include "qtui/base/thread.h"
#include "qtui/base/npy.h"
#include "qtui/engine/onnx.h"

static void must(enum status st, const struct error *err)
{
	if (st == STATUS_OK)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

// ---- inputs

static struct npy as_npy(const struct tensor *t)
{
	struct npy a = {.kind = t->type == DT_F32 ? 'f' : 'i', .item = (int)dtype_size(t->type), .rank = t->shape.rank, .data = t->data,
	    .size = tensor_bytes(t)};
	for (int i = 0; i < t->shape.rank; i++)
		a.dim[i] = t->shape.dim[i];
	return a;
}

static void write_inputs(const char *model, const char *dir)
{
	struct error err = {0};
	struct graph *g;
	struct dataset *d;
	must(onnx_load(&g, model, &(struct onnx_options){0}, &err), &err);
	must(dataset_open(&d, NULL, g, &(struct dataset_options){.random = 1}, &err), &err);
	struct tensor *in = xcalloc((size_t)g->n_inputs, sizeof *in);
	must(dataset_load(d, 0, in, NULL, &err), &err);
	for (int i = 0; i < g->n_inputs; i++) {
		char path[4096];
		struct npy a = as_npy(&in[i]);
		snprintf(path, sizeof path, "%s/%d.npy", dir, i);
		must(npy_write(&a, path, &err), &err);
		printf("%s=%s\n", g->value[g->input[i]].name, path);
		tensor_drop(&in[i]);
	}
	free(in);
	dataset_free(&d);
	graph_free(&g);
}

// ---- the analysis

static struct study *open_study(const char *model, const char *calib, int samples, int threads, int memory_mib)
{
	struct error err = {0};
	struct study *s;
	bool random = strcmp(calib, "-") == 0;
	struct study_options o = {.model = model, .calib = random ? NULL : calib, .method = -1, .backend = BACKEND_ONEDNN,
	    .data = {.samples = samples, .random = random ? samples : 0}, .threads = threads, .memory = (size_t)memory_mib << 20};
	must(study_open(&s, &o, &err), &err);
	return s;
}

static void figure(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
	fflush(stdout);
}

// Of a layer's output, or of an output of the network.
static bool has_figures(struct study *s, bool network)
{
	struct snapshot *snap = study_snapshot(s);
	bool any = false;
	for (int i = 0; network && i < snap->n_outputs; i++)
		any |= snap->output[i].known > 0;
	for (int i = 0; !network && i < snap->n_sites; i++)
		any |= snap->site[i].kind == SITE_OUTPUT && snap->site[i].graphwise.known > 0;
	snapshot_drop(&snap);
	return any;
}

// Of all threads: does not grow when others use the processors.
static double processor_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void figures_since(const char *name, double begin, double processor)
{
	char full[64];
	snprintf(full, sizeof full, "%s_s", name);
	figure(full, clock_seconds() - begin);
	snprintf(full, sizeof full, "%s_cpu", name);
	figure(full, processor_seconds() - processor);
}

static void run(struct study *s, const char *name)
{
	struct error err = {0};
	double begin = clock_seconds(), processor = processor_seconds();
	study_run(s);
	must(study_wait(s, &err), &err);
	figures_since(name, begin, processor);
}

static void wait_figures(struct study *s, bool network)
{
	while (study_running(s) && !has_figures(s, network))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// Also the time to the first figures of a layer and of an output of the network.
static void first_run(struct study *s)
{
	struct error err = {0};
	double begin = clock_seconds(), processor = processor_seconds();
	study_run(s);
	wait_figures(s, false);
	figures_since("layer", begin, processor);
	wait_figures(s, true);
	figures_since("first", begin, processor);
	must(study_wait(s, &err), &err);
	figures_since("full", begin, processor);
}

static void full(const char *model, const char *calib, int samples, int threads, int memory_mib)
{
	struct study *s = open_study(model, calib, samples, threads, memory_mib);
	const struct graph *g = study_graph(s);
	int64_t macs = 0;
	for (int n = 0; n < g->n_nodes; n++)
		macs += graph_macs(g, n);
	figure("nodes", g->n_nodes);
	figure("gmac", (double)macs / 1e9);
	first_run(s);
	figure("peak_mib", mem_peak_rss_mib());
	study_close(&s);
}

static bool edit(struct study *s, int node)
{
	struct error err = {0};
	struct scale_edit scale = {graph_output(study_graph(s), node), 0.25, ZERO_FOLLOWS};
	return study_set(s, &node, 1, PREC_INT16, NULL, &err) == STATUS_OK || study_scales(s, &scale, 1, &err) == STATUS_OK;
}

// Edits the first node from `node` on, in steps of 1 or -1, that multiplies and that the target lets edit; then runs.
static void run_edited(struct study *s, const char *name, int node, int step)
{
	const struct graph *g = study_graph(s);
	while (node >= 0 && node < g->n_nodes && !(graph_macs(g, node) > 0 && edit(s, node)))
		node += step;
	if (node >= 0 && node < g->n_nodes)
		run(s, name);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// The quantized network on one sample, the best of many: what others on the machine do is left out as far as it can be.
static double infer_ms(struct study *s, enum sim sim)
{
	enum { RUNS = 15, WARM = 2 };
	struct error err = {0};
	const struct graph *g = study_graph(s);
	struct tensor *in = xcalloc((size_t)g->n_inputs, sizeof *in), *out = xcalloc((size_t)g->n_outputs, sizeof *out);
	double ms[RUNS];
	must(dataset_load(study_dataset(s), 0, in, NULL, &err), &err);
	for (int i = -WARM; i < RUNS; i++) {
		double begin = clock_seconds();
		must(study_infer(s, &(struct inference){.sim = sim, .in = in, .want = g->output, .n_want = g->n_outputs, .out = out}, &err),
		    &err);
		if (i >= 0)
			ms[i] = (clock_seconds() - begin) * 1e3;
		for (int k = 0; k < g->n_outputs; k++)
			tensor_drop(&out[k]);
	}
	for (int i = 0; i < g->n_inputs; i++)
		tensor_drop(&in[i]);
	free(in);
	free(out);
	qsort(ms, RUNS, sizeof *ms, by_value);
	return ms[0];
}

static double cancel_ms(struct study *s)
{
	struct error err = {0};
	must(study_set_method(s, CALIB_MINMAX, &err), &err);
	study_run(s);
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	double begin = clock_seconds();
	study_cancel(s);
	enum status st = study_wait(s, &err);
	return st == STATUS_OK || st == STATUS_CANCELLED ? (clock_seconds() - begin) * 1e3 : -1;
}

static void analyze(const char *model, const char *calib, int samples, int threads, int memory_mib)
{
	double begin = clock_seconds();
	struct error err = {0};
	struct study *s = open_study(model, calib, samples, threads, memory_mib);
	figure("open_ms", (clock_seconds() - begin) * 1e3);
	first_run(s);
	figure("peak_mib", mem_peak_rss_mib());
	figure("int8_ms", infer_ms(s, SIM_FULL));
	run_edited(s, "head", study_graph(s)->n_nodes - 1, -1);
	run_edited(s, "deep", 0, 1);
	must(study_undo(s, &err), &err);
	run(s, "undo");
	must(study_redo(s, &err), &err);
	run(s, "redo");
	figure("cancel_ms", cancel_ms(s));
	study_close(&s);
}

int main(int argc, char **argv)
{
	int memory_mib = argc > 6 ? atoi(argv[6]) : 0;
	if (argc == 4 && strcmp(argv[1], "inputs") == 0) {
		write_inputs(argv[2], argv[3]);
	} else if (argc == 4 && strcmp(argv[1], "list") == 0) {
		struct study *s = open_study(argv[2], argv[3], 32, 0, 0);
		struct snapshot *snap = study_snapshot(s);
		figure("layers", snap->n_rows);
		fflush(stdout);
		_Exit(0);
	} else if (argc >= 6 && strcmp(argv[1], "analyze") == 0) {
		analyze(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]), memory_mib);
	} else if (argc >= 6 && strcmp(argv[1], "full") == 0) {
		full(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]), memory_mib);
	} else {
		fprintf(stderr, "usage: study inputs MODEL DIR | list MODEL CALIB | full|analyze MODEL CALIB SAMPLES THREADS [MEMORY_MIB]\n");
		return 2;
	}
	return 0;
}
