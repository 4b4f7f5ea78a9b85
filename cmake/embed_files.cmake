# Writes the YAML files of a folder as string literals into one source file.
#
#   cmake -D ROOT=<source directory> -D FOLDER=catalog -D FUNCTION=embedded_entries
#         -D HEADER=catalog/embedded.h -D OUTPUT=<file.cc> -P embed_files.cmake
#
# A file TOP/<kind>/.../<name>.yaml becomes {kind, name, path, text}. Nothing is parsed here or at
# start-up; texts carry their length, which compilers would have to count. A literal longer than the
# 64 KiB the standard promises is fine for gcc and clang.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${FOLDER}/*.yaml)
list(SORT files)

set(out "// Written by cmake/embed_files.cmake from ${FOLDER}/. Do not edit.\n")
string(APPEND out "#include <array>\n#include <string_view>\n\n#include \"${HEADER}\"\n\n")
string(APPEND out "namespace orrery {\nnamespace {\n\n")
string(APPEND out "using std::string_view_literals::operator\"\"sv;\n\n")
list(LENGTH files count)
string(APPEND out "constexpr std::array<CatalogEntry, ${count}> kEntries{{\n")
foreach(file IN LISTS files)
  string(REGEX REPLACE "^[^/]+/([^/]+)/.*$" "\\1" kind "${file}")
  get_filename_component(name "${file}" NAME_WLE)
  file(READ "${ROOT}/${file}" text)
  string(APPEND out "    {\"${kind}\", \"${name}\", \"${file}\", R\"entry(${text})entry\"sv},\n")
endforeach()
string(APPEND out "}};\n\n}  // namespace\n\n")
string(APPEND out "std::span<const CatalogEntry> ${FUNCTION}() { return kEntries; }\n\n")
string(APPEND out "}  // namespace orrery\n")
file(WRITE "${OUTPUT}" "${out}")
