"""Configuration of lit: what a RUN line can name.

  ml2kokkos, ml2kokkos-opt, FileCheck, not, mlir-opt, split-file   on PATH
  onnx-encode FILE|-   an ONNX model from its text form (.onnxtxt: onnx's own syntax, .textproto: protobuf's)
  %python              Python with numpy, onnx and onnxruntime
"""

import os

import lit.formats

config.name = "ml2kokkos"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".onnxtxt", ".textproto"]
config.excludes = ["Inputs", "seeds", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.ml2k_test_build

path = [config.ml2k_bin, config.llvm_bin, os.path.dirname(config.python)]
config.environment["PATH"] = os.pathsep.join(path + [config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
for name in ("Kokkos_ROOT", "OMP_NUM_THREADS", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%test_source_root", config.test_source_root))
config.substitutions.append(("%project", os.path.dirname(config.test_source_root)))
