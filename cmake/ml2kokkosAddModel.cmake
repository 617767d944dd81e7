# Translates models as a part of a CMake build. find_package(ml2kokkos) includes this file; a project that commits printed
# code and also has to build where ml2kokkos is not installed keeps a copy of it and includes that.
#
#   ml2kokkos_add_model(TARGET MODEL model.onnx [NAME name] [OPTIONS ...] [DEPENDS ...])
#     Prints NAME.{cpp,hpp,safetensors} (default: the name of the model) into ${CMAKE_CURRENT_BINARY_DIR}/generated and
#     adds them to TARGET; with --form=c or fortran, NAME.h and NAME.f90, too (the project has the language Fortran then).
#     NAME_server.cpp and NAME_test.cpp (--form=server, --emit-test) hold a main(): add them where they are to run.
#
#   ml2kokkos_add_model(TARGET MODEL model.onnx OUTPUT source/name.cpp [CHECK] [OPTIONS ...] [DEPENDS ...])
#     Compiles committed code. Where ml2kokkos is installed, configuring prints it again if the model is newer, unless
#     ML2KOKKOS_REGENERATE is OFF; elsewhere it is taken as it is. CHECK adds the test ml2kokkos.NAME, which fails if the
#     committed files are not what the tool prints today.
#
# With --calls=kokkoskernels among the OPTIONS, TARGET is linked with KokkosKernels, which find_package() has to find.
# OPTIONS go to ml2kokkos (docs/options.md); DEPENDS are further files to watch, such as the model's external data.
# The tool is, in this order: the target ml2kokkos of this build, ml2kokkos::ml2kokkos, the program ML2KOKKOS.

if(CMAKE_SCRIPT_MODE_FILE)
  # At build time, as a script: brings a sidecar back that was deleted. Which models have one is known only afterwards;
  # an empty file stands for none, so that build tools see that the step was done.
  if(NOT EXISTS "${SIDECAR}")
    execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "ml2kokkos ended with ${code}")
    endif()
  endif()
  if(NOT EXISTS "${SIDECAR}" OR TOUCH)
    file(TOUCH "${SIDECAR}")
  endif()
  return()
endif()

option(ML2KOKKOS_REGENERATE "Print committed code again where its model is newer" ON)
set(ml2kokkos_add_model_file ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "")

# The command of the tool and what a rule that runs it depends on; both empty if there is none.
function(ml2kokkos_find_tool command depends)
  if(TARGET ml2kokkos)
    set(tool $<TARGET_FILE:ml2kokkos>)
    set(file ml2kokkos)
  elseif(TARGET ml2kokkos::ml2kokkos)
    get_target_property(tool ml2kokkos::ml2kokkos LOCATION)
    set(file ${tool})
  else()
    find_program(ML2KOKKOS ml2kokkos)
    if(ML2KOKKOS)
      set(tool ${ML2KOKKOS})
      set(file ${tool})
    endif()
  endif()
  set(${command} ${tool} PARENT_SCOPE)
  set(${depends} ${file} PARENT_SCOPE)
endfunction()

# Rules that print into the build folder. Make compares time stamps and nothing else, and ml2kokkos leaves those of files
# that do not change: there the printed files are touched.
function(ml2kokkos_add_generated target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(stem ${folder}/${arg_NAME})
  set(printed ${stem}.cpp ${stem}.hpp)
  set(programs)
  if(arg_OPTIONS MATCHES "--form=[a-z,]*(c|fortran)(,|;|$)")
    list(APPEND printed ${stem}.h)
  endif()
  if(arg_OPTIONS MATCHES "--form=[a-z,]*fortran")
    list(APPEND printed ${stem}.f90)
  endif()
  if(arg_OPTIONS MATCHES "--form=[a-z,]*(runner|c|fortran|server)(,|;|$)")
    list(APPEND printed ${stem}.spec.json)
  endif()
  foreach(kind server test) # programs of their own
    if(arg_OPTIONS MATCHES "--form=[a-z,]*${kind}|--emit-${kind}")
      list(APPEND programs ${stem}_${kind}.cpp)
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  set(command ${tool} ${arg_MODEL} -o ${stem}.cpp ${arg_OPTIONS})
  set(make OFF)
  set(touch)
  if(CMAKE_GENERATOR MATCHES "Make")
    set(make ON)
    set(touch COMMAND ${CMAKE_COMMAND} -E touch ${printed} ${programs})
  endif()
  add_custom_command(
    OUTPUT ${printed} ${programs}
    COMMAND ${command}
    ${touch}
    DEPENDS ${arg_MODEL} ${tool_file} ${arg_DEPENDS}
    COMMENT "Translating ${arg_NAME}" VERBATIM)
  add_custom_command(
    OUTPUT ${stem}.safetensors
    COMMAND ${CMAKE_COMMAND} -D SIDECAR=${stem}.safetensors -D TOUCH=${make} "-DCOMMAND=${command}"
            -P ${ml2kokkos_add_model_file}
    DEPENDS ${stem}.cpp ${stem}.hpp
    COMMENT "Weights of ${arg_NAME}" VERBATIM)
  target_sources(${target} PRIVATE ${printed} ${stem}.safetensors)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# Prints committed code again if the model is newer than the last time, while configuring: then the build sees right time
# stamps, and no rule of the build owns (and cleans) files of the source folder.
function(ml2kokkos_regenerate)
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/ml2kokkos-${arg_NAME}.stamp)
  set(command ${tool} ${arg_MODEL} -o ${arg_OUTPUT} ${arg_OPTIONS})
  set(is_current OFF)
  if(EXISTS ${arg_OUTPUT} AND EXISTS ${header} AND EXISTS ${stamp})
    file(READ ${stamp} made)
    if(made STREQUAL "${command}")
      set(is_current ON)
    endif()
  endif()
  foreach(file IN LISTS arg_MODEL arg_DEPENDS tool)
    if(${file} IS_NEWER_THAN ${stamp})
      set(is_current OFF)
    endif()
  endforeach()
  if(EXISTS ${stamp}.sidecar AND NOT EXISTS ${sidecar})
    set(is_current OFF)
  endif()
  if(is_current)
    return()
  endif()
  message(STATUS "Translating ${arg_NAME}")
  execute_process(COMMAND ${command} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${arg_MODEL} was not translated (exit code ${code}); ml2kokkos says above why")
  endif()
  file(WRITE ${stamp} "${command}")
  file(REMOVE ${stamp}.sidecar)
  if(EXISTS ${sidecar})
    file(WRITE ${stamp}.sidecar "")
  endif()
endfunction()

function(ml2kokkos_add_committed target)
  cmake_path(REPLACE_EXTENSION arg_OUTPUT LAST_ONLY hpp OUTPUT_VARIABLE header)
  cmake_path(REPLACE_EXTENSION arg_OUTPUT LAST_ONLY safetensors OUTPUT_VARIABLE sidecar)
  cmake_path(GET arg_OUTPUT PARENT_PATH folder)
  # A tool that this build is yet to make cannot run now; the test runs it later.
  if(tool AND ML2KOKKOS_REGENERATE AND NOT TARGET ml2kokkos)
    ml2kokkos_regenerate()
    set(watched ${arg_MODEL} ${arg_DEPENDS} ${tool} ${arg_OUTPUT} ${header})
    if(EXISTS ${sidecar})
      list(APPEND watched ${sidecar})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${watched})
  endif()
  target_sources(${target} PRIVATE ${arg_OUTPUT})
  target_include_directories(${target} PRIVATE ${folder})
  if(arg_CHECK)
    set(check ${tool})
    if(NOT tool)
      set(check ml2kokkos)
    endif()
    add_test(NAME ml2kokkos.${arg_NAME} COMMAND ${check} ${arg_MODEL} -o ${arg_OUTPUT} --check ${arg_OPTIONS})
    if(NOT tool)
      set_tests_properties(ml2kokkos.${arg_NAME} PROPERTIES DISABLED ON)
    endif()
  endif()
endfunction()

function(ml2kokkos_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CHECK" "MODEL;NAME;OUTPUT" "OPTIONS;DEPENDS")
  if(NOT arg_MODEL OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ml2kokkos_add_model(TARGET MODEL file [NAME name | OUTPUT file.cpp [CHECK]] [OPTIONS ...] [DEPENDS ...])")
  endif()
  if(arg_CHECK AND NOT arg_OUTPUT)
    message(FATAL_ERROR "ml2kokkos_add_model: CHECK compares committed files; name them with OUTPUT")
  endif()
  foreach(place MODEL OUTPUT)
    if(arg_${place})
      cmake_path(ABSOLUTE_PATH arg_${place} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    endif()
  endforeach()
  set(watched)
  foreach(file IN LISTS arg_DEPENDS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND watched ${file})
  endforeach()
  set(arg_DEPENDS ${watched})
  if(NOT arg_NAME)
    set(named ${arg_MODEL})
    if(arg_OUTPUT)
      set(named ${arg_OUTPUT})
    endif()
    cmake_path(GET named STEM LAST_ONLY arg_NAME)
  endif()
  if("--calls=kokkoskernels" IN_LIST arg_OPTIONS)
    if(NOT TARGET Kokkos::kokkoskernels)
      find_package(KokkosKernels REQUIRED)
    endif()
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES Kokkos::kokkoskernels) # whichever way others are linked
  endif()
  ml2kokkos_find_tool(tool tool_file)
  if(arg_OUTPUT)
    ml2kokkos_add_committed(${target})
  elseif(tool)
    ml2kokkos_add_generated(${target})
  else()
    message(FATAL_ERROR "ml2kokkos_add_model: ml2kokkos is not installed; to build without it, commit what it prints and name it with OUTPUT")
  endif()
endfunction()
