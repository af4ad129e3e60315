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

// Why it has no figures; NULL: it has, or will have.
static const char *reason_for_none(const struct value *v)
{
	return v->type != DT_F32 ? "not floats" : v->shape.rank < 0 ? "shape varies" : NULL;
}

static void draw_output(struct canvas *c, const struct ui *ui, struct rect r, int row, int n)
{
	const struct figures *f = &ui->snap->output[row];
	enum severity severity = severity_of(figures_snr(f));
	char text[FIGURE];
	int x = r.x + 4;
	const char *none = f->known ? NULL : reason_for_none(output_value(ui, row));
	canvas_text(c, r.x + 2, r.y, 1, severity_role(severity), severity_glyph(severity));
	if (none)
		canvas_text(c, r.x + 4, r.y, columns[0].width + 1 + columns[1].width, ROLE_DIM, none);
	for (int i = 0; i < n; i++) {
		double v = columns[i].value(f);
		enum role role = isnan(v) ? ROLE_DIM : ui->snap->dirty ? ROLE_PENDING : i ? ROLE_TEXT : severity_role(severity);
		if (!none)
			canvas_right(c, x, r.y, columns[i].width, role, columns[i].format(text, v));
		x += columns[i].width + 1;
	}
	draw_found(c, ui, x + 1, r.y, r.x + r.w - x - 2, ROLE_TEXT, CUT_LEFT, output_value(ui, row)->name);
}

void view_outputs_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	int n = columns_that_fit(r.w), x = r.x + 4;
	for (int i = 0; i < n; i++) {
		canvas_right(c, x, r.y, columns[i].width, ROLE_HEAD, columns[i].head);
		x += columns[i].width + 1;
	}
	canvas_text(c, x + 1, r.y, r.x + r.w - x - 1, ROLE_HEAD, "output of the network");
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_output(c, ui, at.line, at.row, n);
}
