#include "extension/pack_and_push.h"

#include "extension/pack.h"
#include "util/context.h"
#include "util/files.h"
#include "util/random.h"

namespace swamp {
namespace {

class ScratchFolder {
 public:
  explicit ScratchFolder(const Context& context)
      : files_(context.files()), path_(std::filesystem::temp_directory_path() / ("swamp-push-" + context.random().Hex(8))) {
    files_.CreateFolders(path_, 0700);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  Files& files_;
  std::filesystem::path path_;
};

}  // namespace

PushResult PackAndPush(const Context& context, Registry& registry, const std::filesystem::path& source, Channel channel,
                       bool dry_run) {
  if (source.native().ends_with(".tar.gz")) {
    return Push(context, registry, {.archive = source, .channel = channel, .dry_run = dry_run});
  }
  const ScratchFolder scratch(context);
  const PackResult packed = Pack(context, {.source = source, .out = scratch.path() / "extension.tar.gz"});
  return Push(context, registry, {.archive = packed.archive, .channel = channel, .dry_run = dry_run});
}

}  // namespace swamp
