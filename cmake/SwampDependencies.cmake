# Everything here comes from Debian 12; docs/dependencies.md says what each one is for.
# Small libraries are linked statically where Debian ships an archive: a command-line program starts
# often, and each shared library costs it about half a millisecond.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED)  # headers only: Beast, for the tests' proxy

function(swamp_static_or_shared out name)
  find_library(${out} NAMES lib${name}.a ${name} REQUIRED)
  set(${out} "${${out}}" PARENT_SCOPE)
endfunction()

swamp_static_or_shared(SWAMP_SQLITE sqlite3)
swamp_static_or_shared(SWAMP_YAML yaml-cpp)
swamp_static_or_shared(SWAMP_EXPAT expat)
swamp_static_or_shared(SWAMP_ZLIB z)
swamp_static_or_shared(SWAMP_RE2 re2)
find_path(SWAMP_CURL_INCLUDE curl/curl.h REQUIRED)

function(swamp_deps name)
  add_library(swamp_deps_${name} INTERFACE)
  add_library(swamp::deps_${name} ALIAS swamp_deps_${name})
  target_link_libraries(swamp_deps_${name} INTERFACE ${ARGN})
endfunction()

# libcurl is opened at its first use (util/curl_api.h): loading it costs more than a whole `swamp version`.
swamp_deps(util fmt::fmt nlohmann_json::nlohmann_json OpenSSL::Crypto ${SWAMP_SQLITE} ${SWAMP_YAML}
           Threads::Threads ${CMAKE_DL_LIBS})
swamp_deps(objectstore ${SWAMP_EXPAT})
swamp_deps(archive ${SWAMP_ZLIB})
swamp_deps(cel ${SWAMP_RE2} Threads::Threads)
