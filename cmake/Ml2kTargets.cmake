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

# Programs share LLVM's libraries, which are quick to link with and slow to load. A program with the property
# ML2K_OWN_LLVM holds a copy of what it needs of them: it starts 30 ms sooner.
set(own_llvm $<BOOL:$<TARGET_PROPERTY:ML2K_OWN_LLVM>>)
target_link_libraries(ml2k_options INTERFACE
  $<$<NOT:${own_llvm}>:MLIR> $<$<NOT:${own_llvm}>:clang-cpp> $<$<NOT:${own_llvm}>:LLVM> $<${own_llvm}:ml2k_own_llvm>)

add_library(ml2k_own_llvm INTERFACE)
file(GLOB ml2k_llvm_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libclang*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
find_library(ML2K_ZSTD NAMES zstd libzstd.so.1)
find_library(ML2K_ZLIB NAMES z libz.so.1)
target_link_libraries(ml2k_own_llvm INTERFACE -Wl,--start-group ${ml2k_llvm_archives} -Wl,--end-group ${ML2K_ZSTD} ${ML2K_ZLIB})
target_link_options(ml2k_own_llvm INTERFACE -no-pie -Wl,--gc-sections)
find_program(ML2K_GOLD ld.gold)
if(ML2K_GOLD)
  target_link_options(ml2k_own_llvm INTERFACE -fuse-ld=gold) # a few seconds instead of a minute
endif()
option(ML2K_STATIC "ml2kokkos holds its own copy of LLVM" ON)

function(ml2k_link_own_llvm target)
  if(ML2K_STATIC AND ML2K_ZSTD AND ML2K_ZLIB AND EXISTS ${LLVM_LIBRARY_DIR}/libMLIRIR.a)
    set_target_properties(${target} PROPERTIES ML2K_OWN_LLVM ON)
  endif()
endfunction()

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
  if(ML2K_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    ml2k_group_by_folder(${target} ${arg_SOURCES})
  endif()
endfunction()

# Inline functions of MLIR's headers take half of the time: neighbours in a folder may compile as one file. A file that comes or
# goes changes the units of its own folder alone, so that names of distant files never meet for the first time in somebody's build.
set(ML2K_UNITY 0 CACHE STRING "so many files of a folder compile as one, which takes half of the time for all; 0: each alone")

function(ml2k_group_by_folder target)
  set(folders "")
  foreach(source ${ARGN})
    string(REPLACE "${CMAKE_CURRENT_SOURCE_DIR}/" "" folder ${source})
    get_filename_component(folder "${folder}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${target}_${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND files_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH files_of_${folder} count)
    math(EXPR units "(${count} + ${ML2K_UNITY} - 1) / ${ML2K_UNITY}")
    set(index 0)
    foreach(source ${files_of_${folder}})
      math(EXPR unit "${index} * ${units} / ${count}")
      ml2k_opens_llvm(opens ${source})
      if(NOT opens)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
      endif()
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()

# Whether a file opens llvm, which would make mlir's names ambiguous in others.
function(ml2k_opens_llvm result source)
  get_filename_component(path ${source} ABSOLUTE)
  set(opened "")
  if(EXISTS ${path})
    file(STRINGS ${path} opened REGEX "^using namespace llvm;")
  endif()
  set(${result} "${opened}" PARENT_SCOPE)
endfunction()
