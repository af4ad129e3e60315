// Private to src/cli: an xquant / XSlim JSON configuration as options. What is given on the command line wins.
#ifndef QTUI_CLI_CONFIG_H
#define QTUI_CLI_CONFIG_H

#include "qtui/cli/options.h"

// Fills what `o` leaves open from o->config; o->config_data keeps the texts.
// Members without a meaning here are warned of.
MUST_CHECK enum status config_read(struct options *o, unsigned verb, struct error *err);
void config_free(struct config **c);
// The edits that the configuration asks for, as steps of the history.
MUST_CHECK enum status config_apply(const struct config *c, struct study *st, struct error *err);

#endif
