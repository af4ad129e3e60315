// Numbers against numbers: R2, and the lists, arrays and stacks that hold what is right.
#include <string.h>
#include "labels_case.h"
#include "qtui/base/npy.h"
#include "task_case.h"

enum { SAMPLES = 4, WIDE = 2 };

static void begin(struct task_case *c, int64_t wide)
{
	case_begin_arrays(c, "Relu", SAMPLES, wide, NULL);
}

static void open_list(struct task_case *c, const char *csv)
{
	static int n;
	char name[32];
	snprintf(name, sizeof name, "list%d.csv", n++);
	if (case_task(c, TASK_REGRESS, support_temp_file(name, csv, strlen(csv))))
		fail_msg("%s", c->err.text);
}

static enum status say(struct task_case *c, enum task_variant v, int sample, const float *x, int64_t wide)
{
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, wide), .data = (void *)x};
	return task_add(c->t, case_net(c, v), sample, &(struct task_said){&out, &out, NULL}, &c->err);
}

static void say_all(struct task_case *c, enum task_variant v, const float x[SAMPLES][WIDE])
{
	for (int i = 0; i < SAMPLES; i++)
		if (say(c, v, i, x[i], WIDE))
			fail_msg("%s", c->err.text);
}

static struct task_report *report(struct task_case *c)
{
	return task_report(c->t, case_net(c, TASK_FLOAT), case_net(c, TASK_QUANT), 0);
}

static const char list[] = "file,angle,age\n0.npy,1,10\n1.npy,2,20\n2.npy,3,10\n3.npy,4,20\n";
static const float right[SAMPLES][WIDE] = {{1, 10}, {2, 20}, {3, 10}, {4, 20}}, off[SAMPLES][WIDE] = {{1, 11}, {2, 20}, {3, 10}, {2, 20}};

void test_regress__r2_is_the_mean_over_the_numbers(void **state)
{
	struct task_case c;
	begin(&c, WIDE);
	open_list(&c, list);
	say_all(&c, TASK_FLOAT, right);
	say_all(&c, TASK_QUANT, off);
	struct task_report *r = report(&c);
	assert_int_equal(r->n_figures, 3);
	assert_string_equal(r->figure[0].name, "r2");
	near(r->figure[0].value[TASK_FLOAT], 1, 0);
	near(r->figure[0].value[TASK_QUANT], ((1 - 4.0 / 5) + (1 - 1.0 / 100)) / 2, 1e-12);
	assert_string_equal(r->figure[1].name, "rmse");
	near(r->figure[1].value[TASK_QUANT], sqrt(5.0 / 8), 1e-12);
	assert_string_equal(r->figure[2].name, "mae");
	near(r->figure[2].value[TASK_QUANT], 3.0 / 8, 1e-12);
	assert_int_equal(r->sample[0].sample, 0 + 3 * (2.0 / 24 > 1.0 / 11)); // the one that came off most
	near(r->sample[0].value[TASK_QUANT], 11.0 / 12, 1e-12);
	task_report_drop(&r);
	struct task_look *l = task_look_new(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), (struct key){1, 2}, 3, 0);
	assert_string_equal(l->class, "4, 20");
	assert_string_equal(l->said[TASK_QUANT], "2, 20");
	near(l->sure[TASK_QUANT], 24.0 / 26, 1e-12);
	task_look_drop(&l);
	case_end(&c);
}

// One that is missing does not count; one that never changes explains nothing.
void test_regress__numbers_that_are_missing(void **state)
{
	struct task_case c;
	begin(&c, WIDE);
	open_list(&c, "0.npy,1,nan\n1.npy,2,7\n2.npy,3,7\n3.npy,4,7\n");
	say_all(&c, TASK_FLOAT, off);
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], 1 - 4.0 / 5, 1e-12);
	near(r->figure[1].value[TASK_FLOAT], sqrt((4 + 13 * 13 + 3 * 3 + 13 * 13) / 7.0), 1e-6);
	task_report_drop(&r);
	case_end(&c);
	begin(&c, WIDE);
	open_list(&c, "2.npy,3,7\n3.npy,,nan\n");
	assert_int_equal(say(&c, TASK_FLOAT, 2, right[2], WIDE), STATUS_OK);
	assert_int_equal(say(&c, TASK_FLOAT, 3, right[3], WIDE), STATUS_OK);
	struct task_look *l = task_look_new(c.t, case_net(&c, TASK_FLOAT), case_net(&c, TASK_QUANT), (struct key){1, 2}, 3, 0);
	assert_true(isnan(l->value[TASK_FLOAT]));
	task_look_drop(&l);
	r = report(&c);
	assert_true(isnan(r->figure[0].value[TASK_FLOAT])); // one sample has no variance
	near(r->figure[2].value[TASK_FLOAT], 1.5, 1e-12);
	task_report_drop(&r);
	case_end(&c);
}

// Where a sample has very many all of them count together; a stack has a row for each sample, in their order.
void test_regress__a_stack(void **state)
{
	enum { MANY = 300 };
	static float truth[SAMPLES * MANY], x[MANY];
	const struct npy a = {
	    .kind = 'f', .item = 4, .rank = 3, .dim = {SAMPLES, 3, MANY / 3}, .data = truth, .size = sizeof truth};
	struct task_case c;
	double sum = 0, squares = 0;
	for (int i = 0; i < SAMPLES * MANY; i++) {
		truth[i] = (float)(i * 7 % 31);
		sum += (double)truth[i];
		squares += (double)truth[i] * (double)truth[i];
	}
	begin(&c, MANY);
	const char *path = support_temp("stack.npy");
	assert_int_equal(npy_write(&a, path, &c.err), STATUS_OK);
	assert_int_equal(case_task(&c, TASK_REGRESS, path), STATUS_OK);
	for (int s = 0; s < SAMPLES; s++) {
		for (int i = 0; i < MANY; i++)
			x[i] = truth[s * MANY + i] + (i == 5 ? 2 : 0);
		if (say(&c, TASK_FLOAT, s, x, MANY))
			fail_msg("%s", c.err.text);
	}
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], 1 - SAMPLES * 4 / (squares - sum * sum / (SAMPLES * MANY)), 1e-9);
	task_report_drop(&r);
	assert_int_equal(say(&c, TASK_FLOAT, 0, x, WIDE), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "has 300 numbers for a sample, and no output has as many"));
	case_end(&c);
}

void test_regress__lists_that_are_none(void **state)
{
	static const struct {
		const char *csv, *why;
	} cases[] = {
	    {"file,angle\n0.npy\n", ":2: a line is a file and up to"},
	    {"file,angle\n0.npy,one\n", ":2: a line is a file and up to"},
	    {"0.npy,1,2\n0.npy,1,2\n", ":2: this sample has numbers above"},
	    {"file,angle\n7.npy,1\n", "has labels for none of the 4 samples: it names 7.npy"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct task_case c;
		char name[32];
		begin(&c, WIDE);
		snprintf(name, sizeof name, "wrong%zu.csv", i);
		assert_int_not_equal(case_task(&c, TASK_REGRESS, support_temp_file(name, cases[i].csv, strlen(cases[i].csv))), STATUS_OK);
		if (!strstr(c.err.text, cases[i].why))
			fail_msg("%s", c.err.text);
		case_end(&c);
	}
}

// Files of the samples' names in a directory; one of other numbers gives another key.
void test_regress__a_directory(void **state)
{
	struct task_case c;
	begin(&c, WIDE);
	const char *dir = support_temp("truths");
	const struct npy a = {.kind = 'f', .item = 4, .rank = 1, .dim = {WIDE}, .data = (void *)right[1], .size = sizeof right[1]};
	char *path = file_join(dir, "1.npy");
	assert_int_equal(file_mkdirs(dir, &c.err), STATUS_OK);
	assert_int_equal(npy_write(&a, path, &c.err), STATUS_OK);
	free(path);
	assert_int_equal(case_task(&c, TASK_REGRESS, dir), STATUS_OK);
	assert_int_equal(task_samples(c.t), 1);
	assert_true(task_has_label(c.t, 1));
	struct key first = task_labels_key(c.t);
	assert_int_equal(say(&c, TASK_FLOAT, 1, off[3], WIDE), STATUS_OK);
	struct task_report *r = report(&c);
	near(r->figure[2].value[TASK_FLOAT], 0, 0);
	task_report_drop(&r);
	open_list(&c, list);
	assert_false(key_equal(first, task_labels_key(c.t)));
	case_end(&c);
}

// While the quantized network has seen a part of the samples, both figures are of those.
void test_regress__both_of_as_many_samples(void **state)
{
	struct task_case c;
	begin(&c, WIDE);
	open_list(&c, list);
	say_all(&c, TASK_FLOAT, off);
	for (int i = 0; i < 2; i++)
		assert_int_equal(say(&c, TASK_QUANT, i, right[i], WIDE), STATUS_OK);
	struct task_report *r = report(&c);
	assert_int_equal(r->samples[TASK_FLOAT], 2);
	assert_int_equal(r->samples[TASK_QUANT], 2);
	assert_string_equal(r->figure[1].name, "rmse");
	near(r->figure[1].value[TASK_FLOAT], sqrt(1.0 / 4), 1e-12); // the fourth sample, which is off by 2, is not among them
	near(r->figure[1].value[TASK_QUANT], 0, 0);
	task_report_drop(&r);
	case_end(&c);
}
