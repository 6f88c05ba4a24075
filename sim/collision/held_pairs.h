// Contacts of slow pairs, from tick to tick: a pair that has the key that it had is not looked at again. A cache that
// changes no bit.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/collision/pair_view.h"

namespace orrery::sim {

class HeldPairs {
  public:
    struct Chunk {  // of a tick's pairs: the slow ones, ascending
        struct Entry {
            Pair pair;
            PairKey key;
            std::uint32_t end = 0;  // of its contacts
        };
        Pair first;  // of all, slow or not
        std::vector<Entry> entries;
        PairContacts found;

        // Those that have a point, with these.
        void add(Pair pair, const PairKey& key, std::span<const PairContact> contacts,
                 const std::vector<PairPoint>& points) {
            for (PairContact contact : contacts) {
                if (contact.count == 0) continue;
                const auto from = points.begin() + contact.first;
                contact.first = static_cast<std::uint32_t>(found.points.size());
                found.points.insert(found.points.end(), from, from + contact.count);
                found.contacts.push_back(contact);
            }
            entries.push_back({pair, key, static_cast<std::uint32_t>(found.contacts.size())});
        }
        std::span<const PairContact> of(std::size_t i) const {
            const std::uint32_t begin = i == 0 ? 0 : entries[i - 1].end;
            return std::span(found.contacts).subspan(begin, entries[i].end - begin);
        }
    };

    // What the last tick had, through ascending pairs.
    class Walk {
      public:
        Walk(const std::vector<Chunk>& chunks, Pair from) : chunks_(chunks) {
            const auto after = std::upper_bound(chunks.begin(), chunks.end(), from,
                                                [](Pair pair, const Chunk& c) { return pair < c.first; });
            chunk_ = static_cast<std::size_t>(after - chunks.begin());
            if (chunk_ != 0) --chunk_;
        }
        // False: the pair was not slow, or elsewhere.
        bool find(Pair pair, const PairKey& key, std::span<const PairContact>& out,
                  const std::vector<PairPoint>*& points) {
            for (; chunk_ < chunks_.size(); ++chunk_, entry_ = 0) {
                const Chunk& chunk = chunks_[chunk_];
                while (entry_ < chunk.entries.size() && chunk.entries[entry_].pair < pair) ++entry_;
                if (entry_ == chunk.entries.size()) continue;
                const Chunk::Entry& entry = chunk.entries[entry_];
                if (entry.pair != pair || std::memcmp(&entry.key, &key, sizeof key) != 0) return false;
                out = chunk.of(entry_);
                points = &chunk.found.points;
                return true;
            }
            return false;
        }

      private:
        const std::vector<Chunk>& chunks_;
        std::size_t chunk_ = 0, entry_ = 0;
    };

    // A tick begins, with so many chunks.
    void begin(std::size_t chunks) {
        last_.swap(now_);
        now_.resize(chunks);
    }
    Walk walk(Pair from) const { return {last_, from}; }
    Chunk& begin_chunk(std::size_t index, Pair first) {
        Chunk& chunk = now_[index];
        chunk.first = first;
        chunk.entries.clear();
        chunk.found.clear();
        return chunk;
    }
    void forget() {
        last_.clear();
        now_.clear();
    }

  private:
    std::vector<Chunk> last_, now_;
};

}  // namespace orrery::sim
