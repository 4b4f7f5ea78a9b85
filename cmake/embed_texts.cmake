# Writes texts as string literals into one source file: styles, scripts and pages that lie beside the
# code that uses them, in files of their own.
#
#   cmake -D ROOT=<source directory> -D "TEXTS=kPageStyle=src/report/drawing/page.css|..."
#         -D OUTPUT=<file.cc> -P embed_texts.cmake
#
# Each becomes `const char* const kPageStyle`, which its user declares.
string(REPLACE "|" ";" texts "${TEXTS}")
set(out "// Written by cmake/embed_texts.cmake. Do not edit.\nnamespace orrery {\n\n")
foreach(text IN LISTS texts)
  string(REGEX MATCH "^([^=]+)=(.+)$" found "${text}")
  set(name "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  file(READ "${ROOT}/${file}" content)
  string(APPEND out "// ${file}\nextern const char* const ${name};\n")
  string(APPEND out "const char* const ${name} = R\"text(${content})text\";\n\n")
endforeach()
string(APPEND out "}  // namespace orrery\n")
file(WRITE "${OUTPUT}" "${out}")
