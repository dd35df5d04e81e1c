#include "util/sqlite.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/test_world.h"

namespace swamp {
namespace {

// A SQLite file opened by several processes of one checkout at once, from its first moment on.
class SqliteProcesses : public testing::Test {
 protected:
  // Forks `count` processes that run `work`; true when all of them came to its end.
  template <typename Work>
  static bool AllSucceed(int count, const Work& work) {
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        try {
          work();
          _exit(0);
        } catch (const std::exception& error) {
          fprintf(stderr, "%s\n", error.what());
          _exit(1);
        }
      }
      children.push_back(child);
    }
    bool all = true;
    for (const pid_t child : children) {
      int status = 0;
      all = waitpid(child, &status, 0) == child && status == 0 && all;
    }
    return all;
  }

  TemporaryFolder folder;
};

TEST_F(SqliteProcesses, OpeningAndClosingANewDatabaseAtOnceNeverFails) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = (folder.path() / ("database-" + std::to_string(round))).string();
    EXPECT_TRUE(AllSucceed(8, [&path] {
      for (int i = 0; i < 5; ++i) {
        Database database(path);
        Transaction transaction(database);
        database.Execute("CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES(1)");
        transaction.Commit();
      }
    }));
    Database database(path);
    Statement count(database.handle(), "SELECT count(*) FROM t");
    ASSERT_TRUE(count.Next());
    EXPECT_EQ(count.Integer(0), 40);
  }
}

}  // namespace
}  // namespace swamp
