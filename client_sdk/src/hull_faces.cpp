#include "client_sdk/src/hull_faces.h"

#include <algorithm>
#include <utility>

#include "protocol/scene/geometry.h"

namespace orrery::client {

using namespace protocol::scene;

namespace {

constexpr double kFlat = 1e-5;  // of the extent: a point that is nearer to a face lies in it

struct Facet {
    HullFace corner;
    D3 normal;
    double offset = 0.0;
    std::vector<std::uint32_t> outside;  // points above this face, the farthest last
    double farthest = 0.0;
};

class Hull {
  public:
    explicit Hull(std::span<const sim::Vec3> points) {
        for (const sim::Vec3& p : points) points_.push_back(widened(p));
        begin();
        for (std::uint32_t corners = 4; corners < sim::kMaxHullVertices && add_farthest();) ++corners;
    }
    std::vector<HullFace> faces() const {
        std::vector<HullFace> out;
        for (const Facet& side : sides_) out.push_back(side.corner);
        return out;
    }

  private:
    template <class Measure>
    std::uint32_t greatest(Measure measure) const {
        std::uint32_t best = 0;
        double most = -1.0;
        for (std::uint32_t i = 0; i < points_.size(); ++i) {
            const double m = measure(points_[i]);
            if (m > most) most = m, best = i;
        }
        return best;
    }

    // A tetrahedron that is as large as it easily gets.
    void begin() {
        const D3 first = points_[0];
        const auto from = [](D3 p) { return [p](D3 q) { return dot(q - p, q - p); }; };
        const std::uint32_t a = greatest(from(first)), b = greatest(from(points_[a]));
        const D3 p = points_[a], along = points_[b] - p;
        flat_ = kFlat * length(along);
        const std::uint32_t c = greatest([&](D3 q) { return length(cross(along, q - p)); });
        const D3 n = cross(along, points_[c] - p);
        const std::uint32_t d = greatest([&](D3 q) {
            const double h = dot(n, q - p);
            return h * h;
        });
        const bool above = dot(n, points_[d] - p) > 0.0;
        const std::uint32_t e = above ? c : b, f = above ? b : c;
        std::vector<std::uint32_t> all(points_.size());
        for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        put({{a, e, f}, {a, d, e}, {e, d, f}, {f, d, a}}, all);
    }

    void put(const std::vector<HullFace>& faces, std::span<const std::uint32_t> points) {
        const std::size_t first = sides_.size();
        for (const HullFace& face : faces) {
            const D3 p = points_[face[0]];
            const D3 n = unit_or(cross(points_[face[1]] - p, points_[face[2]] - p), {});
            sides_.push_back({face, n, dot(n, p), {}, 0.0});
        }
        for (const std::uint32_t i : points) {
            for (std::size_t s = first; s < sides_.size(); ++s) {
                Facet& side = sides_[s];
                const double height = dot(side.normal, points_[i]) - side.offset;
                if (height <= flat_) continue;
                side.outside.push_back(i);
                if (height > side.farthest)
                    side.farthest = height;
                else
                    std::swap(side.outside.back(), side.outside[side.outside.size() - 2]);
                break;
            }
        }
    }

    std::size_t across(std::uint32_t from, std::uint32_t to) const {
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            const HullFace& c = sides_[s].corner;
            for (std::size_t k = 0; k < 3; ++k) {
                if (c[k] == to && c[(k + 1) % 3] == from) return s;
            }
        }
        return sides_.size();
    }

    // The faces that the farthest point sees give way to new ones between their rim and the point.
    bool add_farthest() {
        const auto top = std::ranges::max_element(sides_, {}, &Facet::farthest);
        if (top->outside.empty()) return false;
        const std::uint32_t point = top->outside.back();
        std::vector<std::size_t> seen{static_cast<std::size_t>(top - sides_.begin())};
        std::vector<HullFace> made;
        for (std::size_t i = 0; i < seen.size(); ++i) {
            for (std::size_t k = 0; k < 3; ++k) {
                const HullFace& corner = sides_[seen[i]].corner;
                const std::uint32_t from = corner[k], to = corner[(k + 1) % 3];
                const std::size_t other = across(from, to);
                if (std::ranges::find(seen, other) != seen.end()) continue;
                if (other < sides_.size() && dot(sides_[other].normal, points_[point]) - sides_[other].offset > 0.0)
                    seen.push_back(other);
                else
                    made.push_back({from, to, point});
            }
        }
        std::vector<std::uint32_t> free;
        std::ranges::sort(seen, std::greater());
        for (const std::size_t s : seen) {
            free.insert(free.end(), sides_[s].outside.begin(), sides_[s].outside.end());
            sides_.erase(sides_.begin() + static_cast<std::ptrdiff_t>(s));
        }
        put(made, free);
        return true;
    }

    std::vector<D3> points_;
    std::vector<Facet> sides_;
    double flat_ = 0.0;
};

}  // namespace

std::vector<HullFace> hull_faces(std::span<const sim::Vec3> points) { return Hull(points).faces(); }

}  // namespace orrery::client
