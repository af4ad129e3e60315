// Text. struct str is a growing string, owned by whoever declares it: `struct str s = {0}; ... str_done(&s)`.
#ifndef QTUI_BASE_STR_H
#define QTUI_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "qtui/base/error.h"

struct str {
	char *text; // NUL-terminated, NULL while empty: use str_text
	size_t len, cap;
};
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_add_utf8(struct str *s, const char *text); // every byte that is no UTF-8 becomes U+FFFD
void str_addf(struct str *s, const char *fmt, ...) PRINTF(2, 3);
void str_vaddf(struct str *s, const char *fmt, va_list ap) PRINTF(2, 0);
// A whole line, that names from files may be in: as str_oneline makes it, with its line end.
void str_addline(struct str *s, const char *fmt, ...) PRINTF(2, 3);
void str_vaddline(struct str *s, const char *fmt, va_list ap) PRINTF(2, 0);
const char *str_text(const struct str *s); // "" when empty
char *str_detach(struct str *s);           // the caller frees it; never NULL
char *str_format(const char *fmt, ...) PRINTF(1, 2); // likewise
void str_clear(struct str *s);
void str_done(struct str *s);

// Formats into `size` bytes. A text that is too long loses its middle, not its end: an error begins with a name of any
// length and ends with what is wrong.
void str_fit(char *out, size_t size, const char *fmt, ...) PRINTF(3, 4);
void str_vfit(char *out, size_t size, const char *fmt, va_list ap) PRINTF(3, 0);

// Characters that a terminal would obey or not show: control characters, marks of the direction of writing, and
// characters without width that do not combine with another. With them a name could overwrite its neighbours on the
// screen, or look like another name.
bool str_is_hidden(uint32_t character);
// Makes a text that came from a file safe for a line on a terminal, in place: hidden characters become '?' (line ends
// and tabs a blank), and a UTF-8 sequence that was cut off at the end goes.
void str_oneline(char *text);
char *str_trim(char *text); // without the blanks around it: cuts the end off in place, returns where it begins

// * ? [a-z] [!a-z] and \ as in the shell, on whole characters of UTF-8, with no special treatment of '/' or leading
// dots. A text always matches itself, so that a name with brackets can be given as it is.
bool str_glob(const char *pattern, const char *text);
bool str_has_word(const char *words, const char *word); // one of those between spaces
// Is a POSIX expression from a file harmless for regcomp and regexec? They copy what is repeated {n} times, recurse for
// each bracket, and try all ways for a \1: a few bytes can take all memory, the stack or hours.
bool str_is_small_regex(const char *pattern);
bool str_has_suffix(const char *s, const char *suffix);
bool str_has_prefix(const char *s, const char *prefix);
// Levenshtein distance in bytes, for "did you mean"; texts over 255 bytes are as far as can be (their greater length).
int str_distance(const char *a, const char *b);
// Which known name was meant by an unknown one: begin with {.name = UNKNOWN}, then try every known name. `best` stays
// NULL while none is near, that is while more than a third of the letters would have to change.
struct nearest {
	const char *name, *best;
	int distance;
};
void nearest_try(struct nearest *n, const char *candidate);
// "%d sample%s": the ending of what is counted.
static inline const char *plural(long long n)
{
	return n == 1 ? "" : "s";
}
// Parses a whole string as a number; false when anything is left over or it is out of range or not finite.
bool str_to_int(const char *s, long long *out);
bool str_to_double(const char *s, double *out);
// "512M", "2G", "1.5GiB", plain bytes; K, M, G, T are powers of 1024; false when malformed or out of range.
bool str_to_size(const char *s, size_t *out);
// "30", "30s", "2m", "1.5h"; false when malformed, not above 0 or over 1e9 seconds.
bool str_to_seconds(const char *s, double *out);

#endif
