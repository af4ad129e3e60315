// Prepared kernels: an operator fixed to its shapes, layouts and constants, with weights packed once and run for many
// images. A kernel is immutable after creation and may run on several threads at once with different memory.
// kernel_free frees it.
//
// Backends: "onednn" (float, blocked layouts), "blas" (OpenBLAS, im2col, plain layout), "ref" (plain C, defines what
// is right). A backend answers STATUS_UNSUPPORTED (err untouched) for what it has no kernel for; the executor then
// asks the next one (onednn -> blas -> ref) or evaluates the operator through the op table.
#ifndef QTUI_ENGINE_KERNEL_H
#define QTUI_ENGINE_KERNEL_H

#include "qtui/engine/op.h"
#include "qtui/engine/quantizer.h"

enum act_kind { ACT_NONE, ACT_RELU, ACT_CLIP, ACT_LEAKY, ACT_SIGMOID, ACT_SWISH, ACT_HARDSWISH, ACT_HARDSIGMOID, ACT_TANH, ACT_MISH, ACT_GELU };
struct act {
	enum act_kind kind;
	float a, b; // CLIP: low, high; LEAKY: slope; HARDSIGMOID: alpha, beta (max(0, min(1, a*x+b)))
};
// What follows the accumulation, in order: y = acc + bias; first: residual added when `add` is ADD_BEFORE;
// activation; residual added when ADD_AFTER (tensor of the output's shape and layout).
enum add_kind { ADD_NONE, ADD_BEFORE, ADD_AFTER };
struct epilogue {
	struct act act;
	enum add_kind add;
};

struct kernel;
enum kernel_backend { BACKEND_ONEDNN, BACKEND_BLAS, BACKEND_REF, BACKEND_COUNT };
const char *backend_name(enum kernel_backend b);
bool backend_parse(enum kernel_backend *out, const char *name);

struct conv_task { // float32 Conv or ConvTranspose (w: [OC, C/group, KH, KW]; transposed: [C, OC/group, KH, KW])
	struct conv_geometry g;
	bool transposed;
	const float *weight, *bias;   // borrowed during creation; bias may be NULL
	enum layout in, out;          // BLOCK in both is the fast path; PLAIN in with BLOCK out for first layers (few channels)
	struct epilogue epi;
	bool ordered;                 // sum in ONNX Runtime's order, bit for bit (backend "blas" only); for files that are quantized
	bool exact;                   // x and weights are whole numbers: no algorithm that transforms them (Winograd), so that
	                              // sums below 2^24 are exact
};
struct matmul_task { // y[b] = alpha * x[b] * w[b] (+ bias over columns): row-major, plain
	int64_t batch, m, n, k;
	bool trans_a, trans_b;
	int64_t stride_a, stride_b;   // elements between batches; 0: shared
	const float *weight;          // constant w (packed at creation) or NULL: given when it runs
	const float *bias;            // [n] or NULL
	float alpha;
	struct act act;
	bool ordered;                 // as in conv_task, where the order is known
	bool packed;                  // with ordered: the second operand is a constant matrix
};
struct pool_task { // float32, or the maxima of codes
	struct conv_geometry g;
	bool max, count_include_pad;
	bool max_nan;                 // a NaN is the largest float, as for ReduceMax; else it is passed over
	enum layout layout;
	enum dtype type;              // DT_F32; max also DT_I8, DT_U8, DT_I16
};
MUST_CHECK enum status kernel_conv(struct kernel **out, enum kernel_backend b, const struct conv_task *t, struct error *err);
MUST_CHECK enum status kernel_matmul(struct kernel **out, enum kernel_backend b, const struct matmul_task *t, struct error *err);
MUST_CHECK enum status kernel_pool(struct kernel **out, const struct pool_task *t, struct error *err);

// Integer kernels: codes in, exact accumulation (int32; int64-exact for 16 bit), then in float32 per output channel c:
//   v = (float)acc * scale[c] + fbias[c];  v = act(v);  code = clamp(round(v / out_scale) + out_zero, qmin, qmax)
// With power-of-two scales this is the target's integer arithmetic to the bit. acc includes the integer bias and the
// correction for x_zero. The same result, bit for bit, from every implementation (ref, avx2, vnni).
struct qconv_task {
	struct conv_geometry g;
	bool transposed;
	enum layout in, out;
	enum dtype in_type;           // DT_I8, DT_U8, DT_I16
	int32_t in_zero;
	const int16_t *weight;        // weight codes of 8 or 16 bits, plain order as conv_task
	const int64_t *bias;          // [OC] codes in units of in_scale*weight_scale[c], or NULL
	const float *scale;           // [OC] in_scale * weight_scale[c]
	const float *fbias;           // [OC] or NULL
	struct act act;               // NONE, RELU, CLIP, LEAKY
	bool to_float;                // output is v as DT_F32 (out_quant unused)
	struct quantizer out_quant;   // per tensor
};
struct qmatmul_task { // codes [m,k] x [k,n] batches; both sides may be activations
	int64_t batch, m, n, k;
	bool trans_a, trans_b;
	int64_t stride_a, stride_b;
	enum dtype a_type, b_type;
	int32_t a_zero, b_zero;
	const int16_t *weight;        // constant b codes or NULL
	const int64_t *bias;          // [n] or NULL
	const float *scale;           // [n], or [1] when scale_n == 1
	int64_t scale_n;
	const float *fbias;
	struct act act;
	bool to_float;
	struct quantizer out_quant;
};
// The activations that integer kernels know, as the tasks' `act`.
static inline bool act_is_for_codes(const struct act *a)
{
	return a->kind == ACT_NONE || a->kind == ACT_RELU || a->kind == ACT_CLIP || a->kind == ACT_LEAKY;
}
MUST_CHECK enum status kernel_qconv(struct kernel **out, enum kernel_backend b, const struct qconv_task *t, struct error *err);
MUST_CHECK enum status kernel_qmatmul(struct kernel **out, enum kernel_backend b, const struct qmatmul_task *t, struct error *err);

struct kernel_io {
	const void *x;        // input
	const void *w;        // second matmul operand when it is not constant
	const void *residual; // for epilogue.add
	void *y;
	void *scratch;        // kernel_scratch() bytes, 64-byte aligned
	int width;            // OpenMP threads; results do not depend on it
};
void kernel_run(const struct kernel *k, const struct kernel_io *io);
size_t kernel_scratch(const struct kernel *k, int width);
size_t kernel_bytes(const struct kernel *k); // packed weights held
void kernel_free(struct kernel **k);

// Element-wise and data-movement kernels on raw arrays, any layout (arrays of `n` stored elements). SIMD inside.
void elt_act(const struct act *a, const float *x, float *y, int64_t n);          // x may be y
void elt_binary(enum op_id op, const float *a, const float *b, float *y, int64_t n); // Add, Sub, Mul, Div, PRelu
// Add, Sub or Mul of two arrays of 8-bit codes straight to 8-bit codes of y, all with quantizers per tensor: the same
// codes that dequantize_run, elt_binary, with `relu` a Relu, and quantize_run give one after another. elt_codes_of
// prepares it; false where there is no such loop: for other operators, for roundings other than to the nearest with
// ties to even or up, and for scales that could make something infinite.
struct elt_codes {
	enum op_id op;
	struct {
		uint8_t turn;    // xor with it makes uint8 codes of int8 codes
		int32_t zero;    // the zero point of the uint8 codes
		float scale;
	} in[2];
	bool inverse, up;
	int32_t zero;
	float step;            // y's scale or, with `inverse`, one over it
	float low, high;       // limits of the distance from y's zero point
};
bool elt_codes_of(
    struct elt_codes *c, enum op_id op, const struct quantizer *a, const struct quantizer *b, const struct quantizer *y, bool relu);
void elt_codes(const struct elt_codes *c, const uint8_t *a, const uint8_t *b, uint8_t *y, int64_t n);
void elt_scale(float *y, float gain, float shift, int64_t n); // y * gain + shift, both rounded
void elt_lut8(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n, int width);
// LAYOUT_BLOCK: pixel (i, j) of y is pixel (row[i], col[j]) of x.
struct blk_nearest {
	size_t elem;              // bytes: 1, 2 or 4
	int64_t blocks;           // of channels, of all images
	int64_t h, w, oh, ow;     // pixels of x and of y
	const int32_t *row, *col; // [oh], [ow]
};
void blk_resize_nearest(const struct blk_nearest *r, const void *x, void *y, int width);

#endif
