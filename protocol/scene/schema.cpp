#include "protocol/scene/schema.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "protocol/scene/scene_bfbs_generated.h"

namespace orrery::protocol::scene {

namespace {

std::string_view view(const flatbuffers::String* text) { return {text->data(), text->size()}; }

class Schema {
  public:
    Schema() : bytes_(new std::uint64_t[(SceneBinarySchema::size() + 7) / 8]) {
        std::memcpy(bytes_.get(), SceneBinarySchema::data(), SceneBinarySchema::size());  // aligned as the accessors want it
        const reflection::Schema& schema = *reflection::GetSchema(bytes_.get());
        tables_.resize(schema.objects()->size());
        for (flatbuffers::uoffset_t i = 0; i < schema.objects()->size(); ++i) {
            const reflection::Object& object = *schema.objects()->Get(i);
            SchemaTable& table = tables_[i];
            table.name = view(object.name());
            table.name.remove_prefix(table.name.rfind('.') + 1);
            table.is_struct = object.is_struct();
            table.bytes = static_cast<std::uint32_t>(object.bytesize());
            for (const reflection::Field* field : *object.fields()) {  // by name
                if (!field->deprecated()) table.fields.push_back(made(*field));
            }
            if (table.is_struct) std::ranges::sort(table.fields, {}, &SchemaField::offset);
            if (&object == schema.root_table()) root_ = &table;
        }
    }
    const SchemaTable& root() const { return *root_; }

  private:
    SchemaField made(const reflection::Field& field) const {
        SchemaField to;
        to.name = view(field.name());
        to.offset = field.offset();
        to.type = field.type()->base_type();
        to.element = field.type()->element();
        if (to.type == reflection::Obj || to.element == reflection::Obj) to.table = &tables_[static_cast<std::size_t>(field.type()->index())];
        to.default_real = field.default_real();
        to.default_integer = field.default_integer();
        to.optional = field.optional();
        if (field.attributes()) {
            to.hashed = field.attributes()->LookupByKey("not_hashed") == nullptr;
            to.centre_of_b = field.attributes()->LookupByKey("centre_of_b") != nullptr;
            if (const reflection::KeyValue* scene = field.attributes()->LookupByKey("in_scene")) to.in_scene = view(scene->value());
        }
        return to;
    }

    std::unique_ptr<std::uint64_t[]> bytes_;  // names lie in them
    std::vector<SchemaTable> tables_;
    const SchemaTable* root_ = nullptr;
};

}  // namespace

const SchemaField* SchemaTable::find(std::string_view field) const {
    const auto at = std::ranges::lower_bound(fields, field, {}, &SchemaField::name);
    return at != fields.end() && at->name == field ? &*at : nullptr;
}

const SchemaTable& scene_schema() {
    static const Schema schema;
    return schema.root();
}

}  // namespace orrery::protocol::scene
