#include <stdio.h>

int main(void)
{
	fputs("usage: qtui MODEL CALIB [options]\n", stderr);
	return 2;
}
