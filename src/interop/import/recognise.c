// Which tool's file it is, by its members or lines (readers.def); of others, what to give in their place.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "qtui/base/file.h"
#include "wishes.h"

enum { MOST = 64 << 20 };

static const struct reader {
	const char *name, *members;
	void (*read)(struct wishes *w, const cJSON *root);
} readers[] = {
#define READER(name, members, reader) {name, members, reader},
#define TABLE_READER(name, reader)
#define TEXT_READER(name, reader)
#include "readers.def"
#undef READER
#undef TABLE_READER
#undef TEXT_READER
};
static const struct table_reader {
	const char *name;
	bool (*read)(struct wishes *w, const cJSON *root);
} table_readers[] = {
#define READER(name, members, reader)
#define TABLE_READER(name, reader) {name, reader},
#define TEXT_READER(name, reader)
#include "readers.def"
#undef READER
#undef TABLE_READER
#undef TEXT_READER
};
static const struct text_reader {
	const char *name;
	bool (*read)(struct wishes *w, char *text);
} text_readers[] = {
#define READER(name, members, reader)
#define TABLE_READER(name, reader)
#define TEXT_READER(name, reader) {name, reader},
#include "readers.def"
#undef READER
#undef TABLE_READER
#undef TEXT_READER
};

// By the way to it, NAME/NAME; of a list that is a member, the first element is looked into. Cuts up `way`.
static bool has_member_at(const cJSON *root, char *way)
{
	char *rest = NULL;
	const cJSON *o = cJSON_IsObject(root) ? root : NULL;
	for (char *name = strtok_r(way, "/", &rest); name && o; name = strtok_r(NULL, "/", &rest))
		o = cJSON_GetObjectItemCaseSensitive(cJSON_IsArray(o) ? o->child : o, name);
	return o != NULL;
}

static bool has_member(const cJSON *root, const char *members)
{
	char word[64];
	int used = 0;
	for (; sscanf(members, "%63s%n", word, &used) == 1; members += used)
		if (has_member_at(root, word))
			return true;
	return false;
}

static const struct {
	const char *members, *instead;
} elsewhere[] = {
    {"quantization_parameters calibration_parameters/calibration_step calibration_parameters/input_parameters "
     "calibration_parameters/input_parametres", "an xquant configuration is given with --config"},
    {"qtui_session", "a session is given with --session"},
    {"subgraphs/start_nodes", "the parts that Quark's auto mixed precision compares, none of which has a precision: give what it decided "
     "as MixedPrecisionTensor"},
    {"cache_key", "scores of Quark's auto mixed precision, no decisions: give what it decided as MixedPrecisionTensor"},
    {"customized_quantize_layers", "of RKNN-Toolkit 1, which numbers its layers: the .quantization.cfg of RKNN-Toolkit2 is read"},
};

static enum status read_tree(struct wishes *w, const char **format, const cJSON *root, const char *path, struct error *err)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (has_member(root, elsewhere[i].members))
			return error_set(err, STATUS_UNSUPPORTED, "%s: %s", path, elsewhere[i].instead);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (has_member(root, readers[i].members)) {
			*format = readers[i].name;
			readers[i].read(w, root);
			return STATUS_OK;
		}
	for (size_t i = 0; i < sizeof table_readers / sizeof *table_readers; i++)
		if (table_readers[i].read(w, root)) {
			*format = table_readers[i].name;
			return STATUS_OK;
		}
	return error_set(err, STATUS_FORMAT, "%s: not a file of esp-ppq, AIMET, ONNX Runtime, Quark, NNCF, TensorRT, tpu-mlir, HMCT, Pulsar2 or "
	    "RKNN that is known here", path);
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

// Behind lines that are comments in JSON as other tools take it or in YAML, JSON begins with a bracket.
// In YAML, a # within a name begins none.
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

// What tools write beside a file that is read here.
static const struct {
	const char *suffix, *instead;
} beside[] = {
    {".espdl", "of ESP-DL: import the .json that esp-ppq writes beside it"},
    {".info", "of ESP-DL: import the .json that esp-ppq writes beside it"},
    {".flatbuffers", "import the calibration.json or calibration.cache that ONNX Runtime writes beside it"},
    {".alls", "of Hailo's compiler, whose layers have names of their own and not the model's"},
    {".har", "of Hailo's compiler, whose layers have names of their own and not the model's"},
    {".xml", "a model of OpenVINO: import the IgnoredScope that NNCF was given, as JSON"},
    {".engine", "built by TensorRT: import the calibration cache"},
    {".plan", "built by TensorRT: import the calibration cache"},
    {".dlc", "of Qualcomm's converters: import the encodings that --quantization_overrides was given"},
    {".tflite", "a model of TensorFlow Lite, whose tensors have other names than those of an ONNX file"},
    {".rknn", "of RKNN-Toolkit2: import the .quantization.cfg that hybrid_quantization_step1 writes"},
};

// A line "LAYER_param_0 SCALE SCALE ..": its scales divide nothing, they multiply, and are of layers by ncnn's own names.
static bool is_ncnn_table(const char *text)
{
	const char *at = strstr(text, "_param_0 ");
	const char *line = at;
	while (line && line > text && line[-1] != '\n')
		line--;
	return at && memchr(line, ' ', (size_t)(at - line)) == NULL && (isdigit((unsigned char)at[9]) || at[9] == '-');
}

static enum status refuse_unread(const char *path, const char *text, struct error *err)
{
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
		if (str_has_suffix(path, beside[i].suffix))
			return error_set(err, STATUS_UNSUPPORTED, "%s: %s", path, beside[i].instead);
	return is_ncnn_table(text) ? error_set(err, STATUS_UNSUPPORTED,
	    "%s: a table of ncnn, whose layers have names of their own and not the model's", path) : STATUS_OK;
}

// Scripts may hold trtexec's options, which are read; what else they pass to a tool only Python knows.
static enum status refuse_script(const char *path, struct error *err)
{
	return !str_has_suffix(path, ".py") ? STATUS_OK : error_set(err, STATUS_UNSUPPORTED,
	    "%s: a script: give as JSON what it passes to the tool (docs/EXPORT.md, Import)", path);
}

// Whatever it is called: it begins with the version of its format, a byte that is in no text. What comes from a pipe is read once.
static bool is_model(const char *path)
{
	enum { IR_VERSION = 1 << 3 }; // the tag of the member
	struct bytes b;
	struct error ignored;
	if (str_has_suffix(path, ".onnx"))
		return true;
	if (!file_is_regular(path) || file_map(&b, path, &ignored) != STATUS_OK)
		return false;
	bool is = b.size && b.data[0] == IR_VERSION;
	bytes_done(&b);
	return is;
}

enum status read_decisions(struct wishes *w, const char **format, const char *path, struct error *err)
{
	struct bytes b = {0};
	cJSON *root = NULL;
	if (is_model(path)) {
		*format = "QDQ model";
		return read_qdq(w, path, err);
	}
	enum status s = file_read_text(&b, path, MOST, err);
	if (s == STATUS_OK)
		s = refuse_unread(path, (const char *)b.data, err);
	if (s == STATUS_OK && !read_text(w, format, (char *)b.data)) {
		s = refuse_script(path, err);
		if (s == STATUS_OK)
			s = parse(&root, &b, path, err);
		if (s == STATUS_OK)
			s = read_tree(w, format, root, path, err);
	}
	cJSON_Delete(root);
	bytes_done(&b);
	return s;
}
