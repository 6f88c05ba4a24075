#include "sim/world/form.h"

namespace orrery::sim {

HashTree hash_state(const Core& core) {
    HashTree tree;
    for (std::size_t i = 0; i < kSubsystemCount; ++i) {
        HashWriter leaf;
        put_section(leaf, core, static_cast<Subsystem>(i));
        tree.leaves[i] = leaf.digest();
    }
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
