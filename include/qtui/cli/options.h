// The command line: one table of options (src/cli/options.def), one meaning everywhere. Texts point into argv; lists
// are freed by options_done.
#ifndef QTUI_CLI_OPTIONS_H
#define QTUI_CLI_OPTIONS_H

#include "qtui/analysis/session.h"

struct list {
	const char **at;
	int n;
};
void list_add(struct list *l, const char *text); // which is borrowed
struct options {
	struct study_options study;    // filled by options_resolve from the texts below
	struct list positional;        // after the verb
	struct list import, set, scale, calibration, truncate, shape, input, until, check;
	const char *session, *json, *report, *output, *format, *script, *theme;
	const char *config;
	struct onnx_input_shape *shapes; // owns study.shape; private to src/cli/shapes.c
	struct config *config_data;    // what is read from it; private to src/cli/config.c
	const char *latency, *task, *labels, *scorer, *boxes, *calib, *eval, *decoder, *nms, *budget, *threshold, *bias, *rules;
	const char *method;            // of all nodes: the last of `calibration` that names none, else the configuration's
	const char *target, *mean, *std, *color, *resize, *threads, *memory, *backend, *seed, *samples;
	bool quiet, help, version, all, findings, layerwise_output, blame, codes, ascii, mono, no_mouse, sums;
	bool may_start_session;        // of the verb: a session file that is not there yet is begun
	struct file_stamp session_stamp; // of the session's file as this run has read or written it; all zero: there was none
	bool repairs;                  // of the verb: what it decides itself is saved with the session
	int repeat, random, rounds;
};
// The verbs that an option belongs to (bits): for help, and for refusing what has no effect.
enum {
	VERB_TUI = 1 << 0, VERB_ANALYZE = 1 << 1, VERB_RUN = 1 << 2, VERB_EXPORT = 1 << 3, VERB_OPS = 1 << 4, VERB_EVAL = 1 << 5,
	VERB_QUANTIZE = 1 << 6, VERB_COMPARE = 1 << 7, VERB_SEARCH = 1 << 8, VERB_TUNE = 1 << 9, VERB_EQUALIZE = 1 << 10,
	VERB_DEQUANTIZE = 1 << 11, VERB_TARGETS = 1 << 12,
	VERB_DECISION = 1 << 13, // no verb: the option decides something about a quantized network, or how it is measured
	VERB_PICTURE = 1 << 14,  // no verb: it says how a picture becomes an input
	VERB_MEASURE = 1 << 15,  // no verb: it says how a network is measured, and changes nothing about it
	VERB_ANY = VERB_DECISION - 1,
	VERB_STUDY = VERB_TUI | VERB_ANALYZE | VERB_EXPORT | VERB_QUANTIZE | VERB_RUN | VERB_EVAL | VERB_SEARCH | VERB_TUNE,
	VERB_SAMPLES = VERB_STUDY | VERB_COMPARE | VERB_EQUALIZE, // those that read samples
	VERB_TASK = VERB_TUI | VERB_ANALYZE | VERB_EVAL | VERB_SEARCH | VERB_TUNE,
};

// Which of the words behind the program's name is the first that is neither an option nor its argument; argc or more: none.
int options_first_word(int argc, char **argv);
// Takes the words apart; what they say is checked by options_resolve, which also reads --config.
MUST_CHECK enum status options_parse(struct options *o, int argc, char **argv, int first, unsigned verb, struct error *err);
MUST_CHECK enum status options_resolve(struct options *o, unsigned verb, struct error *err);
void options_done(struct options *o);
// The first option given that only means something for a quantized network, without its dashes; NULL when there is
// none. `but`: bits of those that do not count here (VERB_PICTURE: there are some to be prepared, for a float network too).
const char *options_decision(const struct options *o, unsigned but);
// Whether a result goes to standard output, which then holds nothing else.
bool options_take_stdout(const struct options *o);
void options_help(unsigned verb); // prints the options of a verb to standard output
void options_help_row(const char *left, int indent, const char *text); // a row of two columns, broken at 80

#endif
