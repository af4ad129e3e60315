// Archives whose members are too large to be held in memory beside what is made of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"
#include "support.h"

enum { ROWS = 40, COLUMNS = 1 << 19, HEADER = 128 }; // 20 MiB

// Element i, which compresses well.
static uint8_t element(size_t i)
{
	return (uint8_t)(i / 4096 % 251);
}

static const char *make(const char *name, bool compressed, bool fortran)
{
	const char *path = support_temp(name);
	const size_t size = (size_t)ROWS * COLUMNS;
	uint8_t *bytes = xcalloc(HEADER + size, 1);
	memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
	memset(bytes + 10, ' ', HEADER - 10);
	int n = snprintf((char *)bytes + 10, HEADER - 10, "{'descr':'|u1','fortran_order':%s,'shape':(%d,%d)}", fortran ? "True" : "False", ROWS,
	    COLUMNS);
	bytes[10 + n] = ' ';
	bytes[HEADER - 1] = '\n';
	for (size_t i = 0; i < size; i++)
		bytes[HEADER + i] = element(i);
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	zip_int64_t i = zip_file_add(z, "x.npy", zip_source_buffer(z, bytes, HEADER + size, 0), 0);
	assert_true(i >= 0);
	zip_set_file_compression(z, (zip_uint64_t)i, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
	assert_int_equal(zip_close(z), 0);
	free(bytes);
	return path;
}

static void check(const char *path, bool mapped)
{
	struct error err = {0};
	struct npz z;
	if (npz_read(&z, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(z.array[0].dim[1], COLUMNS);
	assert_int_equal(z.bytes[0].map != NULL, mapped);
	for (size_t i = 0; i < z.array[0].size; i++)
		assert_int_equal(((uint8_t *)z.array[0].data)[i], element(i));
	npz_done(&z);
}

void test_npz_large__lies_in_a_file_without_a_name(void **state)
{
	check(make("stored.npz", false, false), true);
	check(make("deflated.npz", true, false), true);
}

// A directory that takes no files is passed over.
void test_npz_large__another_directory_serves(void **state)
{
	setenv("TMPDIR", "/no/such/directory", 1);
	check(make("stored.npz", false, false), true);
	unsetenv("TMPDIR");
}

void test_npz_large__an_array_to_be_transposed_owns_its_elements(void **state)
{
	struct error err = {0};
	struct npz z;
	assert_int_equal(npz_read(&z, make("fortran.npz", true, true), &err), STATUS_OK);
	assert_null(z.bytes[0].data);
	for (size_t r = 0; r < ROWS; r++)
		assert_int_equal(((uint8_t *)z.array[0].data)[r * COLUMNS + 8192], element(8192 * ROWS + r));
	npz_done(&z);
}

void test_npz_large__a_damaged_one_is_refused(void **state)
{
	struct error err = {0};
	struct bytes b;
	struct npz z;
	assert_int_equal(file_read(&b, make("damaged.npz", false, false), SIZE_MAX, &err), STATUS_OK);
	b.data[b.size / 2] ^= 1;
	assert_int_equal(npz_read(&z, support_temp_file("damaged.npz", b.data, b.size), &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "damaged.npz(x.npy)"));
	bytes_done(&b);
}
