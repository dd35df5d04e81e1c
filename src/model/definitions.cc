#include "model/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datastore/edit_document.h"
#include "util/digest.h"
#include "util/files.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kFolder = "models";
constexpr std::size_t kShortestPrefix = 3;

std::string WithoutDashes(const std::string& text) { return ReplaceAll(AsciiLower(text), "-", ""); }

bool LooksLikeIdPrefix(const std::string& text) {
  const std::string digits = WithoutDashes(text);
  return digits.size() >= kShortestPrefix && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

UserError Ambiguous(const std::string& reference, const std::vector<StoredDefinition>& matches) {
  std::string list;
  for (const StoredDefinition& match : matches) {
    list += fmt::format("\n  {}  {}  {}  ({})", match.definition.id, match.definition.type, match.definition.name,
                        match.document.path);
  }
  return {"ambiguous_id", fmt::format("\"{}\" is the name of more than one model:{}", Printable(reference, 80), list),
          "Use the id of the one you mean."};
}

}  // namespace

std::string TypeOfPath(const std::string& path) {
  const std::size_t first = path.find('/');
  const std::size_t last = path.rfind('/');
  return first == last ? std::string() : path.substr(first + 1, last - first - 1);
}

std::vector<StoredDefinition> Definitions::Load(const std::function<bool(const std::string&)>& may_match, bool warn) {
  std::vector<StoredDefinition> loaded;
  for (const std::string& path : config_.List(context_, std::string(kFolder))) {
    if (!IsYamlPath(path) || TypeOfPath(path).empty()) continue;
    auto document = config_.Read(context_, path);
    if (!document || !may_match(document->bytes)) continue;
    try {
      loaded.push_back({Definition::Parse(document->bytes, config_.Locate(path).string(), TypeOfPath(path)),
                        std::move(*document)});
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      if (warn) context_.log().Warn("model", "left out: " + error.message());
    }
  }
  return loaded;
}

std::vector<StoredDefinition> Definitions::LoadAutomatic(const std::function<bool(const std::string&)>& may_match) {
  std::vector<StoredDefinition> loaded;
  if (datastore_ == nullptr) return loaded;
  const std::filesystem::path folder = datastore_->FolderOf(kAutoDefinitionsFolder);
  for (const std::string& name : ListFilesBelow(context_.files(), folder)) {
    const std::string path = fmt::format("{}/{}", kAutoDefinitionsFolder, name);
    if (!IsYamlPath(path) || TypeOfPath(path).empty() || path.find("/.") != std::string::npos) continue;
    auto bytes = ReadFile(context_.files(), folder / name);
    if (!bytes || !may_match(*bytes)) continue;
    try {
      Definition definition = Definition::Parse(*bytes, (folder / name).string(), TypeOfPath(path));
      std::string version = Sha256Hex(*bytes);
      loaded.push_back({std::move(definition), {path, std::move(*bytes), std::move(version)}, true});
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      context_.log().Warn("model", "left out: " + error.message());
    }
  }
  return loaded;
}

std::filesystem::path Definitions::Locate(const StoredDefinition& stored) const {
  if (!stored.automatic || datastore_ == nullptr) return config_.Locate(stored.document.path);
  return datastore_->FolderOf(kAutoDefinitionsFolder) /
         stored.document.path.substr(kAutoDefinitionsFolder.size() + 1);
}

std::vector<StoredDefinition> Definitions::All() {
  return Load([](const std::string&) { return true; }, true);
}

std::optional<StoredDefinition> Definitions::Find(const std::string& name_or_id) {
  const std::string lower = AsciiLower(name_or_id);
  const auto mentions = [&](const std::string& bytes) {
    return bytes.find(name_or_id) != std::string::npos || AsciiLower(bytes).find(lower) != std::string::npos;
  };
  std::vector<StoredDefinition> candidates = Load(mentions, false);
  const auto pick = [&](const auto& matches) -> std::optional<StoredDefinition> {
    std::vector<StoredDefinition> found;
    for (const StoredDefinition& candidate : candidates) {
      if (matches(candidate.definition)) found.push_back(candidate);
    }
    if (found.size() > 1) throw Ambiguous(name_or_id, found);
    if (found.empty()) return std::nullopt;
    return found.front();
  };
  if (auto found = pick([&](const Definition& one) { return one.name == name_or_id; })) return found;
  if (const auto file = FindFile(name_or_id)) {
    // It is there, but no definition came of it: say why.
    Definition::Parse(file->bytes, config_.Locate(file->path).string(), TypeOfPath(file->path));
  }
  // People's definitions come first, so that an automatic one of the same name doesn't stand in the way.
  const std::vector<StoredDefinition> made_by_people = std::exchange(candidates, LoadAutomatic(mentions));
  if (auto found = pick([&](const Definition& one) { return one.name == name_or_id; })) return found;
  candidates.insert(candidates.begin(), made_by_people.begin(), made_by_people.end());
  if (auto found = pick([&](const Definition& one) { return one.id == lower; })) return found;
  if (!LooksLikeIdPrefix(name_or_id)) return std::nullopt;
  const std::string prefix = WithoutDashes(name_or_id);
  candidates = Load([](const std::string&) { return true; }, false);
  for (StoredDefinition& one : LoadAutomatic([](const std::string&) { return true; })) candidates.push_back(std::move(one));
  return pick([&](const Definition& one) { return WithoutDashes(one.id).starts_with(prefix); });
}

StoredDefinition Definitions::Require(const std::string& name_or_id) {
  if (auto found = Find(name_or_id)) return std::move(*found);
  const std::vector<std::string> names = Names();
  const auto near = NearestWords(name_or_id, names);
  throw UserError("model_not_found", fmt::format("Model not found: {}", Printable(name_or_id, 80)),
                  near.empty() ? "`swamp model search` lists the models." : "Did you mean " + Join(near, " or ") + "?");
}

StoredDefinition Definitions::RequireForChange(const std::string& name_or_id) {
  if (auto found = Find(name_or_id)) return std::move(*found);
  // It may be a peer's, or removed by a command that died before it published that: this makes up for both.
  config_.Begin(context_);
  return Require(name_or_id);
}

std::optional<Document> Definitions::FindFile(const std::string& name) {
  return FindDocumentFile(context_, config_, std::string(kFolder), [&](const std::string& stem) { return stem == name; });
}

std::vector<std::string> Definitions::Names() {
  std::vector<std::string> names;
  for (const StoredDefinition& one : Load([](const std::string&) { return true; }, false)) {
    names.push_back(one.definition.name);
  }
  return names;
}

}  // namespace swamp
