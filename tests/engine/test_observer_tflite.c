// Ranges and what becomes of them on tflite. Expected values are the formulas of TensorFlow Lite's source, computed by hand.
#include "observer_case.h"

// Zero of -x .. x lies halfway between two codes; the converter rounds halves away from zero, ONNX Runtime to the even one.
void test_observer_tflite__zero_points(void **state)
{
	static const struct {
		const char *target;
		int qmin;
		float lo, hi;
		int32_t zero;
	} cases[] = {
	    {"tflite", -128, -1, 1, -1}, {"tflite", -128, -3, 3, -1}, {"tflite", -128, -1.5f, 253.5f, -127}, {"tflite", -128, -2, 8, -77},
	    {"tflite", -128, -1.3f, 1.3f, -1}, {"tflite", -128, -1.37f, 1.37f, 0}, // a last bit decides, that of the upper end
	    {"onnxruntime", 0, -1, 1, 128}, {"onnxruntime", 0, -1.5f, 253.5f, 2}, {"onnxruntime,activation.signed=true", -128, -1, 1, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct target *t = load(cases[i].target);
		struct observer_setup s = setup_for(t, CALIB_MINMAX, false, 1);
		int32_t zero;
		s.quant.qmin = cases[i].qmin;
		s.quant.qmax = cases[i].qmin + 255;
		assert_float_equal(scale_of(&s, (float[]){cases[i].lo, cases[i].hi}, 2, &zero, false), (cases[i].hi - cases[i].lo) / 255, 1e-9);
		assert_int_equal(zero, cases[i].zero);
		target_free(&t);
	}
}

// No range is narrower than 1e-6, before 0 is made part of it.
void test_observer_tflite__narrow_ranges(void **state)
{
	static const struct {
		float lo, hi;
		bool symmetric;
		double scale;
		int32_t zero;
	} cases[] = {
	    {0, 0, false, 1e-6 / 255, 0}, {0, 4e-7f, false, 1e-6 / 255, 0}, {-9e-7f, 0, false, 1.4e-6 / 255, 36}, {0, 1e-5f, false, 1e-5 / 255, -128},
	    {0, 0, true, 1e-6 / 255, 0}, {-1e-7f, 4e-7f, true, 1e-6 / 255, 0}, {0, 8e-7f, true, 1.6e-6 / 255, 0},
	};
	struct target *t = load("tflite");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct observer_setup s = setup_for(t, CALIB_MINMAX, cases[i].symmetric, 1);
		int32_t zero;
		s.quant.qmin = -128;
		s.quant.qmax = 127;
		assert_float_equal(scale_of(&s, (float[]){cases[i].lo, cases[i].hi}, 2, &zero, false) / cases[i].scale, 1, 1e-6);
		assert_int_equal(zero, cases[i].zero);
	}
	target_free(&t);
}
