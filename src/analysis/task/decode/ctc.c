#include "ctc.h"
#include "argmax.h"

enum { LEAST_STEPS = 2, LEAST_CLASSES = 4 };

static bool is_size_of(int64_t n, int characters)
{
	return characters > 0 && n >= characters && n <= characters + ALPHABET_MORE;
}

bool ctc_find(struct ctc *c, const struct shape *s, int characters)
{
	int64_t d[2];
	int n = 0;
	for (int i = 0, batch = s->rank == 3; i < s->rank; i++)
		if (batch && s->dim[i] == 1)
			batch = 0;
		else if (n < 2)
			d[n++] = s->dim[i];
		else
			return false;
	if (n != 2 || d[0] < 1 || d[1] < 1 || d[0] > INT32_MAX || d[1] > INT32_MAX)
		return false;
	bool last = is_size_of(d[1], characters) || !is_size_of(d[0], characters);
	*c = last ? (struct ctc){d[0], d[1], d[1], 1} : (struct ctc){d[1], d[0], 1, d[1]};
	return c->steps >= LEAST_STEPS && c->classes >= LEAST_CLASSES;
}

bool ctc_fits(const struct ctc *c, int characters)
{
	return is_size_of(c->classes, characters);
}

void ctc_first(int *first, const struct ctc *c, const float *x)
{
	for (int64_t t = 0; t < c->steps; t++) {
		const float *score = x + t * c->step;
		int64_t best = argmax(score, c->classes, c->class);
		first[t] = isnan(score[best * c->class]) ? CTC_NO_CLASS : (int)best;
	}
}

int ctc_blank(const int *first, const struct ctc *c)
{
	int last = (int)c->classes - 1;
	int64_t lower = 0, higher = 0;
	for (int64_t t = 0; t < c->steps; t++) {
		lower += first[t] == 0;
		higher += first[t] == last;
	}
	return higher > lower ? last : 0;
}

int ctc_collapse(int *token, const int *first, int64_t steps, int blank)
{
	int n = 0;
	for (int64_t t = 0; t < steps; t++)
		if (first[t] != blank && (t == 0 || first[t] != first[t - 1]))
			token[n++] = first[t];
	return n;
}
