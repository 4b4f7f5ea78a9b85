# Warnings are errors; third-party headers are system headers and stay quiet.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
