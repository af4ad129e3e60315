// Texts: how networks say them, which characters their classes are, how labels have them, and a task from both.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/analysis/task/decode/ctc.h"
#include "../../src/analysis/task/labels/labels.h"
#include "qtui/base/mem.h"
#include "task_case.h"

static struct ctc find(struct shape s, int characters)
{
	struct ctc c;
	assert_true(ctc_find(&c, &s, characters));
	return c;
}

static void is(struct ctc c, int steps, int classes, int step, int class)
{
	if (c.steps != steps || c.classes != classes || c.step != step || c.class != class)
		fail_msg("%d steps of %d classes, %d and %d apart", (int)c.steps, (int)c.classes, (int)c.step, (int)c.class);
}

void test_texts__shapes_of_outputs(void **state)
{
	const struct shape none[] = {SHAPE(1, 40), SHAPE(1, 3, 3), SHAPE(1, 1, 97), SHAPE(2, 40, 97), SHAPE(1, 40, 97, 1), {.rank = -1}};
	struct ctc c;
	is(find(SHAPE(1, 40, 97), 0), 40, 97, 97, 1);     // PaddleOCR
	is(find(SHAPE(26, 1, 37), 0), 26, 37, 37, 1);     // CRNN
	is(find(SHAPE(1, 68, 18), 68), 18, 68, 1, 18);    // LPRNet
	is(find(SHAPE(80, 11), 10), 80, 11, 11, 1);       // digits and a blank: fewer than the steps
	is(find(SHAPE(1, 68, 18), 0), 68, 18, 18, 1);
	is(find(SHAPE(1, 12, 14), 12), 12, 14, 14, 1);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (ctc_find(&c, &none[i], 0))
			fail_msg("shape %zu", i);
}

// a, a, blank, a, b is "aab".
void test_texts__repeats_and_blanks_go(void **state)
{
	struct ctc c = {.steps = 8, .classes = 5, .step = 5, .class = 1};
	float x[8 * 5] = {0};
	const int class[8] = {0, 2, 2, 0, 2, 3, 0, 0};
	int first[8];
	for (int i = 0; i < 8; i++)
		x[i * 5 + class[i]] = 1;
	ctc_first(first, &c, x);
	assert_memory_equal(first, class, sizeof first);
	assert_int_equal(ctc_blank(first, &c), 0);
	assert_int_equal(ctc_collapse(first, first, 8, 0), 3);
	assert_memory_equal(first, ((const int[]){2, 2, 3}), 3 * sizeof *first);
	x[0] = NAN; // is never first
	x[1] = -1;
	x[4] = .5f;
	ctc_first(first, &c, x);
	assert_int_equal(first[0], 4);
}

// ---- characters

static void check_alphabet(char *const *line, int n, int classes, int blank, const char *spelled)
{
	const struct names a = {.at = (char **)line, .n = n};
	struct ctc c = {.steps = 4, .classes = classes};
	const int mostly_last[4] = {classes - 1, classes - 1, classes - 1, 1};
	char text[16] = "";
	assert_int_equal(alphabet_blank(&a, &c, mostly_last), blank);
	for (int k = 0; k < classes; k++)
		if (k != blank)
			strcat(text, alphabet_at(&a, &c, blank, k));
	assert_string_equal(text, spelled);
}

// As many classes as lines, one or two more; the blank in front or behind.
void test_texts__which_characters_classes_are(void **state)
{
	char *plain[] = {"a", "b", "c"}, *first[] = {"blank", "a", "b"}, *last[] = {"a", "b", "-"};
	check_alphabet(plain, 3, 5, 0, "abc ");
	check_alphabet(plain, 3, 4, 3, "abc"); // it comes most often
	check_alphabet(first, 3, 3, 0, "ab");
	check_alphabet(last, 3, 3, 2, "ab");
	const struct names a = {.at = plain, .n = 3};
	const int mostly_first[4] = {0, 0, 1, 3};
	struct ctc c = {.steps = 4, .classes = 4};
	assert_int_equal(alphabet_blank(&a, &c, mostly_first), 0);
	assert_string_equal(alphabet_at(&a, &c, 0, 1), "a");
}

static struct names found(struct metadata *metadata, const char *labels, const char *model)
{
	struct graph g = {.metadata = metadata, .n_metadata = metadata ? 1 : 0, .path = model};
	struct names a;
	alphabet_find(&a, &g, labels);
	return a;
}

void test_texts__characters_are_in_metadata_or_a_file(void **state)
{
	static struct metadata said[] = {{"character", "x\ny\n \n"}};
	struct error err;
	const char *dir = support_temp("alphabet");
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	char *dict = file_join(dir, "dict.txt"), *labels = file_join(dir, "gt.txt");
	assert_int_equal(file_write(dict, "\xef\xbb\xbfж\r\n中\r\n", 11, &err), STATUS_OK);
	struct names a = found(said, labels, NULL);
	assert_int_equal(a.n, 3);
	assert_string_equal(a.at[2], " ");
	names_done(&a);
	a = found(NULL, labels, NULL);
	assert_int_equal(a.n, 2);
	assert_string_equal(a.at[0], "ж");
	assert_string_equal(a.at[1], "中");
	names_done(&a);
	a = found(NULL, NULL, dict); // as beside a model of that name
	assert_int_equal(a.n, 2);
	names_done(&a);
	a = found(NULL, NULL, "nowhere/m.onnx");
	assert_int_equal(a.n, 0);
	names_done(&a);
	free(dict);
	free(labels);
}

// ---- labels

static void check_lines(const char *text, const char *const want[3])
{
	static const char *const files[] = {"x/a.jpg", "x/b.jpg", "x/c d.jpg"};
	const struct labels_samples s = {.file = files, .n = 3, .texts = true};
	struct labels *l;
	struct error err = {0};
	if (labels_read(&l, support_temp_file("lines.txt", text, strlen(text)), &s, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(l->kind, LABELS_TEXTS);
	for (int i = 0; i < 3; i++)
		if (!want[i] != !l->label[i].text || (want[i] && strcmp(want[i], l->label[i].text) != 0))
			fail_msg("%s: sample %d is \"%s\"", text, i, l->label[i].text ? l->label[i].text : "(nothing)");
	labels_free(&l);
}

void test_texts__lines_of_labels(void **state)
{
	check_lines("train/a.jpg\tone, \"two\"\r\nb.jpg\t three\n\n", (const char *const[]){"one, \"two\"", " three", NULL});
	check_lines("[\"a.jpg\", \"x/c d.jpg\"]\tsame\n", (const char *const[]){"same", NULL, "same"});
	check_lines("a.jpg, \"Say \\\"no\\\"\"\nb.jpg, \"a \"\"b\"\"\"\n", (const char *const[]){"Say \"no\"", "a \"b\"", NULL});
	check_lines("\"x/a.jpg\",\"1,2\"\n\"x/b.jpg\" 3\n", (const char *const[]){"1,2", "3", NULL});
	check_lines("\"no, such.jpg\",no\n\"c d.jpg\t,yes\na.jpg\t1\n", (const char *const[]){"1", NULL, NULL});
	check_lines("filename,words\na.jpg,one,two\n\"x/c d.jpg\",3\n", (const char *const[]){"one,two", NULL, "3"});
	check_lines("a.jpg one two\nb.jpg \n", (const char *const[]){"one two", "", NULL});
	check_lines("b one two\n", (const char *const[]){NULL, "one two", NULL}); // an id, as LibriSpeech has it
}

static void refuse_lines(const char *text, const char *says)
{
	static const char *const files[] = {"x/a.jpg"};
	const struct labels_samples s = {.file = files, .n = 1, .texts = true};
	struct labels *l;
	struct error err = {0};
	assert_int_not_equal(labels_read(&l, support_temp_file("bad.txt", text, strlen(text)), &s, &err), STATUS_OK);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

void test_texts__lines_that_are_none(void **state)
{
	refuse_lines("a.jpg\tone\na.jpg\ttwo\n", "bad.txt:2: this sample has another text above");
	refuse_lines("a.jpg\n", "bad.txt:1: a line is a file, a tab, comma or blank, and its text");
	refuse_lines("z.jpg\tone\n", "it names z.jpg");
}

// ---- the task

enum { STEPS = 10, CLASSES = 5 }; // a blank, a, b, c and a space

static const char *labels_and_dict(const char *text, const char *dict)
{
	if (dict)
		support_temp_file("dict.txt", dict, strlen(dict));
	else
		remove(support_temp("dict.txt"));
	return support_temp_file("texts.txt", text, strlen(text));
}

static void say(struct task_case *c, enum task_variant v, const char *text)
{
	static const char characters[] = "-abc "; // - says that nothing has come, and does so to the end
	float x[STEPS * CLASSES] = {0};
	for (int t = 0; t < STEPS; t++)
		x[t * CLASSES + (t < (int)strlen(text) ? strchr(characters, text[t]) - characters : 0)] = 1;
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, STEPS, CLASSES), .data = x};
	case_say(c, v, &out);
}

void test_texts__a_task(void **state)
{
	struct task_case c;
	char note[256];
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "probabilities", SHAPE(1, STEPS, CLASSES));
	const char *labels = labels_and_dict("a.png\tab cab\n", "a\nb\nc\n");
	if (case_task(&c, TASK_TEXT, labels))
		fail_msg("%s", c.err.text);
	say(&c, TASK_FLOAT, "aab-cca-b"); // blanks of the truth do not count
	say(&c, TASK_QUANT, "aab-ca-aa"); // one wrong, of five
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "accuracy");
	assert_true(r->figure[0].value[TASK_FLOAT] == 1 && r->figure[0].value[TASK_QUANT] == 0);
	assert_string_equal(r->figure[1].name, "nearness");
	near(r->figure[1].value[TASK_QUANT], .8, 1e-12);
	assert_false(task_is_blind(r));
	task_report_drop(&r);
	near(task_score(c.t, case_net(&c, TASK_QUANT), 0, 1), 0, 0);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_string_equal(l->class, "ab cab");
	assert_string_equal(l->said[TASK_FLOAT], "abcab");
	assert_string_equal(l->said[TASK_QUANT], "abcaa");
	near(l->sure[TASK_QUANT], .8, 1e-12);
	task_look_drop(&l);
	task_note(c.t, note, sizeof note);
	assert_non_null(strstr(note, "(1 of 1 samples); 3 characters"));
	struct key before = task_labels_key(c.t);
	assert_int_equal(case_task(&c, TASK_TEXT, labels_and_dict("a.png\tabc\n", "a\nb\nc\n")), STATUS_OK);
	struct key after = task_labels_key(c.t);
	assert_false(key_equal(before, after));
	case_end(&c);
}

// Without labels: where the float network's blank says nothing, and the quantized one's characters are the same or not.
void test_texts__agreement(void **state)
{
	for (int same = 0; same < 2; same++) {
		struct task_case c;
		float x[2][STEPS * CLASSES] = {{0}};
		case_begin(&c, NULL, 0, CASE_SIDE);
		builder_node(&c.b, "Softmax", "softmax", "image", "probabilities");
		builder_output(&c.b, "probabilities");
		struct value *out = &c.b.g->value[c.b.g->output[0]];
		out->type = DT_F32;
		out->shape = SHAPE(1, STEPS, CLASSES);
		assert_int_equal(case_task(&c, TASK_AGREE, NULL), STATUS_OK);
		for (int t = 0; t < STEPS; t++) {
			x[0][t * CLASSES + (t == 3 || t == 4 ? 2 : 0)] = 1;
			x[1][t * CLASSES + (t == 4 || (t == 8 && !same) ? 2 : 0)] = 1;
		}
		struct tensor f = {.type = DT_F32, .shape = out->shape, .data = x[0]}, q = f;
		q.data = x[1];
		if (task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){&q, &f, NULL}, &c.err))
			fail_msg("%s", c.err.text);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_int_equal(r->n_figures, 3);
		assert_string_equal(r->figure[0].name, "same_texts");
		near(r->figure[0].value[TASK_QUANT], same, 0);
		task_report_drop(&r);
		case_end(&c);
	}
}

// What is taken for texts where nobody says so: not the rows of a detector of four classes with their names beside them.
void test_texts__which_models_read(void **state)
{
	static const struct {
		const char *op, *dict;
		int64_t dim[3];
		enum task_kind kind;
	} rows[] = {
	    {"Softmax", "a\nb\nc\n", {1, STEPS, CLASSES}, TASK_TEXT},
	    {"Relu", "a\nb\nc\n", {1, STEPS, CLASSES}, TASK_TEXT},
	    {"Relu", "a\nb\nc\n", {1, STEPS, 9}, TASK_AGREE},
	    {"Relu", "car\nbus\ndog\ncat\n", {1, 300, 6}, TASK_AGREE},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct task_case c;
		struct error err;
		case_begin(&c, NULL, 0, CASE_SIDE);
		builder_node(&c.b, rows[i].op, "last", "image", "out");
		builder_output(&c.b, "out");
		struct value *out = &c.b.g->value[c.b.g->output[0]];
		out->type = DT_F32;
		out->shape = SHAPE(rows[i].dim[0], rows[i].dim[1], rows[i].dim[2]);
		char *dict = file_join(dataset_path(c.d), "dict.txt"), *labels = file_join(dataset_path(c.d), "rec_gt.txt");
		assert_int_equal(file_write(dict, rows[i].dict, strlen(rows[i].dict), &err), STATUS_OK);
		assert_int_equal(file_write(labels, "a.png\tabc\n", 10, &err), STATUS_OK);
		if (case_task(&c, -1, NULL) != STATUS_OK)
			fail_msg("%zu: %s", i, c.err.text);
		assert_int_equal(task_kind(c.t), rows[i].kind);
		remove(dict);
		remove(labels);
		free(dict);
		free(labels);
		case_end(&c);
	}
}

void test_texts__what_does_not_fit_is_said(void **state)
{
	struct task_case c;
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "probabilities", SHAPE(1, STEPS, CLASSES));
	assert_int_equal(case_task(&c, TASK_TEXT, labels_and_dict("a.png\tabc\n", NULL)), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "put them beside it as dict.txt"));
	assert_int_equal(case_task(&c, TASK_TEXT, labels_and_dict("a.png\tabc\n", "a\n")), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "scores of 1 to 3 classes a step"));
	case_end(&c);
}

void test_texts__what_does_not_fit_is_said_when_it_comes(void **state)
{
	struct task_case c;
	float x[STEPS * 9] = {0};
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, STEPS, 9), .data = x};
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "probabilities", (struct shape){.rank = -1});
	assert_int_equal(case_task(&c, TASK_TEXT, labels_and_dict("a.png\tabc\n", "a\nb\nc\n")), STATUS_OK);
	assert_int_equal(task_add(c.t, case_net(&c, TASK_QUANT), 0, &(struct task_said){&out, &out, NULL}, &c.err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "no output has scores of 3 to 5 classes a step"));
	case_end(&c);
}
