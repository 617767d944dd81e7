//===- Progress.h - one line on a terminal while work takes long ----------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_PROGRESS_H
#define ML2K_TOOL_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ml2k {

/// Shows what is being done once it has taken a second, and for how long. Only where standard error is a terminal.
class Progress {
public:
  explicit Progress(std::string subject);
  ~Progress();

  void begin(char const *step);
  /// Takes the line away, so that something else can be printed.
  void clear();

private:
  void watch();

  std::string const subject;
  std::chrono::steady_clock::time_point const start;
  std::string step;
  bool isShown = false;
  bool isOver = false;
  std::mutex mutex;
  std::condition_variable over;
  std::thread watcher;
};

} // namespace ml2k

#endif
