// The printed runner for languages that call C: one object per thread that asks.
#include "runner.hpp"

#include <algorithm>

extern "C" void *net_create() { return new runner::Runner; }

extern "C" void net_evaluate(void *object, float const *state, float *tendency) {
  auto &net = *static_cast<runner::Runner *>(object);
  std::copy_n(state, 4, net.state.begin());
  net.Run();
  std::copy_n(net.tendency.begin(), 2, tendency);
}

extern "C" void net_destroy(void *object) { delete static_cast<runner::Runner *>(object); }
