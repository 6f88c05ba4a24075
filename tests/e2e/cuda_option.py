#!/usr/bin/env python3
"""ORRERY_CUDA: AUTO builds the GPU's module where nvcc is and a device answers, ON says what is missing, OFF builds none.
A project of the module's folder alone is configured, with a script for nvidia-smi."""
import glob
import os
import subprocess
import sys
import tempfile

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(cuda_option LANGUAGES C CXX)
add_subdirectory("{folder}" module)
if(TARGET orrery_jacobi_cuda)
  message(STATUS "built")
endif()
"""
ANSWERS = "echo 'GPU 0: A card (UUID: GPU-0)'"
NO_DRIVER = "echo 'NVIDIA-SMI has failed'; exit 9"


def main(source_dir):
    [module] = glob.glob(os.path.join(source_dir, "sim", "*", "cuda", "CMakeLists.txt"))
    nvcc = next((path for path in ("/usr/local/cuda/bin/nvcc",) if os.path.exists(path)), None)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        source = os.path.join(folder, "source")
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w") as file:
            file.write(PROJECT.format(folder=os.path.dirname(module)))

        def configure(number, option, smi, compiler):
            tools = os.path.join(folder, f"tools{number}")
            os.mkdir(tools)
            path = os.path.join(tools, "nvidia-smi")
            if smi is not None:
                with open(path, "w") as file:
                    file.write(f"#!/bin/sh\n{smi}\n")
                os.chmod(path, 0o755)
            return subprocess.run(
                ["cmake", "-S", source, "-B", os.path.join(folder, f"build{number}"), "-G", "Ninja", f"-DORRERY_CUDA={option}",
                 "-DORRERY_NVIDIA_SMI=" + (path if smi is not None else "ORRERY_NVIDIA_SMI-NOTFOUND")],
                capture_output=True, text=True, timeout=120,
                env={**os.environ, "PATH": tools + ":/usr/bin:/bin", "CUDACXX": compiler})

        none = "/nonexistent/nvcc"
        cases = [  # option, what nvidia-smi does, nvcc, exit code, what is said
            ("OFF", ANSWERS, none, 0, ""),
            ("AUTO", NO_DRIVER, none, 0, "no device answers"),
            ("AUTO", "exit 0", none, 0, "no device answers"),
            ("AUTO", ANSWERS, none, 0, "there is no nvcc, so that"),
            ("ON", NO_DRIVER, none, 1, "there is no nvcc, which -DORRERY_CUDA=ON asks for"),
            ("YES", ANSWERS, none, 1, "it may be AUTO, ON or OFF"),
        ]
        if nvcc:
            cases += [("AUTO", NO_DRIVER, nvcc, 0, "no device answers"), ("AUTO", ANSWERS, nvcc, 0, "built"), ("ON", NO_DRIVER, nvcc, 0, "built")]
        if not any(os.path.exists(os.path.join(place, "nvidia-smi")) for place in ("/usr/bin", "/bin")):
            cases.append(("AUTO", None, nvcc or none, 0, "no device answers"))
        for number, (option, smi, compiler, code, text) in enumerate(cases):
            run = configure(number, option, smi, compiler)
            said = " ".join((run.stdout + run.stderr).split())
            good = (run.returncode == 0) == (code == 0) and text in said and (text == "built" or " built" not in said.replace("not built", ""))
            print(f"{option}, nvidia-smi: {smi}, {compiler}: {'as promised' if good else 'FAILED: ' + said}", flush=True)
            failed += not good
    sys.exit(1 if failed else 0)


main(sys.argv[1])
