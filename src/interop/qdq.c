// The quantized network itself, as an ONNX model of QuantizeLinear / DequantizeLinear pairs.
#include "formats.h"
#include "qtui/base/file.h"
#include "qtui/engine/onnx.h"

enum status qdq(struct str *out, struct str *loss, const struct decided *d, const struct snapshot *s, struct error *err)
{
	struct bytes model;
	enum status status = onnx_write_qdq(&model, snapshot_plan(s), loss, err);
	(void)d;
	if (status == STATUS_OK)
		*out = (struct str){(char *)model.data, model.size, model.size + 1}; // it may be large: not copied
	return status;
}
