// What a real network and a real server do to commands: answers that are lost, a gateway that goes and comes back, a
// process that stands still for longer than its lock lives.

#include <fstream>
#include <set>
#include <thread>

#include "backends.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::IsSupersetOf;

class Network : public ::testing::Test {
 protected:
  void SetUp() override { NeedsServerOf(Backend::kRgw); }
};

// What one checkout was told, and what has to hold for that. A command that fails has promised nothing.
class Acknowledged {
 public:
  void Create(const Checkout& checkout, const std::string& model) {
    if (!Tell(checkout.Run({"model", "create", "command/shell", model, "--json"}))) return;
    models_[model] = "";
  }
  void Edit(const Checkout& checkout) {
    if (models_.empty()) return;
    auto& [model, run] = *models_.begin();
    const std::string text = "echo " + std::to_string(commands_);
    const RunResult result =
        checkout.RunWithInput({"model", "edit", model, "--json"}, ModelText(text));
    if (Tell(result)) {
      run = text;
    } else {
      models_.erase(model);  // it may come to stand or not
    }
  }
  void Delete(const Checkout& checkout) {
    if (models_.empty()) return;
    const std::string model = models_.rbegin()->first;
    models_.erase(model);
    if (Tell(checkout.Run({"model", "delete", model, "-y", "--json"}))) gone_.insert(model);
  }
  void Pull(const Checkout& checkout, const std::string& extension) {
    if (Tell(checkout.Run({"extension", "pull", extension, "-y", "--json"}))) extensions_.push_back(extension);
  }

  void Check(Bucket& bucket) const {
    EXPECT_THAT(bucket.LockfileNames(), IsSupersetOf(extensions_));
    for (const auto& [model, run] : models_) {
      const auto text = bucket.Peek(ModelKey(model));
      ASSERT_TRUE(text) << model << " was acknowledged and is gone";
      EXPECT_THAT(*text, ::testing::HasSubstr(run)) << model;
    }
    for (const std::string& model : gone_) {
      const auto text = bucket.Peek(ModelKey(model));
      EXPECT_TRUE(!text || text->find("tombstone") != std::string::npos) << model << " was deleted and is back";
    }
  }
  int commands() const { return commands_; }
  int failed() const { return failed_; }

 private:
  bool Tell(const RunResult& result) {
    ++commands_;
    failed_ += result.exit_code != 0;
    // Bad luck has clear names.
    if (result.exit_code != 0) {
      EXPECT_THAT(result.error_code(), AnyOf("managed_config_unpublished", "managed_lockfile_unavailable", "store_unreachable",
                                             "lock_timeout", "lock_lost"))
          << result;
    }
    return result.exit_code == 0;
  }

  std::map<std::string, std::string> models_;  // name: its command
  std::set<std::string> gone_;
  std::vector<std::string> extensions_;
  std::atomic<int> commands_ = 0;
  int failed_ = 0;
};

// SWAMP_TEST_COMMANDS: how many; the figure in docs/contributing.md is of 1,000.
TEST_F(Network, CommandsOfFourCheckoutsThroughABadOneLoseNothing) {
  constexpr int kCheckouts = 4;
  const char* wanted = std::getenv("SWAMP_TEST_COMMANDS");
  const int rounds = (wanted == nullptr ? 120 : std::atoi(wanted)) / kCheckouts;
  Bucket bucket(Backend::kRgw);
  std::vector<Checkout*> checkouts = {&bucket.first()};
  for (int i = 1; i < kCheckouts; ++i) checkouts.push_back(&bucket.Clone("c" + std::to_string(i)));
  for (int i = 0; i < kCheckouts; ++i) {
    for (int round = 0; round < rounds; round += 4) {
      bucket.Publish("@acme/x" + std::to_string(i) + "-" + std::to_string(round), "2026.01.01.1");
    }
  }
  for (int i = 0; i < kCheckouts; ++i) {
    checkouts[static_cast<std::size_t>(i)]->proxy()->SetWeather(
        {.fail = 100, .cut = 50, .lose_answer = 20, .seed = static_cast<unsigned>(i)});
  }
  std::vector<Acknowledged> acknowledged(kCheckouts);
  std::vector<std::thread> threads;
  for (int i = 0; i < kCheckouts; ++i) {
    threads.emplace_back([&, i] {
      const Checkout& checkout = *checkouts[static_cast<std::size_t>(i)];
      Acknowledged& told = acknowledged[static_cast<std::size_t>(i)];
      for (int round = 0; round < rounds; ++round) {
        const std::string n = std::to_string(i) + "-" + std::to_string(round);
        switch (round % 4) {
          case 0:
            told.Pull(checkout, "@acme/x" + n);
            break;
          case 1:
            told.Create(checkout, "m" + n);
            break;
          case 2:
            told.Edit(checkout);
            break;
          default:
            round % 8 == 3 ? told.Delete(checkout) : told.Create(checkout, "m" + n);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int commands = 0;
  int failed = 0;
  for (int i = 0; i < kCheckouts; ++i) {
    const auto index = static_cast<std::size_t>(i);
    checkouts[index]->proxy()->SetWeather({});
    commands += acknowledged[index].commands();
    failed += acknowledged[index].failed();
  }
  for (Checkout* checkout : checkouts) checkout->Do({"datastore", "sync"});
  for (const Acknowledged& told : acknowledged) told.Check(bucket);
  EXPECT_GT(commands, rounds * kCheckouts / 2);
  EXPECT_LT(failed, commands / 4) << "retries hide too little";
  std::cout << commands << " commands, " << failed << " failed\n";
}

TEST_F(Network, AHolderThatStandsStillForLongerThanItsLockLivesLosesNothing) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  for (const char* name : {"@acme/probe", "@acme/mine", "@acme/peers"}) bucket.Publish(name, "2026.01.01.1");
  // Where a pull has its lock and has not published yet.
  a.TakeRequests();
  a.Do({"extension", "pull", "@acme/probe", "-y"});
  const std::vector<std::string> requests = a.TakeRequests();
  const auto locked = std::find_if(requests.begin(), requests.end(), [](const std::string& line) {
    return line.starts_with("PUT ") && line.find(".datastore.lock") != std::string::npos;
  });
  ASSERT_NE(locked, requests.end()) << Join(requests, "\n");
  const RunResult paused = a.RunPausedAt({"extension", "pull", "@acme/mine", "-y", "--json"},
                                         static_cast<int>(locked - requests.begin()), [&c] {
                                           // Waits until the lock is stale and takes it over.
                                           c.Do({"extension", "pull", "@acme/peers", "-y"});
                                           c.Do({"model", "create", "command/shell", "peers"});
                                         });
  if (paused.exit_code != 0) {
    EXPECT_EQ(paused.error_code(), "lock_lost") << paused;
    a.Do({"extension", "pull", "@acme/mine", "-y"});
  }
  EXPECT_THAT(bucket.LockfileNames(), IsSupersetOf({"@acme/probe", "@acme/mine", "@acme/peers"}));
  EXPECT_THAT(a.ModelNames(), Contains("peers"));
}

// A server of its own: others of this run go on using theirs.
class OwnServer {
 public:
  OwnServer() {
    Control("start");
    std::ifstream env(folder_.path() / "env");
    for (std::string line; std::getline(env, line);) {
      const std::size_t equals = line.find('=');
      if (!line.starts_with("export ") || equals == std::string::npos) continue;
      const std::string name = line.substr(7, equals - 7);
      const char* before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      std::string value = line.substr(equals + 1);
      std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~OwnServer() {
    Control("stop");
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  void Control(const std::string& command) {
    const std::string line = std::string(SWAMP_RGW_SCRIPT) + " " + command + " " + folder_.path().string() + " >&2";
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Network, AServerThatGoesAndComesBackLosesNothing) {
  OwnServer server;
  Bucket bucket(Backend::kRgw);
  std::atomic<bool> over = false;
  Acknowledged told;
  std::thread worker([&] {
    for (int n = 0; !over; ++n) {
      const std::string name = "m" + std::to_string(n);
      n % 3 == 2 ? told.Edit(bucket.first()) : told.Create(bucket.first(), name);
    }
  });
  const auto wait_for = [&told](int commands) {
    while (told.commands() < commands) std::this_thread::yield();
  };
  for (int outage = 0; outage < 2; ++outage) {
    wait_for(told.commands() + 4);
    server.Control("stop-gateway");
    wait_for(told.commands() + 1);  // at least one command runs into it
    server.Control("start-gateway");
  }
  wait_for(told.commands() + 4);
  server.Control("pause");
  std::this_thread::sleep_for(std::chrono::seconds(2));  // requests hang for so long
  server.Control("resume");
  wait_for(told.commands() + 4);
  over = true;
  worker.join();
  bucket.first().Do({"datastore", "sync"});
  told.Check(bucket);
  EXPECT_THAT(bucket.Clone("late").ModelNames(), ::testing::Not(::testing::IsEmpty()));
}

}  // namespace
}  // namespace swamp::e2e
