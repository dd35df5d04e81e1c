// Data: queries over catalogs of 1,000 to 100,000 records, with and without bodies, the rebuild of a catalog, and writes.
// Names have ten versions each.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "data/query.h"
#include "util/test_world.h"

namespace swamp {
namespace {

constexpr const char* kModel = "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10";
constexpr int kVersionsOfAName = 10;

// Files written without a sync each: only their number counts here.
struct Records {
  explicit Records(int count) {
    for (int i = 0; i < count; ++i) WriteOne(i);
    catalog = std::make_unique<Catalog>(world.context, store, nullptr, CatalogOptions{.database = folder.path() / "_catalog.db"});
    catalog->CatchUp();
  }

  void WriteOne(int i) {
    const std::string name = "name-" + std::to_string(i / kVersionsOfAName);
    const int version = i % kVersionsOfAName + 1;
    const std::filesystem::path base = folder.path() / "data/command/shell" / kModel / name;
    const std::string body = fmt::format(R"({{"exitCode":{},"stdout":"line {}","items":[1,2,3]}})", i % 7, i);
    DataMetadata metadata;
    metadata.id = world.random.Uuid();
    metadata.name = name;
    metadata.version = static_cast<std::uint64_t>(version);
    metadata.content_type = "application/json";
    metadata.tags = {{"type", "resource"}, {"team", i % 100 == 0 ? "storage" : "web"}, {"specName", "result"}, {"modelName", "m1"}};
    metadata.owner = {.owner_type = "model-method", .owner_ref = kModel};
    metadata.created_at = FormatTime(Time(Duration(1'796'137'741'064 + i)));
    metadata.size = body.size();
    metadata.checksum = Sha256Hex(body);
    const auto write = [&](const std::filesystem::path& path, std::string_view bytes) {
      const auto file = world.files.Create(path, 0644);
      file->Append(bytes);
      file->Commit(Durability::kLater);
    };
    write(base / std::to_string(version) / "raw", body);
    write(base / std::to_string(version) / "metadata.yaml", metadata.ToYaml());
    write(base / "latest", std::to_string(version));
  }

  RealTimeWorld world;
  TemporaryFolder folder;
  VersionStore store{world.context, folder.path(), nullptr, folder.path() / "_catalog.db-changes"};
  std::unique_ptr<Catalog> catalog;
};

Records& RecordsOf(std::int64_t count) {
  static std::map<std::int64_t, std::unique_ptr<Records>> all;
  auto& records = all[count];
  if (!records) records = std::make_unique<Records>(static_cast<int>(count));
  return *records;
}

void RunQuery(benchmark::State& state, const DataQuery& query) {
  Records& records = RecordsOf(state.range(0));
  DataQueries queries(records.world.context, records.store, *records.catalog);
  std::size_t found = 0;
  std::size_t evaluated = 0;
  for (auto _ : state) {
    const DataQueryResult result = queries.Run(query);
    found = result.results.size();
    evaluated = result.evaluated;
  }
  state.counters["found"] = static_cast<double>(found);
  state.counters["evaluated"] = static_cast<double>(evaluated);
}

// All versions are looked at; SQL finds the few that match.
void BM_MetadataInSql(benchmark::State& state) {
  RunQuery(state, {.predicate = R"(version >= 1 && tags.team == "storage" && size > 10)", .limit = 100});
}
BENCHMARK(BM_MetadataInSql)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

// SQL can do none of it: each record is evaluated.
void BM_MetadataInCel(benchmark::State& state) {
  RunQuery(state, {.predicate = R"(version * 2 > 1 && name.endsWith("99"))"});
}
BENCHMARK(BM_MetadataInCel)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void BM_MetadataTagsInCel(benchmark::State& state) {
  RunQuery(state, {.predicate = R"(version * 2 > 1 && tags.team.endsWith("storage"))", .select = "name"});
}
BENCHMARK(BM_MetadataTagsInCel)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void BM_LatestOnly(benchmark::State& state) { RunQuery(state, {.predicate = R"(modelName == "m1" && name == "name-7")"}); }
BENCHMARK(BM_LatestOnly)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void BM_Bodies(benchmark::State& state) {
  RunQuery(state, {.predicate = "version >= 1 && attributes.exitCode == 6", .select = "attributes.stdout"});
}
BENCHMARK(BM_Bodies)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void BM_AllRecords(benchmark::State& state) { RunQuery(state, {.predicate = "version >= 1"}); }
BENCHMARK(BM_AllRecords)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

void BM_Rebuild(benchmark::State& state) {
  Records& records = RecordsOf(state.range(0));
  for (auto _ : state) records.catalog->Rebuild();
}
BENCHMARK(BM_Rebuild)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond)->Iterations(1);

// One durable version: metadata, content, marker, four syncs.
void BM_Write(benchmark::State& state) {
  RealTimeWorld world;
  TemporaryFolder folder;
  VersionStore store(world.context, folder.path(), nullptr);
  const std::string body(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    NewVersion version{.key = {{"command/shell", kModel}, "result"}};
    version.tags = {{"type", "resource"}};
    version.owner = {.owner_type = "model-method", .owner_ref = kModel};
    store.Write(std::move(version), body);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(BM_Write)->Arg(200)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swamp

BENCHMARK_MAIN();
