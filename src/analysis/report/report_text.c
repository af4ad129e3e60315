// Names and sentences inside of HTML and Markdown.
#include <string.h>
#include "report_parts.h"

static void add_text(struct str *out, const char *text, const char *special, const char *const as[])
{
	for (; *text; text++) {
		const char *at = strchr(special, *text);
		if (at)
			str_add(out, as[at - special]);
		else
			str_addn(out, (unsigned char)*text < ' ' ? " " : text, 1); // a name may have line ends, and what a terminal obeys
	}
}

void report_html_text(struct str *out, const char *text)
{
	add_text(out, text, "<>&", (const char *const[]){"&lt;", "&gt;", "&amp;"});
}

void report_md_text(struct str *out, const char *text)
{
	add_text(out, text, "|<", (const char *const[]){"\\|", "&lt;"});
}
