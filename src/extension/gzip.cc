#include "extension/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <new>
#include <stdexcept>

#include "util/error.h"
#include "util/files.h"

namespace swamp {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to say: the gzip format, the largest window
constexpr std::size_t kChunk = 64 << 10;

[[noreturn]] void Damaged(std::string_view reason) {
  throw UserError("archive_invalid",
                  fmt::format("the archive is not a complete gzip file: {}", reason));
}

Bytef* ToZlib(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

}  // namespace

struct GunzipSource::State {
  State(const InputFile& from, std::uint64_t bytes) : file(from), left(bytes) {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void FillInput() {
    if (stream.avail_in > 0) return;
    const std::size_t count = file.ReadAt(offset, input);
    offset += count;
    stream.next_in = ToZlib(input.data());
    stream.avail_in = static_cast<uInt>(count);
  }

  const InputFile& file;
  std::uint64_t offset = 0;
  std::uint64_t left;  // bytes that may still come out
  std::array<char, kChunk> input;
  z_stream stream{};
  bool between_members = true;  // nothing of the next member has been read
};

GunzipSource::GunzipSource(const InputFile& file, std::uint64_t limit)
    : state_(std::make_unique<State>(file, limit)) {}

GunzipSource::~GunzipSource() = default;

std::size_t GunzipSource::Read(std::span<char> buffer) {
  z_stream& stream = state_->stream;
  std::size_t done = 0;
  while (done < buffer.size()) {
    state_->FillInput();
    if (stream.avail_in == 0) {
      if (!state_->between_members || state_->offset == 0) Damaged("it ends early");
      break;
    }
    if (std::exchange(state_->between_members, false)) inflateReset(&stream);
    const std::size_t room = std::min<std::size_t>(buffer.size() - done, kChunk);
    stream.next_out = ToZlib(buffer.data() + done);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = room - stream.avail_out;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      Damaged(stream.msg != nullptr ? stream.msg : "bad data");
    }
    if (count > state_->left) {
      throw UserError("archive_invalid", "the archive unpacks to more bytes than are allowed");
    }
    state_->left -= count;
    done += count;
    state_->between_members = result == Z_STREAM_END;
  }
  return done;
}

struct GzipWriter::State {
  explicit State(Sink target) : sink(std::move(target)) {
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void Run(std::string_view bytes, int flush) {
    stream.next_in = ToZlib(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::array<char, kChunk> output;
    do {
      stream.next_out = ToZlib(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      if (deflate(&stream, flush) == Z_STREAM_ERROR)
        throw std::logic_error("GzipWriter is finished");
      sink({output.data(), output.size() - stream.avail_out});
    } while (stream.avail_out == 0);
  }

  Sink sink;
  z_stream stream{};
};

GzipWriter::GzipWriter(Sink sink) : state_(std::make_unique<State>(std::move(sink))) {}

GzipWriter::~GzipWriter() = default;

void GzipWriter::Write(std::string_view bytes) {
  // zlib counts its input in 32 bits.
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kChunk))) {
    state_->Run(bytes.substr(0, kChunk), Z_NO_FLUSH);
  }
}

void GzipWriter::Finish() { state_->Run({}, Z_FINISH); }

}  // namespace swamp
