// What the control API answers instead of a result: application/problem+json (RFC 9457).
#pragma once

#include <httplib.h>

#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::server {

struct Problem {
    int status = 500;
    std::string_view type;  // without "urn:orrery:problem:" before it; one of problem.cpp
    std::string detail;
    std::string field;     // of the request's body; empty: none
    std::size_t line = 0;  // of the body; 0: none
};

// The type is that of the status where a status has one alone.
Problem problem_of_status(int status);

// Of an error of Rooms or of a request's body. `field_of_name`: the field by which the request named what is not found;
// empty: it was the path.
Problem problem_of(const Error& error, std::string_view field_of_name = {});

void answer_problem(const Problem& problem, httplib::Response& answer);
std::string problem_text(const Problem& problem);

}  // namespace orrery::server
