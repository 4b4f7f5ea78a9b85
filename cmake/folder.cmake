# orrery_folder(NAME [COLD] DEPENDS a b ... LIBRARIES x y ...)
#
# One folder of src/ is one static library made of its *.cc. Its tests (*_test.cc), benchmarks
# (*_benchmark.cc) and fuzzers (*_fuzz.cc) stand beside the code and become programs of their own:
# one test program a folder, one fuzzer a file. What several tests share lies in tests/fixtures,
# under the path of the code it is for.
#
# Release builds optimise what people wait for: folders of texts and pages (COLD) and all tests are
# compiled with -O1, which takes two thirds of the time. In a build with fuzzers, folders that have
# one count what inputs reach; the others run as fast as without.
#
# The sources of a folder are compiled a dozen at a time, so that no two may give the same name to
# different things within their anonymous namespaces.
function(orrery_folder name)
  cmake_parse_arguments(ARG "COLD" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|benchmark|fuzz)\\.cc$")
  list(TRANSFORM ARG_DEPENDS PREPEND orrery_ OUTPUT_VARIABLE depends)

  if(sources)
    set(scope PUBLIC)
    add_library(orrery_${name} STATIC ${sources})
  else()
    set(scope INTERFACE)
    add_library(orrery_${name} INTERFACE)
  endif()
  target_include_directories(orrery_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/orrery>)
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  if(sources)
    set(cold)
    if(ARG_COLD)
      set(cold COLD)
    endif()
    orrery_precompile(orrery_${name} ${cold})
    if(ORRERY_FUZZERS AND fuzzers)
      # What -fsanitize=fuzzer-no-link stands for (the precompiled headers would not fit that one), less
      # trace-cmp: it costs every comparison of every test a call, and libFuzzer watches the functions
      # that compare words without it.
      target_compile_options(orrery_${name} PRIVATE
        -fsanitize-coverage=inline-8bit-counters,indirect-calls,pc-table)
    endif()
  endif()
  target_link_libraries(orrery_${name} ${scope} ${depends} ${ARG_LIBRARIES})

  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(ORRERY_TESTS AND tests)
    find_package(GTest REQUIRED)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test orrery_${name} GTest::gmock_main)
    target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/fixtures)
    orrery_precompile(${name}_test TEST)
    target_compile_definitions(${name}_test PRIVATE ORRERY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()

  set(benchmarks ${all})
  list(FILTER benchmarks INCLUDE REGEX "_benchmark\\.cc$")
  if(ORRERY_BENCHMARKS AND benchmarks)
    find_package(benchmark REQUIRED)
    add_executable(${name}_benchmark ${benchmarks})
    target_link_libraries(${name}_benchmark orrery_${name} benchmark::benchmark_main)
    target_include_directories(${name}_benchmark PRIVATE ${PROJECT_SOURCE_DIR}/tests/fixtures)
    target_compile_definitions(${name}_benchmark PRIVATE ORRERY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  endif()

  if(ORRERY_FUZZERS)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)  # all of them, and nothing they do not need
    endif()
    foreach(fuzzer ${fuzzers})
      get_filename_component(stem ${fuzzer} NAME_WE)
      add_executable(${stem} ${fuzzer})
      target_link_libraries(${stem} orrery_${name})
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${stem})
    endforeach()
  endif()
endfunction()

# `embedded`: every source that is written by the build, for clang-tidy, which compiles nothing.
add_custom_target(embedded)
function(orrery_written_source target file)
  target_sources(${target} PRIVATE ${file})
  add_custom_target(${target}_embedded DEPENDS ${file})
  add_dependencies(embedded ${target}_embedded)
endfunction()

# orrery_embed(NAME FOLDER FUNCTION HEADER)
#
# The YAML files of a folder of the repository travel inside the library of src/NAME, as what FUNCTION
# of HEADER returns; a changed, new or removed file writes them anew.
function(orrery_embed name folder function header)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.yaml)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  set(embedder ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D FOLDER=${folder}
            -D FUNCTION=${function} -D HEADER=${header} -D OUTPUT=${embedded} -P ${embedder}
    DEPENDS ${embedder} ${files}
    COMMENT "Embedding ${folder}"
    VERBATIM)
  orrery_written_source(orrery_${name} ${embedded})
endfunction()

# orrery_embed_texts(NAME kName=FILE ...)
#
# Texts of the folder src/NAME travel inside its library, as constants of these names.
function(orrery_embed_texts name)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded_texts.cc)
  set(embedder ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake)
  set(files)
  set(texts)
  foreach(text ${ARGN})
    string(REPLACE "=" "=src/${name}/" text ${text})
    list(APPEND texts ${text})
    string(REGEX REPLACE "^[^=]+=" "" file ${text})
    list(APPEND files ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  list(JOIN texts "|" texts)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D "TEXTS=${texts}"
            -D OUTPUT=${embedded} -P ${embedder}
    DEPENDS ${embedder} ${files}
    COMMENT "Embedding texts of src/${name}"
    VERBATIM)
  orrery_written_source(orrery_${name} ${embedded})
endfunction()
