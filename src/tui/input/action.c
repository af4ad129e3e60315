#include "qtui/tui/action.h"

static void (*const functions[ACTION_COUNT])(struct ui *) = {
#define KEY(id, ...) [ACTION_##id] = act_##id,
#include "qtui/tui/keys.def"
#undef KEY
};

void action_do(struct ui *ui, enum action a)
{
	functions[a](ui);
}
