// What the object store layer costs: cmake --preset release -DSWAMP_BENCH=ON, then
// build/release/objectstore_bench. The S3 cases run where SWAMP_TEST_S3_* name a server
// (tests/rgw/rgw).

#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>

#include "objectstore/aws_credentials.h"
#include "objectstore/aws_signature.h"
#include "objectstore/directory_store.h"
#include "objectstore/memory_store.h"
#include "objectstore/open_store.h"
#include "objectstore/probe.h"
#include "util/http_curl.h"
#include "util/test_world.h"

namespace swamp {
namespace {

void SignRequest(benchmark::State& state) {
  AwsSigner signer("eu-west-1", "s3");
  const AwsCredentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "",
                                   std::nullopt};
  const std::string hash(64, 'a');
  const Time now(Duration(1'796'137'741'064));
  for (auto _ : state) {
    AwsRequest request;
    request.method = "PUT";
    request.path = "/bucket/prefix/data/command/shell/6f1f/result/1/raw";
    request.headers = {
        {"If-None-Match", "*"}, {"Host", "s3.example.com"}, {"X-Amz-Content-Sha256", hash}};
    request.payload_sha256 = hash;
    signer.Sign(request, credentials, now);
    benchmark::DoNotOptimize(request.headers);
  }
}
BENCHMARK(SignRequest);

void PutAndGet(benchmark::State& state, const Context& context, ObjectStore& store) {
  const Body body = Body::FromBytes(std::string(static_cast<std::size_t>(state.range(0)), 'x'));
  std::size_t number = 0;
  for (auto _ : state) {
    const std::string key = "bench/" + std::to_string(number++);
    store.Put(context, key, body, Condition::Absent(), {});
    benchmark::DoNotOptimize(GetBytes(context, store, key));
  }
}

void MemoryPutAndGet(benchmark::State& state) {
  TestWorld world;
  MemoryBucket bucket(world.clock);
  MemoryStore store(bucket);
  PutAndGet(state, world.context, store);
}
BENCHMARK(MemoryPutAndGet)->Arg(1000);

void DirectoryPutAndGet(benchmark::State& state) {
  RealTimeWorld world;
  const TemporaryFolder folder;
  DirectoryStore store({folder.path(), "", {}});
  PutAndGet(state, world.context, store);
}
BENCHMARK(DirectoryPutAndGet)->Arg(1000);

// Requests with `state.range(0)` in flight; the CPU time is that of the whole process.
void S3Requests(benchmark::State& state, bool writes) {
  SystemEnvironment environment;
  if (!environment.GetNonEmpty("SWAMP_TEST_S3_BUCKET")) {
    state.SkipWithError("SWAMP_TEST_S3_BUCKET names no bucket");
    return;
  }
  RealTimeWorld parts;
  World world{parts.clock, parts.random, parts.files, environment, parts.executor, parts.log};
  Cancellation cancellation;
  const Context context(world, cancellation);
  CurlHttpClient http;
  S3Config config;
  config.bucket = *environment.GetNonEmpty("SWAMP_TEST_S3_BUCKET");
  config.endpoint = environment.GetNonEmpty("SWAMP_TEST_S3_ENDPOINT").value_or("");
  config.prefix = "bench-" + parts.random.Uuid();
  const auto store = OpenStore(context, config, http);
  ProbeStore(context, *store);
  const Body body = Body::FromBytes(std::string(1000, 'x'));
  store->Put(context, "read", body, Condition::Absent(), {});

  constexpr std::size_t kBatch = 1000;
  std::atomic<std::size_t> number = 0;
  for (auto _ : state) {
    context.executor().ForEach(
        context, kBatch, static_cast<int>(state.range(0)), [&](const Context& inner, std::size_t) {
          if (writes) {
            store->Put(inner, std::to_string(number++), body, Condition::Absent(), {});
          } else {
            benchmark::DoNotOptimize(GetBytes(inner, *store, "read"));
          }
        });
  }
  const auto requests = static_cast<double>(state.iterations() * kBatch);
  state.counters["requests/s"] = benchmark::Counter(requests, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(S3Requests, Get, false)
    ->Arg(1)
    ->Arg(25)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(S3Requests, Put, true)
    ->Arg(1)
    ->Arg(25)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swamp
