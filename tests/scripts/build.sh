#!/usr/bin/env bash
# Building again where no file is newer, but flags, the place of installation or the list of sources are others.
set -u
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1 ${3:-}"; fi; }
unset MAKEFLAGS MFLAGS MAKELEVEL
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
again() { make BUILD="$dir" MODE=debug "$@" >"$dir/log" 2>&1 || echo "not ok make $(tail -n 1 "$dir/log")"; } # TARGET VARIABLE=...
compiled() { grep -c '^  CC ' "$dir/log"; }

target=$dir/src/engine/plan/target/target.o
again "$target" PREFIX=/first
again "$target" PREFIX=/second
grep -q /second/share/qtui "$target"; report another_prefix $?
again "$target" PREFIX=/second
[ "$(compiled)" = 0 ]; report the_same_prefix $? "$(tail -n 1 "$dir/log")"

sources='src/base/pipe.c src/base/error.c'
again "$dir/libbase.a" SRC="$sources"
again "$dir/libbase.a" SRC="$sources" EXTRA_CFLAGS=-DOTHER
[ "$(compiled)" = 2 ]; report other_flags $? "$(compiled) of 2 files were compiled"
again "$dir/libbase.a" SRC=src/base/pipe.c EXTRA_CFLAGS=-DOTHER
[ "$(ar t "$dir/libbase.a")" = pipe.o ]; report a_source_that_is_gone $? "libbase.a has $(ar t "$dir/libbase.a" | tr '\n' ' ')"
again "$dir/libbase.a" SRC=src/base/pipe.c EXTRA_CFLAGS=-DOTHER
! grep -q '^  ' "$dir/log"; report nothing_new $? "$(tail -n 1 "$dir/log")"
