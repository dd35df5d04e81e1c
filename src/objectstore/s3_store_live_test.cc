// The contract, and what only a real server shows, on the S3 server that SWAMP_TEST_S3_ENDPOINT and
// SWAMP_TEST_S3_BUCKET name, with the credentials of AWS_*. tests/rgw/rgw starts a Ceph RGW for it.

#include <gmock/gmock.h>

#include "objectstore/object_store_suite.h"
#include "objectstore/open_store.h"
#include "objectstore/probe.h"
#include "objectstore/resolving_store.h"
#include "objectstore/s3_store.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/http_curl.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using testing::ElementsAre;

// The server and a prefix of its own for each test.
class LiveS3 {
 public:
  static bool IsThere() {
    return !SystemEnvironment().Get("SWAMP_TEST_S3_BUCKET").value_or("").empty();
  }

  S3Config Config() const {
    Json config = {{"bucket", *environment.Get("SWAMP_TEST_S3_BUCKET")}, {"prefix", prefix}};
    if (auto endpoint = environment.GetNonEmpty("SWAMP_TEST_S3_ENDPOINT"))
      config["endpoint"] = *endpoint;
    return ParseS3Config(config);
  }
  std::unique_ptr<ObjectStore> Open() { return OpenStore(context, Config(), client); }

  SystemClock clock;
  SystemRandom random;
  SystemFiles files{random};
  SystemEnvironment environment;
  ThreadExecutor executor;
  NullLog log;
  World world{clock, random, files, environment, executor, log};
  Cancellation cancellation;
  Context context{world, cancellation};
  CurlHttpClient client;
  const std::string prefix = "swamp-test-" + random.Uuid();
};

class S3UnderTest final : public StoreUnderTest {
 public:
  explicit S3UnderTest(bool resolving) : resolving_(resolving) {}
  std::unique_ptr<ObjectStore> NewClient() override {
    auto store = server_.Open();
    store->Adopt(capabilities_);
    if (!resolving_) return store;
    return std::make_unique<ResolvingStore>(std::move(store));
  }
  const Context& context() override { return server_.context; }
  std::size_t longest_key() const override { return 1024 - server_.prefix.size() - 1; }

 private:
  LiveS3 server_;
  bool resolving_;
  Capabilities capabilities_ = ProbeStore(server_.context, *server_.Open());
};

constexpr const char* kWhyNot =
    "SWAMP_TEST_S3_BUCKET names no bucket to test with (see tests/rgw/rgw)";

StoreMaker Maker(std::string name, bool resolving) {
  return {std::move(name),
          [resolving]() -> std::unique_ptr<StoreUnderTest> {
            if (!LiveS3::IsThere()) return nullptr;
            return std::make_unique<S3UnderTest>(resolving);
          },
          kWhyNot};
}

INSTANTIATE_TEST_SUITE_P(S3, ObjectStoreSuite,
                         testing::Values(Maker("Live", false), Maker("LiveResolving", true)),
                         NameOfStore);

class S3Live : public testing::Test {
 protected:
  void SetUp() override {
    if (!LiveS3::IsThere()) GTEST_SKIP() << kWhyNot;
    server = std::make_unique<LiveS3>();
  }
  std::unique_ptr<LiveS3> server;
};

TEST_F(S3Live, TheProbeCleansUpBelowItsPrefix) {
  const auto store = server->Open();
  ProbeStore(server->context, *store);
  EXPECT_TRUE(ListAll(server->context, *store, "").empty());
}

TEST_F(S3Live, KeepsTheWriterWhateverItsName) {
  const auto store = server->Open();
  ProbeStore(server->context, *store);
  for (const char* writer : {"ann@build7", "J\xc3\xb6rg M\xc3\xbcller@host 7", "100%"}) {
    PutOptions options;
    options.writer = writer;
    const ETag etag =
        store->Put(server->context, "key", Body::FromBytes("x"), Condition::Absent(), options).etag;
    EXPECT_EQ(store->Head(server->context, "key")->writer, writer);
    EXPECT_EQ(GetBytes(server->context, *store, "key")->state.writer, writer);
    store->Delete(server->context, "key", etag);
  }
}

TEST_F(S3Live, AMissingBucketIsNeverAnAbsentObject) {
  S3Config config = server->Config();
  config.bucket = "swamp-no-such-bucket-" + server->random.Hex(4);
  const auto store = OpenStore(server->context, config, server->client);
  const auto kind_of = [&](const auto& work) {
    try {
      work();
    } catch (const StoreError& error) {
      return error.kind();
    }
    return StoreError::Kind::kInvalid;
  };
  StringSink sink;
  EXPECT_EQ(kind_of([&] { store->Head(server->context, "key"); }), StoreError::Kind::kNoBucket);
  EXPECT_EQ(kind_of([&] { store->Get(server->context, "key", {}, sink); }),
            StoreError::Kind::kNoBucket);
  EXPECT_EQ(kind_of([&] { store->List(server->context, {}); }), StoreError::Kind::kNoBucket);
  EXPECT_EQ(kind_of([&] {
              store->Put(server->context, "key", Body::FromBytes("x"), Condition::Absent(), {});
            }),
            StoreError::Kind::kNoBucket);
}

TEST_F(S3Live, AClockThatIsWrongIsLearnt) {
  class WrongClock final : public Clock {
   public:
    Time Now() override { return SystemClock().Now() - std::chrono::hours(3); }
    Duration Elapsed() override { return SystemClock().Elapsed(); }
    void Sleep(const Context& context, Duration duration) override {
      SystemClock().Sleep(context, duration);
    }
  };
  WrongClock clock;
  World world{clock,      server->random, server->files, server->environment, server->executor,
              server->log};
  const Context context(world, server->cancellation);
  const auto store = server->Open();
  // HEAD first: its refusal has no body that names the reason.
  EXPECT_FALSE(store->Head(context, "key").has_value());
  ProbeStore(context, *store);
  const PutResult put = store->Put(context, "key", Body::FromBytes("x"), Condition::Absent(), {});
  EXPECT_TRUE(put.stored());
  EXPECT_LT(std::chrono::abs(put.store_now - SystemClock().Now()), std::chrono::minutes(2));
}

// Large bodies in parts, with limits that suit a test.
class S3LiveMultipart : public S3Live {
 protected:
  void SetUp() override {
    S3Live::SetUp();
    if (IsSkipped()) return;
    S3ClientOptions options;
    options.config = server->Config();
    options.region = server->environment.GetNonEmpty("AWS_REGION").value_or("us-east-1");
    S3Limits limits;
    limits.single_put = 6U << 20;
    limits.part = 5U << 20;
    store = std::make_unique<S3Store>(
        options, server->client,
        std::make_unique<AwsCredentialChain>(server->client, options.region), limits);
    capabilities = ProbeStore(server->context, *store);
    for (int i = 0; bytes.size() < (11U << 20); ++i) bytes += Sha256Hex(std::to_string(i));
  }

  std::unique_ptr<S3Store> store;
  Capabilities capabilities;
  std::string bytes;
};

TEST_F(S3LiveMultipart, ALongBodyGoesInPartsBelowAClaimedName) {
  PutOptions claimed;
  claimed.name_is_claimed = true;
  const Body body = Body::FromBytes(bytes);
  const PutResult put = store->Put(server->context, "large", body, Condition::Absent(), claimed);
  ASSERT_TRUE(put.stored());
  const auto object = GetBytes(server->context, *store, "large");
  EXPECT_EQ(object->bytes, bytes);
  EXPECT_EQ(object->state.info.etag, put.etag);
  EXPECT_FALSE(store->Put(server->context, "large", body, Condition::Absent(), claimed).stored());
  EXPECT_TRUE(
      store->Put(server->context, "large", body, Condition::Matches(put.etag), claimed).stored());
}

TEST_F(S3LiveMultipart, ALongBodyIsRefusedWhereItCouldNotBeConditional) {
  if (capabilities.conditional_multipart) GTEST_SKIP() << "this server honours conditions there";
  EXPECT_THROW(
      store->Put(server->context, "large", Body::FromBytes(bytes), Condition::Absent(), {}),
      StoreError);
  EXPECT_FALSE(store->Head(server->context, "large").has_value());
}

TEST_F(S3LiveMultipart, ALostAnswerToACompletionIsResolvedByContent) {
  // The ETag of an object in parts is no MD5 of its bytes, so they are compared.
  PutOptions claimed;
  claimed.name_is_claimed = true;
  const Body body = Body::FromBytes(bytes);
  const ETag etag = store->Put(server->context, "large", body, Condition::Absent(), claimed).etag;
  ResolvingStore resolving(std::move(store));
  const PutResult again =
      resolving.Put(server->context, "large", body, Condition::Absent(), claimed);
  EXPECT_TRUE(again.stored());
  EXPECT_EQ(again.etag, etag);
  bytes[5'000'000] ^= 1;
  EXPECT_FALSE(
      resolving.Put(server->context, "large", Body::FromBytes(bytes), Condition::Absent(), claimed)
          .stored());
}

TEST_F(S3LiveMultipart, CancellingInTheMiddleLeavesNothing) {
  PutOptions claimed;
  claimed.name_is_claimed = true;
  const Context limited = server->context.WithTimeout(Duration(20));
  EXPECT_THROW(store->Put(limited, "large", Body::FromBytes(bytes), Condition::Absent(), claimed),
               DeadlineExceeded);
  EXPECT_FALSE(store->Head(server->context, "large").has_value());
  EXPECT_THAT(ListAll(server->context, *store, ""), ElementsAre());
}

}  // namespace
}  // namespace swamp
