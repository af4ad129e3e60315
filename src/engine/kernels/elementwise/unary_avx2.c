// The loops for processors with AVX2 (the compiler's flags differ, nothing else).
#include "unary_loops.h"

unary_loop *unary_avx2(enum unary_fn fn)
{
	return loops[fn];
}
