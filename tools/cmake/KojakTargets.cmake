# How every target of kojak is compiled: kojak_library, kojak_program, kojak_test.

add_library(kojak_options INTERFACE)
target_include_directories(kojak_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
target_compile_options(kojak_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
# g++ 12 sees overlapping copies in every std::string assignment that it inlines (its bug 105651).
target_compile_options(kojak_options INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>)
if(KOJAK_WERROR)
  target_compile_options(kojak_options INTERFACE -Werror)
endif()

# The sanitizers stay out of what is preloaded into other people's programs (kojak_plain_options).
add_library(kojak_plain_options INTERFACE)
target_link_libraries(kojak_plain_options INTERFACE kojak_options)
if(KOJAK_SANITIZE)
  add_library(kojak_sanitizers INTERFACE)
  target_compile_options(kojak_sanitizers INTERFACE
    -fsanitize=${KOJAK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_definitions(kojak_sanitizers INTERFACE KOJAK_SANITIZED)
  target_link_options(kojak_sanitizers INTERFACE -fsanitize=${KOJAK_SANITIZE})
endif()

function(kojak_use_options target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kojak_options>)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kojak>)
  if(KOJAK_SANITIZE)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kojak_sanitizers>)
  endif()
endfunction()

# clang's newer versions find two types of argument lists (__builtin_va_list is ambiguous) behind precompiled headers of
# C++20: seen with 19, and told of 15 on.
set(kojak_can_precompile ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 15)
  set(kojak_can_precompile OFF)
endif()

# kojak_precompile(name header): where all is built once, what most sources of a target include is read once.
function(kojak_precompile name header)
  if(KOJAK_UNITY AND kojak_can_precompile)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${header})
  endif()
endfunction()

# What most sources of the analysis side include is read once for all of them, with kojak_format, their lowest part.
# That takes the same options everywhere: programs are compiled as libraries are. g++ 12 does not know of code from
# precompiled headers that it is the standard library's own, and warns of sizes there that no call has.
set(common_headers OFF)
if(KOJAK_UNITY AND kojak_can_precompile)
  set(common_headers ON)
endif()
if(common_headers)
  set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(kojak_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  endif()
endif()
function(kojak_use_common_headers name)
  if(NOT common_headers)
    return()
  endif()
  if(name STREQUAL kojak_format)
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstring> <filesystem> <fstream> <functional>
      <map> <memory> <optional> <random> <set> <sstream> <string> <unordered_map> <variant> <vector>
      ${PROJECT_SOURCE_DIR}/epilog/format/definitions.h)
  else()
    target_precompile_headers(${name} REUSE_FROM kojak_format)
  endif()
endfunction()

# kojak_library(name sources...): a static library of the analysis side.
function(kojak_library name)
  add_library(${name} STATIC ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${KOJAK_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  kojak_use_options(${name})
  kojak_use_common_headers(${name})
endfunction()

# kojak_program(name sources...): a command, installed into bin/.
function(kojak_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${KOJAK_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  kojak_use_options(${name})
  kojak_use_common_headers(${name})
  set_property(GLOBAL APPEND PROPERTY KOJAK_PROGRAMS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# kojak_test(name [SANITIZED] [APART suites] [LARGE suites] LIBS libs... SOURCES sources...): a GoogleTest program, one
# CTest test. What the pattern APART matches is a second one, name_apart: both cores have work with a long program.
# What LARGE matches ("Suite.Test:Suite.*") is about size, or compares thousands of results: it says nothing new under
# sanitizers, takes minutes there, and is left out. SANITIZED: the sanitizer build runs all the rest, so that
# KOJAK_SANITIZED_APART leaves that out elsewhere.
function(kojak_test name)
  cmake_parse_arguments(ARG "SANITIZED" "APART;LARGE" "SOURCES;LIBS" ${ARGN})
  set(only "")
  if(ARG_SANITIZED AND KOJAK_SANITIZED_APART AND NOT KOJAK_SANITIZE)
    if(NOT ARG_LARGE)
      return()
    endif()
    set(only "${ARG_LARGE}")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  kojak_use_options(${name})
  kojak_use_common_headers(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set(seconds 300)
  if(KOJAK_SANITIZE)
    set(seconds 1500)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
  if(ARG_APART)
    add_test(NAME ${name}_apart COMMAND ${name})
    set_tests_properties(${name}_apart PROPERTIES TIMEOUT ${seconds} ENVIRONMENT "GTEST_FILTER=${ARG_APART}")
  endif()
  set(left_out ${ARG_APART})
  if(KOJAK_SANITIZE)
    list(APPEND left_out ${ARG_LARGE})
  endif()
  if(only)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_FILTER=${only}")
  elseif(left_out)
    list(JOIN left_out ":" left_out)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_FILTER=-${left_out}")
  endif()
endfunction()
