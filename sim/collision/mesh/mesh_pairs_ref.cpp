#include "sim/collision/mesh/mesh_pairs.h"

#include <algorithm>

#include "sim/collision/convex/convex.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kLeans =
    1e-3;  // sine: a normal that leans no more into a neighbour's face does not lean; less than a front's below
constexpr double kBehind = 0.02;         // sine, a degree
constexpr double kIsFront = 1.0 - 5e-5;  // cosine, half a degree
constexpr double kAlongEdge = 0.9998;    // cosine, a degree, in the triangle's plane
constexpr double kSlack = 5e-3;          // of the touching feature's size
// Tangent: on a crest where one side falls by up to that, seen from the other, the lowest point of what is round lies
// beyond both, by half of it times the radius. On steeper ones the edge speaks for itself.
constexpr double kCrest = 0.12;
// What is sure whatever rounding takes, and the search for a distance leaves: of heights, also by the triangle's size;
// how far inside an edge, of its length; and how far below a front nothing else is preferred to it.
constexpr double kSure_m = 1e-5, kSureOfSize = 1e-7, kSurelyInside = 1e-3, kSurelyPreferred_m = 0.8 * kFaceBias_m;
constexpr double kOutward = 1.0 + 1e-5;  // more than single precision takes from a limit
constexpr double kSame2 = 1e-8;          // m^2: two contacts of neighbours at one place
constexpr std::uint32_t kCrossing = 0x4000'0000u, kCorner = 0x8000'0000u, kNumberBits = 0x1fff'ffffu;

struct Front {
    D3 corner[3], normal;
};

double sum_of_parts(D3 v) { return (absolute(v.x) + absolute(v.y)) + absolute(v.z); }

Front front_of(const Mesh& mesh, std::uint32_t t) {
    Front f;
    for (std::uint32_t k = 0; k < 3; ++k) f.corner[k] = widened(mesh.vertex[mesh.triangle[t].corner(k)]);
    f.normal = triangle_normal(mesh, t);
    return f;
}

// Whether n leans the way that `into` goes.
bool leans(D3 n, D3 into) {
    const double along = dot(n, into);
    return along > 0.0 && along * along > (kLeans * kLeans) * dot(into, into);
}

// Whether the surface beyond edge k leaves the direction n free.
bool free_beyond(const Mesh& mesh, const MeshTriangle& triangle, const Front& f, std::uint32_t k, D3 n) {
    const std::uint32_t opposite = triangle.opposite(k);
    if (opposite == kNone) return true;
    const D3 edge = f.corner[(k + 1) % 3] - f.corner[k], d = widened(mesh.vertex[opposite]) - f.corner[k];
    return !leans(n, d * dot(edge, edge) - edge * dot(d, edge));
}

// Whether the surface around a corner leaves n free: no edge there runs into it.
bool free_around(const Mesh& mesh, std::uint32_t corner, D3 n) {
    const std::uint32_t place = mesh.place_of(corner);
    const D3 at = widened(mesh.vertex[place]);
    for (std::uint32_t i = mesh.fan_begin[place]; i < mesh.fan_begin[place + 1]; ++i) {
        if (leans(n, widened(mesh.vertex[mesh.fan[i]]) - at)) return false;
    }
    return true;
}

// Whether n, which is not the front's normal, may part the shapes at the edge or corner of the triangle that lies
// farthest along it.
bool admissible(const Mesh& mesh, std::uint32_t t, const Front& f, D3 n) {
    const double up = dot(n, f.normal);
    if (up < -kBehind) return false;
    const D3 flat = n - f.normal * up;
    const double flat2 = dot(flat, flat);
    const MeshTriangle& triangle = mesh.triangle[t];
    for (std::uint32_t k = 0; k < 3; ++k) {
        const D3 away =
            cross(f.corner[(k + 1) % 3] - f.corner[k], f.normal);  // across edge k, in the plane, out of the triangle
        const double along = dot(flat, away);
        if (along > 0.0 && along * along > (kAlongEdge * kAlongEdge) * flat2 * dot(away, away))
            return free_beyond(mesh, triangle, f, k, n);
    }
    std::uint32_t top = 0;
    for (std::uint32_t k = 1; k < 3; ++k) {
        if (dot(f.corner[k], flat) > dot(f.corner[top], flat)) top = k;
    }
    return free_around(mesh, triangle.corner(top), n);
}

using PatchPlane = MeshScratch::PatchPlane;
// `normal`: of triangle t.
PatchPlane plane_of(const Mesh& mesh, std::uint32_t patch, std::uint32_t t, D3 normal) {
    PatchPlane p;
    p.patch = patch;
    p.origin = widened(mesh.vertex[mesh.triangle[patch].corner(0)]);
    p.n = patch == t ? normal : triangle_normal(mesh, patch);
    const D3 edge = widened(mesh.vertex[mesh.triangle[patch].corner(1)]) - p.origin;
    p.u = unit_or_across(edge - p.n * dot(edge, p.n), p.n);
    p.v = cross(p.n, p.u);
    return p;
}

struct Flat {
    double x, y, z;
};
Flat flat(const PatchPlane& p, D3 point) {
    const D3 d = point - p.origin;
    return {dot(d, p.u), dot(d, p.v), dot(d, p.n)};
}

class PatchClipper {
  public:
    // In the last of the planes.
    PatchClipper(const Mesh& mesh, std::uint32_t t, MeshScratch& scratch)
        : mesh_(mesh),
          triangle_(mesh.triangle[t]),
          t_(t),
          plane_(scratch.planes.back()),
          plane_row_(static_cast<std::uint32_t>(scratch.planes.size() - 1)),
          out_(scratch.places) {
        for (std::uint32_t k = 0; k < 3; ++k) corner_[k] = flat(plane_, widened(mesh.vertex[triangle_.corner(k)]));
        for (int k = 0; k < 3; ++k) {
            const Flat a = corner_[k], b = corner_[(k + 1) % 3];
            along_x_[k] = b.x - a.x;
            along_y_[k] = b.y - a.y;
            length_[k] = __builtin_sqrt(along_x_[k] * along_x_[k] + along_y_[k] * along_y_[k]);
        }
    }

    // `radius`: by which the outline lies within the shape; `roundness`: where that is a point or a line, its radius;
    // `motion`: of the mesh, as the shape sees it.
    void clip(const Outline& outline, D3 outline_normal, double radius, double roundness, D3 motion, double kept_to) {
        kept_to_ = kept_to;
        Flat point[kMaxHullVertices];
        double size2 = 0.0;
        for (std::uint32_t i = 0; i < outline.count; ++i) {
            point[i] = flat(plane_, outline.point[i]);
            point[i].z -= radius;
            const double dx = point[i].x - point[0].x, dy = point[i].y - point[0].y;
            size2 = larger(size2, dx * dx + dy * dy);
        }
        slack_ = kSlack * __builtin_sqrt(size2) + 1e-6;
        const double rolls = outline.count <= 2 ? roundness : 0.0;
        for (std::uint32_t k = 0; k < 3; ++k)
            over_[k] = (slack_ + (rolls > 0.0 ? 0.5 * fall_beyond(k) * rolls : 0.0)) * length_[k];
        const D3 normal{dot(outline_normal, plane_.u), dot(outline_normal, plane_.v), dot(outline_normal, plane_.n)};
        clip_outline(point, outline, normal);
        // And where the shape will be once it has come down to the plane: what it is about to run into begins ahead of
        // it.
        double lowest = point[0].z;
        for (std::uint32_t i = 1; i < outline.count; ++i) lowest = smaller(lowest, point[i].z);
        const double approach = dot(motion, plane_.n);
        if (lowest <= 0.0 || lowest >= approach) return;
        ahead_x_ = -dot(motion, plane_.u) * (lowest / approach);
        ahead_y_ = -dot(motion, plane_.v) * (lowest / approach);
        if (ahead_x_ * ahead_x_ + ahead_y_ * ahead_y_ <= slack_ * slack_) return;
        for (std::uint32_t i = 0; i < outline.count; ++i) point[i].x += ahead_x_, point[i].y += ahead_y_;
        clip_outline(point, outline, normal);
    }

  private:
    void clip_outline(const Flat* point, const Outline& outline, D3 outline_normal) {
        if (outline.count == 1) return edge(point[0], point[0], outline.number[0], false);
        const std::uint32_t edges = outline.count == 2 ? 1 : outline.count;
        for (std::uint32_t i = 0; i < edges; ++i)
            edge(point[i], point[i + 1 < outline.count ? i + 1 : 0], outline.number[i], outline.count == 2,
                 outline.count == 2 ? outline.number[1] : 0u);
        if (outline.count > 2) corners(point, outline.count, outline_normal);
    }
    // How steeply the surface beyond edge k falls, a tangent; 0 where it is more than a crest, or rises.
    double fall_beyond(std::uint32_t k) const {
        const std::uint32_t opposite = triangle_.opposite(k);
        if (opposite == kNone) return 0.0;
        const Flat a = corner_[k], o = flat(plane_, widened(mesh_.vertex[opposite]));
        const double out = (along_y_[k] * (o.x - a.x) - along_x_[k] * (o.y - a.y)) / length_[k];
        return o.z < 0.0 && -o.z <= kCrest * out ? -o.z / out : 0.0;
    }
    void add(double x, double y, double z, std::uint32_t feature) {
        if (z < kept_to_) out_.push_back({triangle_.patch(), plane_row_, {x - ahead_x_, y - ahead_y_, z, feature}});
    }
    // Where p -> q is inside the triangle; an end that a seam of the patch cuts is no end.
    void edge(Flat p, Flat q, std::uint32_t number, bool with_end, std::uint32_t end_number = 0) {
        const double dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
        double low = 0.0, high = 1.0;
        std::uint32_t enters = kNone, leaves = kNone;
        for (std::uint32_t k = 0; k < 3; ++k) {
            const Flat a = corner_[k];
            const double ex = along_x_[k], ey = along_y_[k];
            const double inside = (ex * (p.y - a.y) - ey * (p.x - a.x)) + over_[k], change = ex * dy - ey * dx;
            if (change > 0.0) {
                if (-inside / change > low) low = -inside / change, enters = k;
            } else if (change < 0.0) {
                if (inside / -change < high) high = inside / -change, leaves = k;
            } else if (inside < 0.0) {
                return;
            }
        }
        if (low > high) return;
        if (enters == kNone)
            add(p.x, p.y, p.z, number);
        else if (rim(enters))
            add(p.x + dx * low, p.y + dy * low, p.z + dz * low, crossing(enters, number, 0));
        if (leaves == kNone && with_end) add(q.x, q.y, q.z, end_number);
        if (leaves != kNone && rim(leaves) && high > low)
            add(p.x + dx * high, p.y + dy * high, p.z + dz * high, crossing(leaves, number, 1));
    }
    bool rim(std::uint32_t k) const { return !triangle_.inner(k); }
    std::uint32_t crossing(std::uint32_t k, std::uint32_t number, std::uint32_t side) const {
        return kCrossing | (((t_ * 3 + k) * 521 + number * 2 + side) & kNumberBits);
    }
    // Corners of the patch's rim that the outline covers, which goes round clockwise seen from the front.
    void corners(const Flat* point, std::uint32_t count, D3 normal) {
        if (normal.z > -0.1) return;
        for (std::uint32_t j = 0; j < 3; ++j) {
            if (!rim(j) && !rim((j + 2) % 3)) continue;
            bool inside = true;
            for (std::uint32_t i = 0; i < count && inside; ++i) {
                const Flat a = point[i], b = point[i + 1 < count ? i + 1 : 0];
                const double ex = b.x - a.x, ey = b.y - a.y;
                inside = ex * (corner_[j].y - a.y) - ey * (corner_[j].x - a.x) <=
                         -slack_ * __builtin_sqrt(ex * ex + ey * ey);
            }
            if (!inside) continue;
            const double z =
                point[0].z -
                (normal.x * (corner_[j].x - point[0].x) + normal.y * (corner_[j].y - point[0].y)) / normal.z;
            add(corner_[j].x, corner_[j].y, z - corner_[j].z, kCorner | (triangle_.corner(j) & kNumberBits));
        }
    }

    const Mesh& mesh_;
    const MeshTriangle& triangle_;
    std::uint32_t t_;
    const PatchPlane& plane_;
    std::uint32_t plane_row_;
    Flat corner_[3];
    double slack_ = 0.0, kept_to_ = 0.0;
    double along_x_[3], along_y_[3], length_[3];  // of the edges
    double over_[3];                              // the slack across each, times its length
    double ahead_x_ = 0.0, ahead_y_ = 0.0;        // of where the shape is now
    std::vector<MeshScratch::PatchPlace>& out_;
};

// Of each patch's places the four that hold it up.
void finish_patches(MeshScratch& scratch) {
    std::vector<MeshScratch::PatchPlace>& places = scratch.places;
    const auto lower = [](const MeshScratch::PatchPlace& x, const MeshScratch::PatchPlace& y) {
        return x.patch < y.patch;
    };
    if (!std::is_sorted(places.begin(), places.end(), lower)) std::stable_sort(places.begin(), places.end(), lower);
    for (std::size_t i = 0; i < scratch.places.size();) {
        const std::uint32_t patch = scratch.places[i].patch;
        const PatchPlane& plane = scratch.planes[scratch.places[i].plane];
        scratch.patch.clear();
        for (; i < scratch.places.size() && scratch.places[i].patch == patch; ++i) {
            // A corner on a seam lies in both triangles.
            const Place& place = scratch.places[i].place;
            const bool known = std::any_of(scratch.patch.begin(), scratch.patch.end(),
                                           [&](const Place& p) { return p.feature == place.feature; });
            if (!known) scratch.patch.push_back(place);
        }
        MeshContact contact;
        contact.child = patch;
        contact.contacts.normal = plane.n;
        contact.contacts.owner = ConvexContacts::Owner::a;
        contact.contacts.count = keep_four(scratch.patch.data(), static_cast<std::uint32_t>(scratch.patch.size()));
        for (std::uint32_t k = 0; k < contact.contacts.count; ++k) {
            const Place& p = scratch.patch[k];
            contact.contacts.point[k] = {plane.origin + ((plane.u * p.x + plane.v * p.y) + plane.n * (p.height * 0.5)),
                                         -p.height, p.feature};
        }
        scratch.contacts.push_back(contact);
    }
}

// A convex shape as triangles meet it over the lanes; a cylinder, which has no vertices, as the capsule around it.
class Solid {
  public:
    Solid(const Solid&) = delete;
    Solid& operator=(const Solid&) = delete;
    Solid(const PolytopeKernels& kernels, const Convex& convex, D3 motion, double margin, double limit)
        : kernels_(kernels), centre_(convex.pose.position) {
        for (int k = 0; k < 3; ++k) rows.vertices.row[k] = vertex_[k];
        if (convex.kind == ConvexKind::polytope) {
            float turn[12], *const vertex[3] = {vertex_[0], vertex_[1], vertex_[2]},
                                   *const normal[3] = {normal_[0], normal_[1], normal_[2]};
            rows_of({{}, convex.pose.axes}, turn);
            rows.vertices.count = convex.topology->vertices;
            rows.faces.count = convex.topology->faces;
            kernels.place({{convex.row[0], convex.row[1], convex.row[2]}, rows.vertices.count}, turn, vertex);
            // Rows behind the last face are repeated or none, as lanes have it: nobody reads them.
            kernels.place({{convex.face_row[0], convex.face_row[1], convex.face_row[2]}, rows.faces.count}, turn,
                          normal);
            for (int k = 0; k < 3; ++k) rows.faces.row[k] = normal_[k];
            rows.faces.row[3] = convex.face_row[3];
        } else {
            rows.vertices.count = convex.kind == ConvexKind::point ? 1 : 2;
            const D3 up = convex.pose.axes.y * convex.half_height;
            const double at[3] = {up.x, up.y, up.z};
            for (int k = 0; k < 3; ++k) vertex_[k][0] = static_cast<float>(at[k]), vertex_[k][1] = -vertex_[k][0];
        }
        rows.radius = static_cast<float>(larger(convex.radius, convex.rim));
        rows.extent = static_cast<float>(convex.extent);
        // Of these the distance is exact, so that no contact can be lost.
        rows.by_edges = convex.kind == ConvexKind::point || convex.kind == ConvexKind::segment;
        const double moves[3] = {motion.x, motion.y, motion.z};
        for (int k = 0; k < 3; ++k) rows.motion[k] = static_cast<float>(moves[k]);
        rows.margin = static_cast<float>(margin);
        rows.limit = static_cast<float>(limit);
    }

    // Of the first TriangleRows::kMost.
    void find(const Mesh& mesh, std::span<const std::uint32_t> triangles, TriangleFinds& out) {
        triangle_.count = static_cast<std::uint32_t>(std::min<std::size_t>(triangles.size(), TriangleRows::kMost));
        for (std::uint32_t i = 0; i < triangle_.count; ++i) {
            for (std::uint32_t c = 0; c < 3; ++c) {
                const Vec3 v = narrowed(widened(mesh.vertex[mesh.triangle[triangles[i]].corner(c)]) - centre_);
                triangle_.corner[c][0][i] = v.x;
                triangle_.corner[c][1][i] = v.y;
                triangle_.corner[c][2][i] = v.z;
            }
        }
        kernels_.near(triangle_, rows, out);
    }

    SolidRows rows;

  private:
    const PolytopeKernels& kernels_;
    D3 centre_;
    TriangleRows triangle_;
    float vertex_[3][kMaxHullVertices], normal_[3][kFaceRoom];
};

// Whether find_axis is certain to name the front for a round shape, whose centre is before it: its lowest point lies
// above the inside of the front, or so little below that nothing is preferred to the front.
bool front_parts(const Convex& convex, const Front& f, double limit) {
    const D3 p = support(convex, -f.normal),
             edge[3] = {f.corner[1] - f.corner[0], f.corner[2] - f.corner[1], f.corner[0] - f.corner[2]};
    const double above = dot(f.normal, p - f.corner[0]),
                 sure = kSure_m + kSureOfSize * (sum_of_parts(edge[0]) + sum_of_parts(edge[2]));
    if (above - convex.radius > limit - sure) return false;
    if (above < sure - (convex.kind == ConvexKind::cylinder ? kSurelyPreferred_m : 0.0)) return false;
    // Or where the way from the centre to that point goes through the front.
    const D3 up = convex.pose.position - p, foot = above > 0.0 ? p : p + up * (-above / dot(f.normal, up));
    for (std::uint32_t k = 0; k < 3; ++k) {
        if (dot(cross(edge[k], foot - f.corner[k]), f.normal) < kSurelyInside * dot(edge[k], edge[k])) return false;
    }
    return true;
}

bool before_front(const Convex& convex, const Front& f, double kept_to) {
    const double at = dot(f.normal, f.corner[0]);
    return -reach_along(convex, -f.normal) - at <= kept_to && dot(f.normal, convex.pose.position) >= at;
}

}  // namespace

bool told_already(const std::vector<MeshContact>& contacts, const ConvexContacts& c) {
    for (const MeshContact& known : contacts) {
        const D3 d = known.contacts.point[0].point - c.point[0].point;
        if (known.contacts.count >= c.count && dot(d, d) < kSame2 && dot(known.contacts.normal, c.normal) > kIsFront)
            return true;
    }
    return false;
}

void meet_triangles(const PolytopeKernels& kernels, const Mesh& mesh, std::span<const std::uint32_t> triangles,
                    const Course& course, Convex& convex, const Course& course_of_convex, double touching,
                    std::vector<TriangleTouch>& out) {
    out.clear();
    if (triangles.empty()) return;
    const DPose start = convex.pose;
    // No part of either comes nearer to the other by more than this, whatever way it goes.
    const D3 shift = course_of_convex.shift - course.shift, fall = course_of_convex.fall - course.fall;
    const double off = length(start.position - course_of_convex.from) + (convex.extent + convex.radius),
                 turning = length(course_of_convex.turn) * off +
                           length(course.turn) * (length(start.position - course.from) + (off + length(shift)));
    // Those that are farther off than any look goes are left out over the lanes, unless the mesh turns, so that each
    // triangle goes its own way.
    const bool cull = dot(course.turn, course.turn) <= 0.0;
    const double farthest = cull ? farthest_met(convex, course_of_convex, course, touching) : 0.0;
    Solid solid(kernels, convex, -shift, (touching + turning + length(fall)) * kOutward, farthest * kOutward);
    solid.rows.by_edges = true;
    TriangleFinds finds;
    for (std::uint32_t i = 0; i < triangles.size(); ++i) {
        const std::uint32_t place = i % TriangleRows::kMost, t = triangles[i];
        if (cull && place == 0) solid.find(mesh, triangles.subspan(i), finds);
        if (cull && ((finds.near | finds.thin) >> place & 1u) == 0) continue;
        const Front f = front_of(mesh, t);
        const double closing = larger(-dot(f.normal, shift), 0.0) + larger(-dot(f.normal, fall), 0.0) + turning;
        if (!before_front(convex, f, closing + touching)) continue;
        Convex triangle;
        place_triangle(f.corner, f.normal, triangle);
        TriangleTouch found{mesh.triangle[t].patch(), t, {}};
        const Meets meets = meet(triangle, course, convex, course_of_convex, touching, 0.0, found.touch);
        convex.pose = start;
        if (meets == Meets::later) out.push_back(found);
    }
}

void collide_mesh(const PolytopeKernels& kernels, const Mesh& mesh, std::span<const std::uint32_t> triangles,
                  const Convex& convex, D3 motion, double margin, MeshScratch& scratch) {
    scratch.planes.clear();
    scratch.places.clear();
    scratch.contacts.clear();
    const double limit = margin + length(motion);
    std::vector<MeshContact>& edges = scratch.contacts;
    Solid solid(kernels, convex, motion, margin, limit);
    TriangleFinds finds;
    for (std::uint32_t i = 0; i < triangles.size(); ++i) {
        const std::uint32_t place = i % TriangleRows::kMost, t = triangles[i];
        if (place == 0) solid.find(mesh, triangles.subspan(i), finds);
        const bool near = (finds.near >> place & 1u) != 0, thin = (finds.thin >> place & 1u) != 0;
        if (!near && !thin) continue;
        const Front f = front_of(mesh, t);
        const double kept_to = margin + larger(dot(motion, f.normal), 0.0);
        if ((thin || convex.kind == ConvexKind::cylinder) && !before_front(convex, f, kept_to)) continue;
        const bool by_front = !thin && convex.kind != ConvexKind::polytope && front_parts(convex, f, limit);
        if (!by_front) {
            Convex triangle;
            ConvexGap gap;
            place_triangle(f.corner, f.normal, triangle);
            const ConvexAxis axis =
                near && convex.kind == ConvexKind::polytope
                    ? find_axis_of_front(kernels, triangle, convex, static_cast<std::uint32_t>(finds.vertex[place]),
                                         static_cast<std::uint32_t>(finds.face[place]), limit, gap)
                    : find_axis(kernels, triangle, convex, limit, gap);
            if (axis.kind == ConvexAxis::Kind::none) continue;
            if (dot(axis.normal, f.normal) < kIsFront && admissible(mesh, t, f, axis.normal)) {
                MeshContact contact;
                contact.child = kMeshEdge | t;
                const bool touches =
                    contacts_along(kernels, triangle, convex, axis, gap, motion, margin, contact.contacts);
                if (touches && dot(contact.contacts.normal, f.normal) < kIsFront &&
                    admissible(mesh, t, f, contact.contacts.normal)) {
                    if (!told_already(edges, contact.contacts)) edges.push_back(contact);
                    continue;
                }
            }
        }
        const std::uint32_t patch = mesh.triangle[t].patch();
        if (scratch.planes.empty() || scratch.planes.back().patch != patch)
            scratch.planes.push_back(plane_of(mesh, patch, t, f.normal));
        const PatchPlane& plane = scratch.planes.back();
        Outline outline;
        outline_along(convex, -plane.n, outline);
        PatchClipper(mesh, t, scratch)
            .clip(outline, outline_normal(convex, outline, -plane.n), convex.radius, larger(convex.radius, convex.rim),
                  motion, kept_to);
    }
    const std::size_t edge_count = edges.size();
    finish_patches(scratch);
    std::rotate(scratch.contacts.begin(), scratch.contacts.begin() + static_cast<std::ptrdiff_t>(edge_count),
                scratch.contacts.end());
}

}  // namespace orrery::sim::ref
