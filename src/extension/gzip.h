#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace swamp {

class InputFile;

// Bytes that are read once, in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `buffer`; fewer bytes only at the end. Returns how many.
  virtual std::size_t Read(std::span<char> buffer) = 0;
};

// The content of a gzip stream (RFC 1952), all its members. Throws UserError archive_invalid when
// it is no gzip, is damaged, ends early, or unpacks to more than `limit` bytes. Not thread-safe.
class GunzipSource final : public ByteSource {
 public:
  // `file` is borrowed.
  GunzipSource(const InputFile& file, std::uint64_t limit);
  ~GunzipSource() override;

  std::size_t Read(std::span<char> buffer) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compresses what it is given and hands the gzip stream on. The stream depends on nothing but the
// bytes: no time, no name. Not thread-safe.
class GzipWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit GzipWriter(Sink sink);
  ~GzipWriter();

  void Write(std::string_view bytes);
  // Ends the stream; nothing can be written afterwards.
  void Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swamp
