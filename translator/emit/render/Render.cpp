//===- Render.cpp - Mustache over the view model, strict ----------------------------------------------------------===//
//
// kainjow mustache prints nothing for a missing name, and knows one kind of text. Here every tag carries what it may
// print and its place, `name|kind@template:line`: the context escapes or refuses with them.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/emit/render/Render.h"
#include "translator/emit/render/Templates.h"
#include "translator/emit/render/Values.h"

#include <kainjow/mustache.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ml2k {

namespace {

using kainjow::mustache::data;

constexpr std::string_view codeMark = "code ";

std::string trimmed(std::string const &text) { return kainjow::mustache::trim(text); }

bool printsValue(std::string const &tag) { return std::string("#^/>").find(tag[0]) == std::string::npos; }

/// The line in front of a tag, without the tags in it.
std::string lineBefore(std::string const &text, size_t tag) {
  size_t const end = text.rfind('\n', tag);
  std::string line =
      text.substr(end == std::string::npos ? 0 : end + 1, tag - (end == std::string::npos ? 0 : end + 1));
  for (size_t begin; (begin = line.find("{{")) != std::string::npos;)
    line.erase(begin, line.find("}}", begin) + 2 - begin);
  return line;
}

/// `{{name}}` behind a text, `{{code name}}`: which one it is goes into the tag, behind the name.
std::string withKind(std::string const &tag, std::string const &before) {
  bool const isCode = tag.starts_with(codeMark);
  TagPlace const place = isCode ? TagPlace::Code : placeBehind(before);
  return (isCode ? tag.substr(codeMark.size()) : tag) + "|" + static_cast<char>(place);
}

/// Appends `@template:line` to the name in every tag; the end of a section gets the place of its begin.
std::string withPlaces(Template const &source) {
  std::string out;
  std::vector<std::string> open;
  size_t at = 0;
  for (size_t begin; (begin = source.text.find("{{", at)) != std::string::npos;) {
    size_t const end = source.text.find("}}", begin);
    if (end == std::string::npos)
      break;
    out.append(source.text, at, begin + 2 - at);
    std::string tag = trimmed(source.text.substr(begin + 2, end - begin - 2));
    at = end;
    if (tag.starts_with("!")) {
      out += tag;
      continue;
    }
    auto const line = 1 + std::count(source.text.begin(), source.text.begin() + begin, '\n');
    std::string place = "@" + source.name + ":" + std::to_string(line);
    if (!isTag(tag))
      throw std::runtime_error(place.substr(1) + ": templates have no '{{" + tag + "}}'");
    if (printsValue(tag))
      tag = withKind(tag, lineBefore(source.text, begin));
    if (tag.starts_with("#") || tag.starts_with("^"))
      open.push_back(place);
    if (tag.starts_with("/") && !open.empty()) {
      place = open.back();
      open.pop_back();
    }
    out += tag + place;
  }
  out.append(source.text, at, std::string::npos);
  while (!out.empty() && out.back() == '\n') // the line of the tag that includes it ends already
    out.pop_back();
  return out;
}

/// A space before tags of sections that begin a line: what is left of them can be told from a blank line.
std::string indented(std::string text) {
  for (size_t at = 0; at != std::string::npos; at = text.find('\n', at + 1)) {
    size_t const tag = at == 0 ? 0 : at + 1;
    if (text.compare(tag, 2, "{{") == 0 && tag + 2 < text.size() &&
        std::string("#^/").find(text[tag + 2]) != std::string::npos)
      text.insert(tag, " ");
  }
  return text;
}

std::map<std::string, data> loadTemplates() {
  std::map<std::string, data> all;
  for (Template const &source : templates())
    all.emplace(source.name, indented(withPlaces(source)));
  return all;
}

/// Fills a value where it stands: kainjow's own ways to add one copy it with all that is in it.
void fill(data &into, nlohmann::ordered_json const &view) {
  if (view.is_boolean()) {
    into = data(view.get<bool>());
  } else if (view.is_string()) {
    into = data(view.get<std::string>());
  } else if (view.is_array()) {
    into = data(data::type::list);
    for (size_t i = 0; i < view.size(); ++i)
      into << data(false);
    for (size_t i = 0; i < view.size(); ++i)
      fill(const_cast<data &>(into.list_value()[i]), view[i]);
  } else if (view.is_object()) {
    into = data(data::type::object);
    for (auto const &[key, value] : view.items()) {
      into.set(key, data(false));
      fill(const_cast<data &>(*into.get(key)), value);
    }
  } else { // numbers are for readers of the JSON; nlohmann's items() of one is itself, without end
    into = data(view.dump());
  }
}

constexpr size_t deepestNesting = 100;

class StrictContext : public kainjow::mustache::basic_context<std::string> {
public:
  explicit StrictContext(data const *root) : items{root}, files(loadTemplates()) {}

  void push(data const *item) override { items.push_back(item); }
  void pop() override { items.pop_back(); }

  data const *get(std::string const &tag) const override {
    auto const [whole, place] = split(tag);
    size_t const kind = whole.find('|');
    std::string const name = whole.substr(0, kind);
    data const *found = find(name, place);
    if (kind != std::string::npos)
      printed = data(printedValue(static_cast<TagPlace>(whole[kind + 1]), *found, name, place));
    return kind == std::string::npos ? found : &printed;
  }

  data const *get_partial(std::string const &tag) const override {
    auto [name, place] = split(tag);
    if (name.starts_with("*"))
      name = get(name.substr(1) + "@" + place)->string_value();
    auto const found = files.find(name);
    if (found == files.end())
      throw std::runtime_error(place + ": there is no template '" + name + "'");
    return &found->second;
  }

  std::string const &text(std::string const &name) const { return get_partial(name + "@ml2kokkos")->string_value(); }

private:
  data const *find(std::string const &name, std::string const &place) const {
    if (name == ".")
      return items.back();
    if (items.size() > deepestNesting) // a statement without a list of its own found that of the one around it
      throw std::runtime_error(place + ": '" + name + "' of the view model contains itself");
    for (auto item = items.rbegin(); item != items.rend(); ++item)
      if (data const *found = (*item)->get(name))
        return found;
    throw std::runtime_error(place + ": the view model has no '" + name + "'");
  }

  static std::string printedValue(TagPlace kind, data const &value, std::string const &name, std::string const &place) {
    try {
      return value.is_string() ? printedAt(kind, value.string_value()) : "";
    } catch (std::runtime_error const &error) {
      throw std::runtime_error(place + ": '" + name + "': " + error.what());
    }
  }

  static std::pair<std::string, std::string> split(std::string const &tag) {
    size_t const at = tag.rfind('@');
    return {trimmed(tag.substr(0, at)), tag.substr(at + 1)};
  }

  std::vector<data const *> items;
  mutable data printed; ///< the value of the last tag, as it is printed
  std::map<std::string, data> files;
};

/// Without the lines that hold nothing but spaces: tags of empty sections leave their indentation. Blank lines stay.
std::string withoutTagLines(std::string const &text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    size_t const end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string const line = text.substr(begin, end - begin);
    if (line == "\n" || line.find_first_not_of(" \n") != std::string::npos)
      out += line;
    begin = end;
  }
  return out;
}

} // namespace

std::string render(std::string const &name, nlohmann::ordered_json const &view) {
  data root;
  fill(root, view);
  StrictContext context(&root);
  kainjow::mustache::mustache page(context.text(name));
  page.set_custom_escape([](std::string const &text) { return text; }); // the context has done it, place by place
  std::string out = page.is_valid() ? page.render(context) : "";
  if (!page.is_valid())
    throw std::runtime_error(name + ": " + page.error_message());
  return withoutTagLines(out);
}

std::string const &templateText(std::string const &name) {
  for (Template const &file : templates())
    if (file.name == name)
      return file.text;
  throw std::runtime_error("no template " + name);
}

} // namespace ml2k
