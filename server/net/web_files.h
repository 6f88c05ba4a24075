// The files that the web server gives away: a table that is read at the start. A path of a request is a key of the
// table and nothing else, so that no request reaches another file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::size_t kMaxWebFiles = 512;
inline constexpr std::size_t kMaxWebBytes = 64u << 20;  // of all files together; they are kept in memory

struct WebFile {
    std::shared_ptr<const std::vector<std::uint8_t>> bytes;
    std::string type;        // MIME, with the character set of text
    std::string tag;         // of these bytes: the ETag, with its quotes
    bool immutable = false;  // the bytes of this path never change
};

class WebFiles {
  public:
    // Every regular file below `folder`, by its path there; index.html of a folder also by the folder's. Symbolic links
    // and names that begin with a dot are left out. An error names the folder, or the limit.
    static Result<WebFiles> read(const std::string& folder);

    // Takes all files of the page's folder in, if its index.html is there by now. An error is one of read().
    Result<bool> look_for(const std::string& folder);

    // `path` begins with '/'. Another file of the same path is replaced.
    void add(std::string path, std::vector<std::uint8_t> bytes, bool immutable = false);
    void remove(std::string_view path);                // if it is there
    const WebFile* find(std::string_view path) const;  // null: none
    std::size_t size() const { return files_.size(); }

  private:
    std::map<std::string, WebFile, std::less<>> files_;
};

}  // namespace orrery::server
