//===- OneDnn.cpp - oneDNN: products, convolutions, rows, elementwise ---------------------------------------------===//

#include "Peer.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace peers {
namespace {
using namespace dnnl;
using Tag = memory::format_tag;
using Dims = memory::dims;

/// A primitive with its memory, ready to run.
struct Run {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive work;
  std::unordered_map<int, dnnl::memory> arguments;

  /// Memory in the order that the primitive wants, filled from plain numbers.
  dnnl::memory filled(memory::desc const &wanted, Dims const &dims, Tag plain) {
    dnnl::memory source({dims, memory::data_type::f32, plain}, cpu);
    std::size_t const count = source.get_desc().get_size() / sizeof(float);
    std::vector<float> const values = numbers(count);
    std::copy(values.begin(), values.end(), static_cast<float *>(source.get_data_handle()));
    dnnl::memory target(wanted, cpu);
    reorder(source, target).execute(queue, source, target);
    queue.wait();
    return target;
  }
  void operator()() {
    work.execute(queue, arguments);
    queue.wait();
  }
};

Kernel finished(std::shared_ptr<Run> const &run) {
  return [run] { (*run)(); };
}

memory::desc described(Dims const &dims, Tag tag, memory::data_type type = memory::data_type::f32) {
  return {dims, type, tag};
}

/// M K N; weights packed beforehand or as they lie.
Kernel product(Sizes const &s, bool packed) {
  auto run = std::make_shared<Run>();
  matmul::primitive_desc const plan({described({s[0], s[1]}, Tag::ab),
                                     described({s[1], s[2]}, packed ? Tag::any : Tag::ab),
                                     described({s[0], s[2]}, Tag::ab)},
                                    run->cpu);
  run->work = matmul(plan);
  run->arguments = {{DNNL_ARG_SRC, run->filled(plan.src_desc(), {s[0], s[1]}, Tag::ab)},
                    {DNNL_ARG_WEIGHTS, run->filled(plan.weights_desc(), {s[1], s[2]}, Tag::ab)},
                    {DNNL_ARG_DST, dnnl::memory(plan.dst_desc(), run->cpu)}};
  return finished(run);
}

/// Layers of rows x (widths...) with bias and ReLU: rows, width, width...
Kernel layers(Sizes const &s, memory::data_type type) {
  std::vector<Kernel> all;
  for (std::size_t i = 1; i + 1 < s.size(); ++i) {
    auto run = std::make_shared<Run>();
    post_ops relu;
    relu.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    primitive_attr attributes;
    attributes.set_post_ops(relu);
    matmul::primitive_desc const plan(
        {described({s[0], s[i]}, Tag::ab, type), described({s[i], s[i + 1]}, Tag::any, type),
         described({1, s[i + 1]}, Tag::ab, type), described({s[0], s[i + 1]}, Tag::ab, type)},
        attributes, run->cpu);
    run->work = matmul(plan);
    run->arguments = {{DNNL_ARG_SRC, run->filled(plan.src_desc(), {s[0], s[i]}, Tag::ab)},
                      {DNNL_ARG_WEIGHTS, run->filled(plan.weights_desc(), {s[i], s[i + 1]}, Tag::ab)},
                      {DNNL_ARG_BIAS, run->filled(plan.bias_desc(), {1, s[i + 1]}, Tag::ab)},
                      {DNNL_ARG_DST, dnnl::memory(plan.dst_desc(), run->cpu)}};
    all.push_back(finished(run));
  }
  return [all] {
    for (Kernel const &layer : all)
      layer();
  };
}

/// batch M K N
Kernel batchedProduct(Sizes const &s) {
  auto run = std::make_shared<Run>();
  matmul::primitive_desc const plan({described({s[0], s[1], s[2]}, Tag::abc), described({s[0], s[2], s[3]}, Tag::abc),
                                     described({s[0], s[1], s[3]}, Tag::abc)},
                                    run->cpu);
  run->work = matmul(plan);
  run->arguments = {{DNNL_ARG_SRC, run->filled(plan.src_desc(), {s[0], s[1], s[2]}, Tag::abc)},
                    {DNNL_ARG_WEIGHTS, run->filled(plan.weights_desc(), {s[0], s[2], s[3]}, Tag::abc)},
                    {DNNL_ARG_DST, dnnl::memory(plan.dst_desc(), run->cpu)}};
  return finished(run);
}

/// channels, size, outputs, kernel, stride, pad: one image, bias and ReLU, direct
Kernel convolution(Sizes const &s) {
  auto run = std::make_shared<Run>();
  long const out = (s[1] + 2 * s[5] - s[3]) / s[4] + 1;
  Dims const image = {1, s[0], s[1], s[1]}, kernel = {s[2], s[0], s[3], s[3]}, result = {1, s[2], out, out};
  post_ops relu;
  relu.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  primitive_attr attributes;
  attributes.set_post_ops(relu);
  convolution_forward::primitive_desc const plan({prop_kind::forward_inference,
                                                  algorithm::convolution_direct,
                                                  described(image, Tag::any),
                                                  described(kernel, Tag::any),
                                                  described({s[2]}, Tag::a),
                                                  described(result, Tag::any),
                                                  {s[4], s[4]},
                                                  {s[5], s[5]},
                                                  {s[5], s[5]}},
                                                 attributes, run->cpu);
  run->work = convolution_forward(plan);
  run->arguments = {{DNNL_ARG_SRC, run->filled(plan.src_desc(), image, Tag::nchw)},
                    {DNNL_ARG_WEIGHTS, run->filled(plan.weights_desc(), kernel, Tag::oihw)},
                    {DNNL_ARG_BIAS, run->filled(plan.bias_desc(), {s[2]}, Tag::a)},
                    {DNNL_ARG_DST, dnnl::memory(plan.dst_desc(), run->cpu)}};
  return finished(run);
}

/// A primitive with one operand and one result of rows x columns.
template <class Plan>
Kernel unary(std::shared_ptr<Run> const &run, Plan const &plan, primitive const &work, Sizes const &s) {
  run->work = work;
  run->arguments = {{DNNL_ARG_SRC, run->filled(plan.src_desc(), {s[0], s[1]}, Tag::ab)},
                    {DNNL_ARG_DST, dnnl::memory(plan.dst_desc(), run->cpu)}};
  return finished(run);
}

Kernel softmax(Sizes const &s) {
  auto run = std::make_shared<Run>();
  softmax_forward::primitive_desc const plan({prop_kind::forward_inference, described({s[0], s[1]}, Tag::ab), 1},
                                             run->cpu);
  return unary(run, plan, softmax_forward(plan), s);
}

Kernel layerNorm(Sizes const &s) {
  auto run = std::make_shared<Run>();
  auto const flags = normalization_flags::use_scale | normalization_flags::use_shift;
  layer_normalization_forward::primitive_desc const plan(
      {prop_kind::forward_inference, described({s[0], s[1]}, Tag::ab), 1e-5f, flags}, run->cpu);
  Kernel const kernel = unary(run, plan, layer_normalization_forward(plan), s);
  run->arguments.insert({DNNL_ARG_SCALE, run->filled(described({s[1]}, Tag::a), {s[1]}, Tag::a)});
  run->arguments.insert({DNNL_ARG_SHIFT, run->filled(described({s[1]}, Tag::a), {s[1]}, Tag::a)});
  return kernel;
}

Kernel gelu(Sizes const &s) {
  auto run = std::make_shared<Run>();
  eltwise_forward::primitive_desc const plan(
      {prop_kind::forward_inference, algorithm::eltwise_gelu_erf, described({s[0], s[1]}, Tag::ab), 0, 0}, run->cpu);
  return unary(run, plan, eltwise_forward(plan), s);
}

Kernel transpose(Sizes const &s) {
  auto run = std::make_shared<Run>();
  dnnl::memory const from = run->filled(described({s[0], s[1]}, Tag::ab), {s[0], s[1]}, Tag::ab);
  dnnl::memory const to(described({s[0], s[1]}, Tag::ba), run->cpu);
  run->work = reorder(from, to);
  run->arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return finished(run);
}

Kernel rowSums(Sizes const &s) {
  auto run = std::make_shared<Run>();
  reduction::primitive_desc const plan(
      {algorithm::reduction_sum, described({s[0], s[1]}, Tag::ab), described({s[0], 1}, Tag::ab), 0, 0}, run->cpu);
  return unary(run, plan, reduction(plan), s);
}
} // namespace

Kernel oneDnn(std::string const &operation, Sizes const &sizes) {
  using memory = dnnl::memory; // not peers::memory()
  if (operation == "gemm")
    return product(sizes, true);
  if (operation == "gemm_plain")
    return product(sizes, false);
  if (operation == "mlp")
    return layers(sizes, memory::data_type::f32);
  if (operation == "mlp_bf16")
    return layers(sizes, memory::data_type::bf16);
  std::unordered_map<std::string, Kernel (*)(Sizes const &)> const table = {{"batched_gemm", batchedProduct},
                                                                            {"conv", convolution},
                                                                            {"softmax", softmax},
                                                                            {"layer_norm", layerNorm},
                                                                            {"gelu", gelu},
                                                                            {"transpose", transpose},
                                                                            {"row_sums", rowSums}};
  auto const found = table.find(operation);
  return found == table.end() ? Kernel() : found->second(sizes);
}
} // namespace peers
