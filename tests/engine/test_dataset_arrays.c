// Datasets of arrays: NPY, NPZ, raw elements and TensorProto; what does not fit an input.
#include <math.h>
#include "dataset_case.h"
#include "graph_builder.h"
#include "onnx.pb-c.h"
#include "qtui/base/log.h"
#include "../../src/engine/ops/attrs.h"

void test_dataset_arrays__npy_batch_has_a_sample_a_row(void **state)
{
	struct data_case c = vector_case();
	case_open(&c, write_npy("batch.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_count(c.data), 3);
	assert_string_equal(dataset_name(c.data, 2), "batch.npy#2");
	case_load(&c, 2);
	assert_memory_equal(c.in[0].data, batch + 8, 16);
	case_load(&c, 0);
	assert_memory_equal(c.in[0].data, batch, 16);
	case_done(&c);
}

void test_dataset_arrays__npy_has_a_sample_for_each_fixed_batch(void **state)
{
	struct data_case c = {0};
	case_input(&c, "x", DT_F32, SHAPE(2, 2));
	case_open(&c, write_npy("batches.npy", 'f', 4, SHAPE(6, 2), batch));
	assert_int_equal(dataset_count(c.data), 3);
	case_load(&c, 2);
	assert_memory_equal(c.in[0].data, batch + 8, 4 * sizeof(float));
	case_done(&c);
}

void test_dataset_arrays__npy_without_batch_is_one_sample(void **state)
{
	static const int64_t whole[4] = {1, -2, 3, 1 << 20};
	static const uint8_t bytes[4] = {0, 1, 128, 255};
	struct data_case c = vector_case();
	case_open(&c, write_npy("whole.npy", 'i', 8, SHAPE(4), whole));
	assert_int_equal(dataset_count(c.data), 1);
	assert_string_equal(dataset_name(c.data, 0), "whole.npy");
	case_load(&c, 0);
	assert_float_equal(x0(&c, 1), -2, 0);
	assert_float_equal(x0(&c, 3), 1048576, 0);
	case_done(&c);
	c = vector_case();
	case_open(&c, write_npy("bytes.npy", 'u', 1, SHAPE(1, 4), bytes));
	case_load(&c, 0);
	assert_float_equal(x0(&c, 3), 255, 0);
	case_done(&c);
}

void test_dataset_arrays__what_does_not_fit_is_named(void **state)
{
	struct data_case c = vector_case();
	assert_int_equal(case_try(&c, write_npy("misfit.npy", 'f', 4, SHAPE(2, 3), batch)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "misfit.npy"));
	assert_non_null(strstr(c.err.text, "[2, 3]"));
	assert_null(c.data);
	assert_int_equal(case_try(&c, case_png("picture.png", 2, 2)), STATUS_UNSUPPORTED);
	assert_int_equal(case_try(&c, "/nonexistent/calib"), STATUS_IO);
}

void test_dataset_arrays__raw_elements(void **state)
{
	struct data_case c = vector_case();
	case_open(&c, support_temp_file("raw.bin", batch, sizeof batch));
	assert_int_equal(dataset_count(c.data), 3);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	case_done(&c);
	assert_int_equal(case_try(&c, support_temp_file("odd.bin", batch, 10)), STATUS_FORMAT);
}

// float64 would be read as twice as many samples of noise: its lower halves are that, or nothing of whole numbers.
void test_dataset_arrays__raw_elements_of_twice_the_size(void **state)
{
	enum { N = 64 };
	double noise[N], widened[N], whole[N];
	float plain[N], sparse[N], tiny[N];
	for (int i = 0; i < N; i++) {
		noise[i] = sin(i) * 3;
		widened[i] = (double)(float)cos(i);
		whole[i] = i * 4 % 256;
		plain[i] = (float)sin(i);
		sparse[i] = i % 2 ? (float)(i % 7) : 0;
		tiny[i] = expf(-(float)(i * 37 % N)); // as of a softmax
	}
	const struct {
		const void *data;
		size_t size;
		bool doubles;
	} rows[] = {{noise, sizeof noise, true}, {widened, sizeof widened, true}, {whole, sizeof whole, true}, {plain, sizeof plain, false},
	    {sparse, sizeof sparse, false}, {tiny, sizeof tiny, false}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct data_case c = vector_case();
		assert_int_equal(case_try(&c, support_temp_file("twice.bin", rows[i].data, rows[i].size)), rows[i].doubles ? STATUS_FORMAT : STATUS_OK);
		if (rows[i].doubles)
			assert_non_null(strstr(c.err.text, "twice.bin: its numbers look like float64"));
		case_done(&c);
	}
}

void test_dataset_arrays__tensor_proto(void **state)
{
	Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
	struct data_case c = vector_case();
	int64_t dims[2] = {1, 4};
	uint8_t packed[256];
	size_t size;
	t.has_data_type = true;
	t.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
	t.dims = dims;
	t.n_dims = 2;
	t.float_data = (float *)batch;
	t.n_float_data = 4;
	t.name = (char *)"anything";
	size = onnx__tensor_proto__pack(&t, packed);
	case_open(&c, support_temp_file("input_0.pb", packed, size));
	case_load(&c, 0);
	assert_memory_equal(c.in[0].data, batch, 16);
	case_done(&c);
}

void test_dataset_arrays__npz_fills_inputs_by_name(void **state)
{
	static const int64_t ids[4] = {7, 8, 9, 10};
	const char *const pairs[] = {"ids.npy", write_npy("ids.npy", 'i', 8, SHAPE(2, 2), ids), "x.npy",
	    write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch), "unused.npy", write_npy("u.npy", 'f', 4, SHAPE(3), batch)};
	struct data_case c = vector_case();
	struct data_shapes data;
	case_input(&c, "ids", DT_I64, SHAPE(1, 2));
	case_open(&c, write_npz("named.npz", 3, pairs));
	assert_int_equal(dataset_count(c.data), 2);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	assert_memory_equal(c.in[1].data, ids + 2, 16);
	case_done(&c);
	assert_int_equal(dataset_peek_shapes(&data, support_temp("named.npz"), &c.err), STATUS_OK);
	assert_int_equal(data.n, 3);
	for (size_t i = 0; i < data.n; i++) {
		assert_string_equal(data.at[i].file, support_temp("named.npz"));
		assert_true(strcmp(data.at[i].name, "x") || shape_equal(&data.at[i].shape, &(struct shape){.rank = 2, .dim = {2, 4}}));
	}
	data_shapes_done(&data);
}

void test_dataset_arrays__an_input_without_data(void **state)
{
	struct data_case c = vector_case();
	char said[256];
	case_input(&c, "ids", DT_I64, SHAPE(1, 2));
	const char *path = write_npy("alone.npy", 'f', 4, SHAPE(1, 4), batch);
	case_open(&c, path);
	assert_int_equal(dataset_load(c.data, 0, c.in, NULL, &c.err), STATUS_FORMAT);
	snprintf(said, sizeof said, "%s has nothing for input 'ids'", path);
	assert_non_null(strstr(c.err.text, said));
	case_done(&c);
}

// As many as there are, and of a subdirectory for each input under its name.
void test_dataset_arrays__shapes_of_many_inputs(void **state)
{
	enum { N = 20 };
	struct error err;
	struct data_shapes data;
	char name[N][16];
	const char *pairs[2 * N], *dir = support_temp("inputs");
	for (int i = 0; i < N; i++) {
		snprintf(name[i], sizeof name[i], "in%02d.npy", i);
		pairs[2 * i] = name[i];
		pairs[2 * i + 1] = write_npy(name[i], 'f', 4, SHAPE(1 + i % 2, 4), batch);
	}
	assert_int_equal(dataset_peek_shapes(&data, write_npz("many.npz", N, pairs), &err), STATUS_OK);
	assert_int_equal(data.n, N);
	data_shapes_done(&data);
	for (int i = 0; i < N; i++) {
		name[i][4] = '\0';
		char *sub = file_join(dir, name[i]), *to = file_join(sub, "0.npy");
		assert_int_equal(file_mkdirs(sub, &err), STATUS_OK);
		assert_int_equal(rename(pairs[2 * i + 1], to), 0);
		free(sub);
		free(to);
	}
	assert_int_equal(dataset_peek_shapes(&data, dir, &err), STATUS_OK);
	assert_int_equal(data.n, N + 1); // and the first for the input that nothing names
	for (int i = 0; i < N; i++) {
		assert_string_equal(data.at[i].name, name[i]);
		assert_int_equal(data.at[i].shape.dim[0], 1 + i % 2);
	}
	assert_string_equal(data.at[N].name, "");
	data_shapes_done(&data);
}

// Texts and objects beside the numbers are what numpy.savez(images=..., names=...) makes.
void test_dataset_arrays__npz_with_more_than_numbers(void **state)
{
	static const char text[] = "\x93NUMPY\1\0\x3b\0{'descr':'<U1','fortran_order':False,'shape':()}          \nabc";
	const char *file = support_temp_file("text", text, sizeof text - 1);
	const char *const pairs[] = {"names.npy", file, "x.npy", write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch)};
	const char *const alone[] = {"x.npy", file};
	struct data_case c = vector_case(), other = vector_case();
	case_open(&c, write_npz("texts.npz", 2, pairs));
	assert_int_equal(dataset_count(c.data), 2);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	case_done(&c);
	assert_int_equal(case_try(&other, write_npz("alone.npz", 1, alone)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(other.err.text, "alone.npz(x.npy): numbers of type '<U1' cannot be read"));
}

// Fractions for bytes would all become 0, and 300 would become 44.
void test_dataset_arrays__numbers_that_the_type_lacks_are_refused(void **state)
{
	static const float fine[4] = {0, 1, 2, 255}, fraction[4] = {0, .5f, 1, 2}, large[4] = {0, 1, 2, 256}, less[4] = {-1};
	static const float *const bad[] = {fraction, large, less};
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "x", DT_U8, SHAPE(1, 4));
	case_open(&c, write_npy("fine.npy", 'f', 4, SHAPE(1, 4), fine));
	case_load(&c, 0);
	assert_int_equal(((const uint8_t *)c.in[0].data)[3], 255);
	case_done(&c);
	for (size_t i = 0; i < 3; i++) {
		struct data_case b = {.opt = {.samples = 0}};
		case_input(&b, "x", DT_U8, SHAPE(1, 4));
		case_open(&b, write_npy("bad.npy", 'f', 4, SHAPE(1, 4), bad[i]));
		assert_int_equal(dataset_load(b.data, 0, b.in, &b.where, &b.err), STATUS_FORMAT);
		assert_non_null(strstr(b.err.text, "is no uint8, which the input takes"));
		case_done(&b);
	}
}

// Codes of 4 bits lie in bytes, which hold more.
void test_dataset_arrays__codes_of_four_bits(void **state)
{
	static const int8_t fit[2] = {-8, 7}, wide[2] = {-8, 100};
	struct data_case c = {0};
	case_input(&c, "x", DT_I4, SHAPE(2));
	case_open(&c, write_npy("nibbles.npy", 'i', 1, SHAPE(2), fit));
	case_load(&c, 0);
	assert_int_equal(((const int8_t *)c.in[0].data)[0], -8);
	case_done(&c);
	case_input(&c, "x", DT_I4, SHAPE(2));
	case_open(&c, write_npy("nibbles.npy", 'i', 1, SHAPE(2), wide));
	assert_int_equal(dataset_load(c.data, 0, c.in, NULL, &c.err), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "100 is no int4"));
	case_done(&c);
}

void test_dataset_arrays__numbers_that_are_none_are_warned_of(void **state)
{
	static const float nan[4] = {0, NAN, 1, 2}, mask[4] = {0, -INFINITY, 0, 0};
	const float *const rows[] = {mask, nan};
	for (int i = 0; i < 2; i++) {
		struct data_case c = vector_case();
		int before = support_log_count();
		case_open(&c, write_npy("nan.npy", 'f', 4, SHAPE(1, 4), rows[i]));
		case_load(&c, 0);
		case_load(&c, 0); // once is enough
		assert_int_equal(support_log_count(), before + i);
		case_done(&c);
	}
}

// An Imputer or an IsNaN puts other numbers in their place: there they say that one is missing.
void test_dataset_arrays__a_missing_number_is_meant(void **state)
{
	static const float nan[4] = {0, NAN, 1, 2}, infinite[4] = {0, NAN, INFINITY, 2};
	static const struct {
		const char *op, *file; // a line of the log is not said twice
		const float *row;
		float missing;
		int warnings;
	} at[] = {{"Imputer", "0.npy", nan, NAN, 0}, {"Imputer", "1.npy", nan, -1, 1}, {"Imputer", "2.npy", infinite, NAN, 1},
	    {"IsNaN", "3.npy", nan, 0, 0}, {"Abs", "4.npy", nan, 0, 1}};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		struct builder b = builder_new();
		struct dataset *d = NULL;
		struct tensor in[1] = {{0}};
		struct error err = {0};
		int before = support_log_count();
		b.g->value[builder_input(&b, "x")].shape = SHAPE(1, 4);
		builder_node(&b, "Reshape", "reshape", "x", "same");
		struct node *reader = &b.g->node[builder_node(&b, "Abs", "reader", "same", "y")];
		reader->op = op_find(strcmp(at[i].op, "Imputer") == 0 ? "ai.onnx.ml" : "", at[i].op, 13);
		struct imputer_attrs *a = arena_alloc(b.g->arena, sizeof *a);
		*a = (struct imputer_attrs){.missing = at[i].missing};
		reader->attrs = a;
		builder_output(&b, "y");
		if (dataset_open(&d, write_npy(at[i].file, 'f', 4, SHAPE(1, 4), at[i].row), b.g, &(struct dataset_options){.samples = 0}, &err) ||
		    dataset_load(d, 0, in, NULL, &err))
			fail_msg("%s", err.text);
		assert_int_equal(support_log_count(), before + at[i].warnings);
		tensor_drop(&in[0]);
		dataset_free(&d);
		graph_free(&b.g);
	}
}

void test_dataset_arrays__npz_with_unequal_batches_is_refused(void **state)
{
	const char *const pairs[] = {"ids.npy", write_npy("ids.npy", 'f', 4, SHAPE(3, 2), batch), "x.npy",
	    write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch)};
	struct data_case c = vector_case();
	case_input(&c, "ids", DT_I64, SHAPE(1, 2));
	assert_int_equal(case_try(&c, write_npz("unequal.npz", 2, pairs)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "unequal.npz"));
}

// 1 + 3/2048 lies between two halves, the even one above; 65519.9 is the largest finite one,
// and 2^-25 is nearer to nothing.
void test_dataset_arrays__halves_and_doubles_are_written(void **state)
{
	static const float from[] = {
	    1, -2.5f, 1 + 3 / 2048.f, 1 + 1 / 2048.f, 65519.9f, 65520, -INFINITY, 0x1p-24f, 0x1p-25f, 0x1.ff8p-15f, 0x1.ffep-15f, 0.1f, -0.0f};
	static const float halves[] = {
	    1, -2.5f, 1 + 4 / 2048.f, 1, 65504, INFINITY, -INFINITY, 0x1p-24f, 0, 0x1.ff8p-15f, 0x1p-14f, 0x1.998p-4f, -0.0f};
	enum { N = sizeof from / sizeof *from };
	const char *path = support_temp("halves.npy");
	struct tensor t = {.type = DT_F32, .shape = shape_of(1, (int64_t[]){N}), .data = (void *)from};
	struct error err;
	for (int bytes = 2; bytes <= 8; bytes += 6) {
		struct npy a;
		struct tensor back = {0};
		if (array_write(&t, bytes, path, &err) || support_npy_read(&a, path, &err) || array_read(&back, path, "", DT_F32, &err))
			fail_msg("%s", err.text);
		assert_int_equal(a.kind, 'f');
		assert_int_equal(a.item, bytes);
		assert_memory_equal(back.data, bytes == 2 ? halves : from, sizeof from);
		npy_done(&a);
		tensor_drop(&back);
	}
}

// How many values the second input has.
static int values_of_mode(struct data_case *c, int64_t value[2], const char *path)
{
	struct dataset *d;
	if (dataset_open_silently(&d, path, &c->graph, &c->opt, &c->err))
		fail_msg("%s", c->err.text);
	int n = dataset_values(value, d, 1);
	dataset_free(&d);
	return n;
}

void test_dataset_arrays__values_of_an_input(void **state)
{
	static const int64_t modes[2] = {16000, 8000};
	struct data_case c = vector_case();
	char *dir = make_dir("values");
	int64_t value[2] = {0};
	case_input(&c, "mode", DT_I64, SHAPE(1));
	c.graph.value = c.value;
	c.graph.input = c.input;
	const char *x = write_npy("x.npy", 'f', 4, SHAPE(1, 4), batch), *first = write_npy("m0.npy", 'i', 8, SHAPE(1), &modes[0]);
	const char *const same[] = {"x.npy", x, "mode.npy", first}, *const without[] = {"x.npy", x};
	write_npz("values/a.npz", 2, same);
	write_npz("values/b.npz", 2, same);
	assert_int_equal(values_of_mode(&c, value, dir), 1);
	assert_int_equal(value[0], 16000);
	const char *const other[] = {"x.npy", x, "mode.npy", write_npy("m1.npy", 'i', 8, SHAPE(1), &modes[1])};
	write_npz("values/c.npz", 2, other);
	assert_int_equal(values_of_mode(&c, value, dir), 2);
	assert_int_equal(value[1], 8000);
	c.opt.samples = 2; // what is left out has no say
	assert_int_equal(values_of_mode(&c, value, dir), 1);
	write_npz("values/b.npz", 1, without);
	assert_int_equal(values_of_mode(&c, value, dir), 0);
	c.value[1].name = "sr"; // which has a customary value
	assert_int_equal(values_of_mode(&c, value, support_temp("values/b.npz")), 1);
	assert_int_equal(value[0], 16000);
	assert_int_equal(array_value(value, support_temp("m1.npy"), "mode", DT_I64), 1);
	assert_int_equal(value[0], 8000);
	assert_int_equal(array_value(value, x, "x", DT_F32), 0);
	free(dir);
}

// What a script has gathered with numpy.stack, and a state that all samples begin with.
void test_dataset_arrays__a_stack_and_what_serves_all(void **state)
{
	static const float zeros[4] = {0, 0, 0, 9};
	const char *const pairs[] = {"x.npy", write_npy("sx.npy", 'f', 4, SHAPE(3, 1, 4), batch), "h.npy",
	    write_npy("sh.npy", 'f', 4, SHAPE(2, 2), zeros), "mode.npy", write_npy("sm.npy", 'i', 8, shape_of(0, NULL), &(int64_t){7})};
	const char *const uneven[] = {"x.npy", support_temp("sx.npy"), "h.npy", write_npy("s2.npy", 'f', 4, SHAPE(2, 2, 2), batch)};
	struct data_case c = vector_case();
	case_input(&c, "h", DT_F32, SHAPE(2, 2));
	case_input(&c, "mode", DT_I64, shape_of(0, NULL));
	case_open(&c, write_npz("stack.npz", 3, pairs));
	assert_int_equal(dataset_count(c.data), 3);
	for (int i = 0; i < 3; i++) {
		case_load(&c, i);
		assert_memory_equal(c.in[0].data, batch + (ptrdiff_t)4 * i, 16);
		assert_memory_equal(c.in[1].data, zeros, 16);
		assert_int_equal(*(int64_t *)c.in[2].data, 7);
	}
	case_done(&c);
	assert_int_equal(case_try(&c, write_npz("uneven.npz", 2, uneven)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "3 and 2 samples"));
}

void test_dataset_arrays__shapes_of_subdirectories(void **state)
{
	char *dir = make_dir("parts");
	struct data_shapes data;
	struct error err;
	free(make_dir("parts/h"));
	free(make_dir("parts/x"));
	write_npy("parts/h/0.npy", 'f', 4, SHAPE(1, 3), batch);
	write_npy("parts/x/0.npy", 'f', 4, SHAPE(1, 5), batch);
	write_npy("parts/x/1.npy", 'f', 4, SHAPE(1, 7), batch);
	assert_int_equal(dataset_peek_shapes(&data, dir, &err), STATUS_OK);
	assert_int_equal(data.n, 3);
	assert_string_equal(data.at[0].name, "h");
	assert_string_equal(data.at[1].name, "x");
	assert_int_equal(data.at[1].shape.dim[1], 5);
	assert_string_equal(data.at[1].file, support_temp("parts/x/0.npy"));
	assert_string_equal(data.at[2].name, ""); // for an input that no directory names
	data_shapes_done(&data);
	free(dir);
}

// Rows that are tensors by now do not stay in memory beside.
void test_dataset_arrays__rows_that_were_read_leave_memory(void **state)
{
	enum { ROWS = 64, ROW = 1 << 17 }; // 32 MiB of floats
	struct data_case c = {0};
	float *x = calloc((size_t)ROWS * ROW, sizeof *x);
	for (size_t i = 0; i < (size_t)ROWS * ROW; i++)
		x[i] = (float)(i / ROW);
	case_input(&c, "x", DT_F32, SHAPE(1, ROW));
	const char *path = write_npy("rows.npy", 'f', 4, SHAPE(ROWS, ROW), x);
	free(x);
	case_open(&c, path);
	case_load(&c, 0);
	size_t before = support_mapped_bytes(), most = before;
	for (int i = 0; i < ROWS; i++) {
		case_load(&c, i);
		assert_float_equal(x0(&c, ROW - 1), (double)i, 0);
		most = support_mapped_bytes() > most ? support_mapped_bytes() : most;
	}
	assert_in_range(most - before, 0, (size_t)12 << 20);
	case_done(&c);
}

// Pictures as arrays are not prepared: bytes for an input of floats, and options that would prepare pictures, are warned of.
void test_dataset_arrays__pictures_are_taken_as_they_are(void **state)
{
	static const float floats[3 * 4] = {.5f};
	static const uint8_t bytes[3 * 4] = {128};
	for (int as = 0; as < 4; as++) {
		struct data_case c = {.opt = {.pre = {.std_set = as == 1, .std = {255, 255, 255, 255}}}};
		char line[512] = "";
		int before = log_warnings();
		case_input(&c, "image", as == 3 ? DT_U8 : DT_F32, SHAPE(1, 3, 2, 2));
		case_open(&c, as < 2 ? write_npy("floats.npy", 'f', 4, SHAPE(1, 3, 2, 2), floats) : write_npy("bytes.npy", 'u', 1, SHAPE(1, 3, 2, 2), bytes));
		if (log_warnings() > before)
			log_line(support_log_count() - 1, line, sizeof line);
		assert_int_equal(strstr(line, "floats.npy: arrays are taken as they are") != NULL, as == 1);
		assert_int_equal(strstr(line, "bytes.npy: bytes are taken as they are, 0 to 255") != NULL, as == 2);
		case_done(&c);
	}
}
