// swamp extension source list, add, rm.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/render/table.h"
#include "extension/sources.h"
#include "util/text.h"

namespace swamp {
namespace {

Json ToJson(Session& session, const ExtensionSource& source) {
  Json json = {{"path", source.path}, {"folder", source.folder.string()}};
  if (!source.only.empty()) json["only"] = source.only;
  json["exists"] = session.context().files().Stat(source.folder).has_value();
  return json;
}

Json ToJson(Session& session, const std::vector<ExtensionSource>& sources) {
  Json list = Json::array();
  for (const ExtensionSource& one : sources) list.push_back(ToJson(session, one));
  return list;
}

void PrintChange(Session& session, const SourceChange& change) {
  Json json = {{"action", change.action}};
  json["source"] = ToJson(session, change.source);
  json["sources"] = ToJson(session, change.sources);
  session.Print({std::move(json), fmt::format("{} {}\n", change.action, change.source.path)});
}

}  // namespace

void AddExtensionSource(CLI::App& group, Session& session) {
  CLI::App* source = AddGroup(group, "source", "Folders with extension sources in development");
  CLI::App* list = AddRepoCommand(*source, session, "list", "Source folders of this checkout");
  list->callback([&session] {
    const std::vector<ExtensionSource> sources = ReadSources(session.context(), session.repo().root);
    Table table({"PATH", "ONLY", "FOLDER"});
    for (const ExtensionSource& one : sources) {
      const bool exists = session.context().files().Stat(one.folder).has_value();
      table.Add({one.path, one.only.empty() ? "all" : Join(one.only, ", "), exists ? one.folder.string() : "missing"});
    }
    session.Print({{{"sources", ToJson(session, sources)}}, sources.empty() ? std::string("None.\n") : table.Render()});
  });

  struct Options {
    std::string path;
    std::string only;
  };
  auto options = std::make_shared<Options>();
  CLI::App* add = AddRepoCommand(*source, session, "add", "Add a source folder");
  add->add_option("path", options->path, "The folder")->required();
  add->add_option("--only", options->only, "Only these kinds, such as models,vaults")->type_name("<kinds>");
  add->callback([&session, options] {
    std::vector<std::string> kinds;
    for (const std::string& kind : Split(options->only, ',')) {
      if (const auto trimmed = Trim(kind); !trimmed.empty()) kinds.emplace_back(trimmed);
    }
    PrintChange(session, AddSource(session.context(), session.repo().root, options->path, kinds));
  });

  auto path = std::make_shared<std::string>();
  CLI::App* remove = AddRepoCommand(*source, session, "rm", "Remove a source folder from the list; nothing is deleted");
  remove->add_option("path", *path, "The folder, or its path as listed")->required();
  remove->callback([&session, path] {
    PrintChange(session, RemoveSource(session.context(), session.repo().root, *path));
  });
}

}  // namespace swamp
