// A small made-up detector with figures, for tests of the screen: the same at every call.
// The arrays are static; the snapshot has one count that is never dropped to zero.
#ifndef TESTS_TUI_FAKE_H
#define TESTS_TUI_FAKE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/channels.h"
#include "qtui/analysis/cost.h"
#include "qtui/engine/op.h"

enum fake_kind {
	FAKE_MEASURED, // a finished run after one edit
	FAKE_EMPTY,    // nothing has been computed yet
	FAKE_RUNNING,  // 12 of 32 samples, an edit pending
	FAKE_BLAMED,   // as FAKE_MEASURED, after :blame with a task
	FAKE_DAMAGED,  // likewise without one
	FAKE_TIMED,    // as FAKE_MEASURED, with a board's times of most nodes
	FAKE_SEGMENTED, // as FAKE_MEASURED, with masks for labels
	FAKE_POSED,     // likewise with keypoints
	FAKE_OUTLINED,  // likewise with outlines
	FAKE_RESTORED,  // likewise with pictures
	FAKE_SCORED,    // as FAKE_MEASURED, by a scorer
	FAKE_READ,      // likewise, of texts
	FAKE_EMBEDDED,  // likewise, of vectors
	FAKE_NUMBERS,   // likewise, of numbers
	FAKE_DEPTHS,    // likewise, of depths
	FAKE_AGREED,    // likewise, without labels
};

enum { NODES = 64, VALUES = 128, SITES = 128 };
static struct {
	struct graph g;
	struct node node[NODES];
	struct value value[VALUES];
	int in[NODES][4], out[NODES][1], consumer[VALUES][8];
	char name[VALUES][96], node_name[NODES][96];
	struct snapshot s;
	struct node_row row[NODES];
	double scale_requested[VALUES];
	struct site site[SITES];
	struct figures output[2];
	struct run_note run[3];
	float scale[SITES], scales[64];
	int32_t zero[64];
	struct hist hist[2];
	int input[1], output_id[2];
	struct origin origin[NODES];
	struct blames blames;
	struct blame blame[5];
	int blame_of[NODES];
	struct task_report task;
	struct task_figure figure[7];
	struct task_class class[5];
	struct task_sample sample[6];
	struct task_look look;
	struct task_box truth[2], box[2][2];
	struct task_change change[3];
	struct task_region region[3];
	uint8_t cell[12 * 16];
	uint8_t rgb[48 * 64 * 3], made[TASK_VARIANTS][48 * 64 * 3];
} fake;

static const struct op *op_named(const char *name)
{
	static struct op ops[16];
	int i = 0;
	for (; ops[i].name; i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	ops[i].name = name;
	ops[i].domain = "";
	return &ops[i];
}

static int add_value(const char *name, int64_t c, int64_t hw)
{
	struct value *v = &fake.value[fake.g.n_values];
	snprintf(fake.name[fake.g.n_values], sizeof fake.name[0], "%s", name);
	*v = (struct value){.name = fake.name[fake.g.n_values], .type = DT_F32, .producer = -1, .consumer = fake.consumer[fake.g.n_values]};
	v->shape = shape_of(4, (int64_t[]){1, c, hw, hw});
	return fake.g.n_values++;
}

// Adds a node on up to two tensors (-1: none); returns the id of its output.
static int add_node(const char *name, const char *op, int a, int b, int64_t c, int64_t hw)
{
	int id = fake.g.n_nodes++, ids[2] = {a, b};
	struct node *n = &fake.node[id];
	char out[110];
	snprintf(fake.node_name[id], sizeof fake.node_name[0], "%s", name);
	*n = (struct node){.name = fake.node_name[id], .op = op_named(op), .in = fake.in[id], .out = fake.out[id], .n_out = 1};
	for (int i = 0; i < 2; i++)
		if (ids[i] >= 0) {
			struct value *v = &fake.value[ids[i]];
			v->consumer[v->n_consumers++] = id;
			n->in[n->n_in++] = ids[i];
		}
	snprintf(out, sizeof out, "%s_output_0", name);
	n->out[0] = add_value(out, c, hw);
	fake.value[n->out[0]].producer = id;
	fake.row[id] = (struct node_row){.precision = PREC_INT8, .requested = -1, .calibrator = -1, .fused_into = -1, .quantizable = true};
	return n->out[0];
}

// Conv with its Swish: three nodes of which the first owns the figures.
static int add_block(const char *name, int in, int64_t c, int64_t hw, int64_t macs)
{
	char text[96];
	int conv, x, owner = fake.g.n_nodes;
	snprintf(text, sizeof text, "%s/conv/Conv", name);
	conv = add_node(text, "Conv", in, -1, c, hw);
	snprintf(text, sizeof text, "%s/act/Sigmoid", name);
	x = add_node(text, "Sigmoid", conv, -1, c, hw);
	snprintf(text, sizeof text, "%s/act/Mul", name);
	x = add_node(text, "Mul", conv, x, c, hw);
	fake.row[owner].macs = macs;
	fake.row[owner + 1].fused_into = fake.row[owner + 2].fused_into = owner;
	return x;
}

static void build_graph(void)
{
	int x, y, p3, heads[2];
	fake.g = (struct graph){.node = fake.node,
	    .value = fake.value,
	    .input = fake.input,
	    .n_inputs = 1,
	    .output = fake.output_id,
	    .n_outputs = 2,
	    .path = "yolov5n.onnx",
	    .opset = 13};
	x = add_value("images", 3, 640);
	fake.value[x].is_input = true;
	fake.input[0] = x;
	x = add_block("/model.0", x, 16, 320, 177000000);
	x = add_block("/model.1", x, 32, 160, 118000000);
	y = add_block("/model.2/cv1", x, 16, 160, 13100000);
	p3 = add_block("/model.2/cv2", x, 16, 160, 13100000);
	x = add_block("/model.2/m/m.0/cv1", y, 16, 160, 6550000);
	x = add_node("/model.2/m/m.0/Add", "Add", x, y, 16, 160);
	x = add_node("/model.2/Concat", "Concat", x, p3, 32, 160);
	x = add_block("/model.2/cv3", x, 32, 160, 26200000);
	for (int i = 3; i < 9; i++) {
		char name[32];
		snprintf(name, sizeof name, "/model.%d", i);
		x = add_block(name, x, 64, 80, 118000000 / (i - 2));
	}
	x = add_node("/model.9/m/MaxPool", "MaxPool", x, -1, 64, 20);
	heads[0] = add_node("/model.24/m.0/Conv", "Conv", x, -1, 255, 80);
	fake.row[fake.g.n_nodes - 1].macs = 104000000;
	heads[1] = add_node("/model.24/m.1/Conv", "Conv", x, -1, 255, 40);
	fake.row[fake.g.n_nodes - 1].macs = 52000000;
	heads[0] = add_node("/model.24/Sigmoid", "Sigmoid", heads[0], -1, 255, 80);
	heads[1] = add_node("/model.24/Softmax", "Softmax", heads[1], -1, 255, 40);
	for (int i = 0; i < 2; i++) {
		fake.value[heads[i]].is_output = true;
		fake.output_id[i] = heads[i];
	}
	fake.row[fake.g.n_nodes - 1].precision = PREC_FLOAT;
	fake.row[fake.g.n_nodes - 1].quantizable = false;
}

// Names of the file, which here are those of the graph; the maps are made once.
static void build_names(void)
{
	static struct namemap *nodes, *none;
	bool first = !nodes;
	if (first) {
		nodes = namemap_new();
		none = namemap_new();
	}
	for (int i = 0; i < fake.g.n_nodes; i++) {
		fake.origin[i] = (struct origin){.name = fake.node_name[i], .op_type = fake.node[i].op->name, .node = i};
		if (first)
			namemap_put(nodes, fake.node_name[i], i);
	}
	fake.g.origin = fake.origin;
	fake.g.n_origins = fake.g.n_nodes;
	fake.g.node_by_name = nodes;
	fake.g.origin_by_name = fake.g.value_by_name = none;
}

static struct figures figures(int n, double snr)
{
	double nsr = pow(10, -snr / 10);
	struct figures out = {.known = n, .min = -14, .max = 9.875f, .nsr_mean = nsr, .cosine_mean = 1 - nsr / 2};
	out.pooled = (struct metrics){.snr_db = snr, .nsr = nsr, .cosine = 1 - nsr / 2, .mse = 2.5 * nsr, .max_error = 6 * sqrt(nsr),
	    .clipped = snr < 15 ? 0.0123 : snr < 25 ? 0.00004 : 0};
	return out;
}

static void build_hist(void)
{
	fake.hist[0] = (struct hist){.refs = 100, .lo = -17.31f, .hi = 9.92f};
	fake.hist[1] = (struct hist){.refs = 100, .lo = -17.31f, .hi = 9.92f};
	for (int i = 0; i < STATS_BINS; i++) {
		double x = -17.31 + 27.23 * (i + 0.5) / STATS_BINS;
		fake.hist[0].bin[i] = (uint32_t)(20000 * exp(-(x + 5) * (x + 5) / 12) + 3000 * exp(-(x - 4) * (x - 4) / 3));
		if (i % 38 == 10)
			fake.hist[1].bin[i] = 38 * fake.hist[0].bin[i];
	}
	fake.hist[1].bin[4 * 38 + 10] += 60000;
}

static void add_site(enum site_kind kind, int node, int value, double snr, int samples)
{
	struct site *s = &fake.site[fake.s.n_sites];
	int e = -2 - node % 4;
	fake.scale[fake.s.n_sites] = (float)ldexp(1, e);
	*s = (struct site){.kind = kind, .node = node, .value = value, .state = SLOT_ACTIVE, .follows = -1, .bits = 8, .axis = -1,
	    .n_scale = 1, .scale = &fake.scale[fake.s.n_sites], .zero = fake.zero, .qmin = -128, .qmax = 127, .used_levels = -1};
	fake.s.n_sites++;
	fake.row[node].n_sites++;
	if (!samples)
		return;
	s->graphwise = figures(samples, snr);
	s->layerwise = figures(samples, snr + 9 + node % 5);
	s->range = (struct tensor_range){.min = -17.31f, .max = 9.92f, .n = 1e6};
	s->used_levels = 0.25 + 0.011 * node;
	s->hist_float = &fake.hist[0];
	s->hist_quant = &fake.hist[1];
}

// Noise grows along the network and is worst at the heads.
static void build_sites(int samples)
{
	for (int i = 0; i < fake.g.n_nodes; i++) {
		bool head = strstr(fake.node[i].name, "model.24") != NULL;
		if (fake.row[i].fused_into >= 0)
			continue;
		fake.row[i].first_site = fake.s.n_sites;
		if (fake.row[i].precision == PREC_FLOAT)
			continue;
		add_site(SITE_OUTPUT, i, fake.node[i].out[0], head ? 6.4 + 2.7 * (i % 3) : 41 - 0.7 * i, samples);
		if (!strcmp(fake.node[i].op->name, "Concat")) {
			fake.site[fake.s.n_sites - 1].state = SLOT_PASSIVE;
			fake.site[fake.s.n_sites - 1].follows = fake.node[i].in[0];
		}
		if (strcmp(fake.node[i].op->name, "Conv"))
			continue;
		add_site(SITE_WEIGHT, i, fake.node[i].in[0], 38, samples);
		fake.site[fake.s.n_sites - 1].n_scale = 64;
		fake.site[fake.s.n_sites - 1].scale = fake.scales;
		fake.site[fake.s.n_sites - 1].axis = 0;
	}
}

static void build_runs(void)
{
	static const struct run_note runs[3] = {
		{.number = 1, .title = "esp32p4 kl", .out_snr_db = 6.4, .mean_snr_db = 27.1, .seconds = 4.2, .computed = 233, .total = 233,
		    .task_float = NAN, .task_quant = NAN},
		{.number = 2, .title = "set /model.23/cv3/conv/Conv int16", .out_snr_db = 9.1, .mean_snr_db = 27.4, .seconds = 0.41,
		    .computed = 12, .total = 233, .task_name = "AP", .task_float = 0.3711, .task_quant = 0.2984},
		{.number = 3, .title = "set /model.24/m.0/Conv and 4 more int16", .out_snr_db = 9.1, .mean_snr_db = 28.0, .seconds = 0.004,
		    .computed = 0, .total = 233, .task_name = "AP", .task_float = 0.3711, .task_quant = 0.3176, .has_task_change = true,
		    .task_change = {0.0192, 0.0112, 0.0271, 100}},
	};
	memcpy(fake.run, runs, sizeof runs);
	fake.s.run = fake.run;
	fake.s.n_runs = 3;
}

static void build_task(void)
{
	static const struct task_figure figure[] = {{"AP", {.3711, .3176}}, {"AP50", {.5612, .5048}}, {"AP75", {.3987, .3301}},
	    {"AP_small", {.1512, .1090}}, {"AP_medium", {.4200, .3654}}, {"AP_large", {.5210, .4622}}, {"AR_100", {.5120, .4711}}};
	static const struct task_class class[] = {{1, "person", 231, {.4411, .4012}}, {2, "bicycle", 14, {.2210, .0833}},
	    {3, NULL, 40, {.3105, .3320}}, {17, "cat", 9, {.6103, .6103}}, {90, "toothbrush", 0, {NAN, NAN}}};
	static const int labelled[] = {1, 2};
	static const struct task_sample sample[] = {{.sample = 3, .name = "000000000139.jpg", .value = {.8100, .1200}, .class = labelled,
	    .n_classes = 2},
	    {.sample = 0, .name = "000000000034.jpg", .value = {.5000, .3125}, .class = labelled, .n_classes = 1},
	    {.sample = 7, .name = "000000000285.jpg", .value = {.4000, .3900}, .class = labelled, .n_classes = 2},
	    {.sample = 1, .name = "000000000036.jpg", .value = {.2500, .2500}}, {.sample = 5, .name = "000000000190.jpg", .value = {NAN, NAN}},
	    {.sample = 2, .name = "000000000078.jpg", .value = {.1000, .2000}}};
	memcpy(fake.figure, figure, sizeof figure);
	memcpy(fake.class, class, sizeof class);
	memcpy(fake.sample, sample, sizeof sample);
	fake.task = (struct task_report){.refs = 1000, .kind = TASK_DETECT, .note = "labels instances.json (100 of 100 samples)",
	    .dataset = "coco/images", .samples = {100, 100}, .total = 100, .figure = fake.figure, .n_figures = 7, .class = fake.class,
	    .n_classes = 5, .sample = fake.sample, .n_samples = 6, .has_interval = true, .interval = {-.0535, -.0671, -.0402, 100}};
	fake.s.task = &fake.task;
}

// A picture of two coloured halves with an object that is missed and one that moved.
static void build_look(void)
{
	for (int i = 0; i < 48 * 64; i++) {
		fake.rgb[3 * i] = i % 64 < 32 ? 200 : 30;
		fake.rgb[3 * i + 1] = 90;
		fake.rgb[3 * i + 2] = (uint8_t)(4 * (i / 64));
	}
	static const char *class_name[] = {"person", "bicycle", NULL, "cat"};
	fake.truth[0] = (struct task_box){40, 60, 200, 300, 1, 0, NULL, NULL};
	fake.truth[1] = (struct task_box){380, 120, 160, 200, 1, 1, NULL, NULL};
	fake.box[TASK_FLOAT][0] = (struct task_box){44, 66, 190, 290, .91f, 0, NULL, NULL};
	fake.box[TASK_FLOAT][1] = (struct task_box){380, 130, 150, 190, .62f, 1, NULL, NULL};
	fake.box[TASK_QUANT][0] = (struct task_box){60, 90, 200, 300, .55f, 0, NULL, NULL};
	fake.change[0] = (struct task_change){CHANGE_MISSED, "bicycle", true, {fake.box[TASK_FLOAT][1], {0, 0, 0, 0, 0, 0, NULL, NULL}}, 0};
	fake.change[1] =
	    (struct task_change){CHANGE_APPEARED, "cat", false, {{0, 0, 0, 0, 0, 0, NULL, NULL}, {300, 20, 100, 60, .31f, 3, NULL, NULL}}, 0};
	fake.change[2] = (struct task_change){CHANGE_MOVED, "person", true, {fake.box[TASK_FLOAT][0], fake.box[TASK_QUANT][0]}, .79};
	fake.look = (struct task_look){.refs = 1000, .sample = 3, .kind = TASK_DETECT, .name = "000000000139.jpg", .known = true,
	    .least = .25, .truth = fake.truth, .n_truths = 2, .box = {fake.box[0], fake.box[1]}, .n_boxes = {2, 1}, .class_name = class_name,
	    .change = fake.change, .n_changes = 3, .value = {.81, .12}, .rgb = fake.rgb, .w = 64, .h = 48, .scale = .1};
	fake.s.look = &fake.look;
}

static void lay_cells(void)
{
	fake.look.cell = fake.cell;
	fake.look.cells_w = 16;
	fake.look.cells_h = 12;
}

// The same of a segmentation: a class lost a block of pixels, another gained a line.
static void build_segments(void)
{
	static const struct task_figure figure[] = {
	    {"mIoU", {.6513, .5821}}, {"pixel_accuracy", {.9104, .8870}}, {"mean_accuracy", {.7420, .7001}}};
	memcpy(fake.figure, figure, sizeof figure);
	fake.task.kind = fake.look.kind = TASK_SEGMENT;
	fake.task.note = "masks masks/ (100 of 100 samples), 19 classes";
	fake.task.n_figures = 3;
	for (int i = 0; i < 12 * 16; i++)
		fake.cell[i] = i / 16 < 5 && i % 16 > 9     ? CELL_LOST
		               : i / 16 == 8                ? CELL_GAINED
		               : i / 16 == 10 && i % 16 < 4 ? CELL_OTHER
		                                            : CELL_SAME;
	fake.region[0] = (struct task_region){1, "bicycle", {.62, .11}, true};
	fake.region[1] = (struct task_region){3, "cat", {NAN, 0}, false};
	fake.region[2] = (struct task_region){0, "person", {.80, .84}, true};
	fake.look.n_truths = fake.look.n_changes = fake.look.n_boxes[TASK_FLOAT] = fake.look.n_boxes[TASK_QUANT] = 0;
	fake.look.region = fake.region;
	fake.look.n_regions = 3;
	lay_cells();
}

// The same of poses: the person's box stayed nearly where it was, and its keypoints did not.
static void build_poses(void)
{
	static const struct keypoint marked[4] = {{140, 80, 2}, {100, 200, 2}, {180, 200, 1}, {0, 0, 0}};
	static const struct keypoint before[4] = {{142, 84, .9f}, {100, 205, .8f}, {178, 205, .8f}, {140, 340, .3f}};
	static const struct keypoint after[4] = {{150, 100, .9f}, {110, 260, .8f}, {200, 230, .8f}, {140, 340, .3f}};
	static int bone[3][2] = {{0, 1}, {0, 2}, {1, 3}};
	fake.task.kind = fake.look.kind = TASK_POSE;
	fake.task.note = "labels person_keypoints.json (100 of 100 samples, 1 class, 4 keypoints); decoder yolov8: rows cx,cy,w,h,classes "
	                 "(YOLOv8, v9, v10, 11, 26); NMS at IoU 0.7; classes in order of the category ids";
	fake.truth[0].point = marked;
	fake.box[TASK_FLOAT][0].point = fake.change[2].box[TASK_FLOAT].point = before;
	fake.box[TASK_QUANT][0].point = fake.change[2].box[TASK_QUANT].point = after;
	fake.look.points = 4;
	fake.look.bone = bone;
	fake.look.n_bones = 3;
}

// The same of masks: what lies at the person's feet was lost, and a column beside it gained.
static void build_outlines(void)
{
	fake.task.kind = fake.look.kind = TASK_INSTANCE;
	fake.task.note = "labels instances.json (100 of 100 samples, 80 classes, masks)";
	for (int i = 0; i < 12 * 16; i++)
		fake.cell[i] = i / 16 >= 8 && i / 16 < 11 && i % 16 >= 1 && i % 16 < 5 ? CELL_LOST
		               : i / 16 >= 3 && i / 16 < 11 && i % 16 == 6             ? CELL_GAINED
		                                                                       : CELL_SAME;
	lay_cells();
}

// The same of pictures: the quantized network's is darker than the float one's, and that than the truth.
static void build_pictures(void)
{
	static const struct task_figure figure[] = {{"psnr_db", {30.162, 29.848}}, {"psnr_y_db", {31.904, 31.611}}, {"ssim", {.8872, .8790}}};
	static const double psnr[][TASK_VARIANTS] = {{33.31, 30.02}, {28.76, 28.00}, {40.11, 39.98}, {25.5, 25.5}, {NAN, NAN}, {27.1, 27.4}};
	build_segments();
	memcpy(fake.figure, figure, sizeof figure);
	memcpy(fake.look.figure, figure, sizeof figure);
	for (size_t i = 0; i < sizeof psnr / sizeof *psnr; i++)
		memcpy(fake.sample[i].value, psnr[i], sizeof psnr[i]);
	memcpy(fake.look.value, psnr[0], sizeof psnr[0]);
	fake.task.kind = fake.look.kind = TASK_RESTORE;
	fake.task.note = "pictures HR (100 of 100 samples); levels of the outputs are 0..1";
	fake.task.n_classes = 0;
	fake.task.interval = (struct task_interval){-.3141, -.4012, -.2278, 100};
	for (int i = 0; i < 12 * 16; i++)
		fake.cell[i] = fake.cell[i] == CELL_OTHER ? CELL_SAME : fake.cell[i];
	for (int v = 0; v < TASK_VARIANTS; v++) {
		for (size_t i = 0; i < sizeof fake.made[v]; i++)
			fake.made[v][i] = fake.rgb[i] > 20 * (v + 1) ? (uint8_t)(fake.rgb[i] - 20 * (v + 1)) : 0;
		fake.look.made[v] = fake.made[v];
	}
	fake.look.n_figures = 3;
	for (int i = 0; i < 3; i++) {
		snprintf(fake.run[i].task_name, sizeof fake.run[i].task_name, "psnr_db");
		fake.run[i].task_float = 30.162;
		fake.run[i].task_quant = 29.2 + .324 * i;
		fake.run[i].task_change = (struct task_interval){.324, .21, .44, 100};
	}
}

// A program scores: nothing is known of what the networks found.
static void build_score(void)
{
	fake.task.kind = fake.look.kind = TASK_SCORE;
	fake.task.note = "scored by python3 wer.py";
	fake.figure[0].name = "score";
	fake.task.n_figures = 1;
	fake.task.n_classes = 0;
	fake.look.n_truths = fake.look.n_changes = fake.look.n_boxes[TASK_FLOAT] = fake.look.n_boxes[TASK_QUANT] = 0;
}

// Without labels: nobody knows which of the boxes are right.
static void build_agreement(void)
{
	static const struct task_figure figure[] = {{"cosine", {NAN, .9952}}, {"snr_db", {NAN, 19.1}}, {"same_boxes", {NAN, .613}}};
	memcpy(fake.figure, figure, sizeof figure);
	fake.task.kind = fake.look.kind = TASK_AGREE;
	fake.task.note = "without labels: the quantized outputs are compared with the float ones";
	fake.task.n_figures = 3;
	fake.task.n_classes = fake.look.n_truths = 0;
	for (int i = 0; i < fake.task.n_samples; i++) {
		fake.sample[i].value[TASK_FLOAT] = NAN;
		fake.sample[i].value[TASK_QUANT] = .999 - .002 * (6 - i);
	}
}

// A line of writing, in which the quantized network misreads a character and loses one.
static void build_texts(void)
{
	build_score();
	fake.task.kind = fake.look.kind = TASK_TEXT;
	fake.task.note = "labels rec_gt_test.txt (100 of 100 samples); 6623 characters";
	fake.figure[0].name = "accuracy";
	fake.figure[1].name = "nearness";
	fake.task.n_figures = 2;
	fake.look.class = "出口 Exit 12";
	fake.look.said[TASK_FLOAT] = "出口Exit12";
	fake.look.said[TASK_QUANT] = "出囗Ext12";
	fake.look.sure[TASK_FLOAT] = 1;
	fake.look.sure[TASK_QUANT] = .75;
}

// A face whose nearest other is somebody else's in the quantized network.
static void build_embedding(void)
{
	build_texts();
	fake.task.kind = fake.look.kind = TASK_EMBED;
	fake.task.note = "labels faces (100 of 100 samples, 20 classes); vectors of 512, by their cosines";
	fake.figure[0].name = "rank1";
	fake.figure[1].name = "retrieval_map";
	fake.look.class = fake.look.said[TASK_FLOAT] = "Ada Lovelace";
	fake.look.said[TASK_QUANT] = "Grace Hopper";
	fake.look.nearest[TASK_FLOAT] = "ada_0012.jpg";
	fake.look.nearest[TASK_QUANT] = "grace_0003.jpg";
	fake.look.sure[TASK_FLOAT] = .834;
	fake.look.sure[TASK_QUANT] = .611;
}

// Numbers: errors are less when the network is better.
static void build_numbers(void)
{
	static const struct task_figure figure[] = {{"r2", {.9848, .9312}}, {"rmse", {.0464, .0987}}, {"mae", {.039, .0371}}};
	build_texts();
	memcpy(fake.figure, figure, sizeof figure);
	fake.task.n_figures = 3;
	fake.task.kind = fake.look.kind = TASK_REGRESS;
	fake.task.note = "numbers angles.csv (100 of 100 samples)";
	fake.look.class = "2.666, -1.43, 4.99";
	fake.look.said[TASK_FLOAT] = "2.701, -1.432, 5.063";
	fake.look.said[TASK_QUANT] = "2.31, -1.5, 5.125";
	fake.look.sure[TASK_FLOAT] = .988;
	fake.look.sure[TASK_QUANT] = .946;
}

static void build_depths(void)
{
	static const struct task_figure figure[] = {{"delta1", {.9316, .8902}}, {"abs_rel", {.0996, .1311}}, {"rmse", {.3037, .4011}}};
	build_pictures();
	memcpy(fake.figure, figure, sizeof figure);
	memcpy(fake.look.figure, figure, sizeof figure);
	memcpy(fake.look.value, figure[0].value, sizeof figure[0].value);
	fake.task.kind = fake.look.kind = TASK_DEPTH;
	fake.task.note = "depths depth (100 of 100 samples); the network says metres, the labels millimetres";
	fake.task.interval = (struct task_interval){-.0414, -.0512, -.0307, 100};
	for (int i = 0; i < 6; i++)
		memcpy(fake.sample[i].value, figure[0].value, sizeof figure[0].value);
}

static int node_named(const char *name)
{
	for (int i = 0; i < fake.g.n_nodes; i++)
		if (!strcmp(fake.node[i].name, name))
			return i;
	return -1;
}

// One edit of each kind: accepted, refused, a scale; pending while it runs.
static void make_edits(bool pending)
{
	struct node_row *head = &fake.row[node_named("/model.24/m.0/Conv")], *add = &fake.row[node_named("/model.2/m/m.0/Add")];
	struct node_row *pool = &fake.row[node_named("/model.9/m/MaxPool")];
	struct site *site = &fake.site[head->first_site];
	head->requested = PREC_INT16;
	head->edited = pool->edited = true;
	head->precision = pending ? PREC_INT8 : PREC_INT16;
	head->pending = pending;
	site->bits = pending ? 8 : 16;
	site->before = figures(32, 4.1);
	pool->requested = PREC_FLOAT;
	pool->refused = "MaxPool moves codes only: it keeps the width of its input";
	add->edited = true;
	fake.scale_requested[fake.node[add - fake.row].out[0]] = 0.0625;
	fake.site[add->first_site].locked = true;
	fake.s.n_edits = 3;
	fake.s.dirty = pending;
}

// What :blame says of it: three parts, and two runs that were not split.
static struct blames *fake_blames(const char *task)
{
	struct blames *b = &fake.blames;
	double unknown = NAN;
	*b = (struct blames){.refs = 1000, .at = fake.blame, .n = 5, .of_node = fake.blame_of, .n_nodes = fake.g.n_nodes, .total = 0.0731,
		.total_score = .318, .float_score = .371, .weights = {.0112, 24.06, *task ? .004 : unknown},
		.activations = {.0688, 9.31, *task ? .049 : unknown}};
	snprintf(b->task, sizeof b->task, "%s", task);
	for (int i = 0; i < fake.g.n_nodes; i++)
		fake.blame_of[i] = -1;
	for (int i = 0; i < b->n; i++) {
		int node = fake.g.n_nodes - 1 - 3 * i;
		fake.blame[i] = (struct blame){.node = node,
		    .last_node = node,
		    .value = fake.node[node].out[0],
		    .parts = 1,
		    .alone = 0.04 / (i + 1),
		    .score_loss = unknown,
		    .in_float = {0.03 / (i + 1), 2.5 - i, unknown},
		    .in_wide = {0.02 / (i + 2), 1.2 - i, unknown},
		    .wide = 0.0123 * i,
		    .cost = unknown};
		if (i < 2 && *task) {
			fake.blame[i].score_loss = .03 - .01 * i;
			fake.blame[i].in_float.score = .021 - .015 * i;
			fake.blame[i].in_wide.score = .012 + .004 * i;
		}
		if (i < 3)
			fake.blame_of[node] = i;
	}
	for (int i = 3; i < 5; i++) {
		fake.blame[i].run = true;
		fake.blame[i].parts = 6;
		fake.blame[i].last_node = fake.blame[i].node + 2;
		fake.blame[i].value = -1;
		fake.blame[i].wide = fake.blame[i].in_wide.damage = fake.blame[i].in_wide.snr_db = unknown;
	}
	return b;
}

// Convolutions at 8 bit and the first at 16 too, the others without a precision; the last convolution was forgotten.
static struct costs *fake_costs(void)
{
	static double us[NODES][LATENCY_WIDTHS];
	static struct latency l;
	l = (struct latency){.refs = 1000, .path = "board.csv", .n_nodes = fake.g.n_nodes, .us = us, .lines = 42, .taken = 42};
	for (int n = 0; n < fake.g.n_nodes; n++) {
		bool conv = fake.row[n].macs > 0;
		for (int w = 0; w < LATENCY_WIDTHS; w++)
			us[n][w] = NAN;
		us[n][conv ? PREC_INT8 : LATENCY_UNSAID] = conv ? (double)fake.row[n].macs / 4e4 : 12.5;
		if (n == 0)
			us[n][PREC_INT16] = 2.5 * us[n][PREC_INT8];
		if (n == node_named("/model.24/m.0/Conv"))
			us[n][PREC_INT8] = NAN;
	}
	return costs_new(&fake.s, &l);
}

// Channels of whatever tensor is looked at (all sites of the fake have one slot):
// each of another reach, some conspicuous.
static inline struct channels *fake_channels(int n)
{
	static struct channel at[4096];
	static struct channels c;
	static struct channel_sample sample[] = {{"000000000285.jpg", 8.3}, {"000000000139.jpg", 11.9}, {"000000000034.jpg", 21.4},
	    {"000000000190.jpg", 22.0}, {"000000000078.jpg", 35.1}};
	c = (struct channels){
	    .refs = 1000, .axis = 1, .n = n, .at = at, .samples = 32, .of = 32, .spread = 1.4, .sample = sample, .n_samples = 5};
	for (int i = 0; i < n; i++) {
		float reach = i % 16 == 3 ? 0.0f : i % 29 == 11 ? 12.5f : 0.5f + (float)(i * 37 % 19) / 6;
		double snr = 40 - (i * 53 % 31);
		at[i] = (struct channel){.min = 0 - reach / (float)(1 + i % 3),
		    .max = reach,
		    .qmin = 0 - reach / 2,
		    .qmax = reach,
		    .scale = 0.25f,
		    .now = {.snr_db = reach > 0 ? snr : NAN,
		        .mse = 1e-3 * (1 + i % 7),
		        .max_error = 0.01 * (i % 23),
		        .clipped = i % 29 == 11 ? .02 : 0},
		    .alone_db = reach > 0 ? snr + 3 : NAN,
		    .share = 1.0 / n,
		    .shift = 0.01 * (i % 9 - 4),
		    .unused_bits = log2(12.5 / (double)reach),
		    .used = (double)reach / 13};
		at[i].flags = (reach > 0 ? 0u : CHANNEL_DEAD) | (i % 29 == 11 ? CHANNEL_OUTLIER | CHANNEL_CLIPPED : 0u);
		for (int bit = 0; bit < CHANNEL_FLAGS; bit++)
			c.count[bit] += at[i].flags >> bit & 1;
	}
	return &c;
}

static struct snapshot *fake_snapshot(enum fake_kind kind)
{
	int samples = kind == FAKE_EMPTY ? 0 : kind == FAKE_RUNNING ? 12 : 32;
	costs_drop(&fake.s.costs);
	memset(&fake, 0, sizeof fake);
	for (int i = 0; i < 64; i++)
		fake.scales[i] = (float)ldexp(1, -9 + i % 5);
	build_graph();
	build_names();
	build_hist();
	fake.s = (struct snapshot){.refs = 1000, .g = &fake.g, .stage = STAGE_DONE, .progress = 1, .seconds = 0.41, .left = -1, .samples = 32,
	    .samples_done = samples, .target = "esp32p4", .method = CALIB_KL, .n_rows = fake.g.n_nodes, .row = fake.row,
	    .scale_requested = fake.scale_requested, .site = fake.site,
	    .n_outputs = 2, .output = fake.output};
	build_sites(samples);
	fake.s.macs[PREC_INT8] = 700000000;
	fake.s.macs[PREC_INT16] = 104000000;
	if (kind == FAKE_EMPTY)
		return &fake.s;
	fake.output[0] = figures(samples, 9.1);
	fake.output[1] = figures(samples, 18.2);
	build_runs();
	build_task();
	build_look();
	if (kind == FAKE_SEGMENTED)
		build_segments();
	if (kind == FAKE_POSED)
		build_poses();
	if (kind == FAKE_OUTLINED)
		build_outlines();
	if (kind == FAKE_RESTORED)
		build_pictures();
	if (kind == FAKE_SCORED)
		build_score();
	if (kind == FAKE_READ)
		build_texts();
	if (kind == FAKE_EMBEDDED)
		build_embedding();
	if (kind == FAKE_NUMBERS)
		build_numbers();
	if (kind == FAKE_DEPTHS)
		build_depths();
	if (kind == FAKE_AGREED)
		build_agreement();
	if (kind == FAKE_BLAMED || kind == FAKE_DAMAGED)
		fake.s.blames = fake_blames(kind == FAKE_BLAMED ? "AP" : "");
	fake.s.task_old = kind == FAKE_RUNNING;
	make_edits(kind == FAKE_RUNNING);
	if (kind == FAKE_TIMED)
		fake.s.costs = fake_costs();
	if (kind == FAKE_RUNNING) {
		fake.s.stage = STAGE_MEASURE;
		fake.s.progress = 0.37;
		fake.s.left = 1.2;
	fake.s.rate = 14;
	}
	return &fake.s;
}

#endif
