#include "protocol/scene/hash.h"

#include <xxhash.h>

#include <bit>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/scene/schema.h"

namespace orrery::protocol::scene {

namespace {

constexpr std::size_t kFlushBytes = 1u << 16;  // large enough that calls of the hash cost nothing, small enough for the cache

// Calls `use` with a number of the type; none of another kind is in the schema.
template <class Use>
auto with_number(reflection::BaseType type, const Use& use) {
    switch (type) {
        case reflection::Byte:
            return use(std::int8_t{});
        case reflection::Short:
            return use(std::int16_t{});
        case reflection::UShort:
            return use(std::uint16_t{});
        case reflection::Int:
            return use(std::int32_t{});
        case reflection::UInt:
            return use(std::uint32_t{});
        case reflection::Long:
            return use(std::int64_t{});
        case reflection::ULong:
            return use(std::uint64_t{});
        case reflection::Float:
            return use(float{});
        case reflection::Double:
            return use(double{});
        default:
            return use(std::uint8_t{});  // UByte, Bool
    }
}

class HashWalk {
  public:
    HashWalk() : state_(XXH3_createState()) {
        XXH3_64bits_reset(state_);
        buffer_.reserve(2 * kFlushBytes);
    }
    ~HashWalk() { XXH3_freeState(state_); }
    HashWalk(const HashWalk&) = delete;
    HashWalk& operator=(const HashWalk&) = delete;

    void table(const SchemaTable& schema, const flatbuffers::Table& from) {
        for (const SchemaField& field : schema.fields) {
            if (!field.hashed || is_default(field, from)) continue;
            text(field.name);
            value(field, from);
        }
        text(std::string_view());
    }
    std::uint64_t digest() {
        flush();
        return XXH3_64bits_digest(state_);
    }

  private:
    static bool is_default(const SchemaField& field, const flatbuffers::Table& from) {
        if (!from.CheckField(field.offset)) return true;
        switch (field.type) {
            case reflection::String:
                return from.GetPointer<const flatbuffers::String*>(field.offset)->size() == 0;
            case reflection::Vector:
                return from.GetPointer<const flatbuffers::VectorOfAny*>(field.offset)->size() == 0;
            case reflection::Obj:
                return false;
            default:
                if (field.optional) return false;
                return with_number(field.type, [&]<class T>(T) {
                    const T absent = std::is_floating_point_v<T> ? static_cast<T>(field.default_real) : static_cast<T>(field.default_integer);
                    return from.GetField<T>(field.offset, absent) == absent;
                });
        }
    }

    void value(const SchemaField& field, const flatbuffers::Table& from) {
        switch (field.type) {
            case reflection::String:
                return text(*from.GetPointer<const flatbuffers::String*>(field.offset));
            case reflection::Vector:
                return vector(field, *from.GetPointer<const flatbuffers::VectorOfAny*>(field.offset));
            case reflection::Obj:
                if (field.table->is_struct) return structure(*field.table, from.GetStruct<const std::uint8_t*>(field.offset));
                return table(*field.table, *from.GetPointer<const flatbuffers::Table*>(field.offset));
            default:
                return number(field.type, from.GetAddressOf(field.offset));
        }
    }

    void vector(const SchemaField& field, const flatbuffers::VectorOfAny& from) {
        put(from.size());
        if (field.element == reflection::String) {
            for (const flatbuffers::String* one : reinterpret_cast<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>&>(from))
                text(*one);
        } else if (field.element != reflection::Obj) {
            const std::size_t bytes = with_number(field.element, []<class T>(T) { return sizeof(T); });
            for (std::size_t i = 0; i < from.size(); ++i) number(field.element, from.Data() + i * bytes);
        } else if (field.table->is_struct) {
            for (std::size_t i = 0; i < from.size(); ++i) structure(*field.table, from.Data() + i * field.table->bytes);
        } else {
            for (const flatbuffers::Table* one : reinterpret_cast<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>&>(from))
                table(*field.table, *one);
        }
    }

    void structure(const SchemaTable& schema, const std::uint8_t* from) {
        for (const SchemaField& field : schema.fields) {
            if (field.type == reflection::Obj) structure(*field.table, from + field.offset);
            else number(field.type, from + field.offset);
        }
    }

    void number(reflection::BaseType type, const std::uint8_t* from) {
        with_number(type, [&]<class T>(T) {
            const T value = flatbuffers::ReadScalar<T>(from);
            if constexpr (sizeof(T) == 8) put(std::bit_cast<std::uint64_t>(value));
            else if constexpr (sizeof(T) == 4) put(std::bit_cast<std::uint32_t>(value));
            else put(static_cast<std::make_unsigned_t<T>>(value));
        });
    }
    void text(const flatbuffers::String& value) { text(std::string_view{value.data(), value.size()}); }
    void text(std::string_view value) {
        put(static_cast<std::uint32_t>(value.size()));
        buffer_.insert(buffer_.end(), value.begin(), value.end());
    }
    template <class T>
    void put(T value) requires std::is_unsigned_v<T> {
        if (buffer_.size() >= kFlushBytes) flush();
        std::uint8_t bytes[sizeof(T)];
        for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
        buffer_.insert(buffer_.end(), bytes, bytes + sizeof(T));
    }

    void flush() {
        XXH3_64bits_update(state_, buffer_.data(), buffer_.size());
        buffer_.clear();
    }

    XXH3_state_t* state_;
    std::vector<std::uint8_t> buffer_;  // canonical bytes, fed to the hash a block at a time
};

}  // namespace

std::uint64_t hash_scene(const Scene& scene) {
    HashWalk walk;
    walk.table(scene_schema(), reinterpret_cast<const flatbuffers::Table&>(scene));
    return walk.digest();
}

}  // namespace orrery::protocol::scene
