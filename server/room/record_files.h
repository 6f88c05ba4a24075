// The file operations of a recording, behind an interface: so that a test can have a disk that is full, that fails or
// that stalls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace orrery::server {

// A file of a recording that is being written. Calls return 0 or an errno.
class RecordFile {
  public:
    virtual ~RecordFile() = default;  // closes it, and with that its lock

    // Appends the first bytes of `bytes`, at least one, and sets `written` to their number.
    virtual int write(std::span<const std::uint8_t> bytes, std::size_t& written) = 0;
    // Waits until all that was written is on the disk. After an error it is not known what is: the call is not
    // repeated.
    virtual int sync() = 0;
    virtual int truncate(std::uint64_t size) = 0;
    // Takes room on the disk for the bytes from `offset` on; the file keeps its size.
    virtual int reserve(std::uint64_t offset, std::uint64_t bytes) = 0;
    virtual bool has_name() const = 0;  // false: it was deleted
};

class RecordFiles {
  public:
    virtual ~RecordFiles() = default;

    virtual int make_folder(const std::string& path) = 0;
    // Makes a file that is not there yet; EEXIST otherwise. It is locked for this process.
    virtual int create(const std::string& path, std::unique_ptr<RecordFile>& file) = 0;
    // Opens a file to append to it. EWOULDBLOCK: another process records to it.
    virtual int open(const std::string& path, std::unique_ptr<RecordFile>& file) = 0;
    virtual int remove(const std::string& path) = 0;
    // Waits until the names of the folder's files are on the disk.
    virtual int sync_folder(const std::string& path) = 0;
    // Bytes that may be written there; the largest number if that is not known.
    virtual std::uint64_t free_bytes(const std::string& folder) = 0;
};

RecordFiles& system_files();

}  // namespace orrery::server
