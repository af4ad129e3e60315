#define _GNU_SOURCE // pipe2: another thread may start a program at any moment
#include "qtui/base/pipe.h"

#include <fcntl.h>
#include <unistd.h>

bool pipe_open(int end[2], bool nonblock)
{
	if (pipe2(end, O_CLOEXEC | (nonblock ? O_NONBLOCK : 0)) == 0)
		return true;
	end[0] = end[1] = -1;
	return false;
}

void pipe_close(int end[2])
{
	for (int i = 0; i < 2; i++) {
		if (end[i] >= 0)
			close(end[i]);
		end[i] = -1;
	}
}
