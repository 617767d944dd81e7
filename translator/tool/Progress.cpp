//===- Progress.cpp - one line on a terminal while work takes long ------------------------------------------------===//

#include "translator/tool/Progress.h"

#include <cstdio>
#include <unistd.h>

using namespace ml2k;
using namespace std::chrono_literals;

Progress::Progress(std::string subject) : subject(std::move(subject)), start(std::chrono::steady_clock::now()) {
  if (isatty(STDERR_FILENO))
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  {
    std::lock_guard const lock(mutex);
    isOver = true;
  }
  over.notify_all();
  if (watcher.joinable())
    watcher.join();
  clear();
}

void Progress::begin(char const *what) {
  std::lock_guard const lock(mutex);
  step = what;
}

void Progress::clear() {
  std::lock_guard const lock(mutex);
  if (isShown)
    std::fputs("\r\033[K", stderr);
  isShown = false;
}

void Progress::watch() {
  std::unique_lock lock(mutex);
  for (auto wait = 1000ms; !over.wait_for(lock, wait, [this] { return isOver; }); wait = 200ms) {
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "\r\033[Kml2kokkos: %s: %s (%.0f s)", subject.c_str(), step.c_str(), elapsed.count());
    std::fflush(stderr);
    isShown = true;
  }
}
