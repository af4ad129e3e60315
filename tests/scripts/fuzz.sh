#!/usr/bin/env bash
# The kept inputs of the fuzzers (tests/fuzz/corpus) through every parser, without libFuzzer.
build=${BUILD:-build/release}
exec "$build/replay" tests/fuzz/corpus
