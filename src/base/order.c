#include "qtui/base/order.h"

#include <string.h>

int order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int order_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
