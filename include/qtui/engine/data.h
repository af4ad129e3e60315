// Samples: what calibrates and what is measured. A dataset lists samples in bytewise order of their file names and
// prepares one on demand: dataset_load is thread-safe and the same bytes come out every time. The dataset owns its
// lists.
#ifndef QTUI_ENGINE_DATA_H
#define QTUI_ENGINE_DATA_H

#include "qtui/engine/graph.h"

// How an image comes to the size of the model's input.
enum resize_mode {
	RESIZE_STRETCH,   // each side by itself
	RESIZE_LETTERBOX, // scaled to fit inside, in the middle, padded with 114
	RESIZE_CORNER,    // scaled to fit inside, at the top left, padded with 114
	RESIZE_CROP,      // scaled to cover the input, or more than that, and the middle cut out
};
struct preprocess {
	float mean[4], std[4];  // x = (pixel - mean) / std, pixels 0..255, in the channel order that the model gets
	bool bgr;
	enum resize_mode resize;
	double share;           // of the shorter side, kept by RESIZE_CROP: below 1 and above 0; 0: all of it
	bool mean_set, std_set, color_set, resize_set; // given by the user; the others are guessed, and `guess` says from what
	char guess[160];        // what was guessed, and from what: "Ultralytics metadata: RGB, letterbox, mean 0, std 255"; "": no picture, or
	                        // nothing is left open
	bool warn;              // nothing supports the guess: the user is warned
};
// How an image was placed in the input, for inverting boxes: x_input = x_image * scale_x + pad_x.
struct placement {
	int image_w, image_h, input_w, input_h;
	double scale_x, scale_y, pad_x, pad_y;
};

struct dataset;
struct dataset_options {
	struct preprocess pre;
	int samples;            // the first N; 0: all
	int random;             // > 0: N random samples (uniform 0..1, or rows of the tables that integers pick from), no path
	uint64_t seed;
	bool seed_set;          // it is asked for: 0 is a seed like others
	bool prepared;          // a later decision says how pictures are prepared, or an earlier dataset has said it: nothing to warn of
};
// `path`: a directory, a list file or one data file (README.md, In batch). Images fill the model's image input; a
// second input named orig_target_sizes and the like gets its conventional value when it is not in the data (said in
// the log).
MUST_CHECK enum status dataset_open(struct dataset **out, const char *path, const struct graph *g,
    const struct dataset_options *opt, struct error *err);
// The same without a word to the user, for a look at the samples before the graph is there: `g` needs inputs only.
MUST_CHECK enum status dataset_open_silently(struct dataset **out, const char *path, const struct graph *g,
    const struct dataset_options *opt, struct error *err);
void dataset_free(struct dataset **d);
// Files that are named like images but cannot be decoded are left out, with a line in the log for each; if there are no
// others, dataset_open fails.
int dataset_left_out(const struct dataset *d);
const char *dataset_left_out_why(const struct dataset *d, int i); // "FILE is not a sound JPEG image: ..."
int dataset_count(const struct dataset *d);
bool dataset_has_more(const struct dataset *d); // more samples lie there than the options ask for
const char *dataset_name(const struct dataset *d, int i);  // file's base name (row N of a batch: "name#N")
// The file that holds the sample (of several subdirectories: that in the first); NULL for random samples.
const char *dataset_file(const struct dataset *d, int i);
struct key dataset_key(const struct dataset *d, int i);     // of the bytes of the file and the preprocessing
const struct preprocess *dataset_preprocess(const struct dataset *d);
const char *dataset_path(const struct dataset *d);
// The shapes of the arrays in a dataset's first file, and in the first of each subdirectory, for inputs of dynamic
// shape: ask before onnx_load. Images and raw data tell nothing. The caller calls data_shapes_done.
struct data_shape {
	struct shape shape;
	char *name; // of the array, else of its subdirectory; "" where nothing names it
	char *file;
};
struct data_shapes {
	struct data_shape *at;
	size_t n, cap;
};
MUST_CHECK enum status dataset_peek_shapes(struct data_shapes *out, const char *path, struct error *err);
void data_shapes_done(struct data_shapes *s);
// Fills in[0..g->n_inputs-1] (order of graph.input), plain layout; the caller drops them.
MUST_CHECK enum status dataset_load(const struct dataset *d, int i, struct tensor *in, struct placement *where, struct error *err);
// How many different values (0: not known, 2: two or more) an input of one integer has in the samples, and the first
// two of them. Pictures are not read.
int dataset_values(int64_t value[2], const struct dataset *d, int input);
// STATUS_FORMAT where `t` has another value than that for which the graph was taken.
MUST_CHECK enum status input_as_fixed(const struct value *input, const struct tensor *t, struct error *err);
// The image of sample i, resized, before it becomes floats: RGB bytes [h, w, 3], a quarter of the memory; the caller
// drops them. STATUS_UNSUPPORTED with err untouched: the sample is not a single image, or the input is not float.
MUST_CHECK enum status dataset_pixels(const struct dataset *d, int i, struct tensor *pixels, struct error *err);
// The same as dataset_load, from these pixels.
MUST_CHECK enum status dataset_load_pixels(const struct dataset *d, int i, const struct tensor *pixels, struct tensor *in, struct error *err);
// A file that holds arrays: .npy, .npz, a TensorProto (.pb) or raw elements of the type `raw` (.bin). Read-only once open, so
// that threads may share it.
struct arrays;
MUST_CHECK enum status arrays_open(struct arrays **out, const char *path, enum dtype raw, struct error *err);
void arrays_free(struct arrays **a);
int arrays_count(const struct arrays *a);
const char *arrays_name(const struct arrays *a, int i); // "" when the file does not name it
// Array i as a tensor of type `type` with its own shape; `path` names the file in errors.
MUST_CHECK enum status arrays_read(struct tensor *out, const struct arrays *a, int i, enum dtype type, const char *path, struct error *err);
// Row `row` of array i, a stack whose first dimension counts them: STATUS_NOTFOUND: it has no such row.
int arrays_stacked(const struct arrays *a, int i); // its rows; 0: it is a single number
MUST_CHECK enum status arrays_read_row(
    struct tensor *out, const struct arrays *a, int i, int row, enum dtype type, const char *path, struct error *err);
// Reads one array file (.npy, .pb; of an .npz the array `name`) as a tensor of type `type` with the array's own shape.
MUST_CHECK enum status array_read(struct tensor *out, const char *path, const char *name, enum dtype type, struct error *err);
// A picture as the input `input` of the graph, prepared as `pre` says; what that leaves open is guessed, with a line in the log.
// STATUS_UNSUPPORTED: the input takes no pictures.
MUST_CHECK enum status picture_read(struct tensor *out, const char *path, const struct graph *g, int input, const struct preprocess *pre,
    struct error *err);
// The integer in such a file, as dataset_values tells it: 1, or 0 where it cannot be read or holds more.
int array_value(int64_t *value, const char *path, const char *name, enum dtype type);
// Writes a plain tensor as a .npy file; 4-bit integers as 8-bit ones. float_bytes (as in struct value): 2 writes a
// DT_F32 as float16, 8 as float64, 0 as float32.
MUST_CHECK enum status array_write(const struct tensor *t, int float_bytes, const char *path, struct error *err);
// Writes t[i], the tensor value[i] of g, to an NPY file in dir that has its name, with _ for what is not in [A-Za-z0-9._-].
// Inputs and outputs are halves or doubles where the model declares them so, unless `floats`.
MUST_CHECK enum status tensors_write(
    const char *dir, const struct graph *g, bool floats, const int *value, const struct tensor *t, int n, struct error *err);
// Where dataset_load would place sample i, from the head of its file alone.
MUST_CHECK enum status dataset_place(const struct dataset *d, int i, struct placement *where, struct error *err);
// Another picture of what a sample shows, as an output of target->shape ([1, C, H, W] or [1, H, W, C], C 1 or 3; of floats)
// should have it: laid as `where` says that the sample lies in the input, pixels 0..255 in the model's order of channels, 114
// where the sample has padding. What it has beyond a whole multiple of the sample's sides (481 pixels of 120 made four times
// as large) is cut off. The caller drops target.
MUST_CHECK enum status dataset_target(const struct dataset *d, const char *path, const struct placement *where,
    struct tensor *target, struct error *err);
// Whether a tensor of that shape is pictures, and their size, else 0: [N, C, H, W] or [N, H, W, C], C 1 or 3, or [3, H, W] or
// [H, W, 3] with sides of 32 and more.
bool picture_size(int *w, int *h, const struct shape *s);
// Pictures are JPEG, PNG, WebP, TIFF, BMP, PPM or PGM, told by their first bytes.
extern const char *const image_extensions[]; // ".png" and so on, NULL at the end; those without loss that are usual first
bool image_is_name(const char *path);         // whether it ends in one of them, in capitals or not
// Width and height of a picture as it is shown (turned as Exif says), from the head of its file alone.
MUST_CHECK enum status image_size(int *w, int *h, const char *path, struct error *err);
// A PNG whose pixels are numbers of classes: grey levels of 1 to 16 bits or places in a palette, nothing scaled; RGB only
// where all of it is grey. The caller calls mask_done.
struct mask {
	uint16_t *number; // [h, w]
	int w, h;
};
MUST_CHECK enum status mask_read(struct mask *out, const char *path, struct error *err);
void mask_done(struct mask *m);
// Decodes an image file to RGB bytes, upright; the caller frees.
MUST_CHECK enum status image_read(uint8_t **rgb, int *w, int *h, const char *path, struct error *err);

#endif
