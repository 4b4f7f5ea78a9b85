# orrery_precompile(TARGET [TEST])
#
# Standard and third-party headers that most sources include, parsed once a build instead of once a
# source file. Only headers of other people are here: each source still includes what it uses.
add_library(orrery_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
target_precompile_headers(orrery_headers PRIVATE
  <algorithm> <array> <charconv> <cmath> <cstddef> <cstdint> <functional> <limits> <map> <memory>
  <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility>
  <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

# Sources of tests are compiled without optimisation in debug and sanitizer builds, in a third of the
# time; what they test is optimised as the build says.
function(orrery_optimise_no_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
endfunction()

if(ORRERY_TESTS)
  find_package(GTest REQUIRED)
  add_library(orrery_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
  target_link_libraries(orrery_test_headers PRIVATE GTest::gmock_main)
  target_precompile_headers(orrery_test_headers PRIVATE
    <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>
    <gmock/gmock.h> <gtest/gtest.h>)
  orrery_optimise_no_test(orrery_test_headers)
endif()

function(orrery_precompile target)
  if(ARGN STREQUAL "TEST")
    target_precompile_headers(${target} REUSE_FROM orrery_test_headers)
    orrery_optimise_no_test(${target})
  else()
    target_precompile_headers(${target} REUSE_FROM orrery_headers)
  endif()
endfunction()
