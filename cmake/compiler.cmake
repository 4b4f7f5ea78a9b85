# Warnings are errors; third-party headers are system headers and stay quiet.
# What the program says of itself names no folder of the machine that built it.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees overlapping copies in "text" + std::string that cannot be (gcc bug 105651).
  add_compile_options(-Wno-restrict)
else()
  # clang sees std::stable_sort of gcc 12's library use a deprecated function.
  add_compile_options(-Wno-deprecated-declarations)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
