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
		str_addn(out, (const char *)model.data, model.size);
	bytes_done(&model);
	return status;
}
