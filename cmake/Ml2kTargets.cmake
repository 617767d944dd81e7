# How the tool's own libraries and programs are built: warnings, precompiled MLIR headers, shared LLVM.

add_library(ml2k_options INTERFACE)
target_compile_options(ml2k_options INTERFACE -Wall -Wextra)
if(ML2K_WARNINGS_AS_ERRORS)
  target_compile_options(ml2k_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports these inside LLVM's and the standard library's inlined code
  target_compile_options(ml2k_options INTERFACE -Wno-maybe-uninitialized
                                                -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
endif()
target_link_libraries(ml2k_options INTERFACE MLIR clang-cpp LLVM)

# MLIR's headers take most of the time of a translation unit; all libraries share one precompiled copy.
function(ml2k_use_mlir_headers target)
  if(NOT TARGET ml2k_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/ml2k_headers.cpp "")
    add_library(ml2k_headers OBJECT ${CMAKE_BINARY_DIR}/ml2k_headers.cpp)
    target_link_libraries(ml2k_headers PUBLIC ml2k_options)
    # In angle brackets: no path of this checkout gets into the precompiled header, so that caches can share it
    target_precompile_headers(ml2k_headers PRIVATE <cmake/MlirHeaders.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ml2k_headers)
endfunction()

function(ml2k_library target)
  cmake_parse_arguments(arg "NO_MLIR" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC ml2k_options ${arg_LIBRARIES})
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  if(NOT arg_NO_MLIR)
    ml2k_use_mlir_headers(${target})
  endif()
endfunction()
