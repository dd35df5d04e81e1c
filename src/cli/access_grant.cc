// swamp access grant create, list, revoke; swamp access reload.

#include <fmt/format.h>

#include "access/grant.h"
#include "access/grants_file.h"
#include "cli/access.h"
#include "cli/builder.h"
#include "cli/render/table.h"
#include "util/text.h"

namespace swamp {
namespace {

Grants GrantsOf(Session& session) { return {session.context(), RecordServicesOf(session)}; }

std::string TextOf(const GrantTerms& terms) {
  return fmt::format("{} {} {} on {}{}", NameOf(terms.effect), Printable(terms.subject.text(), 600), Join(terms.actions, ","),
                     Printable(terms.resource.text(), 600),
                     terms.condition ? fmt::format(" when {}", Printable(*terms.condition, 200)) : std::string());
}

// ---- create ----

struct CreateOptions {
  std::string subject;
  std::string allow;
  std::string deny;
  std::string on;
  std::optional<std::string> when;
};

GrantTerms TermsOf(const CreateOptions& options) {
  if (options.allow.empty() == options.deny.empty()) {
    throw UserError("usage", "a grant either allows or denies", "Give --allow <actions> or --deny <actions>.");
  }
  return {.subject = Subject::Parse(options.subject),
          .effect = options.deny.empty() ? Effect::kAllow : Effect::kDeny,
          .actions = ParseActions(options.deny.empty() ? options.allow : options.deny),
          .resource = Resource::Parse(options.on),
          .condition = options.when};
}

void AddCreate(CLI::App& group, Session& session) {
  auto options = std::make_shared<CreateOptions>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Allow or deny something");
  command->add_option("--subject", options->subject, "user:<id>, group:<name> or idp-group:<name>")->required()->type_name("<subject>");
  command->add_option("--allow", options->allow, "Actions, with commas: run, read, write, admin")->type_name("<actions>");
  command->add_option("--deny", options->deny, "Actions, with commas: run, read, write, admin")->type_name("<actions>");
  command->add_option("--on", options->on, "workflow:, model:, data: or access:, and a name or the beginning of names and *")
      ->required()
      ->type_name("<resource>");
  command->add_option("--when", options->when, "Only where this expression (CEL) is true")->type_name("<condition>");
  command->callback([&session, options] {
    const GrantTerms terms = TermsOf(*options);
    const RecordChange change = GrantsOf(session).Create(terms);
    session.Print(RenderRecordChange(
        change, fmt::format("Created the grant {}\n{}\n", StringMember(change.value, "id").value_or(""), TextOf(terms))));
  });
}

// ---- list ----

void AddList(CLI::App& group, Session& session) {
  struct Options {
    std::string subject;
    std::string on;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "list", "List the grants");
  command->add_option("--subject", options->subject, "Only for this subject")->type_name("<subject>");
  command->add_option("--on", options->on, "Only on this resource")->type_name("<resource>");
  AddRefresh(*command, options->refresh);
  command->callback([&session, options] {
    if (!options->subject.empty()) Subject::Parse(options->subject);
    if (!options->on.empty()) Resource::Parse(options->on);
    PullRecords(session, options->refresh);
    Json list = Json::array();
    Table table({"ID", "STATE", "EFFECT", "SUBJECT", "ACTIONS", "RESOURCE", "CONDITION", "SOURCE"});
    for (const auto& [grant, model_name] : GrantsOf(session).All()) {
      const GrantTerms& terms = grant.terms;
      if (!options->subject.empty() && terms.subject.text() != options->subject) continue;
      if (!options->on.empty() && terms.resource.text() != options->on) continue;
      list.push_back(grant.ToJson());
      table.Add({grant.id, grant.active ? "active" : "revoked", NameOf(terms.effect), terms.subject.text(), Join(terms.actions, ","),
                 terms.resource.text(), Printable(terms.condition.value_or("-"), 60), grant.source});
    }
    const std::string text = list.empty() ? std::string("There are no such grants.\n") : table.Render();
    session.Print({std::move(list), text});
  });
}

// ---- revoke ----

void AddRevoke(CLI::App& group, Session& session) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "revoke", "End a grant; it stays in the list");
  command->add_option("grant_id", *id, "Its id, or the beginning of it")->required();
  command->callback([&session, id] {
    PullRecords(session, true);  // it may be a peer's
    Grants grants = GrantsOf(session);
    const StoredGrant grant = grants.Require(*id);
    const RecordChange change = grants.Revoke(grant);
    session.Print(RenderRecordChange(change, change.changed ? fmt::format("Revoked {}\n{}\n", grant.grant.id, TextOf(grant.grant.terms))
                                                            : fmt::format("{} is revoked already\n", grant.grant.id)));
  });
}

// ---- reload ----

Json JsonOf(const ReloadedFile& file) {
  Json json = {{"file", file.name}, {"grants", file.grants}, {"created", file.created}, {"revoked", file.revoked}};
  if (file.error) {
    json["error"] = file.error->message();
    json["code"] = file.error->code();
  }
  return json;
}

Rendered Render(const ReloadReport& report) {
  Json files = Json::array();
  std::string text;
  std::size_t created = 0;
  std::size_t revoked = 0;
  std::size_t failed = 0;
  const auto add = [&](const ReloadedFile& file, bool gone) {
    files.push_back(JsonOf(file));
    if (gone) files.back()["gone"] = true;
    created += file.created;
    revoked += file.revoked;
    const std::string name = Printable(file.name, 200);
    if (file.error) {
      ++failed;
      text += fmt::format("{}: its grants stay as they were: {}\n", name, file.error->message());
    } else if (gone) {
      text += fmt::format("{}: gone, {} revoked\n", name, file.revoked);
    } else {
      text += fmt::format("{}: {}, {} created, {} revoked\n", name, Count(file.grants, "grant"), file.created, file.revoked);
    }
  };
  for (const ReloadedFile& file : report.files) add(file, false);
  for (const ReloadedFile& file : report.gone) add(file, true);
  if (files.empty()) text = "There are no grants files (grants/*.yaml).\n";
  return {{{"files", std::move(files)}, {"created", created}, {"revoked", revoked}, {"failed", failed}}, text};
}

}  // namespace

void AddAccessGrant(CLI::App& access, Session& session) {
  CLI::App* group = AddGroup(access, "grant", "Rules that allow or deny");
  AddCreate(*group, session);
  AddList(*group, session);
  AddRevoke(*group, session);
}

void AddAccessReload(CLI::App& access, Session& session) {
  CLI::App* command = AddRepoCommand(access, session, "reload", "Make the grants those of grants/*.yaml");
  command->callback([&session] {
    PullRecords(session, true);
    Grants grants = GrantsOf(session);
    const ReloadReport report = ReloadGrants(session.context(), grants, session.repo().root / "grants");
    session.Print(Render(report));
    for (const ReloadedFile& file : report.files) {
      if (file.error) throw ExitQuietly{1};
    }
  });
}

}  // namespace swamp
