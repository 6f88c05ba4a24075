// Guards: that the program finds a GPU module, says why it cannot use one, and that `--jacobi` changes who solves and
// no bit.
#include "server/room/rig_module.h"

#include <doctest/doctest.h>

#include <string>

#include "server/cli/bench.h"
#include "tests/support/captured_output.h"
#include "tests/support/rig_module_path.h"

using namespace orrery;
using namespace orrery::server;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a GPU module is found, or it is said why not") {
    {
        const test::RigModulePath emulated(ORRERY_EMULATED_MODULE);
        const RigModuleFound found = find_rig_module();
        REQUIRE(found.module != nullptr);
        CHECK(found.text == "emulated, 1024 MiB");
    }
    {
        const test::RigModulePath nowhere("/nowhere/module.so");
        const RigModuleFound found = find_rig_module();
        CHECK(found.module == nullptr);
        CHECK_MESSAGE(has(found.text, "/nowhere/module.so"), found.text);
    }
    {
        const test::RigModulePath other("libm.so.6");  // a library without the table
        const RigModuleFound found = find_rig_module();
        CHECK(found.module == nullptr);
        CHECK_MESSAGE(has(found.text, "another build"), found.text);
    }
}

TEST_CASE("--jacobi changes who solves, and no bit") {
    const test::RigModulePath emulated(ORRERY_EMULATED_MODULE);
    const auto chains = [](const char* jacobi) {
        const test::Printed printed = test::printed_by([&] {
            return bench_command({"S1_1k", "--ticks", "30", "--jacobi", jacobi, "--json"});
        });
        CHECK_MESSAGE(printed.code == 0, printed.err);
        return printed.out;
    };
    const std::string cpu = chains("cpu"), cuda = chains("cuda"), automatic = chains("auto");
    const auto hash = [](const std::string& line) { return line.substr(line.find("\"hash\""), 28); };
    CHECK_MESSAGE(has(cpu, "\"jacobi\": \"cpu\""), cpu);
    CHECK_MESSAGE(has(cuda, "\"jacobi\": \"cuda\""), cuda);
    CHECK_MESSAGE(has(automatic, "\"jacobi\": \"cpu\""), automatic);  // a thousand beads are not worth it
    CHECK(hash(cpu) == hash(cuda));
    CHECK(hash(cpu) == hash(automatic));
}
