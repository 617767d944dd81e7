//===- main.cpp - times a library's kernel when asked -------------------------------------------------------------===//
//
// peers LIBRARY OPERATION SIZE...: every line of standard input is a number of calls; the answer is what one of them
// took, in the processor time of this thread and on the clock, in seconds. The runner of printed code does the same.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "Peer.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>

static double processorTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static void serve(peers::Kernel const &kernel) {
  for (int calls = 0; std::cin >> calls;) {
    auto const start = std::chrono::steady_clock::now();
    double const begin = processorTime();
    for (int i = 0; i < calls; ++i)
      kernel();
    double const worked = processorTime() - begin;
    std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
    std::cout << worked / calls << " " << passed.count() / calls << std::endl;
  }
}

int main(int argc, char **argv) {
  std::map<std::string, peers::Kernel (*)(std::string const &, peers::Sizes const &)> const libraries = {
      {"onednn", peers::oneDnn},
      {"openblas", peers::openBlas},
      {"libxsmm", peers::xsmm},
      {"memory", peers::memory},
      {"machine", peers::machine}};
  if (argc < 3 || !libraries.count(argv[1])) {
    std::cerr << "usage: peers onednn|openblas|libxsmm|memory|machine OPERATION SIZE...\n";
    return 2;
  }
  peers::Sizes sizes;
  for (int i = 3; i < argc; ++i)
    sizes.push_back(std::atol(argv[i]));
  try {
    peers::Kernel const kernel = libraries.at(argv[1])(argv[2], sizes);
    if (!kernel)
      throw std::runtime_error(std::string("no operation ") + argv[2]);
    kernel();
    serve(kernel);
  } catch (std::exception const &error) {
    std::cerr << "peers " << argv[1] << ": " << error.what() << "\n";
    return 1;
  }
}
