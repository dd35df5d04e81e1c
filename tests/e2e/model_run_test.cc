// Methods that run: what they leave, here and in the bucket, however they end and whoever runs at the same time.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <thread>

#include "backends.h"
#include "place_data.h"
#include "util/files.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> RunOf(const std::string& model, const std::string& command) {
  return {"model", "method", "run", model, "execute", "--input", "run=" + command};
}

// Files below a folder that hold the text.
std::vector<std::string> FilesWith(const fs::path& folder, const std::string& text) {
  std::vector<std::string> found;
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.find(text) != std::string::npos) found.push_back(entry.path().string());
  }
  return found;
}

// A vault `v` whose secret `k` another program keeps, outside of all that is looked at.
class SecretElsewhere {
 public:
  SecretElsewhere(Checkout& checkout, const std::string& value) {
    const fs::path file = folder_.path() / "k";
    std::ofstream(file, std::ios::binary) << value;
    checkout.Do({"vault", "create", "command", "v", "--config", CompactJson({{"get", Json::array({"cat", file.string()})}})});
  }

 private:
  TemporaryFolder folder_;
};

// A command that says when it has come to a point, and the test that waits for it.
class Signpost {
 public:
  explicit Signpost(const fs::path& folder) : path_(folder / "signpost") {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  }
  std::string Reached() const { return "echo > " + path_.string(); }
  void Wait() const {
    const int file = ::open(path_.c_str(), O_RDONLY);
    char byte = 0;
    EXPECT_EQ(::read(file, &byte, 1), 1);
    ::close(file);
  }

 private:
  fs::path path_;
};

class MethodRuns : public OnEveryBucket {
 protected:
  void SetUp() override {
    OnEveryBucket::SetUp();
    if (IsSkipped()) return;
    bucket.emplace(GetParam());
    a = &bucket->first();
    c = &bucket->Clone("cat");
  }

  std::vector<int> VersionsInBucket(const std::string& data_name) {
    std::set<int> versions;
    for (const std::string& key : bucket->Keys("data/")) {
      const std::size_t at = key.find("/" + data_name + "/");
      if (at == std::string::npos || !key.ends_with("/raw")) continue;
      versions.insert(std::stoi(key.substr(at + data_name.size() + 2)));
    }
    return {versions.begin(), versions.end()};
  }

  std::optional<Bucket> bucket;
  Checkout* a = nullptr;
  Checkout* c = nullptr;
};
SWAMP_ON_EVERY_BUCKET(MethodRuns);

TEST_P(MethodRuns, WhatARunWroteIsEverybodys) {
  a->Do({"model", "create", "command/shell", "m1"});
  const Json run = a->Do(RunOf("m1", "echo hi"));
  EXPECT_EQ(run["status"], "succeeded");
  c->Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(c->Do({"model", "output", "data", run["outputId"], "--field", "stdout"})["data"], "hi");
  EXPECT_EQ(c->Do({"model", "output", "get", run["outputId"]})["status"], "succeeded");
  EXPECT_THAT(c->Do({"model", "method", "history", "logs", "m1"})["lines"].dump(), HasSubstr("execute: hi"));
  EXPECT_EQ(a->Do({"datastore", "status"})["unpublished"]["paths"], Json::array());
  EXPECT_THAT(bucket->Keys("data/"), Not(Contains(HasSubstr(".lock"))));
}

TEST_P(MethodRuns, TheNextRunIsInAnotherCheckoutAndCountsOn) {
  a->Do({"model", "create", "command/shell", "m1"});
  a->Do(RunOf("m1", "echo one"));
  c->Do(RunOf("m1", "echo two"));
  a->Do(RunOf("m1", "echo three"));
  EXPECT_THAT(VersionsInBucket("result"), ::testing::ElementsAre(1, 2, 3));
}

TEST_P(MethodRuns, DifferentModelsRunAtOnce) {
  a->Do({"model", "create", "command/shell", "m1"});
  a->Do({"model", "create", "command/shell", "m2"});
  const Signpost first(a->folder());
  const Signpost second(c->folder());
  // Each goes on only when the other runs as well.
  std::thread other([&] { c->Do(RunOf("m2", second.Reached() + "; echo two")); });
  a->Do(RunOf("m1", first.Reached() + "; echo one"), {.started = [&](pid_t) {
          first.Wait();
          second.Wait();
        }});
  other.join();
  EXPECT_EQ(VersionsInBucket("result").size(), 1u);
  EXPECT_EQ(bucket->Keys("outputs/").size(), 4u);
}

TEST_P(MethodRuns, OneModelRunByManyAtOnceLosesNoRun) {
  a->Do({"model", "create", "command/shell", "m1"});
  constexpr int kRunsEach = 3;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::map<std::string, std::string> printed;  // output id to what it printed
  for (Checkout* one : {a, c}) {
    threads.emplace_back([&, one] {
      for (int i = 0; i < kRunsEach; ++i) {
        const std::string text = one->folder().filename().string() + std::to_string(i);
        const Json run = one->Do(RunOf("m1", "echo " + text));
        const std::lock_guard lock(mutex);
        printed[run["outputId"]] = text;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(VersionsInBucket("result").size(), 2u * kRunsEach);
  Checkout& d = bucket->Clone("dan");
  d.Do({"datastore", "sync", "--pull"});
  for (const auto& [output, text] : printed) {
    EXPECT_EQ(d.Do({"model", "output", "data", output, "--name", "result", "--field", "stdout"})["data"], text);
  }
}

TEST_P(MethodRuns, ARunThatCannotBePublishedIsKeptAndGoesOutWithTheNextCommand) {
  const std::string id = a->Do({"model", "create", "command/shell", "m1"})["id"];
  a->FailPuts("data/command/shell/" + id + "/result/1/raw", Proxy::Moment::kBefore);
  const RunResult failed = a->Fail(RunOf("m1", "echo kept"), "run_unpublished");
  a->EndFaults();
  EXPECT_TRUE(VersionsInBucket("result").empty());
  const Json outputs = a->Do({"model", "output", "search"})["results"];
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0]["status"], "succeeded");
  a->Do({"model", "create", "command/shell", "m2"});
  EXPECT_THAT(VersionsInBucket("result"), ::testing::ElementsAre(1));
  c->Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(c->Do({"model", "output", "data", outputs[0]["id"], "--field", "stdout"})["data"], "kept");
}

TEST_P(MethodRuns, DirectRunsOfOneNameAgreeOnOneModel) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::set<std::string> ids;
  for (Checkout* one : {a, c}) {
    threads.emplace_back([&, one] {
      const Json run = one->Do({"model", "@command/shell", "method", "run", "execute", "adhoc", "--input", "run=true"});
      const std::lock_guard lock(mutex);
      ids.insert(run["modelId"].get<std::string>());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_EQ(VersionsInBucket("result").size(), 2u);
}

TEST_P(MethodRuns, ASecretIsNowhereInTheClear) {
  const SecretElsewhere vault(*a, "s3cret;$(id)'\"value");
  a->Do({"model", "create", "command/shell", "m1"});
  const RunResult run = a->Run(RunOf("m1", "printf 'a %s b' ${{ vault.get(v, k) }}; printf %s \"${{ vault.get(v, k) }}\" >&2"));
  EXPECT_EQ(run.exit_code, 0) << run;
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("s3cret")));
  EXPECT_THAT(run.err, HasSubstr("a *** b"));
  const Json data = a->Do({"model", "output", "data", "m1"})["data"];
  EXPECT_EQ(data["stdout"], "a *** b");
  EXPECT_EQ(data["stderr"], "***");
  const RunResult failed = a->Run(RunOf("m1", "echo ${{ vault.get(v, k) }}; exit 1"));
  EXPECT_THAT(failed.out + failed.err, Not(HasSubstr("s3cret")));
  EXPECT_THAT(FilesWith(a->folder(), "s3cret"), ::testing::IsEmpty());
  EXPECT_THAT(FilesWith(a->home(), "s3cret"), ::testing::IsEmpty());
  EXPECT_THAT(FilesWith(bucket->folder(), "s3cret"), ::testing::IsEmpty());
}

// What needs no bucket: a repository with the default datastore.
class LocalRuns : public ::testing::Test {
 protected:
  LocalRuns() : bucket(Backend::kFolder), a(bucket.Plain("ann")) { a.Do({"model", "create", "command/shell", "m1"}); }

  Json NewestOutput() { return a.Do({"model", "output", "get", "m1"}); }
  std::vector<std::string> Words(std::vector<std::string> words) {
    words.emplace_back("--json");
    return words;
  }

  Bucket bucket;
  Checkout& a;
};

TEST_F(LocalRuns, CI03_AFailedRunExits1AndLeavesNoLock) {
  a.Fail(RunOf("m1", "exit 3"), "method_execution_failed");
  EXPECT_EQ(NewestOutput()["error"]["message"], "Command exited with code 3");
  a.Do(RunOf("m1", "true"));
}

TEST_F(LocalRuns, AllProblemsOfTheArgumentsAreToldAtOnce) {
  const RunResult result = a.Fail({"model", "method", "run", "m1", "execute", "--input", "timeout=x", "--input", "ignoreExitCode=7"},
                                  "validation_failed");
  EXPECT_THAT(result.err, HasSubstr("run is required"));
  EXPECT_THAT(result.err, HasSubstr("timeout"));
  EXPECT_THAT(result.err, HasSubstr("ignoreExitCode"));
}

TEST_F(LocalRuns, MW04_AChildInTheBackgroundNeitherFailsNorHoldsARun) {
  const Json run = a.Do({"model", "method", "run", "m1", "execute", "--input", "run=sleep 30 & echo $!; exit 0", "--input",
                         "timeout:json=2000"});
  EXPECT_EQ(run["dataArtifacts"][0]["attributes"]["exitCode"], 0);
  ::kill(std::stoi(run["dataArtifacts"][0]["attributes"]["stdout"].get<std::string>()), SIGKILL);
}

TEST_F(LocalRuns, MW04_ATimeOutEndsTheWholeGroup) {
  const RunResult result = a.Fail({"model", "method", "run", "m1", "execute", "--input", "run=echo $$ > pid; sleep 30 & wait",
                                   "--timeout", "1"},
                                  "method_timeout");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(NewestOutput()["status"], "timed_out");
  std::ifstream file(a.folder() / "pid");
  int group = 0;
  file >> group;
  EXPECT_NE(::kill(-group, 0), 0);
}

TEST_F(LocalRuns, MW16_AnInterruptIsWrittenDownAndGivesTheLockBack) {
  const Signpost post(a.folder());
  const RunResult result = a.Run(Words(RunOf("m1", post.Reached() + "; sleep 60")), {.started = [&](pid_t pid) {
                                   post.Wait();
                                   ::kill(pid, SIGINT);
                                 }});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.error_code(), "cancelled");
  EXPECT_EQ(NewestOutput()["status"], "cancelled");
  a.Do(RunOf("m1", "true"));
}

TEST_F(LocalRuns, MW16_ASecondInterruptKillsWhatIgnoresTheFirst) {
  const Signpost post(a.folder());
  const auto begun = std::chrono::steady_clock::now();
  const RunResult result =
      a.Run(Words(RunOf("m1", "trap '' TERM INT; echo $$ > pid; " + post.Reached() + "; sleep 60")), {.started = [&](pid_t pid) {
              post.Wait();
              ::kill(pid, SIGINT);
              ::kill(pid, SIGTERM);  // another one: of two that are equal the second may never arrive
            }});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(4));
  EXPECT_EQ(NewestOutput()["status"], "cancelled");
  std::ifstream file(a.folder() / "pid");
  int group = 0;
  file >> group;
  EXPECT_NE(::kill(-group, 0), 0);
  a.Do(RunOf("m1", "true"));
}

TEST_F(LocalRuns, MW15_ARunThatWasKilledIsShownAsInterruptedAndBlocksNobody) {
  const Signpost post(a.folder());
  const RunResult result = a.Run(RunOf("m1", "echo $$ > pid; " + post.Reached() + "; exec sleep 60"), {.started = [&](pid_t pid) {
                                   post.Wait();
                                   ::kill(pid, SIGKILL);
                                 }});
  EXPECT_EQ(result.exit_code, 137);
  std::ifstream file(a.folder() / "pid");
  int group = 0;
  file >> group;
  ::kill(-group, SIGKILL);
  EXPECT_EQ(NewestOutput()["status"], "interrupted");
  a.Do(RunOf("m1", "true"));
}

TEST_F(LocalRuns, CancelEndsARunOfThatModelAndSaysWhy) {
  const Signpost post(a.folder());
  a.Fail({"model", "cancel", "m1"}, "nothing_running");
  Json cancelled;
  const RunResult result = a.Run(RunOf("m1", post.Reached() + "; sleep 60"), {.started = [&](pid_t) {
                                   post.Wait();
                                   a.Do({"model", "create", "command/shell", "m2"});
                                   a.Fail({"model", "cancel", "m2"}, "nothing_running");
                                   EXPECT_EQ(NewestOutput()["status"], "running");
                                   cancelled = a.Run({"model", "cancel", "m1", "--reason", "lunch", "--json"}).json();
                                 }});
  EXPECT_EQ(cancelled["status"], "cancelled");
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(NewestOutput()["error"]["message"], "cancelled: lunch");
  EXPECT_EQ(a.Do({"model", "cancel", "--all"})["cancelled"], Json::array());
}

TEST_F(LocalRuns, MW36_DS33_ARunWithinARunTakesAnotherModelAndIsToldOfItsOwn) {
  a.Do({"model", "create", "command/shell", "m2"});
  const std::string swamp = SWAMP_PROGRAM;
  a.Do(RunOf("m1", swamp + " model method run m2 execute --input run=true --repo-dir " + a.folder().string()));
  a.Do({"model", "method", "run", "m1", "execute", "--input", "ignoreExitCode=true", "--input",
        "run=" + swamp + " model method run m1 execute --input run=true --json --repo-dir " + a.folder().string()});
  const Json data = a.Do({"model", "output", "data", "m1"})["data"];
  EXPECT_EQ(data["exitCode"], 75);
  EXPECT_THAT(data["stderr"].get<std::string>(), HasSubstr("held by the command that runs this one"));
  // A clean-up within a run leaves that run's model alone.
  a.Do(RunOf("m1", swamp + " data gc -y --json --repo-dir " + a.folder().string()));
}

TEST_F(LocalRuns, MW10_DirectRunsTakeTheGivenValues) {
  const auto direct = [&](const std::string& command) {
    return a.Do({"model", "method", "run", "command/shell", "execute", "d1", "--input", "run=" + command});
  };
  const Json first = direct("echo A");
  EXPECT_TRUE(first.contains("autoCreated"));
  const Json second = direct("echo B");
  EXPECT_FALSE(second.contains("autoCreated"));
  EXPECT_EQ(second["modelId"], first["modelId"]);
  EXPECT_EQ(second["dataArtifacts"][0]["attributes"]["stdout"], "B");
  EXPECT_EQ(a.Do({"model", "get", "d1"})["autoCreated"], true);
  EXPECT_EQ(a.Do({"model", "delete", "d1", "-f"})["dataDeleted"], 4);
  a.Fail({"model", "get", "d1"}, "model_not_found");
  a.Fail({"model", "method", "run", "@command/shell", "execute"}, "usage");
}

TEST_F(LocalRuns, SeveralItemsRunInTurnUntilOneFails) {
  const Json runs = a.Do({"model", "method", "run", "m1", "execute", "--stdin"},
                         {.input = "{\"run\": \"echo 1\"}\n{\"run\": \"echo 2\"}\n", .has_input = true});
  ASSERT_EQ(runs["runs"].size(), 2u);
  const RunResult failed = a.Fail({"model", "method", "run", "m1", "execute", "--stdin"}, "method_execution_failed",
                                  {.input = "[{\"run\": \"echo 3\"}, {\"run\": \"exit 1\"}, {\"run\": \"echo 4\"}]", .has_input = true});
  EXPECT_THAT(failed.err, HasSubstr("succeededRuns"));
  EXPECT_EQ(a.Do({"model", "output", "search"})["results"].size(), 4u);
}

TEST_F(LocalRuns, ExpressionsOfTheDefinitionSeeInputsAndData) {
  a.Do({"model", "edit", "m1"}, {.input = "name: m1\ntype: command/shell\ninputs:\n  properties:\n    who: {type: string, default: world}\n"
                                          "methods:\n  execute:\n    arguments:\n      run: echo hello ${{ inputs.who }}\n",
                                 .has_input = true});
  EXPECT_EQ(a.Do({"model", "method", "run", "m1", "execute"})["dataArtifacts"][0]["attributes"]["stdout"], "hello world");
  EXPECT_EQ(a.Do({"model", "method", "run", "m1", "execute", "--input", "who=you"})["dataArtifacts"][0]["attributes"]["stdout"],
            "hello you");
  EXPECT_EQ(a.Do({"model", "method", "run", "m1", "execute", "--last-evaluated"})["dataArtifacts"][0]["attributes"]["stdout"],
            "hello you");
  a.Do({"model", "create", "command/shell", "m2"});
  EXPECT_EQ(a.Do(RunOf("m2", "echo \"${{ data.latest('m1', 'result').attributes.stdout }}!\""))["dataArtifacts"][0]["attributes"]["stdout"],
            "hello you!");
}

TEST_F(LocalRuns, MW01_TextThatCameInAsDataIsNoExpression) {
  const SecretElsewhere vault(a, "hidden-value");
  a.Do(RunOf("m1", "printf %s '$' '{{ vault.get(v, k) }}'"));
  a.Do({"model", "create", "command/shell", "m2"});
  const Json run = a.Do(RunOf("m2", "cat <<'X'\n${{ data.latest('m1','result').attributes.stdout }}\nX"));
  EXPECT_EQ(run["dataArtifacts"][0]["attributes"]["stdout"], "${{ vault.get(v, k) }}");
  // Nor is what is piped in.
  const Json piped = a.Do({"model", "method", "run", "m2", "execute", "--stdin"},
                          {.input = "{\"run\": \"cat <<'X'\\n${{ vault.get(v, k) }}\\nX\"}", .has_input = true});
  EXPECT_EQ(piped["dataArtifacts"][0]["attributes"]["stdout"], "${{ vault.get(v, k) }}");
}

TEST_F(LocalRuns, CI06_OutputIsShownHarmlessAndStoredAsItIs) {
  const RunResult shown = a.Run(RunOf("m1", "printf '{\"a\":1} {} %%s \\033[31mred\\tx\\n'"));
  EXPECT_THAT(shown.err, HasSubstr("{\"a\":1} {} %s \\x1b[31mred\tx"));
  EXPECT_EQ(a.Do({"model", "output", "data", "m1", "--field", "stdout"})["data"], "{\"a\":1} {} %s \x1b[31mred\tx");
}

TEST_F(LocalRuns, CI07_QuietHidesTheDisplayAndNotTheRecord) {
  const RunResult quiet = a.Run({"model", "method", "run", "m1", "execute", "--input", "run=echo hi", "-q"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(a.Do({"model", "method", "history", "logs", "m1"})["lines"].dump(), HasSubstr("hi"));
  EXPECT_THAT(a.Run({"model", "method", "run", "m1", "execute", "--input", "run=echo why; exit 1", "-q"}).err, HasSubstr("m1: why"));
}

TEST_F(LocalRuns, CI04_WhatFailsPutsNothingWhereTheValueIsExpected) {
  const Json run = a.Do(RunOf("m1", "true"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"data", "get", "m1", "nosuch"},
           {"model", "output", "data", run["outputId"], "--field", "nosuch"},
           {"vault", "read-secret", "v", "nosuch", "-f"},
           {"report", "get", "nosuch"}}) {
    const RunResult plain = a.Run(words);
    EXPECT_EQ(plain.exit_code, 1) << plain;
    EXPECT_EQ(plain.out, "");
    const RunResult json = a.Run(Words(words));
    EXPECT_EQ(json.out, "");
    EXPECT_NE(json.error_code(), "") << json;
  }
}

TEST_F(LocalRuns, CI15_ReadingDoesNotWaitForARun) {
  a.Do({"vault", "create", "local_encryption", "v"});
  a.RunWithInput({"vault", "put", "v", "k"}, "value");
  a.Do(RunOf("m1", "true"));
  const Signpost running(a.folder());
  const Signpost asked(a.folder() / ".swamp");
  a.Do(RunOf("m1", running.Reached() + "; " + asked.Reached()), {.started = [&](pid_t) {
         running.Wait();
         a.Do({"model", "get", "m1"});
         a.Do({"model", "create", "command/shell", "m2"});
         a.Do({"data", "get", "m1", "result"});
         a.Do({"data", "list", "m1"});
         a.Do({"data", "query", "size > 0"});
         a.Do({"report", "get", "@swamp/method-summary"});
         a.Do({"model", "method", "history", "search"});
         a.Do({"vault", "read-secret", "v", "k", "-f"});
         a.Do({"datastore", "lock", "status"});
         EXPECT_EQ(NewestOutput()["status"], "running");  // all that time
         asked.Wait();
       }});
}

TEST_F(LocalRuns, DA17_ExpiredDataIsNoReasonToKeepAModel) {
  const std::string id = a.Do({"model", "get", "m1"})["id"];
  Place(a.folder() / ".swamp", id, "old", 1, "{}", {.lifetime = "1m"});
  EXPECT_EQ(a.Do({"model", "delete", "m1", "-y"})["expiredDataAutoCollected"], 1);
  // The data of a new model of that name is found, not that of the old one.
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do(RunOf("m1", "echo new"));
  EXPECT_EQ(a.Do(RunOf("m1", "echo ${{ data.latest('m1', 'result').attributes.stdout }}er"))["dataArtifacts"][0]["attributes"]["stdout"],
            "newer");
}

TEST_F(LocalRuns, AModelOfWhichOnlyReportsAreLeftIsDeletedUnforced) {
  a.Fail(RunOf("m1", "exit 1"), "method_execution_failed");
  EXPECT_EQ(a.Do({"report", "search"})["results"].size(), 1u);
  a.Do({"model", "delete", "m1", "-y"});
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp" / "data" / "command"));
}

// The shell's parent is the program itself.
TEST_F(LocalRuns, DA20_MuchOutputTakesNoMemory) {
  const Json run = a.Do({"model", "method", "run", "m1", "execute", "-q", "--input",
                         "run=head -c 100000000 /dev/zero | tr '\\0' x | fold -w 99; grep VmHWM /proc/$PPID/status >&2"});
  const Json& result = run["dataArtifacts"][0]["attributes"];
  const std::string peak = result["stderr"];  // "VmHWM:   19004 kB"
  EXPECT_LT(std::stoi(peak.substr(peak.find_first_of("0123456789"))), 60'000) << peak;
  EXPECT_LT(result["stdout"].get<std::string>().size(), 20'000'000u);
  EXPECT_GT(a.Do({"data", "get", "m1", "log", "--no-content"})["size"], 100'000'000);
}

TEST_F(LocalRuns, MW19_TooManyOpenFilesIsNotAMissingModel) {
  for (int limit = 4; limit < 16; ++limit) {
    const RunResult result =
        RunProcess({"/bin/sh", "-c", "ulimit -n " + std::to_string(limit) + "; exec " + SWAMP_PROGRAM + " model get m1 --json"},
                   {{"HOME", a.home().string()}, {"PATH", "/usr/bin:/bin"}}, a.folder(), std::nullopt);
    if (result.exit_code == 0 || result.exit_code == 127) continue;  // it needs no more; or was not even started
    EXPECT_NE(result.error_code(), "model_not_found") << limit << result;
    EXPECT_NE(result.error_code(), "not_a_repository") << limit << result;
    EXPECT_THAT(result.err, HasSubstr("open files")) << limit;
  }
}

TEST_F(LocalRuns, AModelWithDataIsDeletedOnlyWhenForced) {
  a.Do(RunOf("m1", "true"));
  a.Fail({"model", "delete", "m1", "-y"}, "model_has_data");
  const Json deleted = a.Do({"model", "delete", "m1", "-f"});
  EXPECT_EQ(deleted["dataDeleted"], 4);  // result, log, the two files of the report
  EXPECT_EQ(deleted["outputsDeleted"], 1);
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp" / "outputs" / "command"));
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp" / "data" / "command"));
}

// ---- expressions that read data ----

class DataInExpressions : public MethodRuns {};
SWAMP_ON_EVERY_BUCKET(DataInExpressions);

TEST_P(DataInExpressions, SeeWhatAnotherCheckoutHasWritten) {
  a->Do({"model", "create", "command/shell", "m1"});
  a->Do({"model", "create", "command/shell", "m2"});
  const auto stdout_of = [](const Json& run) { return run["dataArtifacts"][0]["attributes"]["stdout"]; };
  // The checkout that asks has never had any data.
  a->Do(RunOf("m1", "echo first"));
  EXPECT_EQ(stdout_of(c->Do(RunOf("m2", "echo ${{ data.latest(\"m1\", \"result\").attributes.stdout }}"))), "first");
  a->Do(RunOf("m1", "echo second"));
  EXPECT_EQ(stdout_of(c->Do(RunOf("m2", "echo ${{ model.m1.resource.result.result.attributes.stdout }}"))), "second");
  a->Do(RunOf("m1", "echo third"));
  EXPECT_EQ(stdout_of(c->Do(RunOf("m2", "echo ${{ data.query('modelName == \"m1\" && specName == \"result\"', "
                                        "'attributes.stdout')[0] }}"))),
            "third");
  EXPECT_EQ(stdout_of(c->Do(RunOf("m2", "echo ${{ model.m1.execution.status }} ${{ data.listVersions('m1', 'result').size() }}"))),
            "succeeded 3");
}

TEST_P(DataInExpressions, MW01_TextThatCameAsDataStaysText) {
  const SecretElsewhere secret(*a, "s3cr3t-value");
  a->Do({"model", "create", "command/shell", "m1"});
  a->Do({"model", "create", "command/shell", "m2"});
  a->Do(RunOf("m1", "printf '%s' '$''{{ vault.get(v, k) }}'"));
  const RunResult result =
      c->Run({"model", "method", "run", "m2", "execute", "--json", "--input",
              "run=printf '%s' '${{ data.query('modelName == \"m1\"', 'attributes.?stdout.orValue(\"\")').join(\"\") }}'"});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out + result.err, Not(HasSubstr("s3cr3t-value")));
  EXPECT_THAT(result.out, HasSubstr("{{ vault.get(v, k) }}"));
  EXPECT_TRUE(FilesWith(c->home(), "s3cr3t-value").empty());
}

// ---- while a method runs ----

class WhileAMethodRuns : public MethodRuns {
 protected:
  bool locks() const { return GetParam() == Backend::kRgw || GetParam() == Backend::kFolder; }
};
SWAMP_ON_EVERY_BUCKET(WhileAMethodRuns);

TEST_P(WhileAMethodRuns, GarbageCollectionLeavesItsModelAlone) {
  if (!locks()) GTEST_SKIP() << "about locks";
  for (const char* name : {"m1", "m2"}) {
    a->Do({"model", "create", "command/shell", name});
    const RunResult edited = a->RunWithInput({"model", "edit", name, "--json"}, "type: command/shell\nresources:\n  result:\n    garbageCollection: 1\n");
    ASSERT_EQ(edited.exit_code, 0) << edited;
    a->Do(RunOf(name, "echo one"));
    a->Do(RunOf(name, "echo two"));
  }
  const Signpost running(a->folder());
  const Signpost collected(c->folder());
  a->Do(RunOf("m1", running.Reached() + "; " + collected.Reached()), {.started = [&](pid_t) {
          running.Wait();
          // m2 has a version too many, and m1 as well, but m1 is at work.
          const RunResult gc = c->Run({"data", "gc", "-y"});
          EXPECT_THAT(gc.out, HasSubstr("Removed 1 version"));
          EXPECT_THAT(gc.err, HasSubstr("is at work on it"));
          // Deleting waits for the model's lock, and only for that.
          const std::map<std::string, std::string> at_once = {{"SWAMP_LOCK_TIMEOUT_MS", "1"}};
          EXPECT_EQ(c->Run({"data", "delete", "m1", "result", "-y", "--json"}, {.environment = at_once}).error_code(), "lock_timeout");
          c->Do({"data", "delete", "m2", "log", "-y"}, {.environment = at_once});
          collected.Wait();
        }});
  EXPECT_EQ(c->Do({"data", "gc", "-y"})["versionsDeleted"], 2);
}

}  // namespace
}  // namespace swamp::e2e
