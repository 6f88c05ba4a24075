// Checks the conversions of the actor in client_sdk/ENGINES.md.
#include <cmath>
#include <cstdio>
#include <random>

#include "OrreryRoom.h"

int main() {
    // Turning in Orrery's frame and converting is converting and turning in Unreal's.
    std::mt19937 random(7);
    std::uniform_real_distribution<float> number(-1.0f, 1.0f);
    for (int i = 0; i < 1000; ++i) {
        float q[4] = {number(random), number(random), number(random), number(random)};
        const float length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (float& part : q) part /= length;
        const float v[3] = {number(random), number(random), number(random)};
        const FVector turned = FQuat(q[0], q[1], q[2], q[3]).RotateVector(FVector(v[0], v[1], v[2]));
        const float t[3] = {static_cast<float>(turned.X), static_cast<float>(turned.Y), static_cast<float>(turned.Z)};
        const FVector expected = AOrreryRoom::Position(t);
        const FVector found = AOrreryRoom::Rotation(q).RotateVector(AOrreryRoom::Position(v));
        const double error =
            std::abs(found.X - expected.X) + std::abs(found.Y - expected.Y) + std::abs(found.Z - expected.Z);
        if (error > 1e-3) {
            std::printf("quaternion %d: off by %g cm\n", i, error);
            return 1;
        }
    }
    // Forward, right and up become Unreal's, in centimetres.
    const float forward[] = {0, 0, -1}, right[] = {1, 0, 0}, up[] = {0, 1, 0};
    if (AOrreryRoom::Position(forward).X != 100.0 || AOrreryRoom::Position(right).Y != 100.0 ||
        AOrreryRoom::Position(up).Z != 100.0)
        return 1;
    std::puts("conversions hold");
}
