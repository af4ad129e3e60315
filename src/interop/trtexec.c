// trtexec's options, up to TensorRT 10: which layers are to be computed in fp16, by the names of their nodes.
#include <string.h>
#include "formats.h"

// The list is cut at commas and colons, a star stands for anything, and the shell that is given the file cuts at blanks.
static bool fits_the_list(const char *name)
{
	return name[0] && !strpbrk(name, " \t\n\r,:\"'*?[\\");
}

static int add_layers(struct str *out, struct str *loss, const cJSON *names)
{
	const cJSON *name;
	int n = 0;
	cJSON_ArrayForEach(name, names)
		if (fits_the_list(name->valuestring))
			str_addf(out, "%s%s:fp16", n++ ? "," : " --fp16 --precisionConstraints=obey --layerPrecisions=", name->valuestring);
		else
			lose(loss, "%s: --layerPrecisions has no way to say this name", name->valuestring);
	return n;
}

enum status trtexec(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	cJSON *names = excluded_nodes(d, s);
	(void)err;
	str_add(out, "--int8");
	int n = add_layers(out, loss, names);
	str_add(out, "\n");
	cJSON_Delete(names);
	if (n)
		lose(loss, "%d layer%s in float %s computed in fp16 there", n, plural(n), n == 1 ? "is" : "are");
	lose_precision(loss, d, s, PREC_INT16, "trtexec");
	lose_scales(loss, d, s, "--layerPrecisions (unlike a calibration cache)");
	lose_method(loss, s, "--layerPrecisions (unlike a calibration cache)");
	lose_calibrators(loss, d, s, "trtexec");
	lose_rules(loss, s, "TensorRT");
	lose_unnamed(loss, d, s, "TensorRT");
	lose(loss, "TensorRT 11 has none of these options: it takes the quantized model (format qdq)");
	return STATUS_OK;
}
