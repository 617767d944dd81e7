# How printed code is compiled in tests. Needs find_package(Kokkos) beforehand.
include(${CMAKE_CURRENT_LIST_DIR}/ml2kokkosAddModel.cmake) # verify.py includes this file from elsewhere

# Flags that printed code is made for, warnings, and one precompiled Kokkos header for all targets that call this.
function(ml2k_use_kokkos_headers target)
  if(NOT TARGET ml2k_kokkos_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/ml2k_kokkos_headers.cpp "")
    add_library(ml2k_kokkos_headers OBJECT ${CMAKE_BINARY_DIR}/ml2k_kokkos_headers.cpp)
    target_link_libraries(ml2k_kokkos_headers PUBLIC Kokkos::kokkos)
    target_compile_options(ml2k_kokkos_headers PUBLIC -O3 -march=native -fopenmp-simd
      -fno-math-errno -fno-trapping-math # change no value; gcc vectorises no choice without the latter
      $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mprefer-vector-width=512> # whole AVX-512 registers
      $<$<CXX_COMPILER_ID:Clang>:-ffp-contract=fast> # as gcc: multiply-adds of what stands in two expressions
      -Wall -Wextra -Werror
      # clang 19 calls some processors avx10.1-256, and warns of that for every file
      $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>>:-Wno-invalid-feature-combination>)
    target_compile_features(ml2k_kokkos_headers PUBLIC cxx_std_17)
    set_target_properties(ml2k_kokkos_headers PROPERTIES CXX_STANDARD 17)
    target_precompile_headers(ml2k_kokkos_headers PRIVATE <Kokkos_Core.hpp>)
  endif()
  target_link_libraries(${target} PRIVATE ml2k_kokkos_headers)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
  target_precompile_headers(${target} REUSE_FROM ml2k_kokkos_headers)
endfunction()
