# Writes a source with the version, the commit and its date; leaves it alone where it says that already,
# so that nothing is compiled again. The date is that of the commit: the same commit gives the same bytes.
#
#   cmake -D ROOT=<source directory> -D VERSION=0.1.0 -D OUTPUT=<file.cc> -P version.cmake
find_program(GIT git)
set(text "orrery ${VERSION}")
if(GIT AND EXISTS ${ROOT}/.git)
  execute_process(COMMAND ${GIT} -C ${ROOT} log -1 --abbrev=10 --format=%h,\ %cs
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    string(APPEND text " (commit ${commit})")
  endif()
endif()
set(source "// Written by cmake/version.cmake. Do not edit.\n#include \"version.h\"\n\n")
string(APPEND source "const char* orrery::cli::version_text() { return \"${text}\"; }\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${source}")
  file(WRITE ${OUTPUT} "${source}")
endif()
