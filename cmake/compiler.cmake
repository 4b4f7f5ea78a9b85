# Warnings are errors; third-party headers are system headers and stay quiet.
# What the program says of itself names no folder of the machine that built it.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees copies in "text" + std::string that overlap or pass an end and cannot (gcc bug
  # 105651); within precompiled headers it reports them as ours. The address sanitizer looks too.
  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  # Where sources are compiled a dozen at a time, gcc takes each for a header, in which a type with
  # members of an unnamed namespace would be a mistake.
  add_compile_options(-Wno-subobject-linkage)
else()
  # clang sees std::stable_sort of gcc 12's library use a deprecated function.
  add_compile_options(-Wno-deprecated-declarations)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache asks for this before it caches what is compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
