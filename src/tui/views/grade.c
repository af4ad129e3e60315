#include "qtui/tui/grade.h"

#include <math.h>

enum severity severity_of(double snr)
{
	if (isnan(snr))
		return SEVERITY_NONE;
	return snr < 10 ? SEVERITY_BAD : snr < 20 ? SEVERITY_WEAK : snr < 30 ? SEVERITY_FAIR : SEVERITY_GOOD;
}

enum role severity_role(enum severity s)
{
	static const enum role role[] = {ROLE_DIM, ROLE_SNR_BAD, ROLE_SNR_WEAK, ROLE_SNR_FAIR, ROLE_SNR_GOOD};
	return role[s];
}

const char *severity_glyph(enum severity s)
{
	static const enum glyph glyph[] = {GLYPH_DASH, GLYPH_BAD, GLYPH_WEAK, GLYPH_FAIR, GLYPH_GOOD};
	return s == SEVERITY_NONE ? " " : glyph_text(glyph[s]);
}

enum role snr_role(double snr)
{
	return severity_role(severity_of(snr));
}

int gain_sign(double db)
{
	return (shown_db(db) > 0) - (shown_db(db) < 0);
}

enum role gain_role(double db)
{
	static const enum role role[] = {ROLE_WORSE, ROLE_DIM, ROLE_BETTER};
	return role[1 + gain_sign(db)];
}

enum role precision_role(enum precision p)
{
	static const enum role role[PREC_COUNT] = {[PREC_INT8] = ROLE_INT8, [PREC_INT16] = ROLE_INT16, [PREC_FLOAT] = ROLE_FLOAT};
	return role[p];
}

const char *precision_short(enum precision p)
{
	static const char *const name[PREC_COUNT] = {[PREC_INT8] = "8", [PREC_INT16] = "16", [PREC_FLOAT] = "f"};
	return name[p];
}
