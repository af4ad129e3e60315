// :open on the screen.
#include "support.h"

#include <stdio.h>

#include "live.h"
#include "press.h"
#include "qtui/base/log.h"
#include "qtui/tui/files.h"

void test_ui_open__a_session_of_other_samples(void **state)
{
	static const char text[] = "{\"qtui_session\": 1, \"calibration\": {\"samples\": 1, \"fingerprint\": \"00\"}}";
	char keys[512], line[512];
	struct live l;
	live_open(&l, NULL, 1);
	int before = log_warnings();
	snprintf(keys, sizeof keys, ":open<Space>%s<Enter>", support_temp_file("others.json", text, sizeof text - 1));
	press(&l.ui, keys);
	file_ended(&l.ui);
	assert_int_equal(log_warnings(), before + 1);
	for (int i = support_log_count() - 1; i >= 0 && log_line(i, line, sizeof line) != LOG_WARN; i--)
		;
	assert_non_null(strstr(line, "others.json: its figures are of other samples than are in examples/calib now"));
	live_close(&l);
}
