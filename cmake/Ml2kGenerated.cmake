# For applications: translate models at build time and compile printed code. Needs find_package(Kokkos) beforehand; an
# application that commits the printed files, as the examples do, needs nothing of this.

# Translates MODEL into NAME.{hpp,cpp,safetensors} in the build folder and adds it to the target:
#   ml2k_generated(app MODEL resnet18.onnx [NAME resnet18] [OPTIONS --namespace=nets::resnet18])
function(ml2k_generated target)
  cmake_parse_arguments(arg "" "MODEL;NAME" "OPTIONS" ${ARGN})
  cmake_path(ABSOLUTE_PATH arg_MODEL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE model)
  if(NOT arg_NAME)
    cmake_path(GET model STEM LAST_ONLY arg_NAME)
  endif()
  set(ml2kokkos ml2kokkos) # our own target where the tool is part of the build
  if(NOT TARGET ml2kokkos)
    find_program(ML2KOKKOS NAMES ml2kokkos REQUIRED)
    set(ml2kokkos ${ML2KOKKOS})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/${arg_NAME}.cpp ${folder}/${arg_NAME}.hpp
    COMMAND ${ml2kokkos} ${model} -o ${folder}/${arg_NAME}.cpp ${arg_OPTIONS}
    DEPENDS ${model} ${ml2kokkos}
    COMMENT "Translating ${arg_NAME}")
  target_sources(${target} PRIVATE ${folder}/${arg_NAME}.cpp)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# Flags that printed code is made for, warnings, and one precompiled Kokkos header for all targets that call this.
function(ml2k_use_kokkos_headers target)
  if(NOT TARGET ml2k_kokkos_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/ml2k_kokkos_headers.cpp "")
    add_library(ml2k_kokkos_headers OBJECT ${CMAKE_BINARY_DIR}/ml2k_kokkos_headers.cpp)
    target_link_libraries(ml2k_kokkos_headers PUBLIC Kokkos::kokkos)
    target_compile_options(ml2k_kokkos_headers PUBLIC -O3 -march=native -fopenmp-simd
      -fno-math-errno -fno-trapping-math # change no value; gcc vectorises no choice without the latter
      $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mprefer-vector-width=512> # whole AVX-512 registers
      -Wall -Wextra -Werror)
    target_compile_features(ml2k_kokkos_headers PUBLIC cxx_std_17)
    set_target_properties(ml2k_kokkos_headers PROPERTIES CXX_STANDARD 17)
    target_precompile_headers(ml2k_kokkos_headers PRIVATE <Kokkos_Core.hpp>)
  endif()
  target_link_libraries(${target} PRIVATE ml2k_kokkos_headers)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
  target_precompile_headers(${target} REUSE_FROM ml2k_kokkos_headers)
endfunction()
