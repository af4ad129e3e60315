// Undo and redo where a test asks only whether there was a step.
#ifndef TESTS_UNDO_H
#define TESTS_UNDO_H

#include "qtui/analysis/study.h"

static inline bool undoes(struct study *st)
{
	struct error err;
	return study_undo(st, &err) == STATUS_OK;
}

static inline bool redoes(struct study *st)
{
	struct error err;
	return study_redo(st, &err) == STATUS_OK;
}

#endif
