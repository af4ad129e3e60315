// Which file it is, and its wishes as edits: a step of the history for each width, one for the scales.
#include "qtui/interop/import.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "wishes.h"

enum { MOST = 64 << 20 };

static const struct reader {
	const char *name, *members;
	void (*read)(struct wishes *w, const cJSON *root);
} readers[] = {
#define READER(name, members, reader) {name, members, reader},
#define TEXT_READER(name, reader)
#include "readers.def"
#undef READER
#undef TEXT_READER
};
static const struct text_reader {
	const char *name;
	bool (*read)(struct wishes *w, char *text);
} text_readers[] = {
#define READER(name, members, reader)
#define TEXT_READER(name, reader) {name, reader},
#include "readers.def"
#undef READER
#undef TEXT_READER
};

static bool has_member(const cJSON *root, const char *members)
{
	char word[64];
	int used = 0;
	for (; sscanf(members, "%63s%n", word, &used) == 1; members += used)
		if (cJSON_GetObjectItemCaseSensitive(root, word))
			return true;
	return false;
}

static const struct {
	const char *members, *instead;
} elsewhere[] = {
    {"quantization_parameters calibration_parameters", "an xquant configuration is given with --config"},
    {"qtui_session", "a session is given with --session"},
    {"customized_quantize_layers", "of RKNN-Toolkit 1, which numbers its layers: the .quantization.cfg of RKNN-Toolkit2 is read"},
};

static enum status read_tree(struct wishes *w, const char **format, const cJSON *root, const char *path, struct error *err)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (has_member(root, readers[i].members)) {
			*format = readers[i].name;
			readers[i].read(w, root);
			return STATUS_OK;
		}
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (has_member(root, elsewhere[i].members))
			return error_set(err, STATUS_UNSUPPORTED, "%s: %s", path, elsewhere[i].instead);
	return error_set(err, STATUS_FORMAT, "%s: not a file of esp-ppq, AIMET, ONNX Runtime, Quark, NNCF, TensorRT, tpu-mlir, HMCT, Pulsar2 or RKNN that is known here", path);
}

static bool read_text(struct wishes *w, const char **format, char *text)
{
	for (size_t i = 0; i < sizeof text_readers / sizeof *text_readers; i++)
		if (text_readers[i].read(w, text)) {
			*format = text_readers[i].name;
			return true;
		}
	return false;
}

// Behind lines that are comments in JSON as other tools take it or in YAML, JSON begins with a bracket. In YAML, a # within a name begins none.
static bool is_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	while (text[0] == '#' || (text[0] == '/' && text[1] == '/')) {
		text += strcspn(text, "\n");
		text += strspn(text, " \t\r\n");
	}
	return strchr("{[/", *text) != NULL; // also where there is nothing
}

static enum status parse(cJSON **root, struct bytes *b, const char *path, struct error *err)
{
	char *text = (char *)b->data;
	if (!is_json(text))
		return json_parse_yaml(root, text, b->size, path, err);
	json_blank_comments(text);
	return json_parse(root, text, b->size, path, err);
}

static enum status read_file(struct wishes *w, const char **format, const char *path, struct error *err)
{
	struct bytes b = {0};
	cJSON *root = NULL;
	enum status s = file_read_text(&b, path, MOST, err);
	if (s != STATUS_OK)
		return s;
	if (!read_text(w, format, (char *)b.data)) {
		s = parse(&root, &b, path, err);
		if (s == STATUS_OK)
			s = read_tree(w, format, root, path, err);
	}
	cJSON_Delete(root);
	bytes_done(&b);
	return s;
}

static bool differs(const struct study *st, const struct wishes *w, int node, enum precision p)
{
	int edit = study_edits(st)->precision[node];
	return edit >= 0 ? edit != (int)p : w->p->precision[node] != p;
}

static void note_conflict(struct wishes *w, const struct study *st, int node, enum precision p)
{
	int edit = study_edits(st)->precision[node];
	if (edit >= 0)
		wish_note(w, "%s: was set to %s, the file's %s is taken", w->g->node[node].name, precision_name((enum precision)edit), precision_name(p));
}

static int set_width(struct wishes *w, struct study *st, enum precision p, struct error *err)
{
	int *nodes = xcalloc((size_t)w->g->n_nodes + 1, sizeof *nodes), n = 0;
	for (int i = 0; i < w->g->n_nodes; i++) {
		if (w->precision[i] != (int)p || !differs(st, w, i, p))
			continue;
		if (plan_check_edit(w->bare, i, p, 0, err) != STATUS_OK) {
			wish_note(w, "%s", err->text);
			continue;
		}
		note_conflict(w, st, i, p);
		nodes[n++] = i;
	}
	if (n && study_set(st, nodes, n, (int)p, NULL, err) != STATUS_OK)
		n = 0;
	free(nodes);
	return n;
}

static bool accepts_scale(struct wishes *w, const struct study *st, int node, struct error *err)
{
	double was = study_edits(st)->scale[node], scale = w->scale[node];
	if (!(scale > 0) || !isfinite(scale)) {
		wish_note(w, "%s: %g is no scale", w->g->node[node].name, scale);
		return false;
	}
	if (plan_check_edit(w->bare, node, PREC_INT8, scale, err) != STATUS_OK) {
		wish_note(w, "%s", err->text);
		return false;
	}
	if (was != 0 && was != scale)
		wish_note(w, "%s: had the scale %.9g, the file's %.9g is taken", w->g->node[node].name, was, scale);
	return was != scale;
}

static int set_scales(struct wishes *w, struct study *st, struct error *err)
{
	struct scale_edit *e = xcalloc((size_t)w->g->n_nodes + 1, sizeof *e);
	int n = 0;
	for (int i = 0; i < w->g->n_nodes; i++)
		if (w->scale[i] != 0 && accepts_scale(w, st, i, err))
			e[n++] = (struct scale_edit){i, w->scale[i]};
	if (n && study_scales(st, e, n, err) != STATUS_OK) {
		wish_note(w, "%s", err->text);
		n = 0;
	}
	free(e);
	return n;
}

// The network's groups and widths under the decision in force; no scales, which nothing here needs.
static enum status plan_in_force(struct plan **p, struct study *st, struct error *err)
{
	struct plan_cache *cache = plan_cache_new();
	struct snapshot *now = study_snapshot(st);
	enum status s = plan_new(p, study_graph(st), study_target(st), now->method, study_edits(st), cache, err);
	snapshot_drop(&now);
	plan_cache_free(&cache);
	return s;
}

static enum status take_over(struct import_report *r, struct wishes *w, struct study *st, struct error *err)
{
	static const enum precision widths[] = {PREC_FLOAT, PREC_INT16, PREC_INT8};
	enum status status = STATUS_OK;
	if (w->method >= 0 && w->method != (int)w->p->method) {
		status = study_set_method(st, (enum calib_method)w->method, err);
		r->method = status == STATUS_OK;
	}
	for (size_t i = 0; status == STATUS_OK && i < sizeof widths / sizeof *widths; i++)
		r->precisions += set_width(w, st, widths[i], err);
	if (status == STATUS_OK)
		r->scales = set_scales(w, st, err);
	return status;
}

enum status import_file(struct import_report *r, struct study *st, const char *path, struct error *err)
{
	struct wishes w;
	struct plan *p = NULL, *bare = plan_bare(study_graph(st), study_target(st));
	*r = (struct import_report){0};
	enum status status = plan_in_force(&p, st, err);
	if (status == STATUS_OK) {
		wishes_init(&w, p, &r->notes);
		w.bare = bare;
		status = read_file(&w, &r->format, path, err);
		if (status == STATUS_OK)
			status = take_over(r, &w, st, err);
		r->n_notes = w.n_notes;
		wishes_done(&w);
	}
	plan_free(&bare);
	plan_free(&p);
	return status;
}

void import_report_done(struct import_report *r)
{
	str_done(&r->notes);
	*r = (struct import_report){0};
}
