// SHA-256: whole blocks by the processor's own instructions where it has them, the rest and the padding by libmd.
#include "qtui/base/file.h"

#include <stdlib.h>
#include <sys/types.h>
#include <sha256.h>
#include "sha256_blocks.h"
#include "qtui/base/mem.h"

#define BLOCK 64

struct sha256 {
	SHA256_CTX ctx;
};

struct sha256 *sha256_begin(void)
{
	struct sha256 *s = xcalloc(1, sizeof *s);
	SHA256Init(&s->ctx);
	return s;
}

// As many whole blocks as there are, unless one is begun already; returns their bytes.
static size_t take_blocks(SHA256_CTX *ctx, const uint8_t *data, size_t size)
{
	size_t whole = size / BLOCK * BLOCK;
	if (!whole || ctx->bitcount[0] % (BLOCK * 8) || !sha256_blocks_usable())
		return 0;
	sha256_blocks(ctx->state.st32, data, whole / BLOCK);
	ctx->bitcount[0] += (uint64_t)whole * 8;
	return whole;
}

void sha256_add(struct sha256 *s, const void *data, size_t size)
{
	size_t done = take_blocks(&s->ctx, data, size);
	SHA256Update(&s->ctx, (const uint8_t *)data + done, size - done);
}

void sha256_end(struct sha256 **sp, char out[65])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_LENGTH];
	SHA256Final(sum, &(*sp)->ctx);
	for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[64] = '\0';
	free(*sp);
	*sp = NULL;
}
