// Vectors for loops that are compiled once for every processor level (private): of 32 bytes, or of 64 where a file
// for AVX-512 defines VBYTES so. GNU vector types, so that one source gives the same operations everywhere;
// what the compiler does not do well by itself is written out for AVX2 and AVX-512.
#ifndef QTUI_ENGINE_TENSOR_VECTOR_H
#define QTUI_ENGINE_TENSOR_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef VBYTES
#define VBYTES 32
#endif
enum { VLANES = VBYTES / 4 };
typedef float vfloat __attribute__((vector_size(VBYTES)));
typedef double vdouble __attribute__((vector_size(VBYTES)));
typedef int32_t vint __attribute__((vector_size(VBYTES)));
typedef uint32_t vuint __attribute__((vector_size(VBYTES))); // of sums that may wrap
typedef int16_t vpairs __attribute__((vector_size(VBYTES)));
#define VINLINE static inline __attribute__((always_inline))
// A loop that is vectorised whatever the level of optimisation: of elements that do not depend on each other.
#define SIMD_FOR(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

VINLINE vfloat vall(float x)
{
	return x - (vfloat){0}; // x itself, be it -0 or a NaN
}

VINLINE vfloat vload(const float *p)
{
	vfloat v;
	memcpy(&v, p, sizeof v);
	return v;
}

VINLINE void vstore(float *p, vfloat v)
{
	memcpy(p, &v, sizeof v);
}

VINLINE vfloat vabs(vfloat a)
{
	return (vfloat)((vint)a & 0x7fffffff);
}

// a * b + c, rounded once where the processor does that.
VINLINE vfloat vfma(vfloat a, vfloat b, vfloat c)
{
#if defined(__AVX512F__) && VBYTES == 64
	return (vfloat)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__) && VBYTES == 32
	return (vfloat)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return a * b + c;
#endif
}

// The greater and the lesser of two; of floats the second where one of them is a NaN. Without AVX2 gcc compares
// vectors of 32 bytes an element at a time, so there they are taken in parts that every processor has.
#if defined(__AVX512F__) && VBYTES == 64
#define VCHOOSE(name, type, element, op, i, instruction)                                                               \
	VINLINE type name(type a, type b)                                                                              \
	{                                                                                                              \
		return (type)_mm512_##instruction((__m512##i)a, (__m512##i)b);                                         \
	}
#elif defined(__AVX2__) && VBYTES == 32
#define VCHOOSE(name, type, element, op, i, instruction)                                                               \
	VINLINE type name(type a, type b)                                                                              \
	{                                                                                                              \
		return (type)_mm256_##instruction((__m256##i)a, (__m256##i)b);                                         \
	}
#else
enum { VPART = 16, VPARTS = VBYTES / VPART };
#define VCHOOSE(name, type, element, op, i, instruction)                                                               \
	VINLINE type name(type a, type b)                                                                              \
	{                                                                                                              \
		typedef element part __attribute__((vector_size(VPART)));                                              \
		typedef int32_t mask __attribute__((vector_size(VPART)));                                              \
		part x[VPARTS], y[VPARTS];                                                                             \
		memcpy(x, &a, sizeof x);                                                                               \
		memcpy(y, &b, sizeof y);                                                                               \
		for (int k = 0; k < VPARTS; k++) {                                                                     \
			mask first = x[k] op y[k];                                                                     \
			x[k] = (part)((first & (mask)x[k]) | (~first & (mask)y[k]));                                   \
		}                                                                                                      \
		memcpy(&a, x, sizeof x);                                                                               \
		return a;                                                                                              \
	}
#endif
VCHOOSE(vmax, vfloat, float, >, , max_ps)
VCHOOSE(vmin, vfloat, float, <, , min_ps)
VCHOOSE(vintmax, vint, int32_t, >, i, max_epi32)
VCHOOSE(vintmin, vint, int32_t, <, i, min_epi32)

// The greater of |a| and b, which is not below 0; of NaN, anything.
VINLINE vfloat vabsmax(vfloat a, vfloat b)
{
#if defined(__AVX512DQ__) && VBYTES == 64
	return (vfloat)_mm512_range_ps((__m512)a, (__m512)b, 3 | 2 << 2); // the greater magnitude, without its sign
#else
	return vmax(vabs(a), b);
#endif
}

// Whether any lane of a mask, all of whose lanes are 0 or -1, is set.
VINLINE bool vany(vint mask)
{
#if defined(__AVX512F__) && VBYTES == 64
	return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__) && VBYTES == 32
	return _mm256_movemask_epi8((__m256i)mask) != 0;
#else
	int32_t any = 0;
	for (int i = 0; i < VLANES; i++)
		any |= mask[i];
	return any != 0;
#endif
}

// Products of neighbours added up: a[2i] * b[2i] + a[2i + 1] * b[2i + 1], which must fit.
VINLINE vint vpairs_dot(vpairs a, vpairs b)
{
#if defined(__AVX512BW__) && VBYTES == 64
	return (vint)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && VBYTES == 32
	return (vint)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
	vint odd = ((vint)a >> 16) * ((vint)b >> 16), even = ((vint)a << 16 >> 16) * ((vint)b << 16 >> 16);
	return odd + even;
#endif
}

// What follows is of 32 bytes alone.
#if VBYTES == 32
#if defined(__AVX2__)
// A value that is used several times stays in its register; gcc would read it from memory again for every use.
#define VKEEP(v) __asm__("" : "+v"(v))
#define VLOAD_CODES(name, type, load, widen)                                                                           \
	VINLINE vint name(const type *p)                                                                               \
	{                                                                                                              \
		return (vint)widen(load((const __m128i *)p));                                                          \
	}
VLOAD_CODES(vcodes_i8, int8_t, _mm_loadl_epi64, _mm256_cvtepi8_epi32)
VLOAD_CODES(vcodes_u8, uint8_t, _mm_loadl_epi64, _mm256_cvtepu8_epi32)
VLOAD_CODES(vcodes_i16, int16_t, _mm_loadu_si128, _mm256_cvtepi16_epi32)
VLOAD_CODES(vcodes_u16, uint16_t, _mm_loadu_si128, _mm256_cvtepu16_epi32)
#else
#define VKEEP(v) ((void)(v))
#define VLOAD_CODES(name, type)                                                                                        \
	VINLINE vint name(const type *p)                                                                               \
	{                                                                                                              \
		return (vint){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};                                         \
	}
VLOAD_CODES(vcodes_i8, int8_t)
VLOAD_CODES(vcodes_u8, uint8_t)
VLOAD_CODES(vcodes_i16, int16_t)
VLOAD_CODES(vcodes_u16, uint16_t)
#endif
#endif

#endif
