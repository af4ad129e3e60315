// PPM (P6, colours) and PGM (P5, grey): three numbers in text (width, height, the value of white), one blank, and samples of
// one byte, or of two, the higher first, where white is above 255. A comment goes from # to the end of its line.
#include <ctype.h>
#include "image.h"

enum { WHITE_MAX = 65535, HEAD_MAX = 4096 /* bytes of text and comments */, NUMBER_MAX = 100000000 };

struct layout {
	uint32_t w, h, white;
	size_t at; // where the samples begin
	size_t samples, sample_size;
};

// The number at *at, which goes to the byte behind it. 0: there is none, or it is too large.
static uint32_t next_number(const uint8_t *text, size_t n, size_t *at)
{
	uint32_t v = 0;
	while (*at < n && (isspace(text[*at]) || text[*at] == '#'))
		if (text[(*at)++] == '#')
			while (*at < n && text[*at] != '\n')
				++*at;
	for (; *at < n && isdigit(text[*at]) && v <= NUMBER_MAX; ++*at)
		v = v * 10 + text[*at] - '0';
	return v <= NUMBER_MAX ? v : 0;
}

static bool read_layout(struct layout *out, const uint8_t *text, size_t n)
{
	if (n > HEAD_MAX)
		n = HEAD_MAX;
	*out = (struct layout){.at = 2, .samples = n > 1 && text[1] == '6' ? 3 : 1};
	out->w = next_number(text, n, &out->at);
	out->h = next_number(text, n, &out->at);
	out->white = next_number(text, n, &out->at);
	out->sample_size = out->white > 255 ? 2 : 1;
	out->at++;
	return out->w && out->h && out->white && out->white <= WHITE_MAX && out->at <= n && isspace(text[out->at - 1]);
}

static bool is_all_there(const struct layout *l, const struct bytes *file)
{
	return (uint64_t)l->w * l->h * l->samples * l->sample_size <= file->size - l->at;
}

static uint8_t to_byte(uint32_t v, uint32_t white)
{
	return (uint8_t)(v >= white ? 255 : (v * 255 + white / 2) / white);
}

static enum status decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	struct layout l;
	if (!read_layout(&l, file->data, file->size))
		return image_broken(out, &image_pnm, name, "its width, height and value of white cannot be read", err);
	enum status s = image_check(l.w, l.h, name, err);
	if (s == STATUS_OK && !is_all_there(&l, file))
		return image_broken(out, &image_pnm, name, "it ends early", err);
	if (s == STATUS_OK)
		s = image_alloc(out, l.w, l.h, name, err);
	const uint8_t *p = file->data + l.at;
	for (size_t i = 0; s == STATUS_OK && i < (size_t)l.w * l.h; i++)
		for (size_t c = 0; c < 3; c++) {
			out->rgb[3 * i + c] = to_byte(image_number(p, (int)l.sample_size, false), l.white);
			p += l.samples == 3 || c == 2 ? l.sample_size : 0;
		}
	return s;
}

static bool head(struct image_head *out, FILE *f)
{
	uint8_t text[HEAD_MAX];
	struct layout l;
	if (!read_layout(&l, text, fread(text, 1, sizeof text, f)))
		return false;
	out->w = l.w;
	out->h = l.h;
	return true;
}

static bool whole(const struct bytes *file)
{
	struct layout l;
	return read_layout(&l, file->data, file->size) && is_all_there(&l, file);
}

const struct image_format image_pnm = {"PNM", {{"P6", 2}, {"P5", 2}}, 0, decode, head, whole};
