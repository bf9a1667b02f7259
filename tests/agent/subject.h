// subject: the program that the agent's tests run under the preload. Each behaviour has a name.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "harness/agent/core_table.h"

using Arguments = char**;  // after the behaviour's name; ends with null
using Behaviour = std::function<int(Arguments)>;

std::map<std::string, Behaviour>& behaviours();

struct RegisterBehaviour {
  RegisterBehaviour(const char* name, Behaviour run) { behaviours()[name] = std::move(run); }
};
#define BEHAVIOUR(name)                                        \
  static int name(Arguments);                                  \
  static const RegisterBehaviour register_##name(#name, name); \
  static int name([[maybe_unused]] Arguments args)

const rf_core_v1& core();  // of the preloaded agent; exits with 90 without one

// One recorded call through the core, without a library.
int recorded_call(uint16_t op, uint32_t comm = RF_NO_COMM, uint64_t count = 1);
