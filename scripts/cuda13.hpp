// Two functions of CUDA as Kokkos 4.7 calls them: CUDA 13 gave them other parameters.
#pragma once
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000
#if __cplusplus > 201703L && __CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ == 0
#error "CUDA 13.0 with Kokkos 4.7: compile as C++17. As C++20, views are smaller on the device, and kernels read wrong arguments"
#endif
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, cudaGraphNode_t const *from, cudaGraphNode_t const *to,
                                            std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaMemPrefetchAsync(void const *data, std::size_t bytes, int device, cudaStream_t stream) {
  cudaMemLocation place{};
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device == cudaCpuDeviceId ? 0 : device;
  return cudaMemPrefetchAsync(data, bytes, place, 0u, stream);
}
#endif
