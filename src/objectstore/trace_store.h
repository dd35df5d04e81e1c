#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "objectstore/store_decorator.h"
#include "util/json.h"

namespace swamp {

// Writes one line of JSON for each call that reached the store below, when it has ended:
//   {"at":"<ISO>","op":"put","key":"a/b","condition":"matches","bytes":12,"outcome":"stored","ms":3}
// op: get, head, put, delete, list (whose key is the prefix). condition: absent, matches (put,
// delete), unless (get). outcome: found, absent, unchanged, stored, refused, deleted, listed, or
// the code of the error thrown with its message as "error". ms by the Context's clock.
class TraceStore final : public StoreDecorator {
 public:
  // Lines are appended to `file`, which several processes may share.
  TraceStore(std::unique_ptr<ObjectStore> inner, std::filesystem::path file)
      : StoreDecorator(std::move(inner)), file_(std::move(file)) {}

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;

 private:
  template <typename Work, typename Outcome>
  auto Traced(const Context& context, Json line, const Work& work, const Outcome& outcome);
  void Write(const Context& context, const Json& line);

  std::filesystem::path file_;
};

}  // namespace swamp
