// Stands in for the part of godot-cpp that client_sdk/ENGINES.md uses, so that its node compiles.
#pragma once

#include <cstdint>

#define GDCLASS(name, base)
#define D_METHOD(...) 0
#define memnew(type) new type

namespace godot {

struct Vector3 {
    float x, y, z;
    Vector3(float a, float b, float c) : x(a), y(b), z(c) {}
};
inline Vector3 operator*(float s, const Vector3& v) { return Vector3(s * v.x, s * v.y, s * v.z); }

struct Quaternion {
    float x, y, z, w;
    Quaternion(float a, float b, float c, float d) : x(a), y(b), z(c), w(d) {}
};

struct PackedByteArray {
    const uint8_t* ptr() const { return nullptr; }
    int64_t size() const { return 0; }
};

struct SceneTree {
    bool is_paused() const { return false; }
};

struct Node {
    enum ProcessMode { PROCESS_MODE_ALWAYS };
    virtual ~Node() = default;
    virtual void _enter_tree() {}
    virtual void _exit_tree() {}
    virtual void _process(double) {}
    void set_process_mode(ProcessMode) {}
    void add_child(Node*) {}
    void queue_free() {}
    SceneTree* get_tree() const { return nullptr; }
};

struct Node3D : Node {
    void set_position(const Vector3&) {}
    void set_quaternion(const Quaternion&) {}
};

struct Mesh {};
struct SphereMesh : Mesh {
    void set_radius(float) {}
    void set_height(float) {}
};
struct BoxMesh : Mesh {
    void set_size(const Vector3&) {}
};

template <typename T>
struct Ref {
    T* target = nullptr;
    Ref() = default;
    template <typename U>
    Ref(const Ref<U>& other) : target(other.target) {}
    void instantiate() {}
    T* operator->() const { return target; }
};

struct MeshInstance3D : Node3D {
    void set_mesh(const Ref<Mesh>&) {}
};

struct Input {
    static Input* get_singleton() { return nullptr; }
    double get_axis(const char*, const char*) const { return 0.0; }
};
struct Time {
    static Time* get_singleton() { return nullptr; }
    uint64_t get_ticks_usec() const { return 0; }
};
struct FileAccess {
    static PackedByteArray get_file_as_bytes(const char*) { return {}; }
};
struct ClassDB {
    template <typename M>
    static void bind_method(int, M) {}
};
struct UtilityFunctions {
    template <typename... T>
    static void print(const T&...) {}
};

}  // namespace godot
