// What a ModelProto may leave out, and the two names of ONNX's own domain.
#ifndef QTUI_ENGINE_ONNX_PROTO_PROTO_H
#define QTUI_ENGINE_ONNX_PROTO_PROTO_H

#include <string.h>
#include "onnx.pb-c.h"

static inline const char *text_of(const char *s) // "" for NULL
{
	return s ? s : "";
}

static inline const char *domain_of(const char *s) // "" for NULL and for "ai.onnx"
{
	return strcmp(text_of(s), "ai.onnx") ? text_of(s) : "";
}

// The model's version of the operators of a domain (as domain_of has it); 1 where it does not say.
static inline int opset_of(const Onnx__ModelProto *m, const char *domain)
{
	for (size_t i = 0; i < m->n_opset_import; i++)
		if (!strcmp(domain_of(m->opset_import[i]->domain), domain))
			return (int)m->opset_import[i]->version;
	return 1;
}

#endif
