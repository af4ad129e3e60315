// NumPy's files and archives of them: what is read, and how what is damaged or hostile is refused.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"

static struct error e;

// A file as NumPy writes it: format `major`, the given dictionary, the data.
static struct bytes npy_file(int major, const char *header, const void *data, size_t size)
{
	struct str s = {0};
	size_t n = strlen(header);
	unsigned char length[4] = {n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255};
	str_addn(&s, "\x93NUMPY", 6);
	str_addn(&s, (char[]){(char)major, 0}, 2);
	str_addn(&s, (char *)length, major == 1 ? 2 : 4);
	str_add(&s, header);
	str_addn(&s, data, size);
	n = s.len;
	return (struct bytes){.data = (uint8_t *)str_detach(&s), .size = n};
}

static enum status parse(struct npy *a, int major, const char *header, const void *data, size_t size)
{
	struct bytes b = npy_file(major, header, data, size);
	enum status s = npy_parse(a, b.data, b.size, "a.npy", &e);
	bytes_done(&b);
	return s;
}

static void check_refused(const char *header, enum status want)
{
	struct npy a = {.data = &e};
	if (parse(&a, 1, header, "01234567", 8) != want)
		fail_msg("%s", header);
	assert_null(a.data);
	assert_memory_equal(e.text, "a.npy: ", 7);
}

void test_npy__reads_every_format(void **state)
{
	const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }   \n";
	const float data[2] = {1.5f, -2};
	for (int major = 1; major <= 3; major++) {
		struct npy a;
		assert_int_equal(parse(&a, major, header, data, 8), STATUS_OK);
		assert_int_equal(a.kind, 'f');
		assert_int_equal(a.item, 4);
		assert_int_equal(a.rank, 2);
		assert_int_equal(a.dim[0], 2);
		assert_int_equal(a.dim[1], 1);
		assert_int_equal(a.size, 8);
		assert_memory_equal(a.data, data, 8);
		npy_done(&a);
		assert_null(a.data);
	}
}

void test_npy__keys_in_any_order_and_spacing(void **state)
{
	struct npy a;
	assert_int_equal(
	    parse(&a, 1, "{\"shape\":(3L,),\n\t'descr' : '|u1','fortran_order':False}", "abc", 3), STATUS_OK);
	assert_int_equal(a.rank, 1);
	assert_int_equal(a.dim[0], 3);
	assert_memory_equal(a.data, "abc", 3);
	npy_done(&a);
}

void test_npy__scalars_and_empty_arrays(void **state)
{
	struct npy a;
	assert_int_equal(parse(&a, 1, "{'descr':'<i8','fortran_order':False,'shape':()}", "12345678", 8), STATUS_OK);
	assert_int_equal(a.rank, 0);
	assert_int_equal(a.size, 8);
	npy_done(&a);
	assert_int_equal(parse(&a, 1, "{'descr':'<i8','fortran_order':True,'shape':(4,0,2)}", "", 0), STATUS_OK);
	assert_int_equal(a.rank, 3);
	assert_int_equal(a.size, 0);
	assert_non_null(a.data);
	npy_done(&a);
}

void test_npy__swaps_big_endian(void **state)
{
	struct npy a;
	assert_int_equal(parse(&a, 1, "{'descr':'>i2','fortran_order':False,'shape':(2,)}", "\1\2\3\4", 4), STATUS_OK);
	assert_memory_equal(a.data, "\2\1\4\3", 4);
	npy_done(&a);
}

// numpy.asfortranarray(numpy.arange(24).reshape(2, 3, 4)): element (i, j, k) stands at i + 2 j + 6 k.
void test_npy__transposes_fortran_order(void **state)
{
	uint16_t file[24];
	const uint16_t *got;
	struct npy a;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 4; k++)
				file[i + 2 * j + 6 * k] = (uint16_t)(12 * i + 4 * j + k);
	assert_int_equal(
	    parse(&a, 1, "{'descr':'<u2','fortran_order':True,'shape':(2,3,4)}", file, sizeof file), STATUS_OK);
	got = a.data;
	for (int i = 0; i < 24; i++)
		assert_int_equal(got[i], i);
	npy_done(&a);
}

void test_npy__known_types(void **state)
{
	static const char *const types[] = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
	char header[100];
	struct npy a;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		snprintf(header, sizeof header, "{'descr':'<%s','fortran_order':False,'shape':(1,)}", types[i]);
		assert_int_equal(parse(&a, 1, header, "12345678", 8), STATUS_OK);
		assert_int_equal(a.kind, types[i][0]);
		assert_int_equal(a.item, types[i][1] - '0');
		npy_done(&a);
	}
}

void test_npy__refuses_other_types(void **state)
{
	static const char *const types[] = {"'<c8'", "'|O'", "'<U3'", "'|S1'", "'<f1'", "'<i3'", "'<f16'", "'f4'", "''",
	    "'<b2'", "[('x', '<f4')]", "4", "'<M8[ns]'", "'a very long type that does not fit'"};
	char header[200];
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		snprintf(header, sizeof header, "{'descr':%s,'fortran_order':False,'shape':(1,)}", types[i]);
		check_refused(header, STATUS_UNSUPPORTED);
	}
}

static const char *const malformed[] = {
    "",
    "{",
    "}",
    "{}",
    "{'descr'",
    "{'descr':",
    "{'descr':'<f4'",
    "{'descr':'<f4',",
    "{'descr':'<f4','fortran_order':False}",
    "{'descr':'<f4','fortran_order':None,'shape':(1,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1,)",
    "{'descr':'<f4','fortran_order':False,'shape':(1,",
    "{'descr':'<f4','fortran_order':False,'shape':(1",
    "{'descr':'<f4','fortran_order':False,'shape':(",
    "{'descr':'<f4','fortran_order':False,'shape':1}",
    "{'descr':'<f4','fortran_order':False,'shape':(-1,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1 2)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1e1,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1,),'x':1}",
    "{'descr':'<f4','descr':'<f4','fortran_order':False,'shape':(1,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1,),'shape':(1,)}",
    "{'descr':'<f4' 'fortran_order':False,'shape':(1,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(9223372036854775808,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999999,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(9223372036854775807,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}",
    "{'descr':'<f4','fortran_order':False,'shape':(0,4294967296,4294967296)}",
    "{'descr':'<f4','fortran_order':False,'shape':(1000000000000,)}",
    "{'descr':'<f4','fortran_order':False,'shape':(3,)}",
};

void test_npy__refuses_malformed_headers(void **state)
{
	for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
		check_refused(malformed[i], STATUS_FORMAT);
	check_refused("{'descr':'<f4','fortran_order':False,'shape':(1,1,1,1,1,1,1,1,1)}", STATUS_UNSUPPORTED);
}

void test_npy__refuses_cut_and_foreign_files(void **state)
{
	const char *header = "{'descr':'<f4','fortran_order':False,'shape':(2,)}\n";
	struct npy a;
	for (int major = 1; major <= 2; major++) {
		struct bytes b = npy_file(major, header, "12345678", 8);
		for (size_t cut = 0; cut < b.size; cut++) {
			uint8_t *exact = malloc(cut ? cut : 1);
			memcpy(exact, b.data, cut);
			assert_int_equal(npy_parse(&a, exact, cut, "cut.npy", &e), STATUS_FORMAT);
			assert_null(a.data);
			free(exact);
		}
		b.data[6] = 4;
		assert_int_equal(npy_parse(&a, b.data, b.size, "new.npy", &e), STATUS_UNSUPPORTED);
		b.data[0] = 'x';
		assert_int_equal(npy_parse(&a, b.data, b.size, "x.npy", &e), STATUS_FORMAT);
		bytes_done(&b);
	}
	assert_int_equal(npy_parse(&a, "\x93NUMPY\2\0\xff\xff\xff\xff", 12, "huge.npy", &e), STATUS_FORMAT);
}

void test_npy__survives_any_byte(void **state)
{
	struct bytes b = npy_file(1, "{'descr':'<f4','fortran_order':True,'shape':(2,1,)}\n", "12345678", 8);
	struct npy a;
	for (size_t at = 0; at < b.size; at++) {
		uint8_t was = b.data[at];
		for (int byte = 0; byte < 256; byte++) {
			b.data[at] = (uint8_t)byte;
			if (npy_parse(&a, b.data, b.size, "t", &e) == STATUS_OK)
				npy_done(&a);
			else
				assert_null(a.data);
		}
		b.data[at] = was;
	}
	bytes_done(&b);
}

void test_npy__no_memory_is_an_error(void **state)
{
	struct npy a;
	enum status s;
	struct bytes b = npy_file(1, "{'descr':'|u1','fortran_order':False,'shape':(2,)}\n", "ab", 2);
	mem_fail_at(1);
	s = npy_parse(&a, b.data, b.size, "a.npy", &e);
	mem_fail_at(0);
	assert_int_equal(s, STATUS_NOMEM);
	assert_null(a.data);
	bytes_done(&b);
}

static struct npy random_array(struct support_random *r, int rank)
{
	struct npy a = {.kind = 'i', .item = 4, .rank = rank, .size = 4};
	for (int d = 0; d < rank; d++) {
		a.dim[d] = support_random_int(r, d == 3 ? 0 : 1, 4);
		a.size *= (size_t)a.dim[d];
	}
	a.data = malloc(a.size ? a.size : 1);
	for (size_t i = 0; i < a.size; i++)
		((uint8_t *)a.data)[i] = (uint8_t)support_random_bits(r);
	return a;
}

static void check_same(const struct npy *a, const struct npy *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->item, b->item);
	assert_int_equal(a->rank, b->rank);
	assert_memory_equal(a->dim, b->dim, sizeof a->dim);
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
}

void test_npy__file_round_trip_of_every_rank(void **state)
{
	const char *path = support_temp("round.npy");
	struct support_random r = {5};
	for (int rank = 0; rank <= NPY_MAX_RANK; rank++) {
		struct npy a = random_array(&r, rank), back;
		struct bytes b;
		assert_int_equal(npy_write(&a, path, &e), STATUS_OK);
		assert_int_equal(support_npy_read(&back, path, &e), STATUS_OK);
		check_same(&a, &back);
		assert_int_equal(file_read(&b, path, SIZE_MAX, &e), STATUS_OK);
		assert_int_equal((b.size - a.size) % 64, 0);
		assert_int_equal(b.data[b.size - a.size - 1], '\n');
		bytes_done(&b);
		npy_done(&a);
		npy_done(&back);
	}
}

// The header is, to the byte, what numpy.save writes.
void test_npy__writes_as_numpy_does(void **state)
{
	static const char want[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
	                           "                                                            \n\0\0\200?";
	const char *path = support_temp("one.npy");
	const float one = 1;
	struct npy a = {.kind = 'f', .item = 4, .rank = 1, .dim = {1}, .data = (void *)&one, .size = 4};
	struct bytes b;
	assert_int_equal(npy_write(&a, path, &e), STATUS_OK);
	assert_int_equal(file_read(&b, path, 1000, &e), STATUS_OK);
	assert_int_equal(b.size, 132);
	assert_int_equal(sizeof want - 1, 132);
	assert_memory_equal(b.data, want, 132);
	bytes_done(&b);
}

static void add_member(zip_t *z, const char *name, const void *data, size_t size, bool compressed)
{
	zip_source_t *source = zip_source_buffer(z, data, size, 0);
	zip_int64_t i = zip_file_add(z, name, source, 0);
	assert_true(i >= 0);
	zip_set_file_compression(z, (zip_uint64_t)i, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
}

// Two arrays, something else, and a directory.
static const char *make_npz(const char *name, bool compressed)
{
	const char *path = support_temp(name);
	struct bytes a = npy_file(1, "{'descr':'|u1','fortran_order':False,'shape':(3,)}\n", "abc", 3);
	struct bytes b = npy_file(1, "{'descr':'<i2','fortran_order':False,'shape':(2,2)}\n", "01234567", 8);
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	add_member(z, "images.npy", a.data, a.size, compressed);
	add_member(z, "notes.txt", "text", 4, compressed);
	zip_dir_add(z, "dir", 0);
	add_member(z, "x/y.npy", b.data, b.size, compressed);
	assert_int_equal(zip_close(z), 0);
	bytes_done(&a);
	bytes_done(&b);
	return path;
}

void test_npz__reads_stored_and_compressed(void **state)
{
	for (int compressed = 0; compressed <= 1; compressed++) {
		struct npz z;
		if (npz_read(&z, make_npz("two.npz", compressed), &e))
			fail_msg("%s", e.text);
		assert_int_equal(z.n, 2);
		assert_string_equal(z.name[0], "images");
		assert_string_equal(z.name[1], "x/y");
		assert_memory_equal(support_npz_find(&z, "images")->data, "abc", 3);
		assert_int_equal(support_npz_find(&z, "x/y")->rank, 2);
		assert_null(support_npz_find(&z, "notes.txt"));
		assert_null(support_npz_find(&z, "images.npy"));
		npz_done(&z);
		assert_int_equal(z.n, 0);
	}
}

static void check_refused_zip(const char *path, enum status s, const char *text)
{
	struct npz z = {.n = 1};
	assert_int_equal(npz_read(&z, path, &e), s);
	assert_int_equal(z.n, 0);
	assert_null(z.name);
	assert_non_null(strstr(e.text, file_base(path)));
	if (!strstr(e.text, text))
		fail_msg("%s", e.text);
}

void test_npz__errors_name_file_and_member(void **state)
{
	const char *path = support_temp("member.npz");
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	add_member(z, "a.npy", "not numpy at all", 16, true);
	assert_int_equal(zip_close(z), 0);
	check_refused_zip(path, STATUS_FORMAT, "member.npz(a.npy): not an .npy file");
	check_refused_zip(support_temp_file("plain.npz", "not a zip", 9), STATUS_FORMAT, "");
	check_refused_zip("no/such.npz", STATUS_IO, "No such file");
}

void test_npz__refuses_every_cut(void **state)
{
	struct bytes b;
	assert_int_equal(file_read(&b, make_npz("whole.npz", true), 10000, &e), STATUS_OK);
	for (size_t cut = 0; cut < b.size; cut++) {
		const char *path = support_temp_file("cut.npz", b.data, cut);
		struct npz z;
		assert_int_not_equal(npz_read(&z, path, &e), STATUS_OK);
		assert_null(z.array);
	}
	bytes_done(&b);
}

// What the directory says of its size is asked of the system before a byte of it is unpacked.
void test_npz__a_member_larger_than_the_archive_can_hold_is_refused(void **state)
{
	enum { SIZE = 4 << 20, UNPACKED = 24 };
	const char *path = support_temp("zeros.npz");
	struct bytes b, a = npy_file(1, "{'descr':'|u1','fortran_order':False,'shape':(4194304,)}\n", NULL, 0);
	uint8_t *member = xcalloc(a.size + SIZE, 1);
	size_t directory = 0;
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	struct npz zeros;
	memcpy(member, a.data, a.size);
	add_member(z, "zeros.npy", member, a.size + SIZE, true);
	assert_int_equal(zip_close(z), 0);
	assert_int_equal(npz_read(&zeros, path, &e), STATUS_OK);
	npz_done(&zeros);
	assert_int_equal(file_read(&b, make_npz("liar.npz", true), 10000, &e), STATUS_OK);
	while (memcmp(b.data + directory, "PK\1\2", 4) != 0)
		directory++;
	memset(b.data + directory + UNPACKED, 0xef, 4);
	check_refused_zip(support_temp_file("liar.npz", b.data, b.size), STATUS_FORMAT, "cannot hold 4025479");
	bytes_done(&a);
	bytes_done(&b);
	free(member);
}

// A damaged archive is refused, or its damage lies where it changes no array (time stamps and the like).
void test_npz__survives_any_flipped_bit(void **state)
{
	struct bytes b;
	int refused = 0;
	assert_int_equal(file_read(&b, make_npz("good.npz", true), 10000, &e), STATUS_OK);
	for (size_t at = 0; at < b.size; at++) {
		struct npz z;
		b.data[at] ^= (uint8_t)(1 << at % 8);
		if (npz_read(&z, support_temp_file("flipped.npz", b.data, b.size), &e) == STATUS_OK) {
			if (support_npz_find(&z, "images"))
				assert_memory_equal(support_npz_find(&z, "images")->data, "abc", 3);
			npz_done(&z);
		} else {
			refused++;
		}
		b.data[at] ^= (uint8_t)(1 << at % 8);
	}
	assert_in_range(refused, b.size / 4, b.size);
	bytes_done(&b);
}

// The directory claims that each member unpacks to 4 GiB.
void test_npz__refuses_a_bomb(void **state)
{
	struct bytes b;
	struct npz z = {.n = 1};
	assert_int_equal(file_read(&b, make_npz("honest.npz", false), 10000, &e), STATUS_OK);
	for (size_t at = 0; at + 46 < b.size; at++)
		if (memcmp(b.data + at, "PK\1\2", 4) == 0)
			memcpy(b.data + at + 24, "\xf0\xff\xff\xff", 4);
	// Refused outright, or, where there is that much memory, when the first member turns out to be short.
	enum status s = npz_read(&z, support_temp_file("bomb.npz", b.data, b.size), &e);
	assert_true(s == STATUS_NOMEM || s == STATUS_FORMAT);
	assert_int_equal(z.n, 0);
	assert_non_null(strstr(e.text, "bomb.npz"));
	bytes_done(&b);
}

void test_npz__no_memory_is_an_error(void **state)
{
	const char *path = make_npz("nomem.npz", true);
	struct npz z;
	int n = 1;
	enum status s;
	do {
		mem_fail_at(n++);
		s = npz_read(&z, path, &e);
		mem_fail_at(0);
		assert_true(s == STATUS_OK || (s == STATUS_NOMEM && z.array == NULL));
	} while (s);
	assert_in_range(n, 5, 10);
	npz_done(&z);
}
