// Times of several ways, in turns.
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

inline double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

struct Way {
  std::string name;
  std::function<void()> run;
  int calls = 1;                   // of a turn
  std::vector<double> seconds = {}; // of a call, for each turn

  void turn() {
    run(); // untimed: whoever came before has other data in the caches
    double const start = now();
    for (int i = 0; i < calls; ++i)
      run();
    seconds.push_back((now() - start) / calls);
  }
  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// A turn takes about `length` seconds, or one call.
inline void race(std::vector<Way> &ways, double seconds, double length = 2e-4) {
  for (Way &way : ways) {
    way.run();
    way.turn();
    way.calls = std::max(1, int(length / std::max(way.seconds.back(), 1e-9)));
    way.turn();
    way.calls = std::max(1, int(length / std::max(way.seconds.back(), 1e-9)));
    way.seconds.clear();
  }
  for (double const end = now() + seconds; now() < end || ways.front().seconds.size() < 5;)
    for (Way &way : ways)
      way.turn();
}
