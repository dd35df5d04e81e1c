#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan.h"
#include "util/time.h"

namespace swamp::simulation {

// How a command ended, as its user sees it.
enum class Ending {
  kDone,         // acknowledged
  kUnpublished,  // acknowledged as made here and still to be published
  kConflict,     // told that a peer was faster
  kFailed,       // told that nothing was changed
  kCrashed,      // never told anything
};
std::string NameOf(Ending ending);

struct CommandRecord {
  int id = 0;
  int checkout = 0;
  Command command;
  bool recovery = false;
  std::int64_t start = 0;  // moments of the history
  std::int64_t end = 0;
  Ending ending = Ending::kCrashed;
  std::string code;  // of the error that it ended with
  std::string message;
  std::string place;  // the namespace that its checkout used, with a "/", or nothing
  std::string path;  // the document or tier file that it was to change
  std::string name;  // of the extension
  std::string version;
  std::vector<std::string> contents;  // what it acknowledges to have put there, of a tier file
};

// Content of a file or an object; nothing: it isn't there.
using Content = std::optional<std::string>;

// One change of an object, at the moment when it took effect.
struct ObjectWrite {
  std::int64_t moment = 0;
  Duration time{};
  int command = 0;
  int checkout = 0;
  int process = 0;
  bool late = false;  // its sender had given up waiting
  Content before;
  Content after;  // a tombstone is nothing too
};

// One change of a file of a checkout's configuration or data.
struct FileWrite {
  std::int64_t moment = 0;
  int command = 0;
  int checkout = 0;
  Content before;
  Content after;
};

// What really happened in a run, in one order; nobody in the simulated world sees it.
struct History {
  std::int64_t moment = 0;
  std::vector<CommandRecord> commands;
  std::map<std::string, std::vector<ObjectWrite>> objects;  // by key
  std::map<std::string, std::vector<FileWrite>> files;      // by tier path

  // The object's content after what happened before `moment`.
  Content At(const std::string& key, std::int64_t at) const;
  Content Now(const std::string& key) const;
};

}  // namespace swamp::simulation
