#include "protocol/scene/hull_faces.h"

#include <algorithm>

#include "protocol/scene/geometry.h"

namespace orrery::protocol {

using namespace scene;

namespace {

// A point that is nearer to a face lies in it: of the extent, and of the coordinates, which are of single precision.
constexpr double kFlat = 1e-5, kRounding = 1e-6;

class Hull {
  public:
    explicit Hull(std::span<const sim::Vec3> points) : points_(points) {
        // The first triangle, seen from both sides, is as large as it easily gets.
        const std::uint32_t a = farthest(0, {}), b = farthest(a, {});
        const D3 along = at(b) - at(a);
        flat_ = kFlat * length(along) + kRounding * length(at(a));
        const std::uint32_t c = farthest(a, unit_or(along, {}));
        add({a, b, c});
        add({a, c, b});
        for (std::uint32_t corners = 3; corners < sim::kMaxHullVertices && add_highest();) ++corners;
    }
    std::vector<HullFace> faces() const {
        std::vector<HullFace> out;
        for (const Facet& facet : facets_) out.push_back(facet.corner);
        return out;
    }

  private:
    struct Facet {
        HullFace corner;
        D3 normal;
        double offset = 0.0;
        bool seen = false;
    };

    D3 at(std::uint32_t point) const { return widened(points_[point]); }
    double height(const Facet& facet, std::uint32_t point) const { return dot(facet.normal, at(point)) - facet.offset; }

    // From the line through a point along a unit vector; from the point itself if that vector is zero.
    std::uint32_t farthest(std::uint32_t from, D3 along) const {
        std::uint32_t best = from;
        double most = -1.0;
        for (std::uint32_t i = 0; i < points_.size(); ++i) {
            const D3 way = at(i) - at(from), rest = way - along * dot(along, way);
            const double distance2 = dot(rest, rest);
            if (distance2 > most) most = distance2, best = i;
        }
        return best;
    }

    void add(const HullFace& corner) {
        const D3 n = unit_or(cross(at(corner[1]) - at(corner[0]), at(corner[2]) - at(corner[0])), {});
        facets_.push_back({corner, n, dot(n, at(corner[0]))});
    }

    bool seen_across(std::uint32_t from, std::uint32_t to) const {
        for (const Facet& facet : facets_) {
            for (std::size_t k = 0; k < 3; ++k) {
                if (facet.seen && facet.corner[k] == to && facet.corner[(k + 1) % 3] == from) return true;
            }
        }
        return false;
    }

    // Whether a neighbour is seen: the faces that a point sees hang together, whatever rounding says.
    bool touches_seen(const Facet& facet) const {
        for (std::size_t k = 0; k < 3; ++k) {
            if (seen_across(facet.corner[k], facet.corner[(k + 1) % 3])) return true;
        }
        return false;
    }

    // The faces that the highest point sees give way to new ones between their rim and the point.
    bool add_highest() {
        double most = flat_;
        std::uint32_t top = sim::kNone;
        std::size_t below = 0;
        for (std::size_t f = 0; f < facets_.size(); ++f) {
            for (std::uint32_t i = 0; i < points_.size(); ++i) {
                const double h = height(facets_[f], i);
                if (h > most) most = h, top = i, below = f;
            }
        }
        if (top == sim::kNone) return false;
        facets_[below].seen = true;
        for (bool more = true; more;) {
            more = false;
            for (Facet& facet : facets_) {
                if (facet.seen || !(height(facet, top) > 0.0) || !touches_seen(facet)) continue;
                facet.seen = more = true;
            }
        }
        for (std::size_t i = 0, count = facets_.size(); i < count; ++i) {
            const HullFace corner = facets_[i].corner;
            for (std::size_t k = 0; k < 3 && facets_[i].seen; ++k) {
                if (!seen_across(corner[k], corner[(k + 1) % 3])) add({corner[k], corner[(k + 1) % 3], top});
            }
        }
        std::erase_if(facets_, [](const Facet& facet) { return facet.seen; });
        return true;
    }

    std::span<const sim::Vec3> points_;
    std::vector<Facet> facets_;
    double flat_ = 0.0;
};

}  // namespace

std::vector<HullFace> hull_faces(std::span<const sim::Vec3> points) { return Hull(points).faces(); }

}  // namespace orrery::protocol
