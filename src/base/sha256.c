#include "qtui/base/file.h"

#include <sys/types.h>
#include <sha256.h>
#include "sha256_blocks.h"

#define BLOCK 64

// The whole blocks at the start of the data, the fast way; the rest and the padding are libmd's.
static size_t take_blocks(SHA256_CTX *ctx, const uint8_t *data, size_t size)
{
	size_t whole = size / BLOCK * BLOCK;

	if (!whole || !sha256_blocks_usable())
		return 0;
	sha256_blocks(ctx->state.st32, data, whole / BLOCK);
	ctx->bitcount[0] = (uint64_t)whole * 8; // bits so far
	return whole;
}

void sha256_hex(const void *data, size_t size, char out[65])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx;
	size_t done;

	SHA256Init(&ctx);
	done = take_blocks(&ctx, data, size);
	SHA256Update(&ctx, (const uint8_t *)data + done, size - done);
	SHA256Final(sum, &ctx);
	for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[64] = '\0';
}
