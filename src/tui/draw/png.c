// A picture as PNG in base64, as Kitty and iTerm2 take it.
#include <png.h>
#include <stdlib.h>

#include "qtui/base/mem.h"
#include "qtui/tui/graphics.h"

static void add_base64(struct str *out, const unsigned char *p, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0u);
		char text[4] = {digit[v >> 18], digit[v >> 12 & 63], i + 1 < n ? digit[v >> 6 & 63] : '=', i + 2 < n ? digit[v & 63] : '='};
		str_addn(out, text, sizeof text);
	}
}

bool png_base64(struct str *out, const uint8_t *rgb, int w, int h, size_t *bytes)
{
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = PNG_FORMAT_RGB,
		.flags = PNG_IMAGE_FLAG_FAST};
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
	unsigned char *data = mem_try_array(size, 1);
	bool done = data && png_image_write_to_memory(&image, data, &size, 0, rgb, 0, NULL);
	if (done)
		add_base64(out, data, size);
	*bytes = done ? size : 0;
	png_image_free(&image);
	free(data);
	return done;
}
