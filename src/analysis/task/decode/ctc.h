// Texts of networks that say a class a step, or that none has come (CTC): lines of writing, number plates, speech.
#ifndef QTUI_ANALYSIS_TASK_DECODE_CTC_H
#define QTUI_ANALYSIS_TASK_DECODE_CTC_H

#include "../labels/names.h"
#include "qtui/engine/tensor.h"

struct ctc {
	int64_t steps, classes;
	int64_t step, class; // elements from one to the next
};
// [1, T, C], [T, 1, C], [T, C], or [1, C, T] where only that dimension is `characters` (0: not known) or up to two more. false: it
// has no such shape, fewer than two steps or fewer than four classes.
bool ctc_find(struct ctc *c, const struct shape *s, int characters);
bool ctc_fits(const struct ctc *c, int characters); // has it as many classes, or up to two more?
enum { CTC_NO_CLASS = -1 }; // of a step that has no score but NaN
// The first class of every step, first[steps]. NaN is never first.
void ctc_first(int *first, const struct ctc *c, const float *x);
// Which class says that nothing has come: the lowest or the highest, whichever comes more often.
int ctc_blank(const int *first, const struct ctc *c);
// Without repeats and blanks, token[steps], which may be `first` itself. Returns how many.
int ctc_collapse(int *token, const int *first, int64_t steps, int blank);

// The characters that classes stand for: of the model's metadata (`character`, a line each), else of a file dict.txt,
// ppocr_keys_v1.txt, keys.txt or classes.txt beside `labels` (a path, may be NULL) or the model. n 0: nothing says so.
void alphabet_find(struct names *out, const struct graph *g, const char *labels);
enum { ALPHABET_MORE = 2 }; // classes that a network may have besides: the blank, and a space behind the last
int alphabet_blank(const struct names *a, const struct ctc *c, const int *first); // as ctc_blank, unless the characters say it
const char *alphabet_at(const struct names *a, const struct ctc *c, int blank, int class); // of CTC_NO_CLASS U+FFFD

#endif
