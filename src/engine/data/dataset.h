// Inside of a dataset, shared by the files dataset*.c.
#ifndef QTUI_ENGINE_DATA_DATASET_H
#define QTUI_ENGINE_DATA_DATASET_H

#include <pthread.h>
#include <stdatomic.h>
#include "arrays.h"
#include "listing.h"
#include "place.h"
#include "qtui/base/file.h"
#include "qtui/engine/data.h"

struct sample {
	size_t file; // of the listing
	int row;
	char *name;
};

// What a file held when its key was first asked for.
struct mark {
	struct key hash; // zero until then
	struct file_stamp stamp;
};

struct dataset {
	const struct graph *g;
	char *path;
	struct dataset_options opt;
	struct listing files;
	struct sample *sample;
	size_t n, cap;
	char **left_out; // why, each naming its file
	size_t n_left_out, cap_left_out;
	bool more; // files or rows behind the last sample that is taken
	int image_input; // index into graph.input, or -1
	struct image_input image;
	struct arrays *single; // the file, kept open, when it is the only one and holds arrays
	pthread_mutex_t lock;  // over mark
	struct mark *mark;     // of each file
	atomic_flag warned;    // of numbers that are none
};

static inline const struct value *dataset_input(const struct dataset *d, int i)
{
	return &d->g->value[d->g->input[i]];
}

// The array of a part's file that fills input i, or -1.
int dataset_array(const struct dataset *d, const struct arrays *a, int part, int i);
// Opens the array file of a part (or lends the one that is kept open); dataset_close_file gives it back.
MUST_CHECK enum status dataset_open_file(
    struct arrays **out, const struct dataset *d, const char *path, int part, struct error *err);
void dataset_close_file(const struct dataset *d, struct arrays **a);
// STATUS_IO if a file of the sample holds something else than when its key was asked for:
// what is named by the key would be of another sample. For after it has been read.
MUST_CHECK enum status dataset_unchanged(const struct dataset *d, int i, struct error *err);

#endif
