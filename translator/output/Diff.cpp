//===- Diff.cpp - unified differences of two texts ----------------------------------------------------------------===//
//
// E. W. Myers, "An O(ND) difference algorithm and its variations", 1986, the greedy form: round d of it finds how far
// one gets on each diagonal with d insertions and deletions; the saved rounds are then walked backwards.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/output/Diff.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <vector>

using namespace llvm;

namespace {
using Lines = SmallVector<StringRef, 0>;

/// Lines before[first, ...) become lines after[second, ...).
struct Edit {
  int before;
  int removed;
  int after;
  int added;
};

constexpr int contextLines = 3;
constexpr int mostEdits = 4000; // beyond, everything between the equal ends counts as replaced
} // namespace

static Lines splitLines(StringRef text) {
  Lines lines;
  text.split(lines, '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  return lines;
}

//===--- Myers ----------------------------------------------------------------------------------------------------===//

namespace {
/// Furthest positions in `before` by diagonal, -d..d.
class Frontier {
public:
  explicit Frontier(int d) : offset(d + 1), reach(2 * d + 3, -1) {}
  int &operator[](int diagonal) { return reach[diagonal + offset]; }
  int operator[](int diagonal) const { return reach[diagonal + offset]; }

private:
  int offset;
  std::vector<int> reach;
};
} // namespace

static bool comesFromAbove(Frontier const &previous, int diagonal, int d) {
  return diagonal == -d || (diagonal != d && previous[diagonal - 1] < previous[diagonal + 1]);
}

/// The rounds up to the one that reaches both ends; empty if there would be too many.
static std::vector<Frontier> search(ArrayRef<StringRef> a, ArrayRef<StringRef> b) {
  int const n = a.size();
  int const m = b.size();
  std::vector<Frontier> rounds;
  Frontier previous(0);
  previous[1] = 0;
  for (int d = 0; d <= std::min(n + m, mostEdits); ++d) {
    Frontier now(d + 1);
    for (int diagonal = -d; diagonal <= d; diagonal += 2) {
      int x = d == 0 ? 0 : comesFromAbove(previous, diagonal, d) ? previous[diagonal + 1] : previous[diagonal - 1] + 1;
      while (x < n && x - diagonal < m && x - diagonal >= 0 && a[x] == b[x - diagonal])
        ++x;
      now[diagonal] = x;
      if (x >= n && x - diagonal >= m) {
        rounds.push_back(std::move(now));
        return rounds;
      }
    }
    rounds.push_back(now);
    previous = std::move(now);
  }
  return {};
}

static void addStep(std::vector<Edit> &edits, int before, int after, bool isInsertion) {
  // Walking backwards: a step that touches the edit found last extends it.
  if (!edits.empty() && edits.back().before == before + !isInsertion && edits.back().after == after + isInsertion) {
    edits.back() = {before, edits.back().removed + !isInsertion, after, edits.back().added + isInsertion};
    return;
  }
  edits.push_back({before, !isInsertion, after, isInsertion});
}

static std::vector<Edit> walkBack(std::vector<Frontier> const &rounds, int n, int m) {
  std::vector<Edit> edits;
  int x = n;
  int y = m;
  for (int d = static_cast<int>(rounds.size()) - 1; d > 0; --d) {
    Frontier const &previous = rounds[d - 1];
    bool const isInsertion = comesFromAbove(previous, x - y, d);
    int const diagonal = isInsertion ? x - y + 1 : x - y - 1;
    x = previous[diagonal];
    y = x - diagonal;
    addStep(edits, x, y, isInsertion);
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

static std::vector<Edit> findEdits(ArrayRef<StringRef> a, ArrayRef<StringRef> b) {
  int head = 0;
  while (head < static_cast<int>(std::min(a.size(), b.size())) && a[head] == b[head])
    ++head;
  a = a.drop_front(head);
  b = b.drop_front(head);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.drop_back();
    b = b.drop_back();
  }
  int const n = a.size();
  int const m = b.size();
  if (n == 0 && m == 0)
    return {};
  auto const rounds = search(a, b);
  auto edits = rounds.empty() ? std::vector<Edit>{{0, n, 0, m}} : walkBack(rounds, n, m);
  for (Edit &edit : edits) {
    edit.before += head;
    edit.after += head;
  }
  return edits;
}

//===--- Hunks ----------------------------------------------------------------------------------------------------===//

static std::string range(int first, int count) {
  // An empty range names the line before it.
  std::string text = std::to_string(count == 0 ? first : first + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

static void printLines(std::string &out, char mark, ArrayRef<StringRef> lines) {
  for (StringRef line : lines)
    out += mark + line.str() + "\n";
}

/// One hunk from edits that are at most twice the context apart.
static void printHunk(std::string &out, ArrayRef<Edit> edits, ArrayRef<StringRef> a, ArrayRef<StringRef> b) {
  int const lead = std::min(edits.front().before, contextLines);
  int const end = edits.back().before + edits.back().removed;
  int const tail = std::min(static_cast<int>(a.size()) - end, contextLines);
  int const firstA = edits.front().before - lead;
  int const firstB = edits.front().after - lead;
  int const endB = edits.back().after + edits.back().added + tail;
  out += "@@ -" + range(firstA, end + tail - firstA) + " +" + range(firstB, endB - firstB) + " @@\n";
  int position = firstA;
  for (Edit const &edit : edits) {
    printLines(out, ' ', a.slice(position, edit.before - position));
    printLines(out, '-', a.slice(edit.before, edit.removed));
    printLines(out, '+', b.slice(edit.after, edit.added));
    position = edit.before + edit.removed;
  }
  printLines(out, ' ', a.slice(position, tail));
}

std::string ml2k::unifiedDiff(StringRef before, StringRef after) {
  Lines const a = splitLines(before);
  Lines const b = splitLines(after);
  std::vector<Edit> const edits = findEdits(a, b);
  std::string out;
  for (size_t first = 0; first < edits.size();) {
    size_t last = first + 1;
    while (last < edits.size() &&
           edits[last].before - (edits[last - 1].before + edits[last - 1].removed) <= 2 * contextLines)
      ++last;
    printHunk(out, ArrayRef(edits).slice(first, last - first), a, b);
    first = last;
  }
  return out;
}
