#include "sim/collision/general_phase.h"

#include <atomic>
#include <mutex>

#include "sim/base/parallel.h"
#include "sim/collision/general_scratch.h"
#include "sim/collision/held_pairs.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kPairsPerChunk = 32;

// So many contacts of a chunk of pairs are written down before it goes on, so that memory is bounded.
constexpr std::size_t kMostContacts = 16'384;

class ChunkOfPairs {
  public:
    // `held`: null where what the pairs have is not to be held. `all`: manifolds of this tick so far; no more are
    // looked for when they are too many.
    ChunkOfPairs(const GeneralInput& input, std::span<const std::uint32_t> which, ref::GeneralScratch& scratch,
                 HeldPairs::Walk walk, HeldPairs::Chunk* held, std::atomic<std::uint64_t>& all,
                 std::vector<Manifold>& out, std::vector<std::uint32_t>& end)
        : input_(input), which_(which), scratch_(scratch), walk_(walk), held_(held), all_(all), out_(out), end_(end) {
        scratch.views.resize(which.size());
    }

    void run() {
        std::size_t first = 0;
        clear();
        for (std::size_t i = 0; i < which_.size(); ++i) {
            look(i);
            if (scratch_.found.contacts.size() < kMostContacts && i + 1 < which_.size()) continue;
            write_down(first, i + 1);
            first = i + 1;
        }
    }

  private:
    struct Found {
        bool near = false, known = false;
        std::span<const PairContact> contacts;           // where they are known
        const std::vector<PairPoint>* points = nullptr;  // of them
        std::size_t begin = 0, end = 0;                  // else, of the contacts in scratch
    };

    void clear() {
        scratch_.found.clear();
        scratch_.children.clear();
    }
    void look(std::size_t i) {
        const Pair pair = input_.pairs[which_[i]];
        ref::PairView& view = scratch_.views[i];
        Found& f = found_[i];
        f.near = all_.load(std::memory_order_relaxed) <= kMaxPairs && ref::view_pair(input_, pair, view);
        if (!f.near) return;
        f.known = view.slow && walk_.find(pair, view.key, f.contacts, f.points);
        f.begin = scratch_.found.contacts.size();
        if (!f.known)
            ref::touch_pair(input_, pair, view.slow ? ref::on_its_grid(view) : view, scratch_, scratch_.found);
        f.end = scratch_.found.contacts.size();
    }
    void write_down(std::size_t first, std::size_t last) {
        scratch_.children.run(input_.lanes, scratch_.found);
        const std::size_t before = out_.size();
        for (std::size_t i = first; i < last; ++i) {
            const Pair pair = input_.pairs[which_[i]];
            const ref::PairView& view = scratch_.views[i];
            Found& f = found_[i];
            if (f.near) {
                if (!f.known)
                    f.contacts = std::span(scratch_.found.contacts).subspan(f.begin, f.end - f.begin),
                    f.points = &scratch_.found.points;
                if (view.slow && held_ != nullptr) held_->add(pair, view.key, f.contacts, *f.points);
                ref::place_contacts(view, pair, f.contacts, *f.points, scratch_.found.touches, out_);
            }
            end_.push_back(static_cast<std::uint32_t>(out_.size()));
        }
        all_.fetch_add(out_.size() - before, std::memory_order_relaxed);
        clear();
    }

    const GeneralInput& input_;
    std::span<const std::uint32_t> which_;
    ref::GeneralScratch& scratch_;
    HeldPairs::Walk walk_;
    HeldPairs::Chunk* held_;
    std::atomic<std::uint64_t>& all_;
    std::vector<Manifold>& out_;
    std::vector<std::uint32_t>& end_;
    Found found_[kPairsPerChunk];
};

}  // namespace

// As many as chunks are worked on at a time. Which one a chunk gets makes no difference.
class GeneralPhase::Scratches {
  public:
    std::unique_ptr<ref::GeneralScratch> take() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return std::make_unique<ref::GeneralScratch>();
        std::unique_ptr<ref::GeneralScratch> taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }
    void give(std::unique_ptr<ref::GeneralScratch> scratch) {
        if (scratch->found.contacts.capacity() > 4 * kMostContacts) return;  // a single pair had so many: seldom
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(scratch));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<ref::GeneralScratch>> free_;
};

GeneralPhase::GeneralPhase() : scratches_(std::make_unique<Scratches>()), held_(std::make_unique<HeldPairs>()) {}
GeneralPhase::~GeneralPhase() = default;

bool GeneralPhase::collide(const GeneralInput& input, Executor& executor, std::vector<std::vector<Manifold>>& out) {
    const auto count = static_cast<std::uint32_t>(input.which.size());
    const std::uint32_t chunks = chunk_count(count, kPairsPerChunk);
    if (ends_.size() < chunks) ends_.resize(chunks);
    if (out.size() < chunks) out.resize(chunks);
    if (!input.more) {
        if (input.shapes.data() != shapes_.data() || input.shapes.size() != shapes_.size() ||
            input.margin_m != margin_m_)
            held_->forget();
        shapes_ = input.shapes;
        margin_m_ = input.margin_m;
        held_->begin(chunks);
    }
    // Whether there are too many depends on their sum, so not on workers.
    std::atomic<std::uint64_t> total{0};
    for_chunks(executor, count, kPairsPerChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        const Pair first = input.pairs[input.which[begin]];
        out[index].clear();
        ends_[index].clear();
        std::unique_ptr<ref::GeneralScratch> scratch = scratches_->take();
        ChunkOfPairs(input, input.which.subspan(begin, end - begin), *scratch, held_->walk(first),
                     input.more ? nullptr : &held_->begin_chunk(index, first), total, out[index], ends_[index])
            .run();
        scratches_->give(std::move(scratch));
    });
    if (total.load() <= kMaxPairs) return true;
    ends_.clear();
    held_->forget();
    out.clear();
    return false;
}

void GeneralPhase::forget() { held_->forget(); }

std::span<Manifold> GeneralPhase::of(std::uint32_t i, std::vector<std::vector<Manifold>>& out) const {
    const std::vector<std::uint32_t>& end = ends_[i / kPairsPerChunk];
    const std::uint32_t k = i % kPairsPerChunk, begin = k == 0 ? 0 : end[k - 1];
    return {out[i / kPairsPerChunk].data() + begin, end[k] - begin};
}

}  // namespace orrery::sim
