#!/usr/bin/env bash
# Everything that computes, once more as on lesser processors: oneDNN's limit is qtui's as well. OpenBLAS has a variable of its own.
build=${BUILD:-build/release}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
has() { grep -qw "$1" /proc/cpuinfo; }

# level LIMIT CORE ABOVE: as a processor of level LIMIT, where this one has the flag ABOVE, which such a processor lacks.
level() {
	local limit=$1 core=$2 above=$3 program
	if ! has "$above"; then
		echo "skip ${limit}_on_this_processor: it has no $above"
		return
	fi
	for program in "$build"/tests/engine/test_* "$build"/tests/analysis/test_{golden,alone,figures,study} "$build"/tests/interop/test_qdq; do
		[[ -x $program && $program != *.* ]] || continue
		if DNNL_MAX_CPU_ISA=$limit OPENBLAS_CORETYPE=$core "$program" >"$log" 2>&1; then
			echo "ok ${limit}_${program##*/test_}"
		else
			echo "not ok ${limit}_${program##*/test_} fails as on a lesser processor"
			grep -E '^(ERROR|.*error:|\[  FAILED  \] test_)' "$log" | head -n 20
		fi
	done
}

level AVX512_CORE SkylakeX avx512_vnni
level AVX2 Haswell avx512f
level SSE41 Nehalem avx2
