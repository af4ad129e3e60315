// Tasks: opening, and the outputs as all kinds read them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "decode/decode.h"
#include "decode/pixels.h"
#include "kinds/detect.h"
#include "kinds/program.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "task_impl.h"

static const struct task_ops *const kinds[TASK_KINDS] = {[TASK_DETECT] = &detect_ops,
    [TASK_POSE] = &pose_ops,
    [TASK_INSTANCE] = &instance_ops,
    [TASK_OBB] = &obb_ops,
    [TASK_CLASSIFY] = &classify_ops,
    [TASK_SEGMENT] = &segment_ops,
    [TASK_RESTORE] = &restore_ops,
    [TASK_AGREE] = &agree_ops,
    [TASK_SCORE] = &score_ops,
    [TASK_TEXT] = &text_ops,
    [TASK_EMBED] = &embed_ops,
    [TASK_DEPTH] = &depth_ops,
    [TASK_REGRESS] = &regress_ops};

const char *task_kind_name(enum task_kind k)
{
	return kinds[k]->name;
}

const char *task_figure_name(enum task_kind k)
{
	return kinds[k]->figure;
}

const char *task_leading_figure(const struct task *t)
{
	return t->ops->leads ? t->ops->leads(t) : t->ops->figure;
}

enum status task_kind_unknown(const char *option, const char *name, struct error *err)
{
	struct str known = {0};
	for (int k = 0; k < TASK_KINDS; k++)
		str_addf(&known, "%s%s", k == 0 ? "" : k == TASK_KINDS - 1 ? " or " : ", ", kinds[k]->name);
	error_set(err, STATUS_USAGE, "%s %.80s: %s", option, name, str_text(&known));
	str_done(&known);
	return err->status;
}

enum task_shows task_shows(enum task_kind k)
{
	return kinds[k]->shows;
}

const char *task_judge(enum task_kind k)
{
	return k == TASK_SCORE ? "the scorer" : "the labels";
}

bool task_kind_parse(enum task_kind *out, const char *name)
{
	for (int k = 0; k < TASK_KINDS; k++)
		if (strcmp(kinds[k]->name, name) == 0) {
			*out = (enum task_kind)k;
			return true;
		}
	return false;
}

enum status task_decoder_check(const char *name, struct error *err)
{
	return decode_named(&(const struct decoder *){NULL}, &(struct anchors){0}, name, err);
}

const char *task_decoder_name(int i)
{
	int n;
	const struct decoder *row = decode_rows(&n);
	return i < n ? row[i].name : NULL;
}

// ---- opening

// C of [C], [1, C], [1, C, 1, 1]; 0 for other shapes.
static int64_t class_count(const struct shape *s)
{
	int64_t n = shape_count(s);
	return n > 1 && s->rank >= 1 && s->dim[s->rank > 1] == n ? n : 0;
}

bool task_outputs_known(const struct graph *g)
{
	for (int i = 0; i < g->n_outputs; i++)
		if (shape_count(&g->value[g->output[i]].shape) < 0)
			return false;
	return true;
}

int64_t task_class_count(const struct graph *g)
{
	int64_t most = 0;
	for (int i = 0; i < g->n_outputs; i++) {
		int64_t n = class_count(&g->value[g->output[i]].shape);
		most = n > most ? n : most;
	}
	return most;
}

static bool is_classifier(const struct graph *g)
{
	const char *task = graph_metadata(g, "task");
	if (task)
		return strcmp(task, "classify") == 0;
	for (int i = 0; i < g->n_outputs; i++)
		if (class_count(&g->value[g->output[i]].shape) == 0)
			return false;
	return g->n_outputs > 0;
}

// A picture that is larger than the input is none of classes.
static enum labels_pictures makes_pictures(const struct graph *g)
{
	struct pixels p;
	int w, h;
	head_input(&w, &h, g);
	if (!w || !pixels_find(&p, g, NULL, w, h) || !pixels_may_be_colours(&p))
		return PICTURES_NONE;
	return p.w > w ? PICTURES_SURE : p.likely ? PICTURES_NONE : PICTURES_MAYBE;
}

static enum labels_kind likely_labels(const struct graph *g, const struct labels_samples *s)
{
	if (s->points)
		return LABELS_POSES;
	if (is_classifier(g))
		return LABELS_CLASSES;
	if (s->texts)
		return LABELS_TEXTS;
	return s->pictures == PICTURES_SURE ? LABELS_PICTURES : pixels_are_all(g) ? LABELS_MASKS : LABELS_BOXES;
}

// Labels beside the data set: of the kind that was asked for, else of the one that the model looks like, else of
// another; masks and pictures only where the model looks so.
static char *find_labels(const struct task *t, const struct labels_samples *s, bool folders)
{
	const char *dataset = dataset_path(t->d);
	if (t->opt.kind == TASK_AGREE || t->opt.kind == TASK_SCORE)
		return NULL;
	char *found = labels_find(dataset, t->opt.kind < 0 ? likely_labels(t->g, s) : (enum labels_kind)kinds[t->opt.kind]->labels, s);
	if (!found && (t->opt.kind == TASK_POSE || t->opt.kind == TASK_INSTANCE || t->opt.kind == TASK_OBB))
		found = labels_find(dataset, LABELS_BOXES, s); // which may have keypoints, outlines and corners too
	if (!found && t->opt.kind == TASK_DETECT)
		found = labels_find(dataset, LABELS_POSES, s); // which have boxes
	if (!found && t->opt.kind < 0 && s->pictures != PICTURES_NONE)
		found = labels_find(dataset, LABELS_PICTURES, s);
	for (int k = 0; !found && t->opt.kind < 0 && !folders && k < LABELS_MASKS; k++)
		found = labels_find(dataset, (enum labels_kind)k, s);
	return found;
}

static enum status read_labels(struct task *t, struct error *err)
{
	struct placement where;
	struct labels_samples s = {.n = t->n_samples};
	head_points(&s.points, &s.dims, t->g);
	s.rotated = t->opt.kind == TASK_OBB || (t->opt.kind < 0 && detect_is_rotated(t->g));
	s.texts = t->opt.kind == TASK_TEXT || (t->opt.kind < 0 && texts_said(&(int){0}, t));
	s.values = t->opt.kind == TASK_DEPTH || t->opt.kind == TASK_REGRESS;
	s.outlines = t->opt.kind == TASK_INSTANCE || (t->opt.kind < 0 && detect_may_have_masks(t->g));
	s.pictures = t->opt.kind == TASK_RESTORE ? PICTURES_SURE : t->opt.kind < 0 ? makes_pictures(t->g) : PICTURES_NONE;
	const char **file = xcalloc((size_t)t->n_samples + 1, sizeof *file);
	enum status st = STATUS_OK;
	for (int i = 0; i < t->n_samples; i++)
		file[i] = dataset_file(t->d, i);
	s.file = file;
	if (t->n_samples && dataset_place(t->d, 0, &where, err) == STATUS_OK) {
		s.w = where.input_w;
		s.h = where.input_h;
	}
	bool classes = t->opt.kind == TASK_EMBED || ((t->opt.kind < 0 || t->opt.kind == TASK_CLASSIFY) && is_classifier(t->g));
	bool folders = classes && labels_are_folders(&s);
	char *path = t->opt.labels ? xstrdup(t->opt.labels) : find_labels(t, &s, folders);
	if (path || folders)
		st = labels_read(&t->labels, path, &s, err);
	free(path);
	free(file);
	return st;
}

// Labels with keypoints or outlines serve a network of boxes as well.
static bool serve(const struct labels *l, enum task_kind kind)
{
	return kinds[kind]->labels == (l ? (int)l->kind : -1) || (kind == TASK_DETECT && l && labels_have_boxes(l));
}

static enum task_kind natural_kind(const struct task *t)
{
	int k = 0;
	for (int more = TASK_POSE; t->labels && more <= TASK_OBB; more++)
		if (kinds[more]->labels == (int)t->labels->kind && detect_finds(t->g, t->labels, t->opt.decoder, (enum task_kind)more))
			return (enum task_kind)more;
	if (t->labels && t->labels->kind == LABELS_CLASSES && embed_is_likely(t->g))
		return TASK_EMBED;
	while (!serve(t->labels, (enum task_kind)k))
		k++;
	return (enum task_kind)k;
}

static enum status choose_kind(struct task *t, struct error *err)
{
	static const char *const held[LABELS_KINDS] = {[LABELS_BOXES] = "boxes",
	    [LABELS_POSES] = "keypoints",
	    [LABELS_OUTLINES] = "outlines",
	    [LABELS_ROTATED] = "rotated boxes",
	    [LABELS_CLASSES] = "a class for each sample",
	    [LABELS_MASKS] = "a class for each pixel",
	    [LABELS_PICTURES] = "a picture for each sample",
	    [LABELS_TEXTS] = "a text for each sample",
	    [LABELS_VALUES] = "numbers for each sample"};
	t->kind = t->opt.kind < 0 ? natural_kind(t) : (enum task_kind)t->opt.kind;
	if (kinds[t->kind]->labels < 0 || serve(t->labels, t->kind))
		return STATUS_OK;
	bool objects = t->kind == TASK_SEGMENT && detect_may_have_masks(t->g); // Ultralytics calls both so
	const char *hint = objects ? "; masks of objects are --task instance" : "";
	if (!t->labels)
		return error_set(err, STATUS_NOTFOUND, "%s: no labels lie beside it; name them with --labels%s", dataset_path(t->d), hint);
	return error_set(err, STATUS_USAGE, "%s holds %s; --task %s needs %s%s", t->labels->source, held[t->labels->kind],
	    task_kind_name(t->kind), held[kinds[t->kind]->labels], hint);
}

enum status task_open(struct task **out, const struct graph *g, const struct dataset *d, const struct task_options *opt,
    struct error *err)
{
	struct task *t = xcalloc(1, sizeof *t);
	*t = (struct task){.g = g, .d = d, .opt = *opt, .n_samples = dataset_count(d)};
	pthread_mutex_init(&t->lock, NULL);
	t->nets = keymap_new();
	names_of_model(&t->names, g);
	enum status st = read_labels(t, err);
	if (st == STATUS_OK)
		st = choose_kind(t, err);
	if (st == STATUS_OK) {
		t->ops = kinds[t->kind];
		st = t->ops->open ? t->ops->open(t, err) : STATUS_OK;
	}
	t->read_by = key_add_text((struct key){0}, opt->decoder ? opt->decoder : "");
	for (int i = 0; t->names.of_file && i < t->names.n; i++)
		t->read_by = key_add_text(t->read_by, t->names.at[i] ? t->names.at[i] : "");
	const char *program = opt->scorer ? opt->scorer : opt->boxes_by;
	if (program)
		t->read_by = key_add_key(t->read_by, program_key(program));
	t->opt.labels = t->opt.decoder = t->opt.scorer = t->opt.boxes_by = NULL;
	if (st != STATUS_OK)
		task_free(&t);
	*out = t;
	return st;
}

void task_free(struct task **tp)
{
	struct task *t = *tp;
	if (!t)
		return;
	task_nets_free(t);
	if (t->ops && t->ops->close)
		t->ops->close(t);
	labels_free(&t->labels);
	names_done(&t->names);
	pthread_mutex_destroy(&t->lock);
	free(t);
	*tp = NULL;
}

enum task_kind task_kind(const struct task *t)
{
	return t->kind;
}

const struct dataset *task_dataset(const struct task *t)
{
	return t->d;
}

bool task_has_label(const struct task *t, int sample)
{
	return !t->labels || t->labels->label[sample].known;
}

int task_samples(const struct task *t)
{
	return t->labels ? t->labels->n_known : t->n_samples;
}

struct key task_file_key(struct key k, const char *path)
{
	struct bytes b;
	struct error err;
	if (file_map(&b, path, &err))
		return key_add_text(k, err.text); // reading it will tell
	k = key_add(k, b.data, b.size);
	bytes_done(&b);
	return k;
}

static struct key labels_key(const struct labels *l, int n_samples)
{
	struct key k = key_add(key_add_int((struct key){0}, l->kind), l->id, (size_t)l->n_classes * sizeof *l->id);
	for (int i = 0; i < n_samples; i++) {
		const struct label *one = &l->label[i];
		k = key_add_int(key_add_int(k, one->known ? one->class : -1), one->n);
		for (int b = 0; b < one->n; b++) {
			const struct coco_truth *t = &one->truth[b];
			const double v[] = {t->box.x, t->box.y, t->box.w, t->box.h, t->area, t->class, t->crowd};
			k = key_add(k, v, sizeof v);
			k = t->point ? key_add(k, t->point, (size_t)l->skeleton.n * sizeof *t->point) : k;
			k = t->mask ? key_add(k, t->mask->edge, (size_t)t->mask->n * sizeof *t->mask->edge) : k;
		}
		k = one->text ? key_add_text(k, one->text) : k;
		k = one->value ? key_add(k, one->value, (size_t)one->n_values * sizeof *one->value) : k;
		k = one->file ? task_file_key(k, one->file) : k;
	}
	for (int c = 0; c < l->n_classes; c++)
		k = key_add_text(k, l->name[c] ? l->name[c] : ""); // they say which class of the model is meant
	k = l->stack ? task_file_key(k, l->source) : k;
	return key_add(k, l->class_of, (size_t)l->n_numbers * sizeof *l->class_of);
}

struct key task_labels_key(const struct task *t)
{
	const double v[] = {t->kind, t->opt.score, t->opt.iou, t->opt.boxes};
	struct key k = key_add(t->read_by, v, sizeof v);
	return t->labels ? key_add_key(k, labels_key(t->labels, t->n_samples)) : k;
}

void task_note(struct task *t, char *out, size_t size)
{
	pthread_mutex_lock(&t->lock);
	t->ops->note(t, out, size);
	if (dataset_left_out(t->d) && strlen(out) < size)
		snprintf(
		    out + strlen(out), size - strlen(out), ", %d picture%s left out", dataset_left_out(t->d), plural(dataset_left_out(t->d)));
	pthread_mutex_unlock(&t->lock);
}

// ---- outputs

int task_class_output(const struct graph *g, const struct tensor *out)
{
	int best = -1;
	int64_t most = 0;
	for (int i = 0; i < g->n_outputs; i++)
		if (class_count(&out[i].shape) > most) {
			most = class_count(&out[i].shape);
			best = i;
		}
	return best;
}
