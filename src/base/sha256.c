#include "qtui/base/file.h"

#include <sys/types.h>
#include <sha256.h>

void sha256_hex(const void *data, size_t size, char out[65])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, data, size);
	SHA256Final(sum, &ctx);
	for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[64] = '\0';
}
