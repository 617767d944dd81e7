# Helpers for test folders.

# A GoogleTest program: ml2k_unit_test(name SOURCES a.cpp... LIBRARIES ml2k_ir...).
function(ml2k_unit_test target)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  gtest_discover_tests(${target} TEST_PREFIX "unit.${target}." DISCOVERY_MODE PRE_TEST)
endfunction()
