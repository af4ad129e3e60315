// What the views of findings share.
#ifndef QTUI_TUI_FINDINGS_H
#define QTUI_TUI_FINDINGS_H

#include "qtui/tui/ui.h"

// Applies the edit of a finding of ui->findings, or says why not.
void view_findings_apply(struct ui *ui, const struct finding *f);
// In the story: the cursor goes to the next part (by > 0) or to the one before.
void view_why_step(struct ui *ui, int by);

#endif
