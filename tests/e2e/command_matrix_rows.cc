// What each command names: the rows of the command matrix.

#include <fstream>

#include "backends.h"
#include "command_matrix.h"
#include "place_data.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

using Rows = std::vector<MatrixRow>;

Rows Models() {
  return {
      {"model create", {"command/shell", "fresh"}, {"config/models/command/shell/fresh.yaml"}},
      {"model get", {"mine"}},
      {"model search", {}},
      {"model search", {"--refresh"}},
      {"model edit", {"mine"}, {"config/models/command/shell/mine.yaml"}, ModelText("echo edited")},
      {"model delete",
       {"doomed", "-y"},
       {"config/models/command/shell/doomed.yaml"},
       {},
       [](MatrixWorld& world) { world.peer.Do({"model", "create", "command/shell", "doomed"}); }},
      {"model validate", {"mine"}},
      {"model evaluate", {"mine"}, {"definitions-evaluated/command/shell/mine.yaml"}},
      {"model method run",
       {"mine", "execute"},
       {"data/command/shell/{id}/*", "outputs/command/shell/execute/{id}*"}},
      {"model method describe", {"mine", "execute"}},
      {"model method history get", {"mine"}},
      {"model method history search", {}},
      {"model method history logs", {"mine"}},
      {"model output get", {"mine"}},
      {"model output search", {}},
      {"model output logs", {"mine"}},
      {"model output data", {"mine"}},
      {"model cancel", {"mine"}, {}, {}, nullptr, false, 1},  // nothing is running
      {"model type search", {}},
      {"model type describe", {"command/shell"}},
  };
}

// The secrets of `local_encryption` stay on this machine.
Rows Vaults() {
  return {
      {"vault create", {"local_encryption", "fresh"}, {"config/vaults/local_encryption/*.yaml"}},
      {"vault get", {"safe"}},
      {"vault describe", {"safe"}},
      {"vault search", {"--refresh"}},
      {"vault put", {"safe", "new", "-f"}, {}, "a value"},
      {"vault read-secret", {"safe", "old", "-f"}},
      {"vault list-keys", {"safe"}},
      {"vault annotate", {"safe", "old", "--notes", "ours"}},
      {"vault inspect", {"safe", "old"}},
      {"vault delete", {"safe", "new", "-f"}},
      {"vault audit-trail", {}},
      {"vault rotate-key", {"safe"}},
      {"vault migrate",
       {"safe", "--to-type", "command", "--config", "{command_vault}", "-y"},
       {"config/vaults/*.yaml"}},
      {"vault edit",
       {"fresh"},
       {"config/vaults/local_encryption/*.yaml"},
       "config:\n  auto_generate: true\n  key_file: k\n"},
      {"vault rm", {"fresh", "-y"}, {"config/vaults/local_encryption/*.yaml"}},
      {"vault type search", {}},
  };
}

MatrixRow::Prepare Published(const char* name) {
  return [name](MatrixWorld& world) { world.bucket.Publish(name, "2026.01.01.1"); };
}
MatrixRow::Prepare Pulled(const char* name) {
  return [name](MatrixWorld& world) {
    world.bucket.Publish(name, "2026.01.01.1");
    world.peer.Do({"extension", "pull", name, "-y"});
  };
}

Rows Extensions() {
  return {
      {"extension pull", {"@acme/fresh", "-y"}, {kLockfileKey}, {}, Published("@acme/fresh")},
      {"extension install", {}},
      {"extension update",
       {},
       {kLockfileKey},
       {},
       [](MatrixWorld& world) { world.bucket.Publish("@acme/fresh", "2026.02.02.1"); }},
      {"extension outdated", {}},
      {"extension rm", {"@acme/doomed", "-y"}, {kLockfileKey}, {}, Pulled("@acme/doomed")},
      {"extension list", {}},
      {"extension info", {"@acme/start"}},
      {"extension search", {}},
      {"extension pack", {"{source}", "--out", "{folder}/packed.tar.gz"}},
      {"extension push", {"{source}/manifest.yaml", "-y"}, {}, {}, nullptr, false, 1},  // that version is there
      {"extension version", {"@acme/start"}},
      {"extension trust list", {}},
      {"extension source list", {}},
      {"extension source add", {"models"}},
      {"extension source rm", {"models"}},
      {"extension trust add", {"friends"}},
      {"extension trust rm", {"friends"}},
      {"extension trust auto-trust", {"false"}},
  };
}

// Leaves a conflict over the model `both` in the stale checkout.
void EditBoth(MatrixWorld& world) {
  world.peer.Do({"model", "create", "command/shell", "both"});
  world.stale.Do({"datastore", "sync"});
  world.peer.Do({"model", "edit", "both"}, {.input = ModelText("echo theirs"), .has_input = true});
  world.stale.Fail({"model", "edit", "both"}, "config_conflict", {.input = ModelText("echo ours"), .has_input = true});
}

Rows Datastores() {
  return {
      {"datastore status", {}},
      {"datastore setup filesystem", {"--path", "{folder}/elsewhere"}, {}, {}, nullptr, true},
      {"datastore setup extension", {"@swamp/s3-datastore", "--config", "{config}"}, {}, {}, nullptr, true},
      {"datastore config migrate", {"-y"}},
      {"datastore namespace set", {"data"}, {}, {}, nullptr, true, 1},  // no slug; namespace_test.cc has the rest
      {"datastore namespace unset", {}, {}, {}, nullptr, true, 1},    // there is none
      {"datastore namespace migrate", {}, {}, {}, nullptr, true, 1},  // likewise
      {"datastore namespace list", {}},
      {"datastore catalog pull", {"--namespaces", "nosuch"}, {}, {}, nullptr, false, 1},  // catalog_pull_test.cc has the rest
      {"datastore compact", {}},
      {"datastore migrate-index", {}},
      {"doctor datastores", {}},
      {"datastore sync", {}},
      {"datastore sync", {"--pull"}},
      {"datastore sync", {"--push", "-y"}},
      {"datastore sync",
       {},
       {"data/notes/here"},
       {},
       [](MatrixWorld& world) {
         std::filesystem::create_directories(world.stale.cache() / "data/notes");
         std::ofstream(world.stale.cache() / "data/notes/here") << "written by hand";
       }},
      {"datastore lock status", {}},
      {"datastore lock release",
       {"--force"},
       {},
       {},
       [](MatrixWorld& world) {
         const Body lock = Body::FromBytes("{\"holder\":\"b@there\",\"hostname\":\"there\",\"pid\":1,"
                                    "\"acquiredAt\":\"2026-01-01T00:00:00.000Z\",\"ttlMs\":30000,\"nonce\":\"n\"}\n");
         world.bucket.store().Put(world.bucket.context(), ".datastore.lock", lock, Condition::Absent(), {});
       }},
      {"datastore conflicts list", {}, {}, {}, EditBoth},
      {"datastore conflicts show", {"config/models/command/shell/both.yaml"}},
      {"datastore conflicts resolve",
       {"config/models/command/shell/both.yaml", "--keep", "local"},
       {"config/models/command/shell/both.yaml"}},
  };
}

Rows Data() {
  return {
      {"data get", {"mine", "result"}},
      {"data list", {"mine"}},
      {"data versions", {"mine", "result"}},
      {"data search", {}},
      {"data query", {"size > 0"}},
      {"data rename", {"mine", "result", "renamed"}, {"data/command/shell/{id}/*"}},
      {"data delete", {"mine", "log", "-y"}, {"data/command/shell/{id}/log/*"}},
      {"data gc",
       {"-y"},
       {"data/command/shell/{id}/old/*", "data/command/shell/*/report-*"},  // five are kept, and the peer ran its model more often
       {},
       [](MatrixWorld& world) {
         Place(world.peer.cache(), world.words["{id}"], "old", 1, "{}", {.lifetime = "1m"});
         world.peer.Do({"datastore", "sync"});
       }},
      {"data prune",
       {"-y"},
       {"data/command/shell/11111111-1111-4111-8111-111111111111/*"},
       {},
       [](MatrixWorld& world) {
         Place(world.peer.cache(), "11111111-1111-4111-8111-111111111111", "result", 1, "{}");
         world.peer.Do({"datastore", "sync"});
       }},
  };
}

Rows Workflows() {
  const std::string text =
      "jobs: [{name: main, steps: [{name: s, task: {type: model_method, modelIdOrName: mine, methodName: execute}}]}]\n";
  return {
      {"workflow create", {"fresh"}, {"config/workflows/workflow-fresh.yaml"}},
      {"workflow get", {"fresh"}},
      {"workflow search", {"--refresh"}},
      {"workflow edit", {"fresh"}, {"config/workflows/workflow-fresh.yaml"}, text},
      {"workflow validate", {"fresh"}},
      {"workflow schema get", {}},
      {"workflow delete",
       {"doomed", "-y"},
       {"config/workflows/workflow-doomed.yaml"},
       {},
       [](MatrixWorld& world) { world.peer.Do({"workflow", "create", "doomed"}); }},
  };
}

// Records of the control plane: each is data of a model of its own.
MatrixRow::Prepare ByPeer(std::vector<std::string> arguments) {
  return [arguments](MatrixWorld& world) { world.peer.Do(arguments); };
}

Rows Access() {
  const auto record = [](const std::string& type, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"data/swamp/" + type + "/*", "outputs/swamp/" + type + "/*"});
    return more;
  };
  return {
      {"access group create", {"fresh"}, record("group", {"auto-definitions/swamp/group/fresh.yaml"})},
      {"access group add-member", {"team", "user:ann"}, record("group"), {}, ByPeer({"access", "group", "create", "team"})},
      {"access group remove-member", {"team", "user:ann"}, record("group")},
      {"access group members", {"team"}},
      {"access group list", {"--refresh"}},
      {"access grant create",
       {"--subject", "user:ann", "--allow", "read", "--on", "model:web-*"},
       record("grant", {"auto-definitions/swamp/grant/*"})},
      {"access grant list", {"--refresh"}},
      {"access grant revoke",
       {"{grant}"},
       record("grant"),
       {},
       [](MatrixWorld& world) {
         const Json made = world.peer.Do({"access", "grant", "create", "--subject", "user:bob", "--deny", "run", "--on", "model:*"});
         world.words["{grant}"] = made["dataArtifacts"][0]["attributes"]["id"];
       }},
      {"access check", {"--subject", "user:ann", "--action", "read", "--on", "model:web-1"}},
      {"access reload", {}},
      {"access token mint",
       {"fresh", "--principal", "user:ann"},
       record("server-token", {"auto-definitions/swamp/server-token/fresh.yaml", "_control/token-secrets/*"})},
      {"access token list", {"--refresh"}},
      {"access token rotate", {"fresh"}, record("server-token", {"_control/token-secrets/values/*"})},
      {"access token revoke", {"fresh"}, record("server-token")},
  };
}

Rows Workers() {
  const std::string token = "data/swamp/enrollment-token/*";
  const std::string run = "outputs/swamp/enrollment-token/*";
  return {
      {"worker token create",
       {"fresh", "--duration", "1h"},
       {token, run, "auto-definitions/swamp/enrollment-token/fresh.yaml", "_control/token-secrets/*"}},
      {"worker token list", {"--refresh"}},
      {"worker token revoke", {"fresh"}, {token, run}},
      {"worker list", {"--refresh"}},
      {"worker queue", {}},
      {"worker prune", {"-y"}},  // there are none; worker records are made by a server
  };
}

Rows Others() {
  return {
      {"init", {"--tool", "none"}, {}, {}, nullptr, true, 1},
      {"repo init", {"--force", "--tool", "none"}},
      {"repo upgrade", {"--tool", "codex"}},
      {"report search", {}},
      {"report get", {"@swamp/method-summary", "--model", "mine"}},
      {"report list", {}},
      {"report describe", {"@swamp/method-summary"}},
      {"report type search", {}},
      {"doctor extensions", {}},
      {"doctor extensions",
       {"--repair", "-y"},
       {},
       {},
       [](MatrixWorld& world) { std::filesystem::remove_all(world.stale.folder() / ".swamp/config/pulled-extensions/@acme/start"); }},
      {"doctor secrets", {}},
      {"doctor secrets", {"--fix", "--vault", "safe", "-y"}},  // there is nothing to move
      {"doctor vaults", {}},
      {"doctor workflows", {}},
      {"version", {}},
      {"help", {}},
      {"completions bash", {}},
      {"completions zsh", {}},
      {"completions fish", {}},
      {"cel eval", {"1 + 1"}},
      {"cel check", {"1 + 1"}},
  };
}

}  // namespace

std::vector<MatrixRow> MatrixRows() {
  Rows all;
  for (const Rows& group : {Models(), Vaults(), Extensions(), Datastores(), Data(), Workflows(), Access(), Workers(), Others()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace swamp::e2e
