#!/usr/bin/env python3
"""A night's recordings are verified by a real Slurm of two nodes, one of which is lost in the middle of a task, and by the
command of the Kubernetes Job: the merged verdicts are those of `orrery verify`. The test starts and ends all daemons itself,
on loopback ports, with their files in a folder of its own. It needs no root."""
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import check, main

SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
NIGHT = os.path.join(SOURCE, "deploy", "verify", "night")
OF_SPEED = ("realtime_factor", "target", "threads")  # what a verdict says beside the verdict

SLURM_CONF = """\
ClusterName=orrery
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=100000,sched_interval=1,bf_interval=1
SlurmdTimeout=8
MessageTimeout=5
ReturnToService=1
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=200
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=200
PartitionName=main Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
"""

# The first task on node n2 stops in its middle, until its node is lost.
PROGRAM = """\
#!/bin/sh
if [ "$SLURMD_NODENAME" = n2 ]; then
    "{orrery}" "$@" &
    kill -STOP $!
    echo "$SLURM_ARRAY_TASK_ID" >"{folder}/stopped.part"
    mv "{folder}/stopped.part" "{folder}/stopped"
    wait
    exit 70
fi
exec "{orrery}" "$@"
"""


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)


def adopt_orphans():
    """Of this process: what it has started stays below it, daemons too. A program that replaces this one goes on so."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def be_a_daemon_of_the_test():
    adopt_orphans()
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a test that is killed leaves none behind


def parents():
    """Parent of each process that is there."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as stat:
                found[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except (OSError, ProcessLookupError):
            pass
    return found


def below(pid):
    """All processes that come from this one."""
    found, of = [], parents()
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [child for child, its in of.items() if its == parent]
        found += children
        waiting += children
    return found


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_all():
    """Ends what this test has started and still runs: orphans are its children, too."""
    for _ in range(100):
        left = below(os.getpid())
        kill_all(left)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if not left:
            return
        time.sleep(0.05)
    check(False, f"processes cannot be ended: {left}")


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        for name in ("munged", "slurmctld", "slurmd", "sbatch"):
            check(shutil.which(name) or os.path.exists("/usr/sbin/" + name), f"there is no {name}: deploy/deps test installs it")
        os.chmod(folder, 0o755)  # munged insists that everybody may come to its socket
        for name, mode in (("munge", 0o755), ("state", 0o700)):
            os.mkdir(os.path.join(folder, name))
            os.chmod(os.path.join(folder, name), mode)
        self.write("munge.key", os.urandom(64), 0o600)
        self.write("cgroup.conf", b"CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        conf = SLURM_CONF.format(host=socket.gethostname().split(".")[0], ports=free_ports(3), user=user, folder=folder)
        self.write("slurm.conf", conf.encode())
        self.environment = dict(os.environ, SLURM_CONF=os.path.join(folder, "slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin")
        for name in list(self.environment):
            if name.startswith(("SLURM_", "SBATCH_", "SQUEUE_")) and name != "SLURM_CONF":
                del self.environment[name]
        munge = os.path.join(folder, "munge")
        self.start("munged", "--foreground", "--key-file", os.path.join(folder, "munge.key"), "--socket", munge + "/socket",
                   "--pid-file", munge + "/pid", "--seed-file", munge + "/seed", "--log-file", munge + "/log")
        self.wait_for(lambda: os.path.exists(munge + "/socket"), "munged's socket")
        self.start("slurmctld", "-D")
        self.nodes = {name: self.start("slurmd", "-D", "-N", name) for name in ("n1", "n2")}
        self.wait_for(lambda: self.states() == {"n1": "idle", "n2": "idle"}, "two idle nodes")

    def write(self, name, data, mode=0o644):
        with open(os.path.join(self.folder, name), "wb") as file:
            os.chmod(file.name, mode)
            file.write(data)

    def start(self, *command):
        log = open(os.path.join(self.folder, f"{command[0]}{command[-1] if command[0] == 'slurmd' else ''}.out"), "w")
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True,
                                preexec_fn=be_a_daemon_of_the_test)

    def run(self, *command):
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=30)

    def states(self):
        lines = self.run("sinfo", "--noheader", "--Node", "--format=%N %t").stdout.split("\n")
        return dict(line.split() for line in lines if len(line.split()) == 2)

    def wait_for(self, condition, what, timeout_s=45):
        end = time.monotonic() + timeout_s
        while not condition():
            check(time.monotonic() < end, f"{what} did not come in {timeout_s} s; {self.states()}; {self.log()}")
            time.sleep(0.1)

    def log(self):
        try:
            with open(os.path.join(self.folder, "slurmctld.log")) as file:
                return file.read()[-8000:]
        except OSError:
            return "no log of slurmctld"

    def lose(self, name):
        """The node with all that runs on it, as by a power failure."""
        node = self.nodes[name]
        lost = below(node.pid)
        kill_all([node.pid] + lost)
        node.wait()
        return len(lost)

    def start_requeued_at_once(self):
        """A requeued task waits two minutes otherwise."""
        for line in self.run("squeue", "--noheader", "--array", "--states=PD", "--format=%i %r").stdout.splitlines():
            job, reason = line.split()[:2]
            if reason == "BeginTime":
                self.run("scontrol", "update", f"jobid={job}", "starttime=now")


def recordings(programs, folder):
    """Exit code of `orrery verify` by recording: one that is the same, one that differs, one that was cut off, one that is damaged."""
    os.mkdir(folder)
    recorded = programs.run(programs.orrery, "run", programs.yard, "--ticks", "4800", "--record", folder)
    check(recorded.returncode == 0, recorded.stderr)
    made = [os.path.join(folder, name) for name in os.listdir(folder)][0]
    same, differs = os.path.join(folder, "same.orr"), os.path.join(folder, "differs.orr")
    os.rename(made, same)
    changed = programs.run(os.path.join(os.path.dirname(programs.orrery), "change_replay"), same, differs, "3333")
    check(changed.returncode == 0, "change_replay: " + changed.stderr)
    with open(same, "rb") as file:
        whole = file.read()
    os.mkdir(os.path.join(folder, "late night"))
    with open(os.path.join(folder, "late night", "cut_off.orr"), "wb") as file:
        file.write(whole[:-500])
    with open(os.path.join(folder, "damaged.orr"), "wb") as file:
        file.write(whole[:70000] + bytes([whole[70000] ^ 1]) + whole[70001:])
    return {"same.orr": 0, "differs.orr": 1, "cut_off.orr": 0, "damaged.orr": 2}


def a_lost_node_changes_no_verdict(programs, folder):
    adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of `finally`
    replays, work = os.path.join(folder, "replays"), os.path.join(folder, "work")
    expected = recordings(programs, replays)
    slurm_folder = os.path.join(folder, "slurm")
    os.chmod(folder, 0o755)
    os.mkdir(slurm_folder)
    try:
        slurm = Slurm(slurm_folder)
        program = os.path.join(folder, "program")
        with open(program, "w") as file:
            file.write(PROGRAM.format(orrery=programs.orrery, folder=folder))
        os.chmod(program, 0o755)
        environment = dict(slurm.environment, ORRERY=programs.orrery, ORRERY_POLL_S="0.2")
        planned = subprocess.run([NIGHT, "plan", replays, work, "4"], capture_output=True, text=True, env=environment)
        check("3 recordings planned, 1 have no plan, 12 segments" in planned.stdout, planned.stdout + planned.stderr)

        night = subprocess.Popen([NIGHT, "slurm", work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=dict(environment, ORRERY=program))
        slurm.wait_for(lambda: os.path.exists(os.path.join(folder, "stopped")), "a task on node n2")
        killed = slurm.lose("n2")
        check(killed >= 3, f"only {killed} processes ran on node n2: no slurmstepd with a task")
        with open(os.path.join(folder, "stopped")) as file:
            task = int(file.read())
        with open(os.path.join(work, "tasks")) as file:
            segment, name = file.read().splitlines()[task].split(" ", 1)
        result = os.path.join(work, name, f"segment-{int(segment):03d}.json")
        check(not os.path.exists(result), f"task {task} has its result although its node was lost")

        def over():
            slurm.start_requeued_at_once()
            return night.poll() is not None
        slurm.wait_for(over, "the end of all tasks")
        output = night.communicate()[0]
        check(night.returncode == 0, f"night slurm: exit {night.returncode}: {output}")
        check(slurm.states().get("n2", "").startswith("down"), f"node n2 is not down: {slurm.states()}")
        check("due to failure of node n2" in slurm.log(), "slurmctld requeued no task: " + slurm.log())
        check(os.path.exists(result), f"task {task} has no result")
        merged = subprocess.run([NIGHT, "merge", work, "--json"], capture_output=True, text=True, env=environment)
        verdicts = [json.loads(line) for line in merged.stdout.splitlines()]
        check(merged.returncode == 2, f"night merge: exit {merged.returncode}: {merged.stdout}{merged.stderr}")
        check(len(verdicts) == len(expected), merged.stdout)
        for verdict in verdicts:
            code, straight = programs.verify(verdict["replay"])
            check(code == expected[os.path.basename(verdict["replay"])], f"orrery verify: exit {code}: {straight}")
            for field in OF_SPEED:
                del verdict[field], straight[field]
            check(verdict == straight, f"merged: {verdict}; straight: {straight}")
    finally:
        end_all()


def an_index_of_a_job_is_a_segment(programs, folder):
    """What Kubernetes does with deploy/verify/job.yaml: the container's command for each index, with the volumes elsewhere."""
    replays, work, mounted = (os.path.join(folder, name) for name in ("replays", "work", "mounted"))
    recordings(programs, replays)
    key, trusted = os.path.join(folder, "worker.key"), os.path.join(folder, "trusted")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("5a" * 32)
    environment = dict(os.environ, ORRERY=programs.orrery)

    def night(*arguments):
        return subprocess.run([NIGHT, *arguments], capture_output=True, text=True, env=environment, timeout=60)
    planned = night("plan", replays, work, "3")
    check("9 segments" in planned.stdout, planned.stdout + planned.stderr)
    job = night("kubernetes", work).stdout.splitlines()
    version = programs.run(programs.orrery, "--version").stdout
    image = [line.split(":")[-1] for line in job if line.startswith("          image: orrery:")]
    check("  completions: 9" in job, "\n".join(job))
    check(len(image) == 1 and f"engine version {image[0]}," in version, f"{image}, {version}")
    command = [line for line in job if line.strip().startswith("command: ")]
    check(command == ['          command: ["/bin/sh", "/work/segment", "/work"]'], command)
    os.rename(replays, mounted)
    codes = []
    for index in range(9):
        container = dict(environment, JOB_COMPLETION_INDEX=str(index), ORRERY_REPLAYS=mounted, ORRERY_OPTIONS="--worker-key " + key)
        codes.append(subprocess.run(["/bin/sh", os.path.join(work, "segment"), work], capture_output=True, env=container, timeout=60).returncode)
    check(sorted(codes) == [0] * 8 + [1], f"exit codes by index: {codes}")
    check(night("kubernetes", work).returncode == 2, "a Job for no segment")
    with open(os.path.join(work, "same.orr", "segment-000.json")) as file:
        worker = json.load(file)["worker"]
    with open(trusted, "w") as file:
        file.write(f"node {worker}\n")
    merged = night("merge", work, "--json", "--trust-workers", trusted)
    results = {os.path.basename(verdict["replay"]): verdict["result"] for verdict in map(json.loads, merged.stdout.splitlines())}
    check(results == {"same.orr": "same", "differs.orr": "diverged", "cut_off.orr": "same", "damaged.orr": "unreadable"}, merged.stdout)
    os.remove(os.path.join(work, "same.orr", "segment-001.json"))
    check("  completions: 1" in night("kubernetes", work).stdout.splitlines(), "a Job for one segment")
    merged = night("merge", work)
    check("segment 1 of 3 is missing" in merged.stderr, merged.stderr)


if __name__ == "__main__":
    main([a_lost_node_changes_no_verdict, an_index_of_a_job_is_a_segment])
