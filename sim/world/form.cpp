#include "sim/world/form.h"

#include <cstddef>

namespace orrery::sim {

namespace {

std::uint64_t digest_section(const Core& core, Subsystem subsystem) {
    HashWriter leaf;
    put_section(leaf, core, subsystem);
    return leaf.digest();
}

// The same of the section of bodies.
std::uint64_t digest_motion(const Core& core) {
    const Bodies& bodies = core.state.bodies;
    const BlockDigest::Array arrays[] = {
        {reinterpret_cast<const std::byte*>(bodies.slow_ticks.data()), sizeof(std::uint16_t)},
        {reinterpret_cast<const std::byte*>(bodies.mean_motion.data()), bodies.any_sleep ? sizeof(VelocityRecord) : 0},
        {reinterpret_cast<const std::byte*>(bodies.pose.data()), sizeof(PoseRecord)},
        {reinterpret_cast<const std::byte*>(bodies.velocity.data()), sizeof(VelocityRecord)}};
    if (bodies.size() >= BlockDigest::kLeastBytes / sizeof(PoseRecord) && are_few(core))
        return core.digests.motion.of(arrays, bodies.size());
    core.digests.motion.note_all();
    return digest_section(core, Subsystem::bodies);
}

// Of the sections that are long and stay where nothing moves.
std::uint64_t kept_digest(const Core& core, Subsystem subsystem) {
    KeptDigests& kept = core.digests;
    const std::uint64_t identity = core.movers.epoch() + core.identity_changes, motion = core.motion_changes;
    const auto leaf = [&](KeptDigests::Leaf& known, std::uint64_t changes) {
        if (known.changes != changes)
            known = {changes, subsystem == Subsystem::bodies ? digest_motion(core) : digest_section(core, subsystem)};
        return known.digest;
    };
    switch (subsystem) {
        case Subsystem::identity:
            return leaf(kept.identity, identity);
        case Subsystem::bodies:
            return leaf(kept.bodies, identity + motion);
        case Subsystem::joints:
            return leaf(kept.joints, identity + motion);
        default:
            return digest_section(core, subsystem);
    }
}

}  // namespace

HashTree hash_state(const Core& core) {
    const std::lock_guard lock(core.digests.mutex);
    HashTree tree;
    for (std::size_t i = 0; i < kSubsystemCount; ++i) tree.leaves[i] = kept_digest(core, static_cast<Subsystem>(i));
    tree.root = XXH3_64bits(tree.leaves.data(), sizeof tree.leaves);
    return tree;
}

void save_state(const Core& core, std::vector<std::uint8_t>& out) {
    out.clear();
    out.resize(kSaveHeaderBytes);
    {
        ByteWriter body(out);
        for (std::size_t i = 0; i < kSubsystemCount; ++i) put_section(body, core, static_cast<Subsystem>(i));
        put_joint_parameters(body, core.state);
    }
    std::vector<std::uint8_t> header;
    {
        ByteWriter head(header);
        head.bytes(kSaveMagic, sizeof kSaveMagic);
        head.put(kSaveFormat);
        head.put(kEngineVersion);
        head.put(core.definition_hash);
        head.put(static_cast<std::uint64_t>(out.size() - kSaveHeaderBytes));
        head.put(static_cast<std::uint64_t>(XXH3_64bits(out.data() + kSaveHeaderBytes, out.size() - kSaveHeaderBytes)));
    }
    std::memcpy(out.data(), header.data(), kSaveHeaderBytes);
}

}  // namespace orrery::sim
