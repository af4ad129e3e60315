// Private to src/base: single characters of UTF-8.
#ifndef QTUI_BASE_STR_UTF8_H
#define QTUI_BASE_STR_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Bytes of the character at p, in a text that a NUL ends; 0 for a byte that does not begin one.
size_t utf8_bytes(const unsigned char *p);
// The character of that many bytes, one or more.
uint32_t utf8_decode(const unsigned char *p, size_t bytes);

#endif
