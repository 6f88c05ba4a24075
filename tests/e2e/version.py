"""`orrery --version` says version, engine version and commit. The commit is that of the clone, or "unknown" outside of a
clone; its file is written only when the commit changes. version.py ORRERY CMAKE SOURCE"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

orrery, cmake, source = sys.argv[1:4]
faults = []

said = subprocess.run([orrery, "--version"], capture_output=True, text=True, check=True).stdout
if not re.fullmatch(r"orrery \d+\.\d+\.\d+, engine version \d+, commit ([0-9a-f]{12}|unknown)\n", said):
    faults.append(f"--version says: {said}")


def written(clone, file, given=""):
    subprocess.run([cmake, f"-DSOURCE={clone}", f"-DFILE={file}", f"-DGIVEN={given}", "-P", f"{source}/deploy/cmake/OrreryCommit.cmake"], check=True)
    return re.search(r'ORRERY_COMMIT "(.*)"', file.read_text()).group(1)


def git(clone, *arguments):
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", clone, *identity, *arguments], capture_output=True, text=True, check=True).stdout.strip()


with tempfile.TemporaryDirectory() as folder:
    os.environ["GIT_CEILING_DIRECTORIES"] = folder  # no clone around the temporary folder counts
    clone, file = pathlib.Path(folder, "clone"), pathlib.Path(folder, "commit.h")
    inner = clone / "copy"
    inner.mkdir(parents=True)
    if written(clone, file) != "unknown":
        faults.append("a folder that is no clone has a commit")
    git(clone, "init", "-q")
    if written(clone, file) != "unknown":
        faults.append("a clone without commits has one")
    git(clone, "commit", "-q", "--allow-empty", "-m", "one")
    if written(clone, file) != git(clone, "rev-parse", "--short=12", "HEAD"):
        faults.append("the commit of a clone is another")
    if written(inner, pathlib.Path(folder, "inner.h")) != "unknown":
        faults.append("a folder inside of a clone has a commit")
    os.utime(file, (1, 1))
    written(clone, file)
    if file.stat().st_mtime != 1:
        faults.append("the same commit is written again")
    git(clone, "commit", "-q", "--allow-empty", "-m", "two")
    if written(clone, file) != git(clone, "rev-parse", "--short=12", "HEAD"):
        faults.append("a new commit is not noticed")
    if written(clone, file, "abc") != "abc":
        faults.append("a commit that is given is not taken")
print("\n".join(faults) or said)
sys.exit(1 if faults else 0)
