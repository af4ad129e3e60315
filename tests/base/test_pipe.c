// Pipes: who waits, and who gets them.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "qtui/base/pipe.h"
#include "support.h"

void test_pipe__waits_or_does_not(void **state)
{
	char byte;
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		int end[2];
		assert_true(pipe_open(end, nonblock));
		for (int i = 0; i < 2; i++) {
			assert_int_equal(fcntl(end[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
			assert_int_equal((fcntl(end[i], F_GETFL) & O_NONBLOCK) != 0, nonblock);
		}
		assert_int_equal(write(end[1], "x", 1), 1);
		assert_int_equal(read(end[0], &byte, 1), 1);
		pipe_close(end);
		assert_int_equal(end[0], -1);
		pipe_close(end); // once more is nothing
	}
}
