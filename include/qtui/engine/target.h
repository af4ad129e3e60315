// A quantization target as data: targets/NAME.json (its members are described in targets/README.md). The struct owns
// its strings.
#ifndef QTUI_ENGINE_TARGET_H
#define QTUI_ENGINE_TARGET_H

#include "qtui/engine/quantizer.h"

enum { TARGET_NAME = 256 }; // bytes of a target as it is asked for, its end included
enum calib_method { CALIB_MINMAX, CALIB_PERCENTILE, CALIB_KL, CALIB_MSE, CALIB_COUNT };
const char *calib_name(enum calib_method m);
bool calib_parse(enum calib_method *out, const char *name);

struct target; // private to src/engine/plan
// `name`: of a file in the directories of QTUI_TARGETS (separated by ':') or the data directory, else of a target
// that is part of the program; or a path to a JSON file (with a slash, or ending in .json). Any of these may be followed by
// members that replace its own, ",MEMBER=VALUE" each, and is shorter than TARGET_NAME then.
MUST_CHECK enum status target_load(struct target **out, const char *name, struct error *err);
// How many bytes of `name` are the path to a file; 0: it is no such target.
size_t target_path(const char *name);
// The same target from any directory, heap: where `name` is a path to a file that is there, its absolute path (unless
// that were no shorter than TARGET_NAME), with the members behind it.
char *target_absolute(const char *name);
// The text of a file that takes its place once it is gone: that of target_load, or what somebody kept. May be called from any thread.
void target_keep(const char *path, const char *text);
char *target_kept(const char *path); // heap; NULL: there is none
// Adds what is kept of the file that `name` is the path to, and of its bases, to an object: path -> text.
struct cJSON;
void target_add_files(struct cJSON *into, const char *name);
void target_free(struct target **t);
const char *target_name(const struct target *t);
const char *target_title(const struct target *t); // a phrase for people
bool target_is_of(const struct target *t, const char *tool); // are its rules those of the tool ("Quark")? What has it as base inherits that
int target_platform(const struct target *t, int bits);       // esp-ppq's or PPQ's number for nodes of so many bits; 0: it has none
const char *target_alignment(const struct target *t, const char *op_type); // the member of "alignment" that lists it, "" if none does
bool target_pulls_all(const struct target *t); // does an alignment reach tensors with other readers, and through passive operators?
enum calib_method target_default_calibration(const struct target *t);
double target_percentile(const struct target *t); // of the calibrator of that name, .5 to 1
// The i-th of the members that were given beside the name, as "calibration.percentile=0.999"; NULL: there are not so many.
const char *target_member(const struct target *t, int i, char out[TARGET_NAME]);
char **target_member_names(int *n); // all that may be given so, as "calibration.percentile"; the caller frees each and the list
bool target_has_precision(const struct target *t, int bits); // can nodes be sent to 16 bit?
bool target_widens_weights(const struct target *t);          // do their weights have more bits there, not only their activations?
// By how many bits a bias has more room at 16 bit, where its unit gets finer by those that input and weights gain; below 0: less.
// Without 16 bit it is below 0.
int target_bias_room(const struct target *t);
// What each target does or does not: a bias has a scale of its own; operators that no list names are quantized; a HardSigmoid
// runs in a Sigmoid's place.
enum target_trait { TRAIT_OWN_BIAS, TRAIT_ALL_TYPES, TRAIT_HARD_SIGMOID };
bool target_has_trait(const struct target *t, enum target_trait trait);
// Can activations have scales that are no powers of two (steps), or zero points other than the middle code (zeros)?
bool target_has_scales(const struct target *t, bool steps, bool zeros);
// Would a Relu be quantized apart from what is in front of it if activations were symmetric, which they are not?
bool target_splits_if_symmetric(const struct target *t);
// Names of all targets that can be loaded, in order; the caller frees each and the array.
char **target_list(int *n);

#endif
