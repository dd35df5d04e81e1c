# Compiler, linker and sanitizer settings for every target of our own.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(SWAMP_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
option(SWAMP_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(SWAMP_WERROR "Treat warnings as errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(SWAMP_SANITIZE MATCHES "address")
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1 -fno-omit-frame-pointer")  # compiles twice as fast, which counts more than the tests' time
else()
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
endif()

find_program(SWAMP_CCACHE ccache)
if(SWAMP_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${SWAMP_CCACHE}")
  # Precompiled headers and ccache agree only with these two settings.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${SWAMP_CCACHE}")
endif()
find_program(SWAMP_MOLD mold)
if(SWAMP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Leaving members of a request struct at their defaults is what designated initializers are for.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-missing-field-initializers)
if(SWAMP_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ccache needs it to see through a precompiled header.
  add_compile_options(-fpch-preprocess)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
if(SWAMP_SANITIZE)
  add_compile_options(-fsanitize=${SWAMP_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SWAMP_SANITIZE})
endif()
if(SWAMP_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
