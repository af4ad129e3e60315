// What the views of findings share.
#ifndef QTUI_TUI_FINDINGS_H
#define QTUI_TUI_FINDINGS_H

#include "qtui/tui/ui.h"

// Applies the edit of a finding of ui->findings, or says why not.
void finding_apply(struct ui *ui, const struct finding *f);

#endif
