#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "extension/gzip.h"
#include "extension/tar.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/executor.h"
#include "util/files.h"
#include "util/forwarding_files.h"
#include "util/http.h"
#include "util/log.h"
#include "util/random.h"
#include "util/time.h"

// What the tests of this folder share. Not for the program.
namespace swamp::testing {

// A clock that a test moves; sleeping moves it too.
class ManualClock final : public Clock {
 public:
  Time Now() override { return Time(Duration(1'764'603'000'000)) + elapsed_; }
  Duration Elapsed() override { return elapsed_; }
  void Sleep(const Context& context, Duration duration) override {
    elapsed_ += duration;
    context.Check();
  }
  void Advance(Duration duration) { elapsed_ += duration; }

 private:
  Duration elapsed_{0};
};

// Keeps warnings for a test to look at.
class RecordingLog final : public Log {
 public:
  void Write(LogLevel level, std::string_view, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    if (level >= LogLevel::kWarning) warnings.emplace_back(message);
  }
  std::vector<std::string> warnings;

 private:
  std::mutex mutex_;
};

// A folder of its own for each test, with everything a Context needs.
class TempWorld {
 public:
  TempWorld() {
    // In memory where that can be: the tests that crash at every step sync thousands of times.
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory =
        std::filesystem::is_directory(memory) && ::access(memory.c_str(), W_OK) == 0;
    const std::filesystem::path parent =
        has_memory ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "swamp-ext-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
  }
  ~TempWorld() { std::filesystem::remove_all(root); }
  TempWorld(const TempWorld&) = delete;
  TempWorld& operator=(const TempWorld&) = delete;

  Context context() { return Context(world, cancellation); }
  // A context whose files go through `other`.
  Context ContextWith(Files& other) {
    worlds_.push_back(
        std::make_unique<World>(World{clock, random, other, environment, executor, log}));
    return Context(*worlds_.back(), cancellation);
  }

  void Write(const std::filesystem::path& path, std::string_view bytes) {
    WriteFileAtomically(files, root / path, bytes);
  }
  std::string Read(const std::filesystem::path& path) {
    return ReadFile(files, root / path).value_or("<no such file>");
  }
  bool Exists(const std::filesystem::path& path) { return files.Stat(root / path).has_value(); }
  // Every file below a folder with its content; of a link, that it is one.
  std::map<std::string, std::string> Tree(const std::filesystem::path& path) {
    std::map<std::string, std::string> tree;
    for (const std::string& name : ListFilesBelow(files, root / path)) {
      const bool is_link = files.Stat(root / path / name)->kind == FileKind::kLink;
      tree[name] = is_link ? "<a link>" : Read(path / name);
    }
    return tree;
  }

  std::filesystem::path root;
  ManualClock clock;
  SystemRandom random;
  SystemFiles files{random};
  FixedEnvironment environment;
  ThreadExecutor executor;
  RecordingLog log;
  Cancellation cancellation;
  World world{clock, random, files, environment, executor, log};

 private:
  std::vector<std::unique_ptr<World>> worlds_;
};

// A file system on which the nth change fails, and, if it is a crash, every change after it.
class FailingFiles final : public ForwardingFiles {
 public:
  enum class Kind { kCrash, kOneFailure };
  FailingFiles(Files& files, Kind kind, int good_changes)
      : ForwardingFiles(files), kind_(kind), left_(good_changes) {}

  bool has_failed() const { return failed_; }

  std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode) override {
    Change(target);
    return std::make_unique<Output>(*this, files_.Create(target, mode), target);
  }
  void Append(const std::filesystem::path& path, std::string_view bytes, unsigned mode) override {
    Change(path);
    files_.Append(path, bytes, mode);
  }
  bool Remove(const std::filesystem::path& path) override {
    Change(path);
    return files_.Remove(path);
  }
  void Rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    Change(from);
    files_.Rename(from, to);
  }
  void CreateFolders(const std::filesystem::path& path, unsigned mode) override {
    Change(path);
    files_.CreateFolders(path, mode);
  }
  bool CreateFolder(const std::filesystem::path& path, unsigned mode) override {
    Change(path);
    return files_.CreateFolder(path, mode);
  }
  void SetMode(const std::filesystem::path& path, unsigned mode) override {
    Change(path);
    files_.SetMode(path, mode);
  }
  void SetMtime(const std::filesystem::path& path, std::int64_t mtime_ns) override {
    Change(path);
    files_.SetMtime(path, mtime_ns);
  }

 private:
  class Output final : public OutputFile {
   public:
    Output(FailingFiles& owner, std::unique_ptr<OutputFile> file, std::filesystem::path target)
        : owner_(owner), file_(std::move(file)), target_(std::move(target)) {}
    void Append(std::string_view bytes) override { file_->Append(bytes); }
    void Close(Durability durability) override { file_->Close(durability); }
    void Commit(Durability durability) override {
      owner_.Change(target_);
      file_->Commit(durability);
    }
    bool CommitExclusive() override {
      owner_.Change(target_);
      return file_->CommitExclusive();
    }
    const std::filesystem::path& temporary_path() const override { return file_->temporary_path(); }

   private:
    FailingFiles& owner_;
    std::unique_ptr<OutputFile> file_;
    std::filesystem::path target_;
  };

  void Change(const std::filesystem::path& path) {
    if (left_-- > 0 || (failed_ && kind_ == Kind::kOneFailure)) return;
    failed_ = true;
    throw IoError("change", path.native(), EIO);
  }

  Kind kind_;
  int left_;
  bool failed_ = false;
};

// A file in memory.
class StringFile final : public InputFile {
 public:
  explicit StringFile(std::string bytes) : bytes_(std::move(bytes)) {}
  FileInfo Info() const override { return {FileKind::kFile, bytes_.size(), 0, 1, 0644}; }
  std::size_t ReadAt(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(buffer.data(), buffer.size(), offset);
  }

 private:
  std::string bytes_;
};

inline std::string Gzip(std::string_view bytes) {
  std::string out;
  GzipWriter writer([&](std::string_view piece) { out += piece; });
  writer.Write(bytes);
  writer.Finish();
  return out;
}

// A tar header as any program might write it.
inline std::string TarHeader(std::string_view name, std::uint64_t size, char type,
                             std::string_view magic = std::string_view("ustar\0"
                                                                       "00",
                                                                       8)) {
  std::string block(512, '\0');
  block.replace(0, std::min<std::size_t>(name.size(), 100), name.substr(0, 100));
  block.replace(100, 8, std::string("0000644\0", 8));
  block.replace(124, 12, fmt::format("{:011o}", size) + '\0');
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, magic.size(), magic);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

inline std::string TarPadded(std::string_view bytes) {
  return std::string(bytes) + std::string((512 - bytes.size() % 512) % 512, '\0');
}

inline std::string TarFile(std::string_view name, std::string_view content, char type = '0') {
  return TarHeader(name, content.size(), type) + TarPadded(content);
}

// A pax header that gives the next entry the path `path`.
inline std::string PaxPath(std::string_view path) {
  const std::size_t rest = path.size() + 7;  // " path=" and the line end
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return TarFile("pax", std::to_string(length) + " path=" + std::string(path) + "\n", 'x');
}

inline std::string TarEnd() { return std::string(1024, '\0'); }

// A .tar.gz of files below extension/.
inline std::string ExtensionArchive(const std::map<std::string, std::string>& contents) {
  std::string tar;
  TarWriter writer([&](std::string_view piece) { tar += piece; });
  for (const auto& [name, content] : contents) {
    writer.BeginFile("extension/" + name, content.size(), false);
    writer.Append(content);
    writer.EndFile();
  }
  writer.Finish();
  return Gzip(tar);
}

// A server in a table: what it answers to "METHOD url", in turn (the last answer stays). Keeps the
// requests.
class ScriptedHttp final : public HttpClient {
 public:
  using Answer = std::function<HttpResponse(const Context&, const HttpRequest&)>;

  void On(const std::string& request, Answer answer) {
    answers_[request].push_back(std::move(answer));
  }
  void On(const std::string& request, int status, std::string body = "", HttpHeaders headers = {}) {
    On(request, [=](const Context&, const HttpRequest&) {
      return HttpResponse{status, headers, body};
    });
  }

  HttpResponse Send(const Context& context, const HttpRequest& request) override {
    HttpResponse response = Find(request)(context, request);
    if (response.status >= 200 && response.status <= 299 && request.sink != nullptr) {
      // As a client does that had to start over.
      request.sink->Write("torn");
      request.sink->Restart();
      request.sink->Write(response.body);
      response.body.clear();
    }
    return response;
  }

  struct Seen {
    std::string request;
    std::string api_key;  // "none" when none was sent
    std::string body;
  };
  std::vector<Seen> seen;

  std::vector<std::string> Requests() const {
    std::vector<std::string> requests;
    for (const Seen& one : seen) requests.push_back(one.request);
    return requests;
  }

 private:
  Answer Find(const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    Seen now{request.method + " " + request.url, "none", request.body};
    for (const auto& [name, value] : request.headers) {
      if (name == "x-api-key") now.api_key = value;
    }
    if (request.source != nullptr) {
      now.body.resize(static_cast<std::size_t>(request.source->size()));
      request.source->ReadAt(0, now.body.data(), now.body.size());
    }
    seen.push_back(now);
    const auto found = answers_.find(now.request);
    if (found == answers_.end()) {
      return [](const Context&, const HttpRequest&) {
        return HttpResponse{404, {}, R"({"error":"not found"})"};
      };
    }
    Answer answer = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return answer;
  }

  std::map<std::string, std::vector<Answer>> answers_;
  std::mutex mutex_;
};

// The code of the UserError that `call` throws; "none" without one.
inline std::string CodeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.code();
  }
  return "none";
}
inline std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "none";
}

}  // namespace swamp::testing
