// The loops for processors with AVX-512 (the compiler's flags differ, nothing else).
#include "unary_loops.h"

unary_loop *unary_avx512(enum unary_fn fn)
{
	return loops[fn];
}
