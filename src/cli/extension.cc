// swamp extension pull, install, update, outdated, rm, list, info, search, pack, push, version, trust.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/extension_tools.h"
#include "cli/picker.h"
#include "cli/render/table.h"
#include "extension/info.h"
#include "extension/install.h"
#include "extension/list.h"
#include "extension/pack.h"
#include "extension/pack_and_push.h"
#include "extension/pull.h"
#include "extension/remove.h"
#include "extension/results_json.h"
#include "extension/trust.h"
#include "extension/update.h"
#include "repo/find.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

std::optional<Channel> ChannelOf(const std::optional<std::string>& text) {
  return text ? std::optional(RequireChannel(*text)) : std::nullopt;
}

std::string Warnings(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += "Note: " + warning + "\n";
  return text;
}

// ---- pull, install, update ----

bool ConfirmPull(Session& session, const PullPlan& plan) {
  std::string text = "This installs:\n";
  for (const PulledExtension& one : plan.extensions) {
    text += fmt::format("  {} {}  {}\n", one.name, one.version, Printable(one.description, 60));
  }
  for (const std::string& collective : plan.untrusted_collectives) {
    text += fmt::format("Note: you have not marked @{} as trusted.\n", collective);
  }
  session.output().PrintNote(text + Warnings(plan.warnings));
  return session.Confirm("Go on?", false);
}

void AddPull(CLI::App& group, Session& session) {
  struct Options {
    std::string reference;
    bool yes = false;
    bool force = false;
    std::optional<std::string> channel;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "pull", "Install an extension and what it depends on");
  command->add_option("extension", options->reference, "@collective/name, or @collective/name@version")->required();
  command->add_flag("-y,--yes", options->yes, "Don't ask");
  command->add_flag("--force", options->force, "Overwrite edited files and files in the way");
  command->add_option("--channel", options->channel, "stable, rc or beta")->type_name("<channel>");
  command->callback([&session, options] {
    ExtensionTools tools(session);
    PullRequest request{.reference = RequireExtensionReference(options->reference), .channel = ChannelOf(options->channel),
                        .force = options->force};
    if (!options->yes && session.interactive()) {
      request.confirm = [&session](const PullPlan& plan) { return ConfirmPull(session, plan); };
    }
    const PullResult result =
        Pull(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), request);
    std::string text = "Nothing was installed.\n";
    if (!result.cancelled) {
      text = fmt::format("Installed {} {} ({}, {})\n", result.extension.name, result.extension.version,
                         result.extension.integrity, Count(result.extension.files.size(), "file"));
      for (const PulledExtension& one : result.dependencies) text += fmt::format("  with {} {}\n", one.name, one.version);
      text += Warnings(result.extension.warnings) + Warnings(result.warnings);
    }
    session.Print({ToJson(result), text});
  });
}

void AddInstall(CLI::App& group, Session& session) {
  struct Options {
    std::string name;
    bool force = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "install", "Restore every extension of the lockfile at its version");
  command->add_option("extension", options->name, "Only this one");
  command->add_flag("--force", options->force, "Overwrite edited files and files in the way");
  command->callback([&session, options] {
    ExtensionTools tools(session);
    tools.RefreshLockfile();
    InstallRequest request{.only = std::nullopt, .force = options->force};
    if (!options->name.empty()) request.only = RequireExtensionName(options->name);
    const InstallResult result =
        Install(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), request);
    std::string text;
    for (const InstallItem& item : result.entries) {
      const char* status = item.status == InstallItem::Status::kFailed      ? "FAILED"
                           : item.status == InstallItem::Status::kInstalled ? "installed"
                                                                            : "up to date";
      text += fmt::format("{:<11} {} {}\n", status, item.name, item.version);
      if (item.error) text += fmt::format("            {}\n", item.error->message);
      for (const std::string& path : item.edited) text += fmt::format("            edited here, left alone: {}\n", path);
    }
    if (!result.warning.empty()) text += "Note: " + result.warning + "\n";
    session.Print({ToJson(result), text});
    if (result.unpublished) throw UserError(result.unpublished->code, result.unpublished->message,
                                             "It is recorded; `swamp datastore sync` or the next change publishes it.");
    if (result.failed > 0) throw ExitQuietly{1};
  });
}

std::string RenderUpdates(const std::vector<UpdateItem>& items) {
  if (items.empty()) return "No extensions are installed.\n";
  Table table({"NAME", "INSTALLED", "LATEST", "STATUS"});
  for (const UpdateItem& item : items) {
    const char* status = item.status == UpdateItem::Status::kUpdated           ? "updated"
                         : item.status == UpdateItem::Status::kFailed          ? "FAILED"
                         : item.status == UpdateItem::Status::kUpdateAvailable ? "update available"
                                                                               : "up to date";
    table.Add({item.name, item.installed_version, item.latest_version, status});
  }
  std::string text = table.Render();
  for (const UpdateItem& item : items) {
    if (item.error) text += fmt::format("{}: {}\n", item.name, item.error->message);
    if (item.deprecated) text += fmt::format("{} is deprecated: {}\n", item.name, Printable(*item.deprecated));
  }
  return text;
}

void AddUpdate(CLI::App& group, Session& session) {
  struct Options {
    std::string name;
    bool check = false;
    bool force = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "update", "Install newer versions of one extension or of all");
  command->add_option("extension", options->name, "Only this one");
  command->add_flag("--check", options->check, "Only say what there is");
  command->add_flag("--force", options->force, "Overwrite edited files and files in the way");
  command->callback([&session, options] {
    ExtensionTools tools(session);
    tools.RefreshLockfile();
    UpdateRequest request{.only = std::nullopt, .check_only = options->check, .force = options->force};
    if (!options->name.empty()) request.only = RequireExtensionName(options->name);
    const UpdateResult result =
        Update(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), request);
    session.Print({ToJson(result), RenderUpdates(result.extensions)});
    if (result.failed > 0) throw ExitQuietly{1};
  });

  CLI::App* outdated = AddRepoCommand(group, session, "outdated", "List extensions with newer versions");
  outdated->callback([&session] {
    ExtensionTools tools(session);
    tools.RefreshLockfile();
    const std::vector<UpdateItem> items =
        CheckForUpdates(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), std::nullopt);
    session.Print({OutdatedToJson(items), RenderUpdates(items)});
  });
}

// ---- rm, list, info, search ----

void AddRemove(CLI::App& group, Session& session) {
  struct Options {
    std::string name;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "rm", "Remove an extension");
  command->add_option("extension", options->name, "@collective/name")->required();
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    ExtensionTools tools(session);
    RemoveRequest request{.name = RequireExtensionName(options->name), .force = options->confirmation.force};
    if (!options->confirmation.given() && !session.options.json) {
      request.confirm = [&session](const RemovalPreview& preview) {
        session.output().PrintNote(fmt::format("This removes {} {} with {}.\n", preview.name, preview.version,
                                               Count(preview.files.size(), "file")));
        return session.Confirm("Go on?", false);
      };
    }
    const RemoveResult result = Remove(session.context(), tools.Site(), tools.Installed(), request);
    if (result.cancelled) {
      session.Print({{{"cancelled", true}}, "Nothing was removed.\n"});
      return;
    }
    std::string text = fmt::format("Removed {} {} ({})\n", result.removed.name, result.removed.version,
                                   Count(result.removed.files.size(), "file"));
    for (const std::string& path : result.removed.edited) text += "Left, because it was edited here: " + path + "\n";
    for (const std::string& path : result.removed.unknown) text += "Left, because it is not the extension's: " + path + "\n";
    for (const RefusedPath& path : result.removed.refused) text += fmt::format("Refused {}: {}\n", path.path, path.reason);
    if (!result.removed.hint.empty()) text += "Note: " + result.removed.hint + "\n";
    session.Print({ToJson(result), text});
  });
}

void AddList(CLI::App& group, Session& session) {
  struct Options {
    bool check = false;
    bool no_check = false;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "list", "List the extensions of the lockfile");
  command->add_flag("--check-updates", options->check, "Also ask the registry for newer versions");
  command->add_flag("--no-check-updates", options->no_check, "Don't ask (the default)");
  command->add_flag("--refresh", options->refresh, "Bring the lockfile up to date first");
  command->callback([&session, options] {
    ExtensionTools tools(session);
    if (options->refresh) tools.RefreshLockfile();
    const std::vector<ListedExtension> listed = ListExtensions(session.context(), tools.Site(), tools.Installed());
    Json json = ToJson(listed);
    std::string text = "No extensions are installed.\n";
    if (!listed.empty()) {
      Table table({"NAME", "VERSION", "PULLED", "HERE"});
      for (const ListedExtension& one : listed) {
        table.Add({one.name, one.version, one.pulled_at,
                   one.built_in ? "built in" : one.installed ? "installed" : "not installed here: swamp extension install"});
      }
      text = table.Render();
    }
    if (options->check && !options->no_check) {
      const std::vector<UpdateItem> items =
          CheckForUpdates(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), std::nullopt);
      json["updates"] = OutdatedToJson(items)["extensions"];
      text += "\n" + RenderUpdates(items);
    }
    session.Print({std::move(json), std::move(text)});
  });
}

void PrintInfo(Session& session, const std::string& name) {
  ExtensionTools tools(session);
  const ExtensionInfo info =
      GetInfo(session.context(), tools.Installed(), tools.ExtensionRegistry(), RequireExtensionName(name));
  std::string text = LabelledLines({{"Name", name},
                                    {"Description", StringMember(info.entry, "description").value_or("")},
                                    {"Latest", StringMember(info.entry, "latestVersion").value_or("-")}});
  if (!info.installed_version.empty()) text += LabelledLines({{"Installed", info.installed_version}});
  for (const auto& [kind, names] : info.content_metadata.items()) {
    if (names.is_array() && !names.empty()) text += LabelledLines({{kind, CompactJson(names)}});
  }
  if (!info.hint.empty()) text += "Note: " + info.hint + "\n";
  session.Print({ToJson(info), text});
}

void AddInfo(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "info", "What the registry says of an extension");
  command->add_option("name", *name, "@collective/name")->required();
  command->callback([&session, name] {
    PrintInfo(session, *name);
  });
}

void AddSearch(CLI::App& group, Session& session) {
  auto query = std::make_shared<SearchQuery>();
  CLI::App* command = AddRepoCommand(group, session, "search", "Find extensions in the registry");
  command->add_option("query", query->text, "Words to look for");
  command->add_option("--collective", query->collective, "Only of this collective")->type_name("<collective>");
  command->add_option("--platform", query->platforms, "Only for this platform (repeatable)")->type_name("<platform>");
  command->add_option("--label", query->labels, "Only with this label (repeatable)")->type_name("<label>");
  command->add_option("--content-type", query->content_types, "Only with this kind of content (repeatable)")->type_name("<kind>");
  command->add_option("--sort", query->sort, "Order of the results")->type_name("<order>");
  command->add_option("--channel", query->channels, "stable, rc or beta (repeatable)")->type_name("<channel>");
  command->add_option("--per-page", query->per_page, "Results on a page")->capture_default_str();
  command->add_option("--page", query->page, "Which page")->capture_default_str();
  command->callback([&session, query] {
    ExtensionTools tools(session);
    const SearchResult result = Search(session.context(), tools.ExtensionRegistry(), *query);
    std::string text = "No extension matches.\n";
    if (!result.extensions.empty()) {
      Table table({"NAME", "LATEST", "DESCRIPTION"});
      for (const Json& one : result.extensions) {
        table.Add({StringMember(one, "name").value_or(""), StringMember(one, "latestVersion").value_or("-"),
                   Printable(StringMember(one, "description").value_or(""), 70)});
      }
      text = table.Render();
    }
    PrintOrPick(session, {ToJson(result), text}, result.extensions.size(), [&](std::size_t row) {
      PrintInfo(session, StringMember(result.extensions[row], "name").value_or(""));
    });
  });
}

// ---- pack, push, version ----

void AddPublishing(CLI::App& group, Session& session) {
  struct PackOptions {
    std::string source;
    std::optional<std::string> out;
  };
  auto pack_options = std::make_shared<PackOptions>();
  CLI::App* pack = group.add_subcommand("pack", "Write an extension's archive from its sources");
  pack->add_option("source", pack_options->source, "A folder with a manifest.yaml, or a manifest")->required();
  pack->add_option("--out", pack_options->out, "The archive to write")->type_name("<file>");
  pack->callback([&session, pack_options] {
    const Context& context = session.context();
    const std::filesystem::path here = context.environment().WorkingDirectory();
    PackRequest request{.source = ExpandPath(context, pack_options->source, here)};
    if (pack_options->out) request.out = ExpandPath(context, *pack_options->out, here);
    const PackResult result = Pack(context, request);
    session.Print({ToJson(result), fmt::format("Packed {} ({} bytes)\nsha256 {}\n", result.archive.string(), result.size,
                                               result.checksum)});
  });

  struct PublishOptions {
    std::string source;
    Confirmation confirmation;
    bool dry_run = false;
    std::optional<std::string> channel;
  };
  auto push_options = std::make_shared<PublishOptions>();
  CLI::App* push = AddRepoCommand(group, session, "push", "Publish an extension to the registry");
  push->add_option("manifest-path", push_options->source, "A manifest, its folder, or an archive")->required();
  AddConfirmation(*push, push_options->confirmation);
  push->add_flag("--dry-run", push_options->dry_run, "Check everything, publish nothing");
  push->add_option("--channel", push_options->channel, "stable, rc or beta")->type_name("<channel>");
  push->callback([&session, push_options] {
    const Context& context = session.context();
    ExtensionTools tools(session);
    const std::filesystem::path source =
        ExpandPath(context, push_options->source, context.environment().WorkingDirectory());
    if (!push_options->dry_run &&
        !session.Confirm(fmt::format("Publish {} to {}?", push_options->source, tools.ExtensionRegistry().url()),
                         push_options->confirmation.given())) {
      session.Print({{{"cancelled", true}}, "Nothing was published.\n"});
      return;
    }
    const PushResult result = PackAndPush(context, tools.ExtensionRegistry(), source,
                                          ChannelOf(push_options->channel).value_or(Channel::kStable),
                                          push_options->dry_run);
    session.Print({ToJson(result), fmt::format("{} {} {} ({}) to {}\n", result.published ? "Published" : "Checked", result.name,
                                               result.version, result.channel, result.registry) +
                                       Warnings(result.warnings)});
  });

  auto name = std::make_shared<std::string>();
  CLI::App* version = AddRepoCommand(group, session, "version", "Published versions, and the next one to publish");
  version->add_option("name", *name, "@collective/name")->required();
  version->callback([&session, name] {
    ExtensionTools tools(session);
    const PublishedVersions published =
        GetPublishedVersions(session.context(), tools.ExtensionRegistry(), RequireExtensionName(*name));
    session.Print({ToJson(published), LabelledLines({{"Current", published.current.empty() ? "none" : published.current},
                                                     {"Next", published.next}})});
  });
}

// ---- trust ----

void PrintTrustChange(Session& session, const TrustChange& change) {
  session.Print({ToJson(change), fmt::format("{} @{}\nTrusted: {}\n", change.action, change.collective,
                                             Join(change.trusted_collectives, ", "))});
}

void AddTrust(CLI::App& group, Session& session) {
  CLI::App* trust = AddGroup(group, "trust", "Collectives whose extensions may be installed on first use");
  CLI::App* list = AddRepoCommand(*trust, session, "list", "Trusted collectives");
  list->callback([&session] {
    const TrustSettings settings = ExtensionTools(session).Trust();
    std::string text;
    for (const std::string& collective : ResolveTrust(settings)) text += "@" + collective + "\n";
    session.Print({ToJson(settings), text.empty() ? "None.\n" : text});
  });

  using Change = TrustChange (*)(std::vector<std::string>, std::string_view);
  const auto add = [&](const char* name, const char* description, Change change) {
    auto collective = std::make_shared<std::string>();
    CLI::App* command = AddRepoCommand(*trust, session, name, description);
    command->add_option("collective", *collective, "The collective, with or without @")->required();
    command->callback([&session, collective, change] {
      TrustChange result;
      const std::vector<std::string> current = ExtensionTools(session).Trust().explicit_collectives;
      change(current, *collective);  // refuses before the marker is touched
      ChangeMarker(session.context(), session.repo().root, [&](Marker& marker) {
        const auto stored = marker.json().contains("trustedCollectives") ? marker.Strings("trustedCollectives")
                                                                         : std::vector<std::string>{"swamp"};
        result = change(stored, *collective);
        if (result.action != "unchanged") marker.Set({"trustedCollectives"}, result.trusted_collectives);
      });
      PrintTrustChange(session, result);
    });
  };
  add("add", "Trust a collective", AddTrusted);
  add("rm", "Trust a collective no longer", RemoveTrusted);

  auto enabled = std::make_shared<std::string>();
  CLI::App* automatic = AddRepoCommand(*trust, session, "auto-trust", "Trust the collectives that you are a member of");
  automatic->add_option("enabled", *enabled, "on or off")->required()->check(CLI::IsMember({"on", "off", "true", "false"}));
  automatic->callback([&session, enabled] {
    const bool on = *enabled == "on" || *enabled == "true";
    ChangeMarker(session.context(), session.repo().root,
                 [&](Marker& marker) { marker.Set({"trustMemberCollectives"}, on); });
    session.Print({{{"trustMemberCollectives", on}}, fmt::format("Membership gives trust: {}\n", on ? "yes" : "no")});
  });
}

}  // namespace

void AddExtensionCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "extension", "Extensions: packages of types, workflows and more");
  AddPull(*group, session);
  AddInstall(*group, session);
  AddUpdate(*group, session);
  AddRemove(*group, session);
  AddList(*group, session);
  AddInfo(*group, session);
  AddSearch(*group, session);
  AddPublishing(*group, session);
  AddTrust(*group, session);
  AddExtensionSource(*group, session);
}

}  // namespace swamp
