//===- Render.h - Mustache over the view model, strict --------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_RENDER_RENDER_H
#define ML2K_EMIT_RENDER_RENDER_H

#include <nlohmann/json.hpp>

#include <string>

namespace ml2k {

using Json = nlohmann::ordered_json;

/// Renders the template `name` over `view`. What a tag may print follows from its place (Values.h); `{{>*key}}` is the
/// template that the string `key` names. A tag without a value throws std::runtime_error with template and line:
/// neither templates nor view models have optional parts.
std::string render(std::string const &name, Json const &view);

/// The text of an embedded file; throws std::runtime_error if there is none.
std::string const &templateText(std::string const &name);

} // namespace ml2k

#endif
