# Writes OUTPUT, a C++ file with every template of FOLDER as a string. Raw strings are split: compilers need accept no more
# than 64 KiB in one.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*.mustache ${FOLDER}/*.json)
list(SORT files)
set(text "// Embedded by templates/Embed.cmake.\n#include \"translator/emit/render/Templates.h\"\n\n")
string(APPEND text "std::vector<ml2k::Template> const &ml2k::templates() {\n")
string(APPEND text "  static std::vector<Template> const all = {\n")
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} hex HEX) # CMake lists would eat brackets and semicolons
  string(REGEX REPLACE "\\.mustache$" "" name ${file})
  string(REGEX REPLACE "(................................)" "\\1\"\n     \"" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  string(APPEND text "    {\"${name}\",\n     \"${bytes}\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n")
file(WRITE ${OUTPUT} "${text}")
