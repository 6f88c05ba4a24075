// A tree of boxes, sixteen children a node, packed in the order of a Morton curve: the four upper levels of ten
// thousand bodies fit the first cache, and one node is tested with a few vector comparisons.
//
// Between rebuilds it stays valid, not tight: a moved box replaces its own and its ancestors grow; new boxes are
// appended behind the packed ones; removed ones leave an empty lane. wants_rebuild() says when this has gone far
// enough. A rebuild of n boxes costs about as much as the n changes that led to it, so that a change costs a constant
// time.
#pragma once

#include <span>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/trees/tree_kernels.h"

namespace orrery::sim {

class BoxTree {
  public:
    // Packs boxes[row] for all rows, which ascend. `arena`: for its work alone.
    void rebuild(const BoundsRecord* boxes, std::span<const std::uint32_t> rows, const TreeKernels& kernels,
                 TickArena& arena);
    // Sets the box of a row, new or not.
    void set(std::uint32_t row, const BoundsRecord& box, const TreeKernels& kernels);
    void remove(std::uint32_t row, const TreeKernels& kernels);
    bool wants_rebuild() const;
    // Gives back the memory of what set(), remove() and holds() need, which are not called from now on.
    void keep_as_it_is() { std::vector<std::uint32_t>().swap(slot_of_); }

    bool holds(std::uint32_t row) const { return row < slot_of_.size() && slot_of_[row] != kNone; }
    std::uint32_t row(std::uint32_t slot) const { return row_of_[slot]; }
    std::span<const std::uint32_t> rows() const { return row_of_; }  // by slot; right after a rebuild without gaps
    std::uint32_t slots() const { return static_cast<std::uint32_t>(row_of_.size()); }
    TreeView view() const;

  private:
    void grow(std::uint32_t slot, const BoundsRecord& box, const TreeKernels& kernels);

    std::vector<TreeNode> nodes_[kMaxTreeLevels];
    std::uint32_t levels_ = 0;
    std::vector<std::uint32_t> row_of_, slot_of_;  // kNone: none
    std::uint32_t changes_ = 0;                    // since the last rebuild
};

}  // namespace orrery::sim
