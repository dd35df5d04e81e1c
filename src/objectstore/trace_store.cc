#include "objectstore/trace_store.h"

#include "util/clock.h"
#include "util/context.h"
#include "util/files.h"
#include "util/log.h"

namespace swamp {
namespace {

Json LineFor(const Context& context, std::string_view operation, const std::string& key) {
  return {{"at", FormatTime(context.clock().Now())}, {"op", operation}, {"key", key}};
}

std::string_view NameOf(GetResult::Outcome outcome) {
  switch (outcome) {
    case GetResult::Outcome::kFound:
      return "found";
    case GetResult::Outcome::kUnchanged:
      return "unchanged";
    case GetResult::Outcome::kAbsent:
      break;
  }
  return "absent";
}

std::string_view NameOf(DeleteOutcome outcome) {
  switch (outcome) {
    case DeleteOutcome::kDeleted:
      return "deleted";
    case DeleteOutcome::kRefused:
      return "refused";
    case DeleteOutcome::kAbsent:
      break;
  }
  return "absent";
}

}  // namespace

// Calls `work` and writes `line` with what came of it; `outcome` names the result and may add to
// the line.
template <typename Work, typename Outcome>
auto TraceStore::Traced(const Context& context, Json line, const Work& work,
                        const Outcome& outcome) {
  const Duration start = context.clock().Elapsed();
  const auto finish = [&](std::string_view name) {
    line["outcome"] = name;
    line["ms"] = (context.clock().Elapsed() - start).count();
  };
  std::optional<decltype(work())> result;
  try {
    result = work();
  } catch (const UserError& error) {
    finish(error.code());
    line["error"] = error.message();
    Write(context, line);
    throw;
  }
  finish(outcome(*result, line));
  Write(context, line);
  return *std::move(result);
}

// A call that was answered stays answered, whatever becomes of its line.
void TraceStore::Write(const Context& context, const Json& line) {
  try {
    context.files().Append(file_, CompactJson(line) + "\n");
  } catch (const IoError& error) {
    context.log().Warn("objectstore", error.message());
  }
}

GetResult TraceStore::Get(const Context& context, const std::string& key, const GetOptions& options,
                          BodySink& sink) {
  Json line = LineFor(context, "get", key);
  if (options.unless) line["condition"] = "unless";
  return Traced(
      context, std::move(line), [&] { return inner().Get(context, key, options, sink); },
      [](const GetResult& result, Json& more) {
        if (result.found()) more["bytes"] = result.state.info.size;
        return NameOf(result.outcome);
      });
}

std::optional<ObjectState> TraceStore::Head(const Context& context, const std::string& key) {
  return Traced(
      context, LineFor(context, "head", key), [&] { return inner().Head(context, key); },
      [](const std::optional<ObjectState>& state, Json&) { return state ? "found" : "absent"; });
}

PutResult TraceStore::Put(const Context& context, const std::string& key, const Body& body,
                          const Condition& condition, const PutOptions& options) {
  Json line = LineFor(context, "put", key);
  line["condition"] = condition.etag() ? "matches" : "absent";
  line["bytes"] = body.size();
  return Traced(
      context, std::move(line), [&] { return inner().Put(context, key, body, condition, options); },
      [](const PutResult& result, Json&) { return result.stored() ? "stored" : "refused"; });
}

DeleteOutcome TraceStore::Delete(const Context& context, const std::string& key,
                                 const ETag& expected) {
  Json line = LineFor(context, "delete", key);
  line["condition"] = "matches";
  return Traced(
      context, std::move(line), [&] { return inner().Delete(context, key, expected); },
      [](DeleteOutcome outcome, Json&) { return NameOf(outcome); });
}

ListPage TraceStore::List(const Context& context, const ListOptions& options) {
  return Traced(
      context, LineFor(context, "list", options.prefix),
      [&] { return inner().List(context, options); },
      [](const ListPage& page, Json& more) {
        more["objects"] = page.objects.size();
        return "listed";
      });
}

}  // namespace swamp
