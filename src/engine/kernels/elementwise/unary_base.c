// The loops for any processor.
#include "unary_loops.h"

unary_loop *unary_base(enum unary_fn fn)
{
	return loops[fn];
}
