// Every command against a bucket that has moved on: what it doesn't name keeps its exact ETag. The commands come from the
// program's own tree, so that a new one can't be forgotten.

#include <fnmatch.h>

#include <fstream>
#include <set>

#include "backends.h"
#include "command_matrix.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexMeta = "_index/_meta.json";

using Snapshot = std::map<std::string, std::string>;  // key: ETag

Snapshot Take(Bucket& bucket) {
  Snapshot snapshot;
  for (const ObjectInfo& object : ListAll(bucket.context(), bucket.store(), "")) snapshot[object.key] = object.etag.value;
  return snapshot;
}

std::set<std::string> Changed(const Snapshot& before, const Snapshot& after) {
  std::set<std::string> keys;
  for (const auto& [key, etag] : before) {
    if (const auto now = after.find(key); now == after.end() || now->second != etag) keys.insert(key);
  }
  for (const auto& [key, etag] : after) {
    if (!before.contains(key)) keys.insert(key);
  }
  return keys;
}

bool Matches(const std::string& pattern, const std::string& key) { return ::fnmatch(pattern.c_str(), key.c_str(), 0) == 0; }

bool Named(const std::vector<std::string>& names, const std::string& key) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return Matches(name, key); });
}

bool IsShard(const std::string& key) { return key.starts_with("_index/") && key != kIndexMeta; }
// They come and go within one command.
bool IsLockOrProbe(const std::string& key) {
  return key == ".datastore.lock" || key.ends_with("/.lock") || key.starts_with(".datastore-probe-");
}

Json EntriesOf(Bucket& bucket, const std::string& shard) {
  const auto bytes = bucket.Peek(shard);
  return bytes ? ParseJson(*bytes, shard).value("entries", Json::object()) : Json::object();
}

struct Cost {
  int requests = 0;
  std::size_t bytes = 0;  // of the bodies, both ways
  long milliseconds = 0;
  friend std::ostream& operator<<(std::ostream& stream, const Cost& cost) {
    return stream << cost.requests << " requests, " << cost.bytes << " bytes";
  }
};

std::string Kib(std::size_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1024); }

// A bucket with one document of each kind, two checkouts, and other data beside theirs.
class Matrix {
 public:
  Matrix(Backend backend, int files) : bucket_(backend), stale_(bucket_.first()), peer_(bucket_.Clone("peer")) {
    bucket_.Publish("@acme/start", "2026.01.01.1");
    for (const char* name : {"mine", "theirs"}) {
      peer_.Do({"model", "create", "command/shell", name});
      peer_.Do({"model", "edit", name}, {.input = ModelText("echo hello"), .has_input = true});
    }
    peer_.Do({"vault", "create", "local_encryption", "theirsafe"});
    stale_.Do({"vault", "create", "local_encryption", "safe"});
    peer_.Do({"extension", "pull", "@acme/start", "-y"});
    const fs::path filler = peer_.cache() / "data/command/shell/00000000-0000-4000-8000-000000000000";
    for (int i = 0; i < files; ++i) {
      const fs::path folder = filler / ("f" + std::to_string(i)) / "1";
      fs::create_directories(folder);
      std::ofstream(folder / "raw") << i;
    }
    peer_.Do({"datastore", "sync"});
    stale_.Do({"extension", "install"});
    stale_.Do({"vault", "put", "safe", "old", "-f"}, {.input = "a value", .has_input = true});
    stale_.Do({"model", "method", "run", "mine", "execute"});
    stale_.Do({"datastore", "sync"});
    world_.words = {{"{id}", stale_.Do({"model", "get", "mine"})["id"]},
                    {"{config}", CompactJson(bucket_.DatastoreConfig())},
                    {"{folder}", bucket_.folder().string()},
                    {"{command_vault}", CommandVault()},
                    {"{source}", (bucket_.folder() / "sources/@acme/start/2026.01.01.1").string()}};
  }

  // Runs the row's command in a checkout whose cache is stale in the lockfile, in documents, in a marker and in shards, and
  // checks what became of the bucket.
  Cost Run(const MatrixRow& row) {
    SCOPED_TRACE("swamp " + row.command + " " + Join(row.arguments, " "));
    if (row.prepare != nullptr) row.prepare(world_);
    PeerGoesOn();
    const Checkout& checkout = row.fresh ? bucket_.Plain("fresh" + std::to_string(++fresh_)) : stale_;
    std::vector<std::string> words = Split(row.command, ' ');
    for (const std::string& argument : row.arguments) words.push_back(Filled(argument));
    std::vector<std::string> names;
    for (const std::string& name : row.names) names.push_back(Filled(name));
    const fs::path trace = bucket_.folder() / "trace";
    fs::remove(trace);
    const Snapshot before = Take(bucket_);
    std::map<std::string, Json> entries;
    for (const auto& [key, etag] : before) {
      if (IsShard(key)) entries[key] = EntriesOf(bucket_, key);
    }
    const auto start = std::chrono::steady_clock::now();
    const RunResult result = checkout.Run(words, {.input = row.input,
                                                  .has_input = !row.input.empty(),
                                                  .environment = {{"SWAMP_STORE_TRACE", trace.string()}}});
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(result.exit_code, row.exit_code) << result;
    Check(names, Changed(before, Take(bucket_)), entries);
    Cost cost = CheckTrace(names, trace);
    cost.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    if (names.empty() && row.exit_code == 0 && !row.fresh) CheckJson(checkout, row, words);
    return cost;
  }

 private:
  // CI-01: one document and nothing else. What changes nothing can be asked once more.
  void CheckJson(const Checkout& checkout, const MatrixRow& row, std::vector<std::string> words) {
    if (row.command.starts_with("completions")) return;  // scripts
    if (row.command == "extension source rm") return;    // it is gone by now
    words.emplace_back("--json");
    const RunResult result = checkout.Run(words, {.input = row.input, .has_input = !row.input.empty()});
    EXPECT_EQ(result.exit_code, 0) << result;
    result.json();
  }

  // One change of each kind: the lockfile, documents, a marker, and so their shards.
  void PeerGoesOn() {
    const std::string round = std::to_string(++round_);
    bucket_.Publish("@acme/round" + round, "2026.01.01.1");
    peer_.Do({"extension", "pull", "@acme/round" + round, "-y"});
    peer_.Do({"model", "edit", "theirs"}, {.input = ModelText("echo round " + round), .has_input = true});
    peer_.Do({"vault", "edit", "theirsafe"},
             {.input = "config:\n  auto_generate: true\n  key_file: k" + round + "\n", .has_input = true});
    peer_.Do({"model", "method", "run", "theirs", "execute"});
  }

  // Settings of a vault that is a folder.
  std::string CommandVault() const {
    const std::string folder = (bucket_.folder() / "secrets").string();
    fs::create_directories(folder);
    return CompactJson({{"get", {"cat", folder + "/{key}"}},
                        {"list", {"ls", folder}},
                        {"put", {"dd", "status=none", "of=" + folder + "/{key}"}},
                        {"raw", true}});
  }

  std::string Filled(std::string text) const {
    for (const auto& [word, value] : world_.words) {
      for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size()) {
        text.replace(at, word.size(), value);
      }
    }
    return text;
  }

  void Check(const std::vector<std::string>& names, const std::set<std::string>& changed,
             const std::map<std::string, Json>& entries) {
    for (const std::string& key : changed) {
      if (key == kIndexMeta) {
        EXPECT_FALSE(names.empty()) << key << " changed";
      } else if (IsShard(key)) {
        CheckShard(names, key, entries.contains(key) ? entries.at(key) : Json::object());
      } else {
        EXPECT_TRUE(Named(names, key)) << key << " changed, which the command doesn't name";
      }
    }
    for (const std::string& name : names) {
      EXPECT_TRUE(std::any_of(changed.begin(), changed.end(), [&](const std::string& key) { return Matches(name, key); }))
          << "nothing changed at " << name;
    }
  }

  void CheckShard(const std::vector<std::string>& names, const std::string& shard, const Json& before) {
    const Json after = EntriesOf(bucket_, shard);
    for (const auto& [key, entry] : before.items()) {
      if (!Named(names, key)) {
        EXPECT_EQ(after.value(key, Json()), entry) << shard << " changed its entry for " << key;
      }
    }
    for (const auto& [key, entry] : after.items()) {
      EXPECT_TRUE(before.contains(key) || Named(names, key)) << shard << " has got an entry for " << key;
    }
  }

  static Cost CheckTrace(const std::vector<std::string>& names, const fs::path& file) {
    Cost cost;
    std::ifstream trace(file);
    for (std::string line; std::getline(trace, line);) {
      const Json call = ParseJson(line, "the trace");
      ++cost.requests;
      cost.bytes += call.value("bytes", std::size_t{0});
      const std::string key = call["key"];
      if (call["op"] != "put" && call["op"] != "delete") continue;
      EXPECT_TRUE(call.contains("condition")) << line;
      EXPECT_TRUE(IsLockOrProbe(key) || key.starts_with("_index/") || Named(names, key)) << line;
    }
    return cost;
  }

  Bucket bucket_;
  Checkout& stale_;
  Checkout& peer_;
  MatrixWorld world_{bucket_, stale_, peer_, {}};
  int round_ = 0;
  int fresh_ = 0;
};

std::string GroupOf(const std::string& command) { return command.substr(0, command.find(' ')); }

std::vector<MatrixRow> RowsOf(const std::string& group) {
  std::vector<MatrixRow> rows = MatrixRows();
  std::erase_if(rows, [&](const MatrixRow& row) { return GroupOf(row.command) != group; });
  return rows;
}

bool ChangesNothing(const MatrixRow& row) { return row.names.empty(); }

std::vector<std::string> Groups() {
  std::set<std::string> groups;
  for (const MatrixRow& row : MatrixRows()) groups.insert(GroupOf(row.command));
  return {groups.begin(), groups.end()};
}

std::vector<std::string> ChangingGroups() {
  std::vector<std::string> groups = Groups();
  std::erase_if(groups, [](const std::string& group) {
    const std::vector<MatrixRow> rows = RowsOf(group);
    return std::all_of(rows.begin(), rows.end(), ChangesNothing);
  });
  return groups;
}

void AddLeaves(const Json& command, const std::string& path, std::set<std::string>& leaves) {
  if (command["subcommands"].empty()) leaves.insert(path);
  for (const Json& below : command["subcommands"]) {
    AddLeaves(below, path + (path.empty() ? "" : " ") + below["name"].get<std::string>(), leaves);
  }
}

TEST(CommandMatrix, HasARowForEveryCommandOfTheProgram) {
  TemporaryFolder folder;
  const RunResult help = RunProcess({SWAMP_PROGRAM, "help", "--json"}, {{"HOME", folder.path().string()}}, folder.path(), {});
  std::set<std::string> leaves;
  AddLeaves(help.json()["root"], "", leaves);
  ASSERT_GT(leaves.size(), 50u);
  std::set<std::string> rows;
  for (const MatrixRow& row : MatrixRows()) rows.insert(row.command);
  EXPECT_THAT(rows, ::testing::ContainerEq(leaves)) << "say in command_matrix_rows.cc what the command names";
}

class CommandMatrixOf : public ::testing::TestWithParam<std::tuple<Backend, std::string>> {
 protected:
  void SetUp() override { NeedsServerOf(std::get<0>(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(Commands, CommandMatrixOf,
                         ::testing::Combine(::testing::Values(Backend::kRgw, Backend::kFolder),
                                            ::testing::ValuesIn(Groups())),
                         [](const auto& one) { return NameOf(std::get<0>(one.param)) + "_" + std::get<1>(one.param); });

TEST_P(CommandMatrixOf, WhatACommandOfAStaleCheckoutDoesntNameKeepsItsEtag) {
  Matrix matrix(std::get<0>(GetParam()), 3);
  for (const MatrixRow& row : RowsOf(std::get<1>(GetParam()))) matrix.Run(row);
}

class CommandMatrixCost : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Commands, CommandMatrixCost, ::testing::ValuesIn(ChangingGroups()),
                         [](const auto& one) { return one.param; });

// SWAMP_MATRIX_TABLE=FILE: measures on the real server and up to 10,000 files, and appends the table's rows to the file.
TEST_P(CommandMatrixCost, DoesntGrowWithTheFilesInTheBucket) {
  const char* table = std::getenv("SWAMP_MATRIX_TABLE");
  const Backend backend = table != nullptr ? Backend::kRgw : Backend::kFolder;
  Matrix small(backend, 100);
  Matrix large(backend, table != nullptr ? 10'000 : 1'200);  // more than a page of a listing
  std::ofstream out;
  if (table != nullptr) out.open(table, std::ios::app);
  for (const MatrixRow& row : RowsOf(GetParam())) {
    const Cost few = small.Run(row);
    const Cost many = large.Run(row);
    if (ChangesNothing(row)) continue;
    out << "| `" << row.command << "` | `" << Join(row.names, "`, `") << "` | " << few.requests << " | " << many.requests
        << " | " << Kib(few.bytes) << " | " << Kib(many.bytes) << " | " << few.milliseconds << " | " << many.milliseconds
        << " |\n";
    EXPECT_LE(many.requests, few.requests) << row.command;
    EXPECT_LT(many.bytes, few.bytes + 1024) << row.command << ": " << few << ", then " << many;
  }
}

}  // namespace
}  // namespace swamp::e2e
