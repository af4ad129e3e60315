// Figures as people read them. NAN is "not known" and becomes a dash; every function returns `out`.
#ifndef QTUI_TUI_FORMAT_H
#define QTUI_TUI_FORMAT_H

#include <stdbool.h>

struct task_interval;

#define FIGURE 32 // room for any of them
#define SPREAD (2 * FIGURE + 8)
char *format_db(char *out, double v);      // "31.2"; INFINITY (no noise at all): "exact"
char *format_decibels(char *out, double v); // the same with its unit where it has one: "31.2 dB"
char *format_change(char *out, double v);  // "+5.5"; no change, or nothing to compare with: empty
char *format_unit(char *out, double v);    // cosine: "0.9996"
char *format_score2(char *out, double v);  // of 0..1: ".37"
// A figure of a task by its name, of 0..1 or in decibels: ".371", "30.16"; what it has gained: "-.053", "-0.31".
char *format_figure(char *out, const char *name, double v);
char *format_figure_gain(char *out, const char *name, double v);
// What stands behind a gain, of SPREAD bytes: " ±.013", half its interval. Where that lies so far to one side that half of it
// would say the opposite of whether it may be chance, its ends: ", -.152 to +.002".
char *format_spread(char *out, const char *name, const struct task_interval *i);
char *format_blame(char *out, double v);   // "+.0123", "-.0040", ".0000"
char *format_small(char *out, double v);   // "0.12", "2.1e-3"
char *format_percent(char *out, double percent); // 0..100: "0.02", "<0.01"
char *format_count(char *out, double v);   // "482 M"
char *format_int(char *out, double v);
char *format_value(char *out, double v);   // four digits
char *format_scale(char *out, double v);   // "2^-4", else four digits
char *format_rate(char *out, double v);    // "0.42", "4.2", "42"
char *format_seconds(char *out, double v); // "0.42 s", "1:23 min"
char *format_date(char *out, double v);    // of seconds since 1970: "2026-11-22 14:03", here

#endif
