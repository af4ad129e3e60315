// The modules of the PyTorch model that an ONNX file was exported from, as its names tell. A weight is named after its
// module ("model.22.cv2.conv.weight"), and torch's exporter puts the modules that call an operator into its name
// ("/model.22/cv2/act/Sigmoid"); an element of a container has the container's name there too where that is not called
// itself ("/model.22/cv3.0/cv3.0.2/Conv"), so that weights decide where there are some.
#ifndef QTUI_INTEROP_MODULES_H
#define QTUI_INTEROP_MODULES_H

#include "qtui/engine/graph.h"

struct modules {
	int n;
	char **path; // [n_nodes] "model.22.cv2.act"; NULL: the names do not tell
	bool *own;   // [n_nodes] the module has no others in it: its operators are its own. Else the node stands in its forward
};
struct modules modules_of(const struct graph *g);
void modules_done(struct modules *m);
// Is `path` the module itself, or one within it? "" is the whole model.
bool module_has(const char *module, const char *path);

#endif
