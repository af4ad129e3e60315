#!/usr/bin/env bash
# Everything that computes, once more as on lesser processors: oneDNN's limit is qtui's as well. OpenBLAS has a variable of its own.
# What only reads files is left out.
build=${BUILD:-build/release}
exec 3>&1 # past the pipe below
has() { grep -qw "$1" /proc/cpuinfo; }

# level LIMIT CORE ABOVE: what to run as a processor of level LIMIT, where this one has the flag ABOVE, which such a processor lacks.
level() {
	local limit=$1 core=$2 above=$3 source
	if ! has "$above"; then
		echo "skip ${limit}_on_this_processor: it has no $above" >&3
		return
	fi
	for source in tests/engine/test_*.c tests/analysis/test_{golden,alone,figures,study}.c tests/interop/test_qdq.c; do
		[[ ${source##*/} =~ ^test_(dataset|target|onnx_(fixed|hostile|lengths|strings)) ]] || echo "$limit $core $build/${source%.c}"
	done
}

one() {
	local limit=$1 core=$2 program=$3 said
	if said=$(DNNL_MAX_CPU_ISA=$limit OPENBLAS_CORETYPE=$core "$program" 2>&1); then
		echo "ok ${limit}_${program##*/test_}"
	else
		printf '%s\n' "not ok ${limit}_${program##*/test_} fails as on a lesser processor" \
			"$(grep -E '^(ERROR|.*error:|\[  FAILED  \] test_)' <<<"$said" | head -n 20)"
	fi
}
export -f one

{
	level AVX512_CORE SkylakeX avx512_vnni
	level AVX2 Haswell avx512f
	level SSE41 Nehalem avx2
} | xargs -P "${TEST_JOBS:-$(nproc)}" -n 3 bash -c 'one "$@"' one
