// SHA-256 as files are named by, against published values.
#include "support.h"
#include "qtui/base/file.h"

static void sha256_hex(const void *data, size_t size, char out[65])
{
	struct sha256 *s = sha256_begin();
	sha256_add(s, data, size);
	sha256_end(&s, out);
}

// FIPS 180-2, appendix B.
void test_sha256__hex(void **state)
{
	char hex[65];
	sha256_hex("", 0, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex("abc", 3, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
	assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

// Around the edges of a block, and many blocks: expected values from another implementation.
void test_sha256__whole_and_broken_blocks(void **state)
{
	static const struct {
		size_t size;
		const char *hex;
	} rows[] = {
		{63, "30b345906b493f06f69444b6521113511c242f30e29840462950035043682f1e"},
		{64, "d8bc63b4fc1156e5e7d95a418b9bf54cd3174bedbc2db40f74895349b229b3c0"},
		{65, "1ee23b0fbcaecc1aff4a9e8f1645f35ab2c8e13609cd73b68df8b5e3f63ce073"},
		{128, "54c9eb041badfd7064645067b107661fed6113197ce2dd066ba69618abd3732f"},
		{1000, "d037d0c973603f656fb02dc19aeef08b254b1e09507bcd191cbe060422768ac8"},
	};
	uint8_t data[1000];
	char hex[65];
	for (int i = 0; i < 1000; i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8) * 13);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sha256_hex(data, rows[i].size, hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

void test_sha256__parts_of_any_size(void **state)
{
	uint8_t data[1000];
	char hex[65];
	for (int i = 0; i < 1000; i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8) * 13);
	for (size_t step = 1; step < 1000; step += 21) {
		struct sha256 *s = sha256_begin();
		for (size_t at = 0; at < 1000; at += step)
			sha256_add(s, data + at, at + step < 1000 ? step : 1000 - at);
		sha256_end(&s, hex);
		assert_string_equal(hex, "d037d0c973603f656fb02dc19aeef08b254b1e09507bcd191cbe060422768ac8");
	}
}
