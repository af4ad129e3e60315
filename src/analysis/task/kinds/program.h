// A program of the user's that is asked of each sample's outputs (docs/TASK.md, "A score of your own"). Any thread may ask;
// the others wait their turn.
#ifndef QTUI_ANALYSIS_TASK_KINDS_PROGRAM_H
#define QTUI_ANALYSIS_TASK_KINDS_PROGRAM_H

#include <stdatomic.h>
#include "qtui/base/error.h"
#include "qtui/base/hash.h"
#include "qtui/engine/data.h"

struct program;
struct program *program_new(const char *command, const char *role); // for /bin/sh; `role` begins its errors. Starts nothing
void program_free(struct program **p);
const char *program_command(const struct program *p);
struct key program_key(const char *command); // of the command and the files that it names

// What a network said of one sample.
struct sample_outputs {
	const struct graph *g;
	const struct dataset *d;
	int sample;
	const struct tensor *out; // order of graph.output, plain layout
	const atomic_bool *stop;  // ends the waiting; may be NULL
};
// What becomes of an answer, which it may change; its error says what is wrong with it.
typedef enum status program_read_fn(void *to, char *answer, struct error *err);
// Starts the program where it does not run, gives it the outputs as files and its answer to `read`. STATUS_CANCELLED: as
// *stop says. Behind another error it is ended, and begun anew with the next question.
MUST_CHECK enum status program_ask(struct program *p, const struct sample_outputs *of, program_read_fn *read, void *to, struct error *err);

#endif
