// What is said to a study: sessions, edits, selections, labels, lists of samples.
#include <stdlib.h>
#include "../../src/analysis/task/kinds/boxes_program.h"
#include "fuzz.h"
#include "undo.h"
#include "qtui/analysis/compare.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "qtui/engine/onnx.h"
#include "qtui/interop/import.h"

void fuzz_boxes(const struct fuzz_input *in)
{
	char source[] = "labels", *name[] = {"car", "traffic light"};
	int id[] = {3, 10}, map[] = {0, -1, 1};
	struct labels labels = {.kind = LABELS_BOXES, .source = source, .n_classes = 2, .id = id, .name = name};
	const struct boxes_limits limits = {.least = .001, .iou = .7, .most = 300};
	struct boxes_program *p = boxes_program_new("true", &labels, map, 3, &limits);
	struct candidates found = {0};
	struct error err = {0};
	char *answer = xstrdup(in->text);
	(void)!boxes_program_parse(&found, p, answer, &err);
	candidates_done(&found);
	boxes_program_free(&p);
	free(answer);
}

static void undo_all(struct study *st)
{
	while (undoes(st))
		;
}

void fuzz_list(const struct fuzz_input *in)
{
	struct error err = {0};
	struct dataset *d = NULL;
	if (dataset_open(&d, in->path, study_graph(fuzz_study()), &(struct dataset_options){.samples = 4}, &err) == STATUS_OK)
		dataset_free(&d);
}

void fuzz_session(const struct fuzz_input *in)
{
	struct error err = {0};
	struct session *s = NULL;
	struct study_options o = {.method = -1};
	if (session_read(&s, in->path, &err) != STATUS_OK)
		return;
	session_options(s, &o);
	if (session_apply(s, fuzz_study(), &err) == STATUS_OK)
		undo_all(fuzz_study());
	session_free(&s);
}

void fuzz_import(const struct fuzz_input *in)
{
	struct error err = {0};
	struct import_report r;
	(void)!import_file(&r, fuzz_study(), in->path, &err);
	import_report_done(&r);
	undo_all(fuzz_study());
}

void fuzz_qdq(const struct fuzz_input *in)
{
	struct error err = {0};
	struct graph *floats = NULL;
	fuzz_import(in);
	(void)!onnx_load(&floats, in->path, &(struct onnx_options){.pairs = true, .floats = true}, &err);
	graph_free(&floats);
}

void fuzz_latency(const struct fuzz_input *in)
{
	struct error err = {0};
	struct latency *l = NULL;
	if (latency_read(&l, study_graph(fuzz_study()), in->path, &err) == STATUS_OK)
		study_set_latency(fuzz_study(), l); // every node is costed
	latency_drop(&l);
}

void fuzz_analysis(const struct fuzz_input *in)
{
	struct error err = {0};
	cJSON *j = NULL;
	if (json_parse(&j, in->text, in->size, "analysis", &err) != STATUS_OK)
		return;
	cJSON_Delete(compare_analyses(j, j));
	cJSON_Delete(j);
}

void fuzz_command(const struct fuzz_input *in)
{
	struct error err = {0};
	if (study_command(fuzz_study(), in->text, &err) == STATUS_OK)
		undo_all(fuzz_study());
}

void fuzz_selection(const struct fuzz_input *in)
{
	struct error err = {0};
	int *nodes = NULL, n;
	if (study_select(fuzz_study(), in->text, NULL, &nodes, &n, &err) == STATUS_OK)
		free(nodes);
}

static void read_labels_as(const char *path, struct labels_samples s)
{
	// Arrays: a picture that is not there ends the reading of text before its first line.
	static const char *const file[] = {"images/000.npy", NULL, "images/001.npy"};
	struct error err = {0};
	struct labels *l = NULL;
	s.file = file;
	s.n = 3;
	s.w = 64;
	s.h = 48;
	if (labels_read(&l, path, &s, &err) == STATUS_OK)
		labels_free(&l);
}

static void read_labels(const char *path)
{
	read_labels_as(path, (struct labels_samples){.outlines = true});
	read_labels_as(path, (struct labels_samples){.rotated = true});
}

void fuzz_values(const struct fuzz_input *in)
{
	read_labels_as(in->path, (struct labels_samples){.values = true});
}

void fuzz_texts(const struct fuzz_input *in)
{
	read_labels_as(in->path, (struct labels_samples){.texts = true});
}

void fuzz_coco(const struct fuzz_input *in)
{
	read_labels(in->path);
}

void fuzz_classes(const struct fuzz_input *in)
{
	read_labels(in->path);
}

void fuzz_voc(const struct fuzz_input *in)
{
	read_labels(in->dir);
}

void fuzz_yolo(const struct fuzz_input *in)
{
	read_labels(in->dir);
}

// A mask beside the names says what the directory is.
void fuzz_masks(const struct fuzz_input *in)
{
	struct error err = {0};
	char *mask = file_join(in->dir, "000.png");
	if (file_write(mask, "", 0, &err) == STATUS_OK)
		read_labels(in->dir);
	free(mask);
}
