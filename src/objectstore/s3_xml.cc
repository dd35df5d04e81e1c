#include "objectstore/s3_xml.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

#include "objectstore/xml_reader.h"
#include "util/text.h"

namespace swamp {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// encoding-type=url: percent-encoded, a blank also as "+".
std::optional<std::string> DecodeKey(std::string_view encoded) {
  return PercentDecode(ReplaceAll(std::string(encoded), "+", " "));
}

// Collects what the elements of a listing say, in the order in which they end.
class ListingReader {
 public:
  explicit ListingReader(S3Listing& listing) : listing_(listing) {}

  void Take(std::string_view path, std::string_view text) {
    constexpr std::string_view kRoot = "ListBucketResult";
    if (path == kRoot) {
      is_listing_ = true;
      return;
    }
    if (!path.starts_with(kRoot)) return;
    path.remove_prefix(kRoot.size() + 1);
    if (path == "Contents") {
      TakeObject();
    } else if (path.starts_with("Contents/")) {
      fields_.insert_or_assign(std::string(path.substr(sizeof("Contents/") - 1)), text);
    } else if (path == "CommonPrefixes/Prefix") {
      raw_folders_.emplace_back(text);
    } else {
      page_.insert_or_assign(std::string(path), text);
    }
  }

  // Why the page is none; empty: it is one.
  std::string Finish() {
    if (!is_listing_) return "it is no ListBucketResult";
    const std::string& truncated = page_["IsTruncated"];
    if (truncated != "true" && truncated != "false")
      return "it does not say whether it is the last page";
    if (truncated == "true") {
      listing_.next_token = page_["NextContinuationToken"];
      if (listing_.next_token.empty()) return "it is not the last page, but does not name the next";
    }
    const auto count = page_.find("KeyCount");
    const std::size_t entries = raw_.size() + raw_folders_.size();
    if (count != page_.end() && ParseNumber(count->second) != entries) {
      return fmt::format("it counts {} keys, but has {}", Printable(count->second, 20), entries);
    }
    const bool encoded = page_["EncodingType"] == "url";
    for (const auto& fields : raw_) {
      if (std::string problem = AddObject(fields, encoded); !problem.empty()) return problem;
    }
    for (const std::string& folder : raw_folders_) {
      if (std::string problem = AddFolder(folder, encoded); !problem.empty()) return problem;
    }
    return {};
  }

 private:
  using Fields = std::map<std::string, std::string, std::less<>>;

  void TakeObject() {
    raw_.push_back(std::move(fields_));
    fields_.clear();
  }

  std::string AddObject(const Fields& fields, bool encoded) {
    const auto field = [&](std::string_view name) {
      const auto found = fields.find(name);
      return found == fields.end() ? std::string() : found->second;
    };
    const auto key = encoded ? DecodeKey(field("Key")) : field("Key");
    if (!key) return fmt::format("its key {} is not encoded rightly", Printable(field("Key"), 120));
    const auto size = ParseNumber(field("Size"));
    const auto modified = ParseTime(field("LastModified"));
    const std::string etag = WithoutQuotes(field("ETag"));
    if (!size || !modified || etag.empty()) {
      return fmt::format("its entry for {} lacks size, time or ETag", Printable(*key, 120));
    }
    if (!listing_.objects.empty() && *key <= listing_.objects.back().key) {
      return fmt::format("its keys are out of order at {}", Printable(*key, 120));
    }
    listing_.objects.push_back({*key, {etag}, *size, *modified});
    return {};
  }

  std::string AddFolder(const std::string& raw, bool encoded) {
    const auto folder = encoded ? DecodeKey(raw) : std::optional(raw);
    if (!folder || !folder->ends_with('/')) return fmt::format("its folder {} is none", Printable(raw, 120));
    if (!listing_.folders.empty() && *folder <= listing_.folders.back()) {
      return fmt::format("its folders are out of order at {}", Printable(*folder, 120));
    }
    listing_.folders.push_back(*folder);
    return {};
  }

  S3Listing& listing_;
  bool is_listing_ = false;
  Fields page_;
  Fields fields_;
  std::vector<Fields> raw_;
  std::vector<std::string> raw_folders_;
};

}  // namespace

std::string WithoutQuotes(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
    etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

std::string ParseS3Listing(std::string_view xml, S3Listing& listing) {
  listing = {};
  ListingReader reader(listing);
  std::string problem =
      ReadXml(xml, [&](std::string_view path, std::string_view text) { reader.Take(path, text); });
  return problem.empty() ? reader.Finish() : problem;
}

S3ErrorBody ParseS3Error(std::string_view xml) {
  std::map<std::string, std::string> texts = XmlTexts(xml);
  return {std::move(texts["Error/Code"]), std::move(texts["Error/Message"]),
          std::move(texts["Error/Region"]), std::move(texts["Error/RequestId"])};
}

}  // namespace swamp
