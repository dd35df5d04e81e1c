// The real program with a store that fails, or that kills the process, where a test says so: for buckets that no proxy
// can stand in front of.
//
//   SWAMP_TEST_FAULTS    JSON list of {"kind":"before"|"after","op":"put"|...,"key":"<fnmatch>","skip":n,"times":n}
//   SWAMP_TEST_KILL      "<n>:before" or "<n>:after": SIGKILL at store call number n, from 0
//   SWAMP_TEST_NO_LOCKS  "1": every lock is free
//   SWAMP_TEST_CLOCK_OFFSET_MS  how far this machine's clock is off
//   SWAMP_TEST_TYPES     "1": the type test/account is there, whose global arguments password, tls.key and pin are sensitive

#include <csignal>
#include <cstdlib>

#include "cli/program.h"
#include "model/model_types.h"
#include "objectstore/fault_store.h"
#include "util/json.h"

namespace swamp {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class KillStore final : public StoreDecorator {
 public:
  KillStore(std::unique_ptr<ObjectStore> inner, int at, bool before)
      : StoreDecorator(std::move(inner)), at_(at), before_(before) {}

 private:
  template <typename Work>
  auto Count(const Work& work) {
    const bool mine = seen_++ == at_;
    if (mine && before_) std::raise(SIGKILL);
    auto result = work();
    if (mine) std::raise(SIGKILL);
    return result;
  }

 public:
  GetResult Get(const Context& context, const std::string& key, const GetOptions& options, BodySink& sink) override {
    return Count([&] { return inner().Get(context, key, options, sink); });
  }
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override {
    return Count([&] { return inner().Head(context, key); });
  }
  PutResult Put(const Context& context, const std::string& key, const Body& body, const Condition& condition,
                const PutOptions& options) override {
    return Count([&] { return inner().Put(context, key, body, condition, options); });
  }
  DeleteOutcome Delete(const Context& context, const std::string& key, const ETag& expected) override {
    return Count([&] { return inner().Delete(context, key, expected); });
  }
  ListPage List(const Context& context, const ListOptions& options) override {
    return Count([&] { return inner().List(context, options); });
  }

 private:
  int at_;
  bool before_;
  std::atomic<int> seen_ = 0;
};

StoreOperation OperationOf(const std::string& name) {
  if (name == "get") return StoreOperation::kGet;
  if (name == "head") return StoreOperation::kHead;
  if (name == "delete") return StoreOperation::kDelete;
  if (name == "list") return StoreOperation::kList;
  return StoreOperation::kPut;
}

std::unique_ptr<ObjectStore> Decorate(std::unique_ptr<ObjectStore> store) {
  if (const std::string kill = Variable("SWAMP_TEST_KILL"); !kill.empty()) {
    store = std::make_unique<KillStore>(std::move(store), std::stoi(kill), kill.ends_with("before"));
  }
  if (const std::string faults = Variable("SWAMP_TEST_FAULTS"); !faults.empty()) {
    auto faulty = std::make_unique<FaultStore>(std::move(store));
    for (const Json& fault : ParseJson(faults, "SWAMP_TEST_FAULTS")) {
      faulty->Add({.kind = fault.value("kind", "before") == "after" ? Fault::Kind::kFailAfter : Fault::Kind::kFailBefore,
                   .operation = OperationOf(fault.value("op", "put")),
                   .key_pattern = fault.value("key", "*"),
                   .skip = fault.value("skip", 0),
                   .times = fault.value("times", -1)});
    }
    store = std::move(faulty);
  }
  return store;
}

void AddTypes(ModelTypes& types) {
  if (Variable("SWAMP_TEST_TYPES") != "1") return;
  const auto secret = [](const char* type) { return Json{{"type", type}, {"sensitive", true}}; };
  ModelType account{.name = "test/account", .version = "2026.01.01.1"};
  account.global_arguments = {
      {"type", "object"},
      {"properties",
       {{"user", {{"type", "string"}}},
        {"password", secret("string")},
        {"pin", secret("integer")},
        {"tls", {{"type", "object"}, {"properties", {{"key", secret("string")}}}}}}},
      {"additionalProperties", false}};
  account.methods.push_back({.name = "sync", .description = "", .arguments = {{"type", "object"}}, .execute = [](const MethodCall&) {}});
  types.Add(std::move(account));
}

}  // namespace
}  // namespace swamp

int main(int argc, char** argv) {
  const std::string offset = swamp::Variable("SWAMP_TEST_CLOCK_OFFSET_MS");
  return swamp::RunProgram({argv + 1, argv + argc},
                           {.decorate_store = swamp::Decorate,
                            .use_locks = swamp::Variable("SWAMP_TEST_NO_LOCKS") != "1",
                            .clock_offset = swamp::Duration(offset.empty() ? 0 : std::stoll(offset)),
                            .add_types = swamp::AddTypes});
}
