// Checks the conversions of the node in client_sdk/ENGINES.md: there are none.
#include <cstdio>

#include "orrery_room.h"

int main() {
    const float numbers[] = {1, 2, 3, 4};
    const godot::Vector3 p = OrreryRoom::position(numbers);
    const godot::Quaternion q = OrreryRoom::rotation(numbers);
    if (p.x != 1 || p.y != 2 || p.z != 3 || q.x != 1 || q.y != 2 || q.z != 3 || q.w != 4) return 1;
    std::puts("conversions hold");
}
