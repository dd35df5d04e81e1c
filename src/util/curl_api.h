#pragma once

#include <curl/curl.h>

#include <string>

namespace swamp {

// The functions of libcurl that are used here. The library is opened when the first of these is
// made, because loading it costs more CPU time than a whole run of most commands; it stays loaded.
//
// Needs libcurl 7.85 or later. Throws UserError library_missing.
class CurlApi {
 public:
  CurlApi();
  ~CurlApi();
  CurlApi(const CurlApi&) = delete;
  CurlApi& operator=(const CurlApi&) = delete;

  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_assign) multi_assign;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_cleanup) multi_cleanup;

  // The certificates that this build of libcurl trusts by default; empty: none known.
  const std::string& system_ca_file() const { return system_ca_file_; }
  const std::string& system_ca_folder() const { return system_ca_folder_; }

 private:
  decltype(&::curl_global_cleanup) global_cleanup_;
  std::string system_ca_file_;
  std::string system_ca_folder_;
};

}  // namespace swamp
