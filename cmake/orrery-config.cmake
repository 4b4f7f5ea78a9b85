# find_package(orrery) gives orrery::orrery: estimates, searches and forecasts, with what they need.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(simdjson)
find_dependency(ZLIB)
find_dependency(EXPAT)
include(${CMAKE_CURRENT_LIST_DIR}/orrery-targets.cmake)
if(NOT TARGET orrery::orrery)
  add_library(orrery::orrery INTERFACE IMPORTED)
  set_target_properties(orrery::orrery PROPERTIES
    INTERFACE_LINK_LIBRARIES orrery::orrery_forecast
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
