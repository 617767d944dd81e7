#!/bin/bash
# Wrong names and types of a runner's features are errors of the compiler that say so.   errors.sh COMPILER FOLDER   (where gated_policy.hpp lies)
compiler=$1 folder=$2 failures=0

# wrong STATEMENT MESSAGE; an empty message: the statement is right
try() {
  local said
  said=$(printf '#include "gated_policy.hpp"\nint main() { gated_policy::Runner runner; std::array<float, 16> row{}; std::array<double, 16> doubles{}; (void)row; (void)doubles; %s; }\n' "$1" |
    "$compiler" -std=c++17 -fsyntax-only -I"$folder" -x c++ - 2>&1)
  local code=$?
  if [ -z "$2" ] && [ $code != 0 ]; then
    failures=$((failures + 1)); echo "refused: $1"; echo "$said"
  elif [ -n "$2" ] && { [ $code = 0 ] || [[ $said != *"$2"* ]]; }; then
    failures=$((failures + 1)); echo "not refused with '$2': $1"; echo "$said"
  fi
}
try 'runner.set<&gated_policy::Runner::a>(row)' ''
try 'runner.feature<gated_policy::Runner::index("a")>() = row' ''
try 'runner.evaluate<std::int64_t>()' ''
try 'runner.feature<gated_policy::Runner::index("c")>()' 'no feature has this name'
try 'runner.set<&gated_policy::Runner::c>(row)' 'c'
try 'runner.set<&gated_policy::Runner::a>(doubles)' 'not a feature'
try 'runner.set<&gated_policy::Runner::b>(row)' '='
try 'runner.set<&gated_policy::Runner::p>({})' 'not a feature'
try 'runner.evaluate<double>()' 'not exactly one result has this type'
echo "$failures failures"
exit $failures
