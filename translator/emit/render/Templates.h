//===- Templates.h - the templates, embedded at build time ----------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_RENDER_TEMPLATES_H
#define ML2K_EMIT_RENDER_TEMPLATES_H

#include <string>
#include <vector>

namespace ml2k {

struct Template {
  std::string name; ///< path below templates/ without .mustache
  std::string text;
};

/// Every file of templates/, sorted by name.
std::vector<Template> const &templates();

} // namespace ml2k

#endif
