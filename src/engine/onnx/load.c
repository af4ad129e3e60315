// onnx_load and onnx_read_tensor: from a file to what the rest of the program sees.
#include <pthread.h>
#include <string.h>
#include "dims.h"
#include "import.h"
#include "normalise.h"
#include "proto/model_file.h"
#include "proto/tensor_proto.h"
#include "proto/wire.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/thread.h"
#include "rewrite/channels_last.h"
#include "rewrite/functions.h"
#include "rewrite/maps.h"
#include "rewrite/on_codes.h"
#include "rewrite/sequences.h"
#include "rewrite/strings.h"

#define HASHED_AT_ONCE ((size_t)4 << 20)

// The hash of the file is the slowest single part of loading, so a thread computes it meanwhile.
// What it has read leaves memory.
struct hasher {
	pthread_t thread;
	const struct bytes *file;
	char hex[65];
	bool runs;
};

static void *hash_file(void *arg)
{
	struct hasher *h = arg;
	struct sha256 *sum = sha256_begin();
	for (size_t at = 0, step; at < h->file->size; at += step) {
		step = h->file->size - at < HASHED_AT_ONCE ? h->file->size - at : HASHED_AT_ONCE;
		sha256_add(sum, h->file->data + at, step);
		bytes_forget(h->file, h->file->data + at, step);
	}
	sha256_end(&sum, h->hex);
	return NULL;
}

static void hasher_start(struct hasher *h, const struct bytes *file)
{
	h->file = file;
	h->runs = thread_start(&h->thread, hash_file, h);
}

static void hasher_wait(struct hasher *h)
{
	if (h->runs)
		pthread_join(h->thread, NULL);
	else
		hash_file(h);
}

// A model, and the sizes that are tried for what is dynamic in it.
struct loading {
	const Onnx__ModelProto *model;
	struct externals *externals;
	const struct onnx_options *opt;
	struct dims_try sizes;
	bool shape_failed; // by these sizes
};

static enum status load_once(struct graph **out, struct loading *l, struct error *err)
{
	const Onnx__GraphProto *from = l->model->graph;
	struct draft *d = draft_new(l->model, l->externals);
	struct scope *scope = draft_scope(d, NULL);
	d->opt = l->opt;
	enum status s = dims_inputs(d, from, scope, l->opt, &l->sizes, err);
	if (!s)
		s = import_graph(d, from, scope, err);
	if (!s)
		s = normalise_outputs(d, from, scope, err);
	if (!s)
		s = normalise_draft(d, err);
	if (!s)
		*out = draft_finish(d);
	l->shape_failed = d->shape_failed;
	draft_free(&d);
	return s;
}

// Tries sizes for what is dynamic until every shape rule holds; when none does, the error of the first attempt stands.
static enum status load_trying(struct graph **out, const Onnx__ModelProto *m, struct externals *externals,
    const struct onnx_options *opt, struct error *err)
{
	struct loading l = {.model = m, .externals = externals, .opt = opt, .sizes = dims_first()};
	struct error again;
	enum status first = load_once(out, &l, err), s = first;
	while (s && l.shape_failed && dims_next(&l.sizes))
		s = load_once(out, &l, &again);
	if (s)
		return first;
	dims_report(*out, m->graph, &l.sizes);
	return STATUS_OK;
}

// Loaded all the same: most operators never change.
static void tell_newer(const struct graph *g, const char *path)
{
	if (g->opset > op_newest())
		log_warn("%s: opset %d is newer than %d, the newest known here: an operator that has changed since is computed as it was",
		    file_base(path), g->opset, op_newest());
}

enum status onnx_load(struct graph **out, const char *path, const struct onnx_options *opt, struct error *err)
{
	struct bytes file = {0};
	struct hasher hasher = {0};
	struct externals *externals = NULL;
	struct model_file model = {0};
	enum status s = file_map(&file, path, err);
	*out = NULL;
	if (s)
		return s;
	hasher_start(&hasher, &file);
	s = model_file_unpack(&model, &file, path, err);
	if (s)
		goto out;
	externals = externals_new(path, &file);
	s = functions_inline(model.proto, err);
	if (!s) {
		maps_resolve(model.proto);
		strings_leave_out(model.proto);
		s = sequences_resolve(model.proto, err);
	}
	if (!s) {
		channels_last_resolve(model.proto);
		if (opt && opt->pairs)
			on_codes_resolve(model.proto);
		s = load_trying(out, model.proto, externals, opt, err);
	}
	if (s)
		error_prefix(err, "%s", file_base(path));
out:
	hasher_wait(&hasher);
	if (bytes_intact(&file, path, err) || externals_intact(externals, err)) { // whatever else was found wrong with it
		graph_free(out);
		s = err->status;
	}
	if (!s) {
		(*out)->path = arena_strdup((*out)->arena, path);
		memcpy((*out)->sha256, hasher.hex, sizeof hasher.hex);
		tell_newer(*out, path);
	}
	externals_free(&externals);
	model_file_done(&model);
	bytes_done(&file);
	return s;
}

enum status onnx_read_tensor(struct tensor *out, char **name, const char *path, struct error *err)
{
	struct bytes file = {0};
	Onnx__TensorProto *t = NULL;
	enum status s = file_map(&file, path, err);
	*out = (struct tensor){0};
	if (!s)
		s = wire_check(&onnx__tensor_proto__descriptor, file.data, file.size, path, err);
	if (!s)
		s = wire_unpack((ProtobufCMessage **)&t, &onnx__tensor_proto__descriptor, file.data, file.size, path, err);
	if (!s)
		s = tensor_proto_read(out, t, NULL, path, err);
	if (bytes_intact(&file, path, err)) {
		tensor_drop(out);
		s = err->status;
	}
	if (!s && name)
		*name = xstrdup(t->name ? t->name : "");
	if (t)
		onnx__tensor_proto__free_unpacked(t, NULL);
	bytes_done(&file);
	return s;
}
