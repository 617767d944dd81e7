#!/bin/bash
# Sets the machine up, builds everything and runs every test; ends with ctest's summary. Arguments go to ctest.
. "$(dirname "$0")/setup.sh"
set_up all
say "testing"
ctest --test-dir "$tool_build" --output-on-failure -j "$JOBS" "$@" | tee "$build/log/ctest.log"
