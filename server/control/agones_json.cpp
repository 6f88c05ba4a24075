#include "server/control/agones_json.h"

#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/idl.h>

#include <cstdint>

#include "server/control/agones.h"

namespace orrery::server {

namespace {

// JSON of any form. The map lives as long as the document does.
class Document {
  public:
    explicit Document(std::string_view text) {
        flatbuffers::IDLOptions options;
        options.strict_json = true;
        flatbuffers::Parser parser(options);
        flexbuffers::Builder builder;
        if (!parser.ParseFlexBuffer(std::string(text).c_str(), nullptr, &builder)) return;
        bytes_ = builder.GetBuffer();
        const flexbuffers::Reference root = flexbuffers::GetRoot(bytes_);
        if (root.IsMap()) root_ = root.AsMap();
    }
    const std::optional<flexbuffers::Map>& root() const { return root_; }

  private:
    std::vector<std::uint8_t> bytes_;
    std::optional<flexbuffers::Map> root_;
};

std::string text_of(const flexbuffers::Reference& value) { return value.IsString() ? value.AsString().str() : ""; }

// A time of 0 is that of an object that is not deleted.
bool is_set(const flexbuffers::Reference& time) {
    if (time.IsString()) return !time.AsString().str().empty() && time.AsString().str() != "0";
    return time.IsNumeric() && time.AsDouble() != 0.0;
}

}  // namespace

std::optional<AgonesObject> read_agones_object(std::string_view text) {
    const Document document(text);
    if (!document.root()) return std::nullopt;
    flexbuffers::Map object = *document.root();
    if (object["result"].IsMap()) object = object["result"].AsMap();
    if (!object["object_meta"].IsMap() && !object["status"].IsMap()) return std::nullopt;
    const flexbuffers::Map meta = object["object_meta"].AsMap();
    const flexbuffers::Map annotations = meta["annotations"].AsMap(), labels = meta["labels"].AsMap();
    AgonesObject found;
    found.state = text_of(object["status"].AsMap()["state"]);
    found.deleted = is_set(meta["deletion_timestamp"]);
    found.drain = text_of(annotations[kAgonesDrainKey]);
    if (found.drain.empty()) found.drain = text_of(labels[kAgonesDrainKey]);
    found.last_allocated = text_of(annotations["agones.dev/last-allocated"]);
    return found;
}

std::optional<AgonesPlace> read_agones_place(std::string_view text) {
    const Document document(text);
    if (!document.root() || !(*document.root())["status"].IsMap()) return std::nullopt;
    const flexbuffers::Map status = (*document.root())["status"].AsMap();
    AgonesPlace place;
    if (const std::string address = text_of(status["address"]); !address.empty()) place.addresses.push_back(address);
    const flexbuffers::Vector addresses = status["addresses"].AsVector();
    for (const char* const kind : {"ExternalIP", "InternalIP"}) {  // beside these, Kubernetes has names of hosts
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            const flexbuffers::Map entry = addresses[i].AsMap();
            if (text_of(entry["type"]) == kind) place.addresses.push_back(text_of(entry["address"]));
        }
    }
    const flexbuffers::Vector ports = status["ports"].AsVector();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const flexbuffers::Map entry = ports[i].AsMap();
        const std::uint64_t port = entry["port"].IsNumeric() ? entry["port"].AsUInt64() : 0;
        if (port > 0 && port <= 0xffff)
            place.ports.emplace_back(text_of(entry["name"]), static_cast<std::uint16_t>(port));
    }
    return place;
}

std::optional<std::vector<std::string>> read_agones_list(std::string_view text) {
    const Document document(text);
    if (!document.root()) return std::nullopt;
    // A list without values may come without the field, or with null.
    const flexbuffers::Reference found = (*document.root())["values"];
    std::vector<std::string> values;
    if (found.IsNull()) return values;
    if (!found.IsUntypedVector()) return std::nullopt;
    const flexbuffers::Vector list = found.AsVector();
    for (std::size_t i = 0; i < list.size(); ++i) values.push_back(text_of(list[i]));
    return values;
}

}  // namespace orrery::server
