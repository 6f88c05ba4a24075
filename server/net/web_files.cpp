#include "server/net/web_files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "protocol/session/handshake.h"

namespace orrery::server {
namespace {

constexpr std::string_view kIndex = "index.html";

std::string type_of(std::string_view path) {
    constexpr std::array<std::array<std::string_view, 2>, 18> kTypes{{{".html", "text/html; charset=utf-8"},
                                                                      {".js", "text/javascript; charset=utf-8"},
                                                                      {".mjs", "text/javascript; charset=utf-8"},
                                                                      {".css", "text/css; charset=utf-8"},
                                                                      {".json", "application/json"},
                                                                      {".map", "application/json"},
                                                                      {".wasm", "application/wasm"},
                                                                      {".svg", "image/svg+xml"},
                                                                      {".png", "image/png"},
                                                                      {".jpg", "image/jpeg"},
                                                                      {".webp", "image/webp"},
                                                                      {".ico", "image/x-icon"},
                                                                      {".woff2", "font/woff2"},
                                                                      {".ttf", "font/ttf"},
                                                                      {".glb", "model/gltf-binary"},
                                                                      {".txt", "text/plain; charset=utf-8"},
                                                                      {".md", "text/plain; charset=utf-8"},
                                                                      {".webmanifest", "application/manifest+json"}}};
    for (const auto& [ending, type] : kTypes)
        if (path.ends_with(ending)) return std::string(type);
    return "application/octet-stream";
}

std::string tag_of(const std::vector<std::uint8_t>& bytes) {
    std::array<char, 20> text;
    std::snprintf(text.data(), text.size(), "\"%016llx\"",
                  static_cast<unsigned long long>(protocol::hash_of_scene_bytes(bytes)));
    return text.data();
}

Error folder_error(ErrorCode code, const std::string& folder, const std::string& message) {
    return Error{code, "web " + folder + " (--web)", message};
}

}  // namespace

void WebFiles::add(std::string path, std::vector<std::uint8_t> bytes, bool immutable) {
    WebFile file;
    file.type = type_of(path);
    file.tag = tag_of(bytes);
    file.bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
    file.immutable = immutable;
    if (path.ends_with(kIndex) && path[path.size() - kIndex.size() - 1] == '/')
        files_[path.substr(0, path.size() - kIndex.size())] = file;
    files_[std::move(path)] = std::move(file);
}

void WebFiles::remove(std::string_view path) {
    const auto found = files_.find(path);
    if (found != files_.end()) files_.erase(found);
}

const WebFile* WebFiles::find(std::string_view path) const {
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : &found->second;
}

Result<WebFiles> WebFiles::read(const std::string& folder) {
    namespace fs = std::filesystem;
    WebFiles files;
    std::error_code error;
    std::size_t bytes = 0, count = 0;
    fs::recursive_directory_iterator at(folder, error);
    if (error) return folder_error(ErrorCode::not_found, folder, error.message() + "; name a folder with the page");
    for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
        const bool hidden = at->path().filename().string().starts_with('.');
        const fs::file_status status = at->symlink_status(error);
        if (hidden && fs::is_directory(status)) at.disable_recursion_pending();
        if (hidden || !fs::is_regular_file(status)) continue;
        std::ifstream in(at->path(), std::ios::binary);
        std::vector<std::uint8_t> content;
        const std::uintmax_t size = fs::file_size(at->path(), error);
        if (error || bytes + size > kMaxWebBytes || ++count > kMaxWebFiles)
            return folder_error(ErrorCode::limit_reached, folder,
                                "has more than " + std::to_string(kMaxWebFiles) + " files or " +
                                    std::to_string(kMaxWebBytes >> 20) + " MiB: name the folder of the built page");
        content.assign(std::istreambuf_iterator<char>(in), {});
        if (!in.good() && !in.eof())
            return folder_error(ErrorCode::not_found, folder, at->path().string() + " cannot be read");
        bytes += content.size();
        files.add("/" + at->path().lexically_relative(folder).generic_string(), std::move(content));
    }
    // An error of increment() ends the loop.
    if (error)
        return folder_error(ErrorCode::not_found, folder, error.message() + "; each folder in it must be readable");
    return files;
}

Result<bool> WebFiles::look_for(const std::string& folder) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::path(folder) / kIndex, error)) return false;
    Result<WebFiles> found = read(folder);
    if (!found) return found.error();
    for (auto& [path, file] : found->files_) files_.insert_or_assign(path, std::move(file));
    return true;
}

}  // namespace orrery::server
