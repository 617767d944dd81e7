//===- TranslateShared.cpp - several models with one header of building blocks ------------------------------------===//
//
// Every model is taken to its view; then the blocks are known that all of them need. Nothing is written before the last
// model was printed, and then all files or none.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/SharedBlocks.h"
#include "translator/output/Check.h"
#include "translator/text/Text.h"
#include "translator/tool/Message.h"
#include "translator/tool/Print.h"
#include "translator/tool/Translation.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

using namespace llvm;
using namespace ml2k;

namespace {
/// One of the models with the options that it would have alone.
struct Member {
  ToolOptions options;
  std::unique_ptr<Progress> progress;
  std::unique_ptr<Translation> translation;
};

class SharedTranslation {
public:
  explicit SharedTranslation(ToolOptions const &options);
  int run();

private:
  Error checkPlaces() const;
  int readViews();
  int print();
  int finish();
  WriteRules rules() const;

  ToolOptions const &options;
  std::string const folder;
  std::vector<Member> members;
  std::vector<ModelView> views;
  std::vector<OutputFile> files;
};
} // namespace

static ToolOptions optionsOf(ToolOptions const &all, std::string const &input) {
  ToolOptions options = all;
  SmallString<256> output(all.output);
  sys::path::append(output, sys::path::stem(input) + ".cpp");
  options.input = input;
  options.regenerate = "see " + options.blocks; // another model changes no file of this one
  options.output = output.str().str();
  return options;
}

SharedTranslation::SharedTranslation(ToolOptions const &options) : options(options), folder(options.output) {
  for (std::string const &input : options.inputs)
    members.push_back({optionsOf(options, input), nullptr, nullptr});
}

/// Before minutes of work.
Error SharedTranslation::checkPlaces() const {
  if (options.check)
    return Error::success();
  std::vector<std::string> names = {options.blocks};
  for (Member const &member : members)
    append_range(names, outputNames(member.options));
  return checkWritable(folder, names, {options.inputs, options.force});
}

WriteRules SharedTranslation::rules() const {
  WriteRules all{{}, options.force};
  for (Member const &member : members)
    append_range(all.inputs, member.translation->rules().inputs);
  return all;
}

int SharedTranslation::readViews() {
  for (Member &member : members) {
    member.progress = std::make_unique<Progress>(terminalText(sys::path::filename(member.options.input)));
    member.progress->begin("reading");
    auto input = readInput(member.options.input);
    if (!input)
      return report(input.takeError(), ExitInput, *member.progress);
    member.translation = std::make_unique<Translation>(member.options, std::move(*input), *member.progress);
    auto view = member.translation->view();
    member.progress->clear();
    if (int const *code = std::get_if<int>(&view))
      return *code;
    views.push_back(std::move(std::get<ModelView>(view)));
  }
  return ExitSuccess;
}

int SharedTranslation::print() {
  Progress &progress = *members.front().progress;
  std::string blocks = shareBlocks(views, {options.blocks, options.regenerate, options.license});
  auto header = formatted(std::move(blocks), options.blocks, members.front().options);
  if (!header)
    return report(header.takeError(), ExitOutput, progress);
  files.push_back(std::move(*header));
  for (auto [member, view] : zip(members, views)) {
    auto printed = printView(view, member.options);
    if (!printed)
      return report(printed.takeError(), ExitOutput, progress);
    append_range(files, *printed);
  }
  return ExitSuccess;
}

int SharedTranslation::finish() {
  Progress &progress = *members.front().progress;
  if (options.verify)
    if (int const code = verify(files, members.front().options, progress))
      return code;
  progress.clear();
  std::vector<std::string> sidecars;
  for (Member const &member : members)
    sidecars.push_back(sidecarName(member.options));
  if (options.check)
    return checkFiles(folder, files, sidecars, outs()) ? ExitSuccess : ExitDifferent;
  if (Error error = writeFiles(folder, files, rules()))
    return report(std::move(error), ExitOutput, progress);
  for (Member const &member : members)
    warnOfOrphan(files, member.options);
  return ExitSuccess;
}

int SharedTranslation::run() {
  if (Error error = checkPlaces()) {
    printMessage(terminalText(toString(std::move(error))));
    return ExitOutput;
  }
  for (auto step : {&SharedTranslation::readViews, &SharedTranslation::print, &SharedTranslation::finish})
    if (int const code = (this->*step)())
      return code;
  return ExitSuccess;
}

int ml2k::translateShared(ToolOptions const &options) { return SharedTranslation(options).run(); }
