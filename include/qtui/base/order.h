// Orders for qsort, the smallest first.
#ifndef QTUI_BASE_ORDER_H
#define QTUI_BASE_ORDER_H

int order_doubles(const void *a, const void *b); // of double, without NaN
int order_texts(const void *a, const void *b);   // of char *, byte by byte

#endif
