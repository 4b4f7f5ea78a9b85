# orrery_precompile(TARGET [COLD | TEST])
#
# Standard and third-party headers that most sources include, parsed once a build instead of once a
# source file. Only headers of other people are here: each source still includes what it uses.
#
# COLD is code that is not critical for speed. It and tests are compiled with -O1 in release builds, and
# with -O0, in a third of the time, in debug and sanitizer builds. Clang takes precompiled headers only
# at the level of optimisation they were made with, so that each level has its own.
function(orrery_optimise_little target)
  target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Debug>,-O0,-O1>)
endfunction()

foreach(headers orrery_headers orrery_cold_headers)
  add_library(${headers} OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
  target_precompile_headers(${headers} PRIVATE
    <algorithm> <array> <charconv> <cmath> <cstddef> <cstdint> <functional> <limits> <map> <memory>
    <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility>
    <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
endforeach()
orrery_optimise_little(orrery_cold_headers)

if(ORRERY_TESTS)
  find_package(GTest REQUIRED)
  add_library(orrery_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
  target_link_libraries(orrery_test_headers PRIVATE GTest::gmock_main)
  target_precompile_headers(orrery_test_headers PRIVATE
    <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>
    <gmock/gmock.h> <gtest/gtest.h>)
  orrery_optimise_little(orrery_test_headers)
endif()

function(orrery_precompile target)
  if(NOT ARGN)
    target_precompile_headers(${target} REUSE_FROM orrery_headers)
    return()
  endif()
  string(TOLOWER "${ARGN}" kind)
  target_precompile_headers(${target} REUSE_FROM orrery_${kind}_headers)
  orrery_optimise_little(${target})
endfunction()
