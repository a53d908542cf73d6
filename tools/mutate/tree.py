"""tree.py: the copy of the project that faults are planted in, and how its tests are run. What stands there is built once by ninja; a mutant
then costs the compilation of one file and the links of those programs that its tests are made of, by the commands that ninja would use."""
import contextlib
import hashlib
import json
import os
import pathlib
import select
import shlex
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
        self.environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        self.folder, self.labels = properties.get("WORKING_DIRECTORY", "/"), properties.get("LABELS", [])
        self.seconds, self.every = 0.0, "1"


class Sandbox:
    """Runs tests so that what a mutated program deletes or fills is its own."""

    def __init__(self, tree, writable=()):
        home = os.path.expanduser("~")
        self.words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--size", "4000000000", "--tmpfs", "/tmp", "--ro-bind", str(tree), str(tree),
                      "--ro-bind-try", str(ROOT / "build"), str(ROOT / "build"),
                      "--tmpfs", home + "/.cache" if os.path.isdir(home + "/.cache") else "/mnt", "--unshare-pid", "--die-with-parent"]
        for folder in writable:
            self.words += ["--bind", str(folder), str(folder)]

    def start(self, test, more):
        environment = {"ASAN_OPTIONS": "hard_rss_limit_mb=6000", **os.environ, **test.environment, **more}
        return subprocess.Popen(self.words + ["--chdir", test.folder] + test.command, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def first_failure(self, tests, jobs, limit, more, before=lambda test: None, budget=1e9):
        """The first test that fails, jobs of them at a time; None when all pass, or when none has failed after budget seconds."""
        waiting, running, failed, begin = list(tests), {}, None, time.monotonic()
        while (waiting or running) and not failed:
            while waiting and len(running) < jobs:
                if time.monotonic() - begin > budget:
                    waiting = []
                    break
                test = waiting.pop(0)
                before(test)
                child = self.start(test, more(test))
                running[child.stdout.fileno()] = (child, test, time.monotonic())
            ready, _, _ = select.select(list(running), [], [], 0.2)
            for handle in list(running):
                child, test, start = running[handle]
                text = os.read(handle, 1 << 16) if handle in ready else None
                if text == b"":
                    del running[handle]
                    child.stdout.close()
                    failed = test.name if child.wait() not in (0, 77) else failed
                elif time.monotonic() - start > limit(test):
                    failed = test.name + " (time)"
                elif text and b"[  FAILED  ]" in text:
                    failed = test.name
        for child, _, _ in running.values():
            child.kill()
            child.wait()
            child.stdout.close()
        return failed


class Tree:
    """A copy of the tracked files with a build of its own: a release; one that counts its lines, which is optimised a little, for the tests take half
    the time then; or one that is sanitised as CI's."""

    FLAGS = {"release": ["-DCMAKE_BUILD_TYPE=Release"],
             # The seed makes the same object of the same text, so that what is built again counts as the same.
             "counted": ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1",
                         "-DCMAKE_C_FLAGS=--coverage -frandom-seed=1 -Wno-format-truncation -Wno-maybe-uninitialized"],
             "sanitised": ["-DCMAKE_BUILD_TYPE=Debug", "-DKW_SANITIZE=address,undefined"]}

    def __init__(self, folder, kind, jobs):
        self.jobs = jobs
        self.root, self.build = folder / "tree", folder / kind
        for name in filter(None, run("git", "ls-files", cwd=ROOT).split("\n")):
            to = self.root / name
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
                shutil.copy(ROOT / name, to)
        flags = list(self.FLAGS[kind])
        if shutil.which("ld.lld"):
            flags += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld"]
        if shutil.which("ccache"):
            flags.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        environment = dict(os.environ)
        if not environment.get("KW_LIGHTGBM"):
            found = subprocess.run([ROOT / "tools/lightgbm.sh", "library"], capture_output=True, text=True).stdout.split()
            environment["KW_LIGHTGBM"] = found[0] if found else ""
        run("cmake", "-G", "Ninja", "-S", self.root, "-B", self.build, *flags, env=environment)
        self._programs, self._inputs, self._links, self._compilations = {}, {}, {}, {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            self._compilations.setdefault(entry["file"], []).append(entry["command"])

    def make(self, *targets):
        return subprocess.run(["ninja", "-j", str(self.jobs), "-C", str(self.build), *targets], capture_output=True).returncode == 0

    def tests(self):
        listed = json.loads(run("ctest", "--test-dir", self.build, "--show-only=json-v1"))["tests"]
        return [Test(entry) for entry in listed if entry.get("command")]

    def compile(self, name):
        """Whether the file compiles, into each object that is made of it."""
        return all(subprocess.run(command, shell=True, cwd=self.build, capture_output=True).returncode == 0
                   for command in self._compilations.get(str(self.root / name), ["false"]))

    def objects(self, name):
        """What is made of the file."""
        commands = [shlex.split(command) for command in self._compilations.get(str(self.root / name), [])]
        return [self.build / words[words.index("-o") + 1] for words in commands]

    @contextlib.contextmanager
    def mutant(self, name, text):
        """Inside, the file has this text; afterwards it and its objects are what they were."""
        path = self.root / name
        before, objects = path.read_text(), {made: made.read_bytes() for made in self.objects(name) if made.exists()}
        try:
            path.write_text(text)
            yield
        finally:
            path.write_text(before)
            for made, content in objects.items():
                made.write_bytes(content)

    def code(self, name):
        """The file's code as a release would have it, without what counts."""
        command = [word for word in shlex.split(self._compilations[str(self.root / name)][0]) if word not in ("--coverage", "-O1")]
        command[command.index("-o") + 1] = "/dev/stdout"
        return subprocess.run(command[:-2] + ["-O2", "-S"] + command[-1:], cwd=self.build, capture_output=True, check=True).stdout

    def programs(self, test):
        """What is linked for a test, in order: libraries, the programs that it calls, itself."""
        if test.name not in self._programs:
            found = []
            for word in test.command:
                if word.startswith(str(self.build) + "/"):
                    self._add_programs(found, os.path.relpath(word, self.build))
            self._programs[test.name] = found
        return self._programs[test.name]

    def _add_programs(self, found, target):
        if target in found or target.startswith("/") or pathlib.Path(target).suffix not in ("", ".a", ".so") and ".so." not in target:
            return
        if target not in self._inputs:
            asked = subprocess.run(["ninja", "-C", str(self.build), "-t", "query", target], capture_output=True, text=True).stdout
            self._inputs[target] = [line.strip().lstrip("| ") for line in asked.partition("input:")[2].partition("  outputs:")[0].split("\n")[1:]]
        for name in self._inputs[target]:
            self._add_programs(found, name)
        if self._link_command(target) and target not in found:
            found.append(target)

    def _link_command(self, target):
        if target not in self._links:
            asked = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", "-s", target], capture_output=True, text=True)
            self._links[target] = asked.stdout if asked.returncode == 0 else ""
        return self._links[target]

    def link(self, test, done):
        """Links what the test is made of, but for what is done."""
        for target in self.programs(test):
            if target not in done:
                subprocess.run(self._link_command(target), shell=True, cwd=self.build, capture_output=True, check=True)
                done.add(target)

    def digest(self, test):
        """Of what the test is made of and told: when it is the same, so is what it runs."""
        files = [self.build / target for target in self.programs(test)] + [pathlib.Path(word) for word in test.command]
        told = json.dumps(test.environment, sort_keys=True).encode()
        return hashlib.sha256(told + b"".join(path.read_bytes() for path in files if path.is_file())).hexdigest()
