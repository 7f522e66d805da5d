// The front end as it was built: see docs/report.md for how it is refreshed.
//
// Constant data, compiled in from expert/page/web/dist; thread-safe.
#pragma once

#include <string_view>

namespace kojak::html {

extern const std::string_view kScript;  // one classic script
extern const std::string_view kStyle;
// Their sha256 digests in base64, for the page's content security policy.
extern const std::string_view kScriptDigest;
extern const std::string_view kStyleDigest;

}  // namespace kojak::html
