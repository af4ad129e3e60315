// Classification: which samples are lost, as reports and their JSON have it.
#include "../../src/analysis/task/labels/wnids.h"
#include "task_case.h"
#include "qtui/base/log.h"

enum { SAMPLES = 4, WIDE = 3 };

static void say(struct task_case *c, enum task_variant v, const float x[SAMPLES][WIDE])
{
	for (int i = 0; i < SAMPLES; i++) {
		const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, WIDE), .data = (void *)x[i]};
		if (task_add(c->t, case_net(c, v), i, &(struct task_said){&out, &out, NULL}, &c->err))
			fail_msg("%s", c->err.text);
	}
}

// The class comes off by a hair in sample 2 and by much in sample 0, which is right all the same; sample 3 is gained.
void test_classify__what_is_lost_comes_first(void **state)
{
	static const float before[SAMPLES][WIDE] = {{.9f, .05f, .05f}, {.8f, .1f, .1f}, {.35f, .33f, .32f}, {.33f, .35f, .32f}},
	                   after[SAMPLES][WIDE] = {{.5f, .25f, .25f}, {.8f, .1f, .1f}, {.34f, .345f, .315f}, {.34f, .33f, .33f}};
	static const int order[SAMPLES] = {2, 0, 1, 3};
	struct task_case c;
	case_begin_arrays(&c, "Softmax", SAMPLES, WIDE, "file,class\n0.npy,0\n1.npy,0\n2.npy,0\n3.npy,0\n");
	assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
	say(&c, TASK_FLOAT, before);
	say(&c, TASK_QUANT, after);
	struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
	cJSON *j = task_report_json(r);
	struct task_report *again = task_report_parse(j);
	for (int k = 0; k < 2; k++) {
		const struct task_report *one = k ? again : r;
		for (int i = 0; i < SAMPLES; i++)
			assert_true(one->sample[i].sample == order[i] && one->sample[i].n_classes == 1 && task_sample_has(&one->sample[i], 0));
		assert_int_equal(one->sample[0].verdict[TASK_FLOAT], TASK_RIGHT);
		assert_int_equal(one->sample[0].verdict[TASK_QUANT], TASK_WRONG);
		assert_int_equal(task_sample_lost(&one->sample[0]), 1);
		assert_int_equal(task_sample_lost(&one->sample[1]), 0);
		assert_int_equal(task_sample_lost(&one->sample[3]), -1);
	}
	task_report_drop(&again);
	task_report_drop(&r);
	cJSON_Delete(j);
	case_end(&c);
}

// Each of three classes at random: a third is right. A network that always says the same is right as often.
void test_classify__a_float_network_that_guesses(void **state)
{
	static const float all[2][SAMPLES][WIDE] = {{{.9f, .05f, .05f}, {.9f, .05f, .05f}, {.9f, .05f, .05f}, {.9f, .05f, .05f}},
	    {{.9f, .05f, .05f}, {.05f, .9f, .05f}, {.9f, .05f, .05f}, {.9f, .05f, .05f}}};
	for (int knows = 0; knows < 2; knows++) {
		struct task_case c;
		char text[TASK_BLIND_TEXT];
		case_begin_arrays(&c, "Softmax", SAMPLES, WIDE, "file,class\n0.npy,0\n1.npy,1\n2.npy,2\n3.npy,2\n");
		assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
		say(&c, TASK_FLOAT, all[knows]);
		say(&c, TASK_QUANT, all[knows]);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_int_equal(task_is_blind(r), !knows);
		task_tell_blind(text, sizeof text, r, ":survey");
		assert_non_null(strstr(text, "is right no more often than by chance"));
		assert_null(strstr(text, "--decoder")); // which reads boxes
		task_tell_blind(text, sizeof text, &(struct task_report){.kind = TASK_DETECT}, ":survey");
		assert_non_null(strstr(text, "--decoder"));
		assert_non_null(strstr(text, "ruined before."));
		task_report_drop(&r);
		case_end(&c);
	}
	(void)state;
}

void test_classify__fewer_names_than_classes_are_told(void **state)
{
	static const char *const rows[][2] = {{"file,class\n0.npy,cat\n1.npy,cat\n", ": 1 class, and the model has 3: taken for its first, in order"},
	    {"file,class\n0.npy,cat\n1.npy,dog\n", ": 2 classes, and the model has 3: taken for its first, in order"}};
	for (int i = 0; i < 2; i++) {
		struct task_case c;
		char said[512];
		case_begin_arrays(&c, "Softmax", SAMPLES, WIDE, rows[i][0]);
		assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
		assert_int_equal(log_line(support_log_count() - 1, said, sizeof said), LOG_WARN);
		assert_non_null(strstr(said, rows[i][1]));
		case_end(&c);
	}
	(void)state;
}

// TensorFlow's networks for ImageNet have a background in front of the classes; the line about the labels says what is done about it.
void test_classify__a_background_in_front(void **state)
{
	enum { ALL = 1001 };
	static float x[ALL];
	char note[512];
	struct task_case c;
	case_begin_arrays(&c, "Softmax", SAMPLES, ALL, "file,class\n0.npy,6\n1.npy,6\n2.npy,6\n3.npy,6\n");
	assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
	x[7] = 1;
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, ALL), .data = x};
	assert_int_equal(task_add(c.t, case_net(&c, TASK_FLOAT), 0, &(struct task_said){&out, &out, NULL}, &c.err), STATUS_OK);
	assert_true(task_score(c.t, case_net(&c, TASK_FLOAT), 0, SAMPLES) == 1);
	task_note(c.t, note, sizeof note);
	assert_non_null(strstr(note, "; classes in order, behind the model's first"));
	case_end(&c);
	(void)state;
}

// Labels that count from 1 beside a network that is always right, and such that leave out the first class.
void test_classify__labels_that_are_one_off(void **state)
{
	static const float all[2][SAMPLES][WIDE] = {{{.9f, .05f, .05f}, {.05f, .9f, .05f}, {.9f, .05f, .05f}, {.05f, .9f, .05f}},
	    {{.05f, .05f, .9f}, {.05f, .05f, .9f}, {.05f, .05f, .9f}, {.9f, .05f, .05f}}};
	for (int behind = 0; behind < 2; behind++) {
		struct task_case c;
		char text[TASK_BLIND_TEXT];
		case_begin_arrays(&c, "Softmax", SAMPLES, WIDE,
		    behind ? "file,class\n0.npy,1\n1.npy,1\n2.npy,1\n3.npy,1\n" : "file,class\n0.npy,1\n1.npy,2\n2.npy,1\n3.npy,2\n");
		assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
		say(&c, TASK_FLOAT, all[behind]);
		say(&c, TASK_QUANT, all[behind]);
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		assert_true(task_is_blind(r));
		task_tell_blind(text, sizeof text, r, ":survey");
		assert_non_null(strstr(text,
		    behind ? " the class behind the label's: is its first class a background?"
		           : " the class in front of the label's: do labels count from 1?"));
		case_check_told_again(r, text);
		task_report_drop(&r);
		case_end(&c);
	}
	(void)state;
}

// Imagenette has ten of ImageNet's classes, far apart. Of any other number of classes the synsets are names like others.
void test_classify__synsets_are_imagenets_classes(void **state)
{
	static const char csv[] = "file,label\n0.npy,n01440764\n1.npy,n02102040\n2.npy,n02979186\n3.npy,n03888257\n";
	static const int64_t wide[] = {1000, 1001, 999}, class[] = {0, 217, 482, 701};
	for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
		struct task_case c;
		char note[1024];
		bool known = wide[k] != 999;
		float *x = xcalloc((size_t)wide[k], sizeof *x);
		case_begin_arrays(&c, "Softmax", SAMPLES, wide[k], csv);
		assert_int_equal(case_task(&c, TASK_CLASSIFY, NULL), STATUS_OK);
		task_note(c.t, note, sizeof note);
		assert_int_equal(strstr(note, "classes by ImageNet's synsets") != NULL, known);
		for (int i = 0; i < SAMPLES; i++) {
			const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, wide[k]), .data = x};
			x[class[i] + (wide[k] == 1001)] = 1;
			if (task_add(c.t, case_net(&c, TASK_FLOAT), i, &(struct task_said){&out, &out, NULL}, &c.err))
				fail_msg("%s", c.err.text);
			x[class[i] + (wide[k] == 1001)] = 0;
		}
		struct task_report *r = task_report(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), 0);
		near(r->figure[0].value[TASK_FLOAT], known ? 1 : .25, 1e-9);
		assert_string_equal(r->class[known ? 701 : 3].name, "n03888257");
		task_report_drop(&r);
		case_end(&c);
		free(x);
	}
	(void)state;
}

// Numbers that everybody who works with ImageNet knows, from all over the thousand.
void test_classify__the_synsets_have_their_numbers(void **state)
{
	static const struct {
		const char *name;
		int class;
	} rows[] = {{"n01440764", 0}, {"n01443537", 1}, {"n01698640", 50}, {"n02099601", 207}, {"n02123045", 281}, {"n02124075", 285},
	    {"n02391049", 340}, {"n02504458", 386}, {"n02930766", 468}, {"n03028079", 497}, {"n03445777", 574}, {"n04285008", 817},
	    {"n07753592", 954}, {"n15075141", 999}, {"n15075142", -1}, {"n00000000", -1}, {"n0144076", -1}, {"n01440764x", -1},
	    {"x01440764", -1}, {"n0144076a", -1}, {"", -1}, {NULL, -1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (wnid_class(rows[i].name) != rows[i].class)
			fail_msg("%s is class %d", rows[i].name, wnid_class(rows[i].name));
	(void)state;
}
