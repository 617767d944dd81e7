// A runner allocates nothing, gives the same bits again, and any number of threads have one each. Built with
// ThreadSanitizer, and without it to count allocations.   run_gates

#include "counts_gate.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static int failures = 0;

#ifndef __SANITIZE_THREAD__
static std::atomic<long> allocations{0};

extern "C" {
void *__libc_malloc(std::size_t);
void *malloc(std::size_t size) { // what operator new and the C library call
  ++allocations;
  return __libc_malloc(size);
}
}

static void countAllocations() {
  counts_gate::Runner runner;
  long const before = allocations;
  for (int n = 0; n < 100; ++n) {
    runner.x[0] = float(n);
    runner.feature<counts_gate::Runner::index("count")>()[1] = n;
    runner.populate(std::pair{"x", runner.x});
    runner.evaluate<std::array<float, 11>>();
    runner.arg_data(runner.LookupArgIndex("feed_x"));
    runner.Run();
  }
  long const made = allocations - before;
  delete new long; // the hook is there
  std::printf("%ld allocations in 200 queries\n", made);
  failures += made != 0 || allocations == before;
}
#else
static void countAllocations() {}
#endif

using Results = std::array<float, 11>;

static Results query(counts_gate::Runner &runner, int n) {
  for (std::size_t k = 0; k < runner.x.size(); ++k)
    runner.x[k] = 0.1f * float((n * 7 + int(k) * 13) % 50) - 2;
  auto &count = runner.feature<counts_gate::Runner::index("count")>();
  for (std::size_t k = 0; k < count.size(); ++k)
    count[k] = (n + int(k)) % 9 - 4;
  return runner.evaluate<Results>();
}

static void repeatInThreads() {
  counts_gate::Runner runner;
  std::vector<Results> expected;
  for (int n = 0; n < 200; ++n)
    expected.push_back(query(runner, n));
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      counts_gate::Runner own;
      for (int n = t; n < 200 + t; ++n)
        different += query(own, n % 200) != expected[std::size_t(n % 200)];
    });
  for (std::thread &thread : threads)
    thread.join();
  std::printf("16 threads, %d results with other bits\n", different.load());
  failures += different != 0;
}

int main() {
  countAllocations();
  repeatInThreads();
  return failures != 0;
}
