#include "lengths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "proto/proto.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

// A prompt first, with as much before it; then one more token, as decoders are called that have a length of one in their
// other inputs. Tables of positions may be shorter than the first.
static const struct lengths_try tries[] = {{128, 128}, {64, 64}, {32, 32}, {16, 16}, {1, 127}, {1, 63}, {1, 31}, {1, 15}, {0, 0}};
enum { N_TRIES = sizeof tries / sizeof tries[0], FEW = 64 };
enum { A_BATCH, A_SEQUENCE }; // what a symbol is

// Of inputs whose type says nothing: floats are pictures, features and states as well.
static const char *const sequence_words[] = {"*seq*", "*past*", "*length*", "*_len", "*time*", "*frame*", "*token*", "T"};

static const Onnx__TypeProto__Tensor *tensor_of(const Onnx__ValueInfoProto *input)
{
	const Onnx__TypeProto__Tensor *t = input->type ? input->type->tensor_type : NULL;
	return input->type && input->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && t && t->shape ? t : NULL;
}

static const char *symbol_of(const Onnx__TypeProto__Tensor *t, int i)
{
	const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];
	return d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM ? text_of(d->dim_param) : "";
}

// The last dimension of token ids and masks that is open. Those before it are choices, or rows of a picture.
static bool counts_tokens(const Onnx__TypeProto__Tensor *t, int i)
{
	bool last = true;
	for (int k = i + 1; k < (int)t->shape->n_dim; k++)
		last &= t->shape->dim[k]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && t->shape->dim[k]->dim_value > 0;
	return last && (t->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 || t->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
	                   t->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL);
}

static bool names_sequence(const char *symbol)
{
	for (size_t i = 0; i < sizeof sequence_words / sizeof sequence_words[0]; i++)
		if (str_glob(sequence_words[i], symbol))
			return true;
	return false;
}

// A tensor of the past has one length that is open, which need not have a name.
static bool is_past(const char *symbol, const char *input)
{
	return symbol[0] ? str_glob("*past*", symbol) : str_glob("past*", input);
}

// The first dimension of what has more than one is the batch, whatever else has its symbol.
void lengths_find(struct lengths *l, const Onnx__GraphProto *g)
{
	*l = (struct lengths){.symbols = namemap_new()};
	for (int batch = 0; batch < 2; batch++) // batches are put last, so that they stand
		for (size_t k = 0; k < g->n_input; k++) {
			const Onnx__TypeProto__Tensor *t = tensor_of(g->input[k]);
			int rank = t ? (int)t->shape->n_dim : 0;
			for (int i = batch || rank < 2 ? 0 : 1; rank > 1 && i < (batch ? 1 : rank); i++) {
				const char *symbol = symbol_of(t, i);
				l->has_past |= !batch && is_past(symbol, text_of(g->input[k]->name));
				if (symbol[0] && (batch || counts_tokens(t, i)))
					namemap_put(l->symbols, symbol, batch ? A_BATCH : A_SEQUENCE);
			}
		}
}

void lengths_done(struct lengths *l)
{
	namemap_free(&l->symbols);
}

static int64_t plain_length(const struct lengths_try *t, const char *symbol, const char *input)
{
	return is_past(symbol, input) ? t->past : t->sequence;
}

// One of the terms of "past_sequence_length + 1"; -1: not known.
static int64_t term(const struct lengths *l, const struct lengths_try *t, char *text, const struct namemap *settled)
{
	size_t n;
	text += strspn(text, " ");
	for (n = strlen(text); n && text[n - 1] == ' ';)
		text[--n] = '\0';
	int known = namemap_get(settled, text);
	if (known >= 0)
		return known;
	if (isdigit((unsigned char)text[0]))
		return strspn(text, "0123456789") == n && n < 10 ? atoi(text) : -1;
	return names_sequence(text) || namemap_get(l->symbols, text) == A_SEQUENCE ? plain_length(t, text, "") : -1;
}

// -1: no sum of what is known.
static int64_t sum(const struct lengths *l, const struct lengths_try *t, const char *symbol, const struct namemap *settled)
{
	char *copy = xstrdup(symbol), *save = NULL;
	int64_t total = 0;
	bool known = strchr(symbol, '+') != NULL;
	for (char *one = strtok_r(copy, "+", &save); known && one; one = strtok_r(NULL, "+", &save)) {
		int64_t v = term(l, t, one, settled);
		known = v >= 0;
		total += v;
	}
	free(copy);
	return known ? total : -1;
}

bool lengths_has(const struct lengths *l, const Onnx__ValueInfoProto *input, int i)
{
	const Onnx__TypeProto__Tensor *t = tensor_of(input);
	const char *symbol = t ? symbol_of(t, i) : "";
	int kind = symbol[0] ? namemap_get(l->symbols, symbol) : -1;
	if (!t || t->shape->n_dim < 2 || i == 0 || kind == A_BATCH)
		return false;
	return counts_tokens(t, i) || kind == A_SEQUENCE || names_sequence(symbol) || is_past(symbol, text_of(input->name));
}

int64_t lengths_of(const struct lengths *l, const struct lengths_try *t, const Onnx__ValueInfoProto *input, int i, const struct namemap *settled)
{
	const char *symbol = symbol_of(tensor_of(input), i);
	int64_t all = sum(l, t, symbol, settled);
	if (all >= 0)
		return all;
	return l->has_past && str_glob("*total*", symbol) ? t->past + t->sequence : plain_length(t, symbol, text_of(input->name));
}

struct lengths_try lengths_first(void)
{
	return tries[0];
}

bool lengths_next(struct lengths_try *t, bool past, bool few)
{
	int i = 0;
	while (tries[i].sequence != t->sequence || tries[i].past != t->past)
		i++;
	for (i++; i < N_TRIES; i++) {
		bool fits = (past || tries[i].sequence != 1) && (!few || tries[i].sequence == FEW);
		if (fits || !tries[i].sequence) {
			*t = tries[i];
			return true;
		}
	}
	return false;
}
