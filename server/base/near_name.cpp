#include "server/base/near_name.h"

#include <algorithm>

namespace orrery::server {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Rows of the table for the first i letters of a: that of i - 2, of i - 1, of i.
    std::vector<std::size_t> second(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        second.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], second[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
    std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
    std::string nearest;
    for (const std::string& known : names) {
        const std::size_t distance = edit_distance(name, known);
        if (distance >= best) continue;
        best = distance;
        nearest = known;
    }
    return nearest;
}

}  // namespace orrery::server
