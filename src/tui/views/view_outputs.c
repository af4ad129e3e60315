#include <math.h>
#include <stdio.h>

#include "qtui/tui/draw.h"
#include "qtui/tui/figures.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

int view_outputs_count(const struct ui *ui)
{
	return ui->snap->n_outputs;
}

static const struct value *output_value(const struct ui *ui, int row)
{
	return &ui->snap->g->value[ui->snap->g->output[row]];
}

static const char *output_name(int row, const void *ui)
{
	return output_value(ui, row)->name;
}

void view_outputs_text(char *out, size_t size, const struct ui *ui, int row)
{
	snprintf(out, size, "%s", output_value(ui, row)->name);
}

struct output_column {
	const char *head;
	int width;
	char *(*format)(char *out, double v);
	double (*value)(const struct figures *f);
};

static const struct output_column columns[] = {
	{"SNR dB", 7, format_db, figures_snr}, {"cosine", 7, format_unit, figures_cosine}, {"N/S", 8, format_small, figures_nsr},
	{"MSE", 8, format_small, figures_mse}, {"max err", 8, format_small, figures_max_error},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

// As many as leave the name its room; SNR and cosine always.
static int columns_that_fit(int width)
{
	int n = 0, used = 4;
	while (n < N_COLUMNS && (n < 2 || used + columns[n].width + 34 <= width))
		used += columns[n++].width + 1;
	return n;
}

// Why an output has no figures, in the place of the first two, and what that means for who looks for them.
struct none {
	char brief[16], meaning[192];
};

// False: it has figures, or will have.
static bool has_none(struct none *out, const struct value *v)
{
	bool whole = v->type != DT_F32 && v->type != DT_NONE;
	if (v->type == DT_F32 && v->shape.rank >= 0)
		return false;
	snprintf(out->brief, sizeof out->brief, "%s", whole ? dtype_name(v->type) : v->type == DT_NONE ? "type varies" : "shape varies");
	if (whole)
		snprintf(out->meaning, sizeof out->meaning,
		    "It holds %s: signal and noise are of floats. What quantization changes in it shows in the task, T.", dtype_name(v->type));
	else
		snprintf(out->meaning, sizeof out->meaning,
		    "What stands here is known only when the network runs, so float and quantized values are not "
		    "compared. Where something of the model did not fit, the log (5) says so.");
	return true;
}

static void draw_output(struct canvas *c, const struct ui *ui, struct rect r, int row, int n, const struct abbrev *names)
{
	const struct figures *f = &ui->snap->output[row];
	enum severity severity = severity_of(figures_snr(f));
	char text[FIGURE], name[1024];
	int x = r.x + 4;
	struct none none;
	bool is_none = !f->known && has_none(&none, output_value(ui, row));
	canvas_text(c, r.x + 2, r.y, 1, severity_role(severity), severity_glyph(severity));
	if (is_none)
		canvas_text(c, r.x + 4, r.y, columns[0].width + 1 + columns[1].width, ROLE_DIM, none.brief);
	for (int i = 0; i < n; i++) {
		double v = columns[i].value(f);
		enum role role = isnan(v) ? ROLE_DIM : ui->snap->dirty ? ROLE_PENDING : i ? ROLE_TEXT : severity_role(severity);
		if (!is_none)
			canvas_right(c, x, r.y, columns[i].width, role, columns[i].format(text, v));
		x += columns[i].width + 1;
	}
	abbrev_cut(name, sizeof name, names, row, r.x + r.w - x - 2);
	draw_found(c, ui, x + 1, r.y, r.x + r.w - x - 2, ROLE_TEXT, CUT_LEFT, name);
}

// Below the list: what the output under the cursor lacks.
static void draw_meaning(struct canvas *c, const struct ui *ui, struct rect r)
{
	int row = ui_cursor(ui)->cursor, above = ui_head(ui) + ui->snap->n_outputs + 1;
	struct none none;
	if (row < ui->snap->n_outputs && !ui->snap->output[row].known && has_none(&none, output_value(ui, row)))
		canvas_paragraph(c, (struct rect){r.x + 4, r.y + above, r.w - 5, r.h - above}, ROLE_DIM, none.meaning);
}

void view_outputs_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	int n = columns_that_fit(r.w), x = r.x + 4;
	struct abbrev names = {0};
	for (int i = 0; i < n; i++) {
		canvas_right(c, x, r.y, columns[i].width, ROLE_HEAD, columns[i].head);
		x += columns[i].width + 1;
	}
	canvas_text(c, x + 1, r.y, r.x + r.w - x - 1, ROLE_HEAD, "output of the network");
	abbrev_set(&names, ui->snap->n_outputs, output_name, ui);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_output(c, ui, at.line, at.row, n, &names);
	abbrev_done(&names);
	draw_meaning(c, ui, r);
}
