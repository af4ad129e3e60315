#!/usr/bin/env bash
# Building again where no file is newer, but flags, the place of installation or the list of sources are others. Directories with a
# blank in their names, flags of the user's, and what is done without asking.
set -u
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1 ${3:-}"; fi; }
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CFLAGS
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
again "$dir/libbase.a" SRC="$sources" CFLAGS=-DOTHER
[ "$(compiled)" = 2 ]; report other_flags $? "$(compiled) of 2 files were compiled"
again "$dir/libbase.a" SRC=src/base/pipe.c CFLAGS=-DOTHER
[ "$(ar t "$dir/libbase.a")" = pipe.o ]; report a_source_that_is_gone $? "libbase.a has $(ar t "$dir/libbase.a" | tr '\n' ' ')"
again "$dir/libbase.a" SRC=src/base/pipe.c CFLAGS=-DOTHER
! grep -q '^  ' "$dir/log"; report nothing_new $? "$(tail -n 1 "$dir/log")"

again "$dir/src/base/pipe.o" CFLAGS=-DMINE V=1
grep -q -e '-fopenmp -ffp-contract=off .* -DMINE ' "$dir/log"; report flags_of_the_users_are_added $? "$(tail -n 1 "$dir/log")"
! grep -q -e ' -Werror ' "$dir/log"; report warnings_under_them_are_no_errors $?
again "$dir/src/base/pipe.o" V=1
grep -q -e ' -Werror ' "$dir/log"; report warnings_are_errors $? "$(tail -n 1 "$dir/log")"

tree="$dir/two words"
mkdir -p "$tree/build/debug" && ln -s "$PWD"/{src,include,targets,themes,tools,tests,man,completions,Makefile} "$tree" && echo built >"$tree/build/debug/qtui"
make -s -C "$tree" MODE=debug -o build/debug/qtui build/qtui >"$dir/log" 2>&1
[ "$(cat "$tree/build/qtui" 2>/dev/null)" = built ]; report a_link_below_a_blank $? "$(tail -n 1 "$dir/log")"
placed() { make -s -C "$tree" "$@" MODE=debug DESTDIR="$tree/root" PREFIX=/usr >"$dir/log" 2>&1; }
mkdir -p "$dir/two" && placed install -o all
[ -e "$tree/root/usr/bin/qtui" ] && [ -e "$tree/root/usr/share/man/man1/qtui.1" ]; report installed_below_a_blank $? "$(tail -n 1 "$dir/log")"
placed uninstall
[ -e "$dir/two" ] && [ -z "$(find "$tree/root" -type f)" ]; report uninstalled_below_a_blank $? "$(ls "$dir") $(find "$tree/root" -type f | head -n 1)"

# A machine without any package: what would install them only says so. In the other tree, since "make deps" begins a make with its own BUILD.
mkdir "$dir/bin"
printf '#!/bin/sh\nexit 1\n' | tee "$dir/bin/pkg-config" "$dir/bin/dpkg-query" >/dev/null
printf '#!/bin/sh\ntouch "%s"\nexit 1\n' "$dir/asked" >"$dir/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$dir/bin/sudo"
chmod +x "$dir"/bin/*
for what in "-n all" "-npq" "uninstall DESTDIR=$dir/none"; do
	PATH=$dir/bin:$PATH make -C "$tree" $what >/dev/null 2>&1
	[ ! -e "$dir/asked" ]; report "nothing_is_installed_for_${what%% *}" $?
	rm -f "$dir/asked"
done
PATH=$dir/bin:$PATH make -C "$tree" all >"$dir/log" 2>&1
[ -e "$dir/asked" ] && grep -q '"make deps" did not succeed' "$dir/log"; report what_is_missing_is_installed $? "$(tail -n 1 "$dir/log")"
