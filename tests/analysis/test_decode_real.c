// Decoders: which family real models are taken for, and what their reference outputs decode to.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/decode/decode.h"
#include "../../src/analysis/task/metric/coco.h"
#include "../engine/graph_builder.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "support.h"

struct golden {
	struct graph *g;
	struct npz outputs;
	struct head head;
	const struct decoder *d;
	struct bound b;
	struct candidates c;
	float *heap[16];
};

static const float *as_floats(const struct npy *a, float **heap)
{
	size_t n = a->size / (size_t)a->item;
	if (a->kind == 'f' && a->item == 4)
		return a->data;
	assert_true(a->kind == 'i' && a->item == 8);
	*heap = xcalloc(n + 1, sizeof **heap);
	for (size_t i = 0; i < n; i++)
		(*heap)[i] = (float)((const int64_t *)a->data)[i];
	return *heap;
}

// Gives the head the reference outputs, with the shapes that these have.
static void fill(struct golden *t)
{
	for (int i = 0; i < t->head.n; i++) {
		struct str name = {0};
		str_addf(&name, "out:%s", t->head.out[i].name);
		const struct npy *a = support_npz_find(&t->outputs, str_text(&name));
		str_done(&name);
		assert_non_null(a);
		t->head.out[i].shape = shape_of(a->rank, a->dim);
		t->head.out[i].data = as_floats(a, &t->heap[i]);
	}
}

static bool golden_open(struct golden *t, const char *model)
{
	struct error err = {0};
	struct str path = {0}, arrays = {0};
	*t = (struct golden){0};
	str_addf(&path, "%s%s.onnx", strchr(model, '/') ? "" : "models/", model);
	str_addf(&arrays, "golden/float/%s.npz", file_base(model));
	const char *onnx = support_data(str_text(&path)), *npz = support_data(str_text(&arrays));
	str_done(&path);
	str_done(&arrays);
	if (!onnx || !npz)
		return false;
	if (onnx_load(&t->g, onnx, &(struct onnx_options){0}, &err) != STATUS_OK ||
	    npz_read(&t->outputs, npz, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	head_init(&t->head, t->g, 80, 0);
	fill(t);
	if (decode_find(&t->d, &t->head, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_true(t->d->bind(&t->b, &t->head));
	return true;
}

static void golden_decode(struct golden *t)
{
	decode_run(&t->c, t->d, &t->b, &t->head, .001);
	nms_keep(&t->c, t->d->iou, 300);
}

static void golden_done(struct golden *t)
{
	for (int i = 0; i < 16; i++)
		free(t->heap[i]);
	candidates_done(&t->c);
	head_done(&t->head);
	npz_done(&t->outputs);
	graph_free(&t->g);
}

void test_decode_real__real_models_are_recognised(void **state)
{
	static const char *const rows[][2] = {{"yolov5n", "yolov5"}, {"yolov8n", "yolov8"},
	    {"yolov8n_qdq_minmax", "yolov8"}, {"yolov8n_qdq_allops_broken", "yolov8"}, {"yolo26n", "end2end"},
	    {"yolox_nano_416", "yolox-raw"}, {"nanodet_m_320", "nanodet"}, {"deimv2_atto_320", "final"},
	    {"deimv2_atto_dynint8_degraded", "final"}, {"misc/face_detection_front_128x128_barracuda", "blazeface"},
	    {"misc/ultraface_rfb_320", "ssd"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct golden t;
		if (!golden_open(&t, rows[i][0]))
			skip();
		assert_string_equal(t.d->name, rows[i][1]);
		assert_int_equal(t.head.chosen, strcmp(rows[i][1], "end2end") == 0 || strcmp(rows[i][1], "final") == 0);
		assert_int_equal(t.head.beside_object, strcmp(rows[i][1], "yolox-raw") == 0 ? 80 : 0);
		golden_done(&t);
	}
}

struct way { // from the input to the image
	const char *model;
	double scale_x, scale_y, pad_y;
};

static double best_overlap(const struct candidates *c, const struct way *w, const struct coco_box *with)
{
	double best = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct candidate *k = &c->at[i];
		struct coco_box box = {k->x1 / w->scale_x, (k->y1 - w->pad_y) / w->scale_y,
		    (k->x2 - k->x1) / w->scale_x, (k->y2 - k->y1) / w->scale_y};
		if (k->class == 0 && k->score > .1f)
			best = fmax(best, coco_iou(&box, with, false));
	}
	return best;
}

// The reference input of the detectors is image 61, of 640 x 488 pixels, with a person on an elephant.
void test_decode_real__all_find_the_person_on_the_elephant(void **state)
{
	static const struct coco_box person = {261, 197, 48, 68};
	static const struct way rows[] = {{"yolov5n", 1, 1, 76}, {"yolov8n", 1, 1, 76}, {"yolo26n", 1, 1, 76},
	    {"yolox_nano_416", .65, .65, 49}, {"nanodet_m_320", .5, 320 / 488., 0},
	    {"deimv2_atto_320", .5, 320 / 488., 0}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct golden t;
		if (!golden_open(&t, rows[i].model))
			skip();
		golden_decode(&t);
		double overlap = best_overlap(&t.c, &rows[i], &person);
		if (overlap < .6)
			fail_msg("%s: %.2f", rows[i].model, overlap);
		golden_done(&t);
	}
}

// Every box of at least .01 that the reference found in that image, in its order.
void test_decode_real__yolov5_boxes_are_those_of_the_reference(void **state)
{
	struct golden t;
	cJSON *root;
	struct error err;
	const cJSON *j;
	size_t n = 0;
	const char *path = support_data("golden/map/detections_yolov5n.json");
	if (!path || !golden_open(&t, "yolov5n"))
		skip();
	golden_decode(&t);
	assert_int_equal(json_read(&root, path, &err), STATUS_OK);
	cJSON_ArrayForEach(j, root)
	{
		if (json_number(j, "image_id", -1) != 61)
			continue;
		const cJSON *box = cJSON_GetObjectItemCaseSensitive(j, "bbox");
		const struct candidate *c = &t.c.at[n++];
		assert_true(n <= t.c.n);
		assert_true(fabs(c->score - json_number(j, "score", -1)) < 1e-5);
		assert_true(fabs(fmax(c->x1, 0) - cJSON_GetArrayItem(box, 0)->valuedouble) < .01);
		assert_true(fabs(c->y1 - 76 - cJSON_GetArrayItem(box, 1)->valuedouble) < .01 || c->y1 < 76);
	}
	assert_int_equal(n, 48);
	assert_true(t.c.at[n].score < .01);
	cJSON_Delete(root);
	golden_done(&t);
}

// What an output's name says is known before pairs of outputs are tried.
void test_decode_real__names_tell_boxes_from_scores(void **state)
{
	static const struct {
		const char *name;
		bool boxes, scores;
	} at[] = {{"bbox_0", true, false}, {"Boxes", true, false}, {"cls_logits", false, true}, {"conf", false, true}, {"output0", false, false}};
	enum { OUTPUTS = sizeof at / sizeof *at };
	struct builder b = builder_new();
	struct head h;
	builder_input(&b, "x");
	for (int i = 0; i < OUTPUTS; i++) {
		builder_node(&b, "Relu", at[i].name, "x", at[i].name);
		builder_output(&b, at[i].name);
	}
	head_init(&h, b.g, 0, 0);
	for (int i = 0; i < OUTPUTS; i++)
		assert_true(h.out[i].boxes == at[i].boxes && h.out[i].scores == at[i].scores);
	head_done(&h);
	graph_free(&b.g);
}
