//===- Fibers.h - teams of a device on a host, for tests ------------------------------------------------*- C++ -*-===//
//
// Every thread of a team is a fiber that runs to the next barrier. Odd rounds start with the first thread, even ones
// with the last, and scratch begins as NaN: a barrier that is missing shows in the values, one that some threads do not
// reach stops the test.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_TEST_BLOCKS_TEAMS_FIBERS_H
#define ML2K_TEST_BLOCKS_TEAMS_FIBERS_H

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <vector>

namespace fibers {

/// What the processors of the pretended device are
inline constexpr int processors = 64;

[[noreturn]] inline void fail(char const *message) {
  std::printf("FAILED %s\n", message);
  std::exit(1);
}

/// A team's threads: all run up to a barrier before one goes on
class Team {
public:
  Team(int size, std::size_t scratchBytes) : size(size), scratch(scratchBytes + 64), slots(size) {
    for (int thread = 0; thread < size; ++thread)
      threads.push_back(std::make_unique<Thread>());
  }

  void run(int rank, std::function<void(int)> const &body) {
    league = rank;
    work = &body;
    std::memset(scratch.data(), -1, scratch.size());
    for (int thread = 0; thread < size; ++thread)
      start(thread);
    for (int left = size; left > 0;) {
      int const ended = round();
      if (ended != 0 && ended != left)
        fail("a barrier that not all threads of a team reach");
      left -= ended;
    }
  }

  void barrier() {
    if (swapcontext(&threads[current]->context, &scheduler) != 0)
      fail("swapcontext");
  }

  int const size;
  int league = 0, teams = 1;
  std::vector<char> scratch;
  std::vector<std::vector<char>> slots; // of team_reduce() and single()

private:
  struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[stackSize]};
    bool done = false;
  };
  static constexpr std::size_t stackSize = 256 << 10;

  static Team *&running() {
    static Team *team = nullptr;
    return team;
  }
  static void enter() {
    Team &team = *running();
    (*team.work)(team.current);
    team.threads[team.current]->done = true;
    setcontext(&team.scheduler);
  }
  void start(int thread) {
    Thread &one = *threads[thread];
    one.done = false;
    getcontext(&one.context);
    one.context.uc_stack.ss_sp = one.stack.get();
    one.context.uc_stack.ss_size = stackSize;
    one.context.uc_link = nullptr;
    makecontext(&one.context, &Team::enter, 0);
  }

  /// All threads up to the next barrier; how many ended there
  int round() {
    running() = this;
    isRising = !isRising;
    int ended = 0;
    for (int i = 0; i < size; ++i) {
      current = isRising ? i : size - 1 - i;
      if (threads[current]->done)
        continue;
      swapcontext(&scheduler, &threads[current]->context);
      ended += threads[current]->done;
    }
    return ended;
  }

  std::vector<std::unique_ptr<Thread>> threads;
  std::function<void(int)> const *work = nullptr;
  ucontext_t scheduler;
  int current = 0;
  bool isRising = false;
};

class Scratch {
public:
  Scratch(char *begin, std::size_t bytes) : at(begin), end(begin + bytes) {}
  void *get_shmem_aligned(std::size_t bytes, std::size_t alignment) {
    char *const aligned = at + (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
    if (aligned + bytes > end)
      fail("more scratch than the policy asks for");
    at = aligned + bytes;
    return aligned;
  }
  void *get_shmem(std::size_t bytes) { return get_shmem_aligned(bytes, 8); }

private:
  char *at, *end;
};

/// What a kernel sees. One takes scratch after the other, as from Kokkos.
struct Member {
  Team *team;
  int rank;
  mutable Scratch scratch;

  Member(Team *team, int rank) : team(team), rank(rank), scratch(team->scratch.data(), team->scratch.size()) {}

  int team_rank() const { return rank; }
  int team_size() const { return team->size; }
  int league_rank() const { return team->league; }
  int league_size() const { return team->teams; }
  void team_barrier() const { team->barrier(); }
  Scratch &team_scratch(int) const { return scratch; }
  Scratch &team_shmem() const { return scratch; }

  /// In the order of threads
  template <class Reducer> void team_reduce(Reducer const &reducer) const {
    using Value = typename Reducer::value_type;
    put(reducer.reference());
    Value result = get<Value>(0);
    for (int thread = 1; thread < team->size; ++thread)
      reducer.join(result, get<Value>(thread));
    reducer.reference() = result;
    team_barrier();
  }
  template <class Value> void put(Value const &value) const {
    team->slots[rank].resize(sizeof value);
    std::memcpy(team->slots[rank].data(), &value, sizeof value);
    team_barrier();
  }
  template <class Value> Value get(int thread) const {
    Value value;
    std::memcpy(&value, team->slots[thread].data(), sizeof value);
    return value;
  }
};

/// One thread works, all get its result
template <class Work, class Value> void single(Member const &member, Work const &work, Value &value) {
  if (member.rank == 0)
    work(value);
  member.put(value);
  value = member.get<Value>(0);
  member.team_barrier();
}

struct TeamThreadRange {
  Member const &member;
  int count;
  TeamThreadRange(Member const &member, int count) : member(member), count(count) {}
};

/// Each thread takes some neighbours, twice: their sum, and then on top of all before.
template <class Body> struct ScannedOf : ScannedOf<decltype(&Body::operator())> {};
template <class Body, class Value> struct ScannedOf<void (Body::*)(int, Value &, bool) const> {
  using type = Value;
};
template <class Body> void scan(TeamThreadRange const &range, Body const &body) {
  using Value = typename ScannedOf<Body>::type;
  Member const &member = range.member;
  int const size = member.team_size(), begin = range.count * member.rank / size,
            end = range.count * (member.rank + 1) / size;
  Value own{};
  for (int i = begin; i < end; ++i)
    body(i, own, false);
  member.put(own);
  Value sum{};
  for (int thread = 0; thread < member.rank; ++thread)
    sum += member.get<Value>(thread);
  for (int i = begin; i < end; ++i)
    body(i, sum, true);
  member.team_barrier();
}

/// The lanes of a thread, which are no fibers: one after the other
struct ThreadVectorRange {
  int count;
  ThreadVectorRange(Member const &, int count) : count(count) {}
};
template <class Body> void launch(ThreadVectorRange const &range, Body const &body) {
  for (int i = 0; i < range.count; ++i)
    body(i);
}
template <class Body, class Reducer>
void reduce(ThreadVectorRange const &range, Body const &body, Reducer const &reducer) {
  reducer.init(reducer.reference());
  for (int i = 0; i < range.count; ++i)
    body(i, reducer.reference());
}

template <class... Properties> struct TeamPolicy {
  using member_type = Member;
  int league, size;
  std::size_t bytes = 0;

  template <class Space>
  TeamPolicy(Space const &, int leagueSize, int teamSize, int = 1) : league(leagueSize), size(teamSize) {}
  TeamPolicy &set_scratch_size(int, Kokkos::Impl::PerTeamValue const &perTeam) {
    bytes = perTeam.value;
    if (bytes > 48 * 1024 - 8 * (std::size_t(size) + 2))
      fail("more scratch than CUDA gives a team");
    return *this;
  }
};

template <class... Properties, class Body>
void launch(std::string const &, TeamPolicy<Properties...> const &policy, Body const &body) {
  Team team(policy.size, policy.bytes);
  team.teams = policy.league;
  std::function<void(int)> const work = [&](int thread) { body(Member(&team, thread)); };
  for (int rank = 0; rank < policy.league; ++rank)
    team.run(rank, work);
}
template <class Policy, class Body> void launch(std::string const &label, Policy const &policy, Body const &body) {
  Kokkos::parallel_for(label, policy, body);
}
} // namespace fibers

#endif
