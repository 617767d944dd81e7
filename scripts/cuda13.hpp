// Two functions of CUDA as Kokkos 4.7 calls them: CUDA 13 gave them other parameters.
#pragma once
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000
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
