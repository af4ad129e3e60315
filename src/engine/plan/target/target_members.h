// Members of a target's file: a row names one, its reader and where it goes. Unknown members are errors,
// since a misspelt rule that is silently dropped would give a plan that no device follows.
#ifndef QTUI_ENGINE_PLAN_TARGET_TARGET_MEMBERS_H
#define QTUI_ENGINE_PLAN_TARGET_TARGET_MEMBERS_H

#include "target_impl.h"

struct member_reading {
	struct target *t;
	const char *file;
	struct error *err;
};
struct member;
typedef enum status member_reader(struct member_reading *r, const cJSON *j, const struct member *f, void *base);
struct member {
	const char *name;
	member_reader *read;
	size_t offset;
	const void *more; // choices, a sub-table, or what the reader needs
	long flag;
};
// Members are read in the order of the table, whatever their order in the file.
MUST_CHECK enum status members_read(struct member_reading *r, const cJSON *obj, const struct member *f, void *base);
MUST_CHECK enum status member_fault(struct member_reading *r, const char *name, const char *what);
void *member_place(void *base, const struct member *f);
// Readers by kind of value. `more` of member_choice (to an int) and member_flags (a list, to bits of an unsigned):
// the names, NULL at the end; of member_object: its members. `flag` of member_int: the largest magnitude.
member_reader member_text, member_bool, member_int, member_number, member_choice, member_flags, member_object;

#endif
