#include "protocol/scene/hash.h"

#include <xxhash.h>

#include <cstring>
#include <string_view>
#include <type_traits>

#include "protocol/scene/schema.h"

namespace orrery::protocol::scene {

namespace {

constexpr std::size_t kBlockBytes =
    4096;  // large enough that calls of the hash cost little, small enough for the stack

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
    HashWalk() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
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
                    const T absent = std::is_floating_point_v<T> ? static_cast<T>(field.default_real)
                                                                 : static_cast<T>(field.default_integer);
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
                if (field.table->is_struct)
                    return structure(*field.table, from.GetStruct<const std::uint8_t*>(field.offset));
                return table(*field.table, *from.GetPointer<const flatbuffers::Table*>(field.offset));
            default:
                return write(from.GetAddressOf(field.offset),
                             field.bytes);  // a buffer's numbers are little endian, too
        }
    }

    void vector(const SchemaField& field, const flatbuffers::VectorOfAny& from) {
        count(from.size());
        if (field.element == reflection::String) {
            for (const flatbuffers::String* one :
                 reinterpret_cast<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>&>(from))
                text(*one);
        } else if (field.element != reflection::Obj) {
            write(from.Data(), from.size() * static_cast<std::size_t>(field.bytes));
        } else if (field.table->is_struct) {
            for (std::size_t i = 0; i < from.size(); ++i) structure(*field.table, from.Data() + i * field.table->bytes);
        } else {
            for (const flatbuffers::Table* one :
                 reinterpret_cast<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>&>(from))
                table(*field.table, *one);
        }
    }

    void structure(const SchemaTable& schema, const std::uint8_t* from) {
        for (const SchemaField& field : schema.fields) {
            if (field.type == reflection::Obj)
                structure(*field.table, from + field.offset);
            else
                write(from + field.offset, field.bytes);
        }
    }

    void text(const flatbuffers::String& value) { text(std::string_view{value.data(), value.size()}); }
    void text(std::string_view value) {
        count(static_cast<std::uint32_t>(value.size()));
        write(value.data(), value.size());
    }
    void count(std::uint32_t value) {
        const std::uint32_t bytes = flatbuffers::EndianScalar(value);
        write(&bytes, sizeof bytes);
    }
    void write(const void* bytes, std::size_t size) {
        if (size == 0) return;  // an empty vector has no bytes to point at
        if (size > kBlockBytes - filled_) flush();
        if (size > kBlockBytes) {
            XXH3_64bits_update(state_, bytes, size);
            return;
        }
        std::memcpy(block_ + filled_, bytes, size);
        filled_ += size;
    }

    void flush() {
        XXH3_64bits_update(state_, block_, filled_);
        filled_ = 0;
    }

    XXH3_state_t* state_;
    std::uint8_t block_[kBlockBytes];  // canonical bytes, fed to the hash a block at a time
    std::size_t filled_ = 0;
};

}  // namespace

std::uint64_t hash_scene(const Scene& scene) {
    HashWalk walk;
    walk.table(scene_schema(), reinterpret_cast<const flatbuffers::Table&>(scene));
    return walk.digest();
}

}  // namespace orrery::protocol::scene
