#include "protocol/session/key_frame.h"

namespace orrery::protocol {
namespace {

// An absolute body takes far less; the coder never runs out of room in a part.
constexpr std::size_t kAbsoluteBodyBytes = 64;

struct NoBaselines final : BaselineSource {
    const QuantisedBody* find(std::uint32_t, BaselineReference) const override { return nullptr; }
};

}  // namespace

BodyDescription describe(const QuantisedWorld::Body& body) {
    return {{body.state.index, body.state.generation},
            body.shape,
            body.slot,
            body.type,
            body.material,
            body.prefab,
            body.member,
            body.user_data};
}

std::vector<KeyFrameBodies> make_key_frame(const QuantisedWorld& world, const std::map<sim::BodyId, std::string>& names,
                                           const SnapshotCodec& codec) {
    std::vector<KeyFrameBodies> parts;
    std::vector<EncodeItem> items;
    std::vector<std::uint32_t> chosen;
    const auto finish_part = [&] {
        codec.encode(items, items.size() * kAbsoluteBodyBytes + kAbsoluteBodyBytes, parts.back().coded, chosen);
        items.clear();
    };
    for (const QuantisedWorld::Body& body : world.bodies()) {
        if (!body.alive) continue;
        if (items.size() == kMaxBodiesPerKeyFramePart) finish_part();
        if (items.empty()) parts.emplace_back();
        parts.back().descriptions.push_back(describe(body));
        items.push_back({&body.state, nullptr, {}});
        const auto name = names.find({body.state.index, body.state.generation});
        if (name != names.end())
            parts.back().names.push_back({body.state.index, name->second.substr(0, kMaxWireNameBytes)});
    }
    if (!items.empty()) finish_part();
    return parts;
}

KeyFrame::KeyFrame(const QuantisedWorld& world, const std::vector<sim::ShapeDef>& shapes,
                   const std::map<sim::BodyId, std::string>& names, const SnapshotCodec& codec,
                   const Vocabulary& vocabulary)
    : KeyFrame({world.tick(), world.living(), shapes, vocabulary}, make_key_frame(world, names, codec)) {}

KeyFrame::KeyFrame(const KeyFrameBegin& begin, const std::vector<KeyFrameBodies>& parts) : tick_(begin.tick) {
    MessageWriter writer;
    add(writer.write(begin));
    for (const KeyFrameBodies& part : parts) add(writer.write(part));
}

void KeyFrame::add(Bytes message) {
    bytes_.insert(bytes_.end(), message.begin(), message.end());
    ends_.push_back(bytes_.size());
}

Bytes KeyFrame::message(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return Bytes(bytes_).subspan(begin, ends_[i] - begin);
}

bool decode_key_frame_part(const KeyFrameBodies& part, const SnapshotCodec& codec, std::vector<QuantisedBody>& out) {
    if (codec.decode(part.coded, NoBaselines{}, out) != DecodeStatus::ok || out.size() != part.descriptions.size())
        return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].index != part.descriptions[i].id.index || out[i].generation != part.descriptions[i].id.generation)
            return false;
    }
    return true;
}

}  // namespace orrery::protocol
