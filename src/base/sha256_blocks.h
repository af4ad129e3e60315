// Whole blocks of SHA-256 by the processor's own instructions, eight times as fast as portable code.
#ifndef QTUI_BASE_SHA256_BLOCKS_H
#define QTUI_BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has them.
bool sha256_blocks_usable(void);
// Advances the state (a .. h) by n blocks of 64 bytes.
void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t n);

#endif
