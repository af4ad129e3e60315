#!/usr/bin/env bash
# What is tested was built by one compiler, mostly gcc. clang warns of other things, and a warning is an error.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
command -v clang >/dev/null || { echo "skip clang_builds_it clang is not there"; exit 0; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if make -k -j"$(nproc)" CC=clang MODE=release BUILD="${BUILD:-build/release}-clang" CFLAGS="-fsyntax-only -Werror" objects >"$log" 2>&1; then
	echo "ok clang_builds_it"
else
	echo "not ok clang_builds_it $(grep -m1 -E 'error:|\*\*\*' "$log")"
fi
