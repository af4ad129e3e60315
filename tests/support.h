// What every test program is linked with: data, a directory of its own, random numbers. Tests run with the
// repository's top as working directory.
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

// cmocka.h needs the four before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

// cmocka's own takes NaN, and an infinity, for equal to anything.
#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) support_float_equal((float)(a), (float)(b), (float)(epsilon), __FILE__, __LINE__)
void support_float_equal(float a, float b, float epsilon, const char *file, int line);

// The path of a file or directory below the data directory ($QTUI_DATA, else ../shared/data), or NULL when it is not
// there; then the test calls skip(). The text stays until the program ends.
const char *support_data(const char *relative);
// The path of `name` in a directory that is made for this process and removed when it ends; the text stays until then.
const char *support_temp(const char *name);
// Writes a file into that directory, whole; returns its path.
const char *support_temp_file(const char *name, const void *data, size_t size);
size_t support_mapped_bytes(void); // of files, what this process has in memory now

// Lines that the log keeps. An .npy file as npy_parse reads it. An archive's array; NULL when absent.
struct npy;
struct npz;
struct error;
int support_log_count(void);
int support_npy_read(struct npy *out, const char *path, struct error *err); // enum status
const struct npy *support_npz_find(const struct npz *z, const char *name);

// How many threads a test lets OpenMP have, where it asks for `n`: libgomp is not instrumented, so that the thread
// sanitizer takes each of its teams for a race, and the program makes none either in that build (src/base/jobs.c).
#ifdef __SANITIZE_THREAD__
#define SUPPORT_WIDTH(n) ((n) > 0)
#else
#define SUPPORT_WIDTH(n) (n)
#endif

// splitmix64: the same seed gives the same numbers everywhere.
struct support_random {
	uint64_t state;
};
uint64_t support_random_bits(struct support_random *r);
int support_random_int(struct support_random *r, int low, int high); // both ends may come
float support_random_float(struct support_random *r, float low, float high);
float support_random_normal(struct support_random *r); // mean 0, deviation 1
void support_random_floats(struct support_random *r, float *out, size_t n, float low, float high);

#endif
