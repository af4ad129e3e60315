// The quantized network itself, as an ONNX model of QuantizeLinear / DequantizeLinear pairs.
#include "formats.h"
#include "qtui/engine/onnx.h"

enum status qdq(const char *path, struct str *loss, const struct snapshot *s, struct error *err)
{
	return onnx_save_qdq(path, snapshot_plan(s), loss, err);
}
