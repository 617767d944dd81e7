# Everything comes from Debian's packages; scripts/setup.sh installs them.

# The MLIR package lies under llvm-19's own prefix, off the default search path; a bare find_package(Clang) would find
# an older clang where one is installed.
find_program(LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --cmakedir OUTPUT_VARIABLE llvm_cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(MLIR 19.1 REQUIRED CONFIG PATHS "${llvm_cmake_dir}/../mlir" NO_DEFAULT_PATH)
find_package(Clang REQUIRED CONFIG PATHS "${llvm_cmake_dir}/../clang" NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# mlir_tablegen reads the directory property; target_include_directories does not reach it.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
include_directories(${CMAKE_CURRENT_SOURCE_DIR})
include_directories(SYSTEM ${CMAKE_CURRENT_BINARY_DIR}) # generated code has unused parameters
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED COMPONENTS program_options)
find_package(Protobuf REQUIRED) # before ONNX, whose config names protobuf::libprotobuf without looking for it
find_package(ONNX REQUIRED CONFIG)
find_path(KAINJOW_MUSTACHE_INCLUDE_DIR kainjow/mustache.hpp REQUIRED)
