#include "datastore/settings.h"

#include <fmt/format.h>

#include <charconv>

#include "datastore/tier_path.h"
#include "repo/find.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "datastore·config";

[[noreturn]] void Fail(const std::string& message, const std::string& hint = {}) {
  throw UserError("datastore_config_invalid", message, hint);
}

std::vector<std::string> StringList(const Json& block, const std::string& key) {
  std::vector<std::string> strings;
  const auto found = block.find(key);
  if (found == block.end() || found->is_null()) return strings;
  if (!found->is_array()) Fail(fmt::format("datastore.{} has to be a list of strings", key));
  for (const Json& item : *found) {
    if (!item.is_string()) Fail(fmt::format("datastore.{} has to be a list of strings", key));
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::vector<std::string> AllTierFolders() {
  std::vector<std::string> folders;
  for (const std::string_view folder : TierFolders()) folders.emplace_back(folder);
  return folders;
}

// "s3:bucket/prefix" as a config map.
Json ConfigOfShortForm(std::string_view value) {
  Json config = {{"bucket", std::string(value.substr(0, value.find('/')))}};
  if (const std::size_t slash = value.find('/'); slash != std::string_view::npos) {
    config["prefix"] = std::string(value.substr(slash + 1));
  }
  return config;
}

void SetType(const Context& context, DatastoreSettings& settings, const std::string& type) {
  settings.type = type;
  if (type == "filesystem") {
    settings.kind = DatastoreSettings::Kind::kFolder;
    return;
  }
  if (type == "s3") {
    context.log().Warn(kLog, fmt::format("the datastore type \"s3\" is now called {}", kS3DatastoreType));
    settings.type = kS3DatastoreType;
  }
  if (settings.type != kS3DatastoreType) {
    throw UserError("unknown_datastore_type", fmt::format("there is no datastore type \"{}\"", Printable(type, 80)),
                    fmt::format("Built in are filesystem and {}. Other types come with extensions, which this "
                                "version cannot run yet.",
                                kS3DatastoreType));
  }
  settings.kind = DatastoreSettings::Kind::kS3;
}

void SetFolder(const Context& context, DatastoreSettings& settings, const Repository& repo,
               const std::optional<std::string>& path) {
  settings.is_default = !path;
  settings.folder = path ? ExpandPath(context, *path, repo.root) : repo.swamp_folder();
}

// "<type>:<value>" of SWAMP_DATASTORE and --datastore.
void ApplyShortForm(const Context& context, DatastoreSettings& settings, const Repository& repo,
                    const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    Fail(fmt::format("\"{}\" is not of the form type:value", Printable(text, 80)),
         "Forms: filesystem:/path, s3:bucket/prefix, @swamp/s3-datastore:{\"bucket\":\"b\"}.");
  }
  const std::string type = text.substr(0, colon);
  const std::string value = text.substr(colon + 1);
  SetType(context, settings, type);
  if (settings.kind == DatastoreSettings::Kind::kFolder) {
    SetFolder(context, settings, repo, value);
  } else {
    settings.config = type == "s3" ? ConfigOfShortForm(value)
                                   : ParseJson(value, "the datastore config", "datastore_config_invalid");
  }
}

void ApplyMarkerType(const Context& context, DatastoreSettings& settings, const Repository& repo, const Json& block) {
  SetType(context, settings, StringMember(block, "type").value_or("filesystem"));
  if (settings.kind == DatastoreSettings::Kind::kFolder) {
    SetFolder(context, settings, repo, StringMember(block, "path"));
    return;
  }
  const auto config = block.find("config");
  settings.config = config != block.end() && config->is_object() ? *config : Json::object();
  // Markers of the older type "s3" have these keys in the block itself.
  for (const char* key : {"bucket", "prefix", "region", "endpoint", "forcePathStyle"}) {
    if (block.contains(key) && !settings.config.contains(key)) settings.config[key] = block[key];
  }
}

void ApplyMarkerOptions(const Context& context, DatastoreSettings& settings, const Repository& repo,
                        const Json& block) {
  if (const auto directories = StringList(block, "directories"); !directories.empty()) {
    for (const std::string& directory : directories) {
      const auto folders = TierFolders();
      if (std::find(folders.begin(), folders.end(), directory) == folders.end()) {
        Fail(fmt::format("datastore.directories names \"{}\", which is no folder of a datastore",
                         Printable(directory, 60)),
             "Folders: " + Join(AllTierFolders(), ", ") + ".");
      }
    }
    settings.directories = directories;
  }
  settings.exclude = StringList(block, "exclude");
  if (const auto slug = StringMember(block, "namespace")) {
    CheckNamespace(*slug);
    settings.name_space = slug;
  }
  const auto managed = block.find("managedConfig");
  settings.managed_config =
      managed != block.end() && managed->is_boolean() ? managed->get<bool>() : repo.marker.Bool("managedConfig");
  if (const auto timeout = block.find("syncTimeoutMs"); timeout != block.end()) {
    const auto ms = IntegerMember(block, "syncTimeoutMs");
    if (!ms || *ms <= 0) Fail("datastore.syncTimeoutMs has to be a positive number of milliseconds");
    settings.sync_timeout = Duration(*ms);
  } else {
    settings.sync_timeout =
        LimitFromEnvironment(context, "SWAMP_DATASTORE_SYNC_TIMEOUT_MS", settings.sync_timeout);
  }
  if (const auto strategy = StringMember(block, "hydrationStrategy")) {
    if (*strategy != "full" && *strategy != "lazy") {
      Fail(fmt::format("datastore.hydrationStrategy is \"{}\"; it has to be full or lazy", Printable(*strategy, 40)));
    }
    settings.lazy = *strategy == "lazy";
  }
  const auto unsafe = block.find("allowUnsafeStore");
  settings.allow_unsafe_store = unsafe != block.end() && unsafe->is_boolean() && unsafe->get<bool>();
}

std::string ResolveString(const Context& context, std::string text, const std::string& key, bool managed) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find("${{");
    if (begin == std::string::npos) return out + text;
    const std::size_t end = text.find("}}", begin);
    if (end == std::string::npos) Fail(fmt::format("datastore.config.{}: \"${{{{\" is not closed", key));
    const std::string expression(Trim(std::string_view(text).substr(begin + 3, end - begin - 3)));
    if (expression.starts_with("vault.get(")) {
      if (managed) {
        Fail(fmt::format("datastore.config.{} refers to a vault, but with managed config the vaults' own "
                         "configuration lives in this very datastore",
                         key),
             "Use ${{ env.NAME }} there.");
      }
      Fail(fmt::format("datastore.config.{} refers to a vault, which this version does not resolve there", key),
           "Use ${{ env.NAME }} there.");
    }
    if (!expression.starts_with("env.")) {
      Fail(fmt::format("datastore.config.{}: \"{}\" is not of the form env.NAME", key, Printable(expression, 80)));
    }
    const std::string name = expression.substr(4);
    const auto value = context.environment().GetNonEmpty(name);
    if (!value) {
      Fail(fmt::format("datastore.config.{} needs the environment variable {}, which is unset or empty", key,
                       Printable(name, 80)));
    }
    out += text.substr(0, begin) + *value;
    text.erase(0, end + 2);
  }
}

}  // namespace

void CheckNamespace(const std::string& slug) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool valid = !slug.empty() && slug.size() <= 63 && plain(slug.front()) && plain(slug.back());
  for (const char c : slug) valid = valid && (plain(c) || c == '-');
  const auto folders = TierFolders();
  const bool taken = std::find(folders.begin(), folders.end(), slug) != folders.end();
  if (valid && !taken) return;
  throw UserError("namespace_invalid",
                  taken ? fmt::format("\"{}\" is a folder of the datastore and cannot be a namespace", slug)
                        : fmt::format("\"{}\" cannot be a namespace", Printable(slug, 80)),
                  "Use 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or a digit.");
}

Duration LimitFromEnvironment(const Context& context, const std::string& name, Duration fallback) {
  const auto text = context.environment().GetNonEmpty(name);
  if (!text) return fallback;
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ms);
  if (error != std::errc() || end != text->data() + text->size() || ms <= 0) {
    context.log().Warn(kLog, fmt::format("{} is not a positive number of milliseconds and is ignored", name));
    return fallback;
  }
  return Duration(ms);
}

Json ResolveConfigExpressions(const Context& context, const Json& config, bool managed) {
  if (!config.is_object()) return config;
  Json resolved = config;
  for (auto& [key, value] : resolved.items()) {
    if (value.is_string()) value = ResolveString(context, value.get<std::string>(), key, managed);
  }
  return resolved;
}

DatastoreSettings ResolveDatastore(const Context& context, const Repository& repo,
                                   const std::optional<std::string>& flag) {
  DatastoreSettings settings;
  settings.directories = AllTierFolders();
  Json block = Json::object();
  if (const auto found = repo.marker.json().find("datastore"); found != repo.marker.json().end()) {
    if (!found->is_object() && !found->is_null()) Fail("\"datastore\" in .swamp.yaml has to be a map");
    if (found->is_object()) block = *found;
  }
  if (const auto variable = context.environment().GetNonEmpty("SWAMP_DATASTORE")) {
    ApplyShortForm(context, settings, repo, *variable);
  } else if (flag) {
    ApplyShortForm(context, settings, repo, *flag);
  } else {
    ApplyMarkerType(context, settings, repo, block);
  }
  ApplyMarkerOptions(context, settings, repo, block);
  settings.lock_timeout = LimitFromEnvironment(context, "SWAMP_LOCK_TIMEOUT_MS", settings.lock_timeout);
  settings.config = ResolveConfigExpressions(context, settings.config, settings.managed_config);
  return settings;
}

}  // namespace swamp
