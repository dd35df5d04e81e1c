#include "cli/extension_tools.h"

#include "extension/open_registry.h"
#include "extension/stored_login.h"
#include "repo/find.h"
#include "util/environment.h"
#include "util/log.h"

namespace swamp {

ExtensionSite ExtensionTools::Site() {
  const Repository& repo = session_.repo();
  ExtensionSite site;
  site.repo_root = repo.root;
  site.swamp_folder = repo.swamp_folder();
  site.pulled_root = repo.swamp_folder() / "pulled-extensions";
  if (session_.datastore().settings().managed_config) {
    site.older_pulled_root = site.pulled_root;
    site.pulled_root = repo.swamp_folder() / "config" / "pulled-extensions";
  }
  site.built_in = {kS3DatastoreType};
  site.trusted_collectives = ResolveTrust(Trust());
  site.lock_wait = session_.datastore().settings().lock_timeout;
  return site;
}

TrustSettings ExtensionTools::Trust() {
  const Marker& marker = session_.repo().marker;
  TrustSettings trust;
  trust.explicit_collectives = marker.json().contains("trustedCollectives")
                                   ? marker.Strings("trustedCollectives")
                                   : std::vector<std::string>{"swamp"};
  trust.trust_member_collectives = marker.Bool("trustMemberCollectives");
  return trust;
}

SharedLockfile& ExtensionTools::Installed() {
  if (!installed_) {
    installed_ = std::make_unique<SharedLockfile>(session_.context(), session_.repo(), session_.datastore());
  }
  return *installed_;
}

Registry& ExtensionTools::ExtensionRegistry() {
  if (!registry_) {
    const Context& context = session_.context();
    registry_ = OpenRegistry(ChooseRegistry(context.environment(), std::nullopt,
                                            ReadStoredLogin(context, ConfigFolder(context))),
                             session_.wiring().http, "swamp-cpp/" + session_.wiring().version);
  }
  return *registry_;
}

void ExtensionTools::RefreshLockfile() {
  if (!session_.datastore().settings().managed_config) return;
  try {
    session_.config().Refresh(session_.context());
  } catch (const StoreError& error) {
    if (!error.transient()) throw;
    session_.context().log().Warn("extension", "the datastore cannot be reached, going on with what is known here: " +
                                                   error.message());
  }
}

}  // namespace swamp
