#include "util/curl_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "util/error.h"

namespace swamp {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";

[[noreturn]] void ThrowMissing(std::string_view reason) {
  throw UserError("library_missing", fmt::format("cannot use {}: {}", kLibrary, reason),
                  "Install libcurl 7.85 or later (on Debian: apt install libcurl4).");
}

template <typename Function>
void Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) ThrowMissing(fmt::format("it has no {}", name));
}

}  // namespace

CurlApi::CurlApi() {
  // NODELETE: OpenSSL below it keeps handlers that run when the program ends.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): its state is kept for each thread.
    const char* reason = ::dlerror();
    ThrowMissing(reason == nullptr ? "it cannot be loaded" : reason);
  }
  Load(library, "curl_easy_init", easy_init);
  Load(library, "curl_easy_setopt", easy_setopt);
  Load(library, "curl_easy_getinfo", easy_getinfo);
  Load(library, "curl_easy_cleanup", easy_cleanup);
  Load(library, "curl_easy_strerror", easy_strerror);
  Load(library, "curl_multi_init", multi_init);
  Load(library, "curl_multi_setopt", multi_setopt);
  Load(library, "curl_multi_add_handle", multi_add_handle);
  Load(library, "curl_multi_remove_handle", multi_remove_handle);
  Load(library, "curl_multi_socket_action", multi_socket_action);
  Load(library, "curl_multi_assign", multi_assign);
  Load(library, "curl_multi_info_read", multi_info_read);
  Load(library, "curl_multi_cleanup", multi_cleanup);
  Load(library, "curl_global_cleanup", global_cleanup_);
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  Load(library, "curl_global_init", global_init);
  Load(library, "curl_version_info", version_info);

  const curl_version_info_data* version = version_info(CURLVERSION_NOW);
  if (version->version_num < 0x075500) {
    ThrowMissing(fmt::format("version {} is too old", version->version));
  }
  if (version->cainfo != nullptr) system_ca_file_ = version->cainfo;
  if (version->capath != nullptr) system_ca_folder_ = version->capath;
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) ThrowMissing("it cannot be initialised");
}

CurlApi::~CurlApi() { global_cleanup_(); }

}  // namespace swamp
