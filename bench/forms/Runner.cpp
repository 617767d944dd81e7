// A runner beside onnxruntime's Run in one process:  runner LIBRARY MODEL SECONDS
// Prints medians and seconds of a query, then what the core can do. NET is the namespace; the network has one input x and one
// result y.
#include "Bounds.h"
#include "OnnxRuntime.h"
#include "Race.h"
#include HEADER

#include <cmath>
#include <random>

int main(int, char **argv) {
  NET::Runner runner;
  constexpr int inputs = std::tuple_size_v<decltype(runner.x)>, outputs = std::tuple_size_v<decltype(runner.y)>;
  std::mt19937 generator(3);
  std::vector<float> x(inputs), y(outputs);
  for (int k = 0; k < inputs; ++k)
    x[std::size_t(k)] = runner.x[std::size_t(k)] = std::uniform_real_distribution<float>(-1, 1)(generator);
  OnnxRuntime runtime(argv[1], argv[2]);
  auto binding = runtime.bind({{"x", x.data(), 1, inputs}}, {{"y", y.data(), 1, outputs}});
  runtime.run(binding);
  runner.Run();
  double worst = 0;
  for (int k = 0; k < outputs; ++k)
    worst = std::max(worst, std::abs(double(runner.y[std::size_t(k)]) - y[std::size_t(k)]));
  std::vector<float> const left(5 * 256, .5f), right(256 * 64, .25f), weights(BYTES / sizeof(float));
  double const flops = registerTile(256, left.data(), right.data());
  std::vector<Way> ways{{"runner", [&] { runner.Run(); }},
                        {"tile", [&] { registerTile(256, left.data(), right.data()); }},
                        {"read weights", [&] { readAll(weights.data(), BYTES); }},
                        {"onnxruntime", [&] { runtime.run(binding); }}};
  race(ways, std::atof(argv[3]), 2e-5);
  std::printf("error\t1\t%.3g\nflops\t1\t%.9g\nbytes\t1\t%d\n", worst, flops, BYTES);
  for (Way const &way : ways)
    std::printf("%s\t1\t%.6g\n", way.name.c_str(), way.median());
  return 0;
}
