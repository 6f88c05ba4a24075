// The texts of the schemas of plans and results, which give the JSON parser its fields.
#pragma once

namespace orrery::protocol::replay {

const char* plan_schema_text();    // plan_file.fbs
const char* result_schema_text();  // the same with SegmentResult as its root

}  // namespace orrery::protocol::replay
