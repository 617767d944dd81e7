// Sessions of onnxruntime in this process, by its C interface: the library comes with the Python package, which has no
// headers. The interface is a table of functions that only grows; those used here are named by their places in it.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

class OnnxRuntime {
public:
  OnnxRuntime(std::string const &library, std::string const &model) {
    void *const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
      fail(dlerror());
    struct Base {
      void *const *(*api)(std::uint32_t version);
    };
    table = reinterpret_cast<Base const *(*)()>(dlsym(loaded, "OrtGetApiBase"))()->api(17);
    void *environment = nullptr, *options = nullptr;
    constexpr int errors = 3, everything = 99;
    call<3>(errors, "ml2kokkos", &environment);         // CreateEnv
    call<10>(&options);                                 // CreateSessionOptions
    call<23>(options, everything);                      // SetSessionGraphOptimizationLevel
    call<24>(options, 1);                               // SetIntraOpNumThreads
    call<25>(options, 1);                               // SetInterOpNumThreads
    call<7>(environment, model.c_str(), options, &session); // CreateSession
    constexpr int arena = 1, byDefault = 0;
    call<69>(arena, byDefault, &memory); // CreateCpuMemoryInfo
  }

  struct Tensor {
    std::string name;
    float *data;
    std::int64_t rows, columns;
  };

  // Tensors that lie in the caller's memory, made once
  struct Binding {
    std::vector<std::string> names[2];
    std::vector<char const *> labels[2];
    std::vector<void *> values[2];
  };

  Binding bind(std::vector<Tensor> const &inputs, std::vector<Tensor> const &outputs) {
    Binding binding;
    for (int side : {0, 1}) {
      auto const &tensors = side == 0 ? inputs : outputs;
      for (Tensor const &tensor : tensors) {
        std::int64_t const shape[] = {tensor.rows, tensor.columns};
        constexpr int float32 = 1;
        void *value = nullptr;
        call<49>(memory, static_cast<void *>(tensor.data), std::size_t(tensor.rows * tensor.columns) * sizeof(float), shape,
                 std::size_t(2), float32, &value); // CreateTensorWithDataAsOrtValue
        binding.values[side].push_back(value);
        binding.names[side].push_back(tensor.name);
      }
      for (std::string const &name : binding.names[side])
        binding.labels[side].push_back(name.c_str());
    }
    return binding;
  }

  void run(Binding &binding) {
    call<9>(session, static_cast<void *>(nullptr), binding.labels[0].data(), binding.values[0].data(),
            binding.values[0].size(), binding.labels[1].data(), binding.labels[1].size(),
            binding.values[1].data()); // Run
  }

private:
  [[noreturn]] static void fail(char const *reason) {
    std::fprintf(stderr, "onnxruntime: %s\n", reason);
    std::exit(1);
  }

  template <int Place, class... Arguments> void call(Arguments... arguments) {
    void *const status = reinterpret_cast<void *(*)(Arguments...)>(table[Place])(arguments...);
    if (status)
      fail(reinterpret_cast<char const *(*)(void *)>(table[2])(status)); // GetErrorMessage
  }

  void *const *table = nullptr;
  void *session = nullptr, *memory = nullptr;
};
