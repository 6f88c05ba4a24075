"""The control API answers as deploy/openapi.yaml says: its routes are those of the file, each operation is called with each
status that it documents, levels are those that it names, and every answer is of its schema.

    control.py BUILD SOURCE            holds the answers against the file itself
    control.py BUILD SOURCE TOOLS      sends the requests through `prism proxy --errors` of the npm packages in TOOLS, too

The rooms are control_fake's, which has the faults that a test asks for; at last they are those of `orrery serve --rooms`."""
import base64
import contextlib
import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time

import jsonschema  # python3-jsonschema, python3-yaml: deploy/deps test
import yaml

from programs import Failure, check, values

JSON, PROBLEM, BYTES = "application/json", "application/problem+json", "application/octet-stream"
CLIENT = "fedcba9876543210"


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()
        self.type = (response.headers.get("Content-Type") or "").split(";")[0]

    def json(self):
        return json.loads(self.body)


class Fake:
    """control_fake; `with` ends it whatever happens."""

    def __init__(self, build, keys, folder):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([os.path.join(build, "bin", "control_fake"), keys, folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        check(line.startswith("127.0.0.1:"), "control_fake did not begin: " + (line or self.text()))
        self.port = int(line.split(":")[1])

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        finally:
            self.process.kill()


class Prism:
    def __init__(self, tools, document, port, validate_request):
        self.port = free_port()
        bin_folder = os.path.join(tools, "node_modules", ".bin")
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.path.join(bin_folder, "node"), os.path.realpath(os.path.join(bin_folder, "prism")), "proxy", document,
             f"http://127.0.0.1:{port}", "--errors", "--cors", "false", "--port", str(self.port), "--verboseLevel", "warn",
             "--validate-request", "true" if validate_request else "false"],
            stdout=self.log, stderr=subprocess.STDOUT)

    def wait(self):
        for _ in range(300):
            check(self.process.poll() is None, "prism ended: " + self.text())
            try:
                send(self.port, "GET", "/")
                return
            except OSError:
                time.sleep(0.1)
        raise Failure("prism does not listen: " + self.text())

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def send(port, method, path, key=None, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = dict(headers or {})
    if key:
        headers["Authorization"] = "Bearer " + key
    if body is not None:
        headers.setdefault("Content-Type", JSON)
        body = body if isinstance(body, (bytes, str)) else json.dumps(body)
    elif method == "POST":
        headers["Content-Length"] = "0"
    connection.request(method, path, body, headers)
    try:
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Api:
    """Sends requests and holds their answers against the document."""

    def __init__(self, document, port):
        self.document, self.direct = document, port
        self.strict = self.loose = None  # ports of Prism, which looks at requests, too; at answers alone
        self.seen = set()
        self.sent = self.through_prism = 0

    def operations(self):
        for path, item in self.document["paths"].items():
            for method in ("get", "put", "post", "delete", "patch"):
                if method in item:
                    yield method.upper(), path, item[method]

    def resolve(self, thing):
        while isinstance(thing, dict) and "$ref" in thing:
            found = self.document
            for part in thing["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            thing = found
        return thing

    def call(self, method, path, status, id=None, key=None, body=None, headers=None, prism=True):
        """`path` as in the document. The answer has `status`, and is what the document says of it."""
        what = f"{method} {path} for {status}"
        to = path.replace("{id}", id or "none") if "{" in path else path
        if headers and "query" in headers:
            headers = dict(headers)
            to += headers.pop("query")
        ports = [self.direct]
        if prism and self.loose:
            ports = [self.strict if status < 400 else self.loose]
        for port in ports:
            answer = send(port, method, to, key, body, headers)
            self.sent += 1
            self.through_prism += port != self.direct
            check(b"stoplight.io/prism" not in answer.body, f"{what}: Prism says {answer.body[:2000]}")
            if answer.status == status == 429:
                break
        if answer.status == status:
            self.hold(what, method, path, answer)
            self.seen.add((method, path, status))
        return answer

    def must(self, method, path, status, **options):
        answer = self.call(method, path, status, **options)
        check(answer.status == status, f"{method} {path} for {status}: {answer.status} {answer.body[:500]}")
        return answer

    def hold(self, what, method, path, answer):
        operation = self.document["paths"][path][method.lower()]
        documented = operation["responses"].get(str(answer.status))
        check(documented, f"{what}: the document has no {answer.status}")
        documented = self.resolve(documented)
        check(answer.headers["Cache-Control"] == "no-store", f"{what}: Cache-Control: {answer.body[:500]}")
        check(answer.headers["X-Content-Type-Options"] == "nosniff", f"{what}: X-Content-Type-Options")
        for name, header in documented.get("headers", {}).items():
            check(name in answer.headers or not self.resolve(header).get("required"), f"{what}: no {name}")
        content = documented.get("content")
        if not content:
            check(answer.body == b"", f"{what}: a body")
            return
        check(answer.type in content, f"{what}: is {answer.type}")
        if answer.type not in (JSON, PROBLEM):
            return
        schema = {"components": self.document["components"], "allOf": [content[answer.type]["schema"]]}
        try:
            jsonschema.Draft202012Validator(schema).validate(answer.json())
        except jsonschema.ValidationError as error:
            raise Failure(f"{what}: {error.message} at {list(error.absolute_path)}: {answer.body[:1000]}")
        if answer.type == PROBLEM:
            check(answer.json()["status"] == answer.status, f"{what}: its problem has another status")


class Test:
    GOOD = {  # a body of each operation that has one
        "createRoom": {"scene": "yard", "name": "evening", "max_clients": 16, "end_when_empty_s": 600, "record": True},
        "drainServer": {"within_s": 60, "reason": "a new version"},
        "drainRoom": {"within_s": 60.5, "reason": "a new version"},
        "stopRoom": {"reason": "end of the event"},
        "mintToken": {"role": "spectator", "client_id": CLIENT, "user_data": base64.b64encode(b"team=2").decode(),
                      "expires_s": 120, "timeout_s": 0},
        "kickClient": {"client_id": CLIENT, "reason": "spam"},
    }
    INVALID = {
        "createRoom": {"scene": "../yard"},
        "drainServer": {"within_s": -1},
        "drainRoom": {},
        "stopRoom": {"reason": "x" * 201},
        "mintToken": {"expires_s": 0},
        "kickClient": {"client_id": "12"},
    }
    SUCCESS = {"createRoom": 201, "drainServer": 202, "drainRoom": 202, "stopRoom": 202, "kickClient": 202}

    def __init__(self, api, fake, keys, recording):
        self.api, self.fake, self.keys = api, fake, keys
        self.recording = recording  # run id and bytes

    def room(self):
        """The id of a fresh room."""
        self.fake.tell("reset")
        answer = send(self.api.direct, "POST", "/v1/rooms", self.keys["operate"], {"scene": "yard"})
        return answer.json()["id"]

    def id_of(self, path):
        return None if "{id}" not in path else self.recording[0] if "recordings" in path else self.room()

    def successes(self):
        for method, path, operation in self.api.operations():
            name = operation["operationId"]
            if name == "downloadRecording":
                continue
            key = self.keys[operation["x-level"]] if "x-level" in operation else None
            self.fake.tell("reset")
            self.api.must(method, path, self.SUCCESS.get(name, 200), id=self.id_of(path), key=key, body=self.GOOD.get(name))
        self.fake.tell("reset")

    def contents(self):
        """What is asked for is what comes."""
        api, read, operate = self.api, self.keys["read"], self.keys["operate"]
        self.fake.tell("reset")
        made = api.must("POST", "/v1/rooms", 201, key=operate, body={"scene": "rain", "name": "a-b_C9", "tick_rate_hz": 30.5,
                                                                     "allow_mirror": True, "record": False})
        room = made.json()
        check(made.headers["Location"] == "/v1/rooms/" + room["id"], "Location")
        check((room["scene"], room["name"], room["tick_rate_hz"], room["allow_mirror"]) == ("rain", "a-b_C9", 30.5, True),
              f"the room is {room}")
        check("recording" not in room, "a room that is not recorded has a recording")
        listed = api.must("GET", "/v1/rooms", 200, key=read).json()["rooms"]
        check([one["id"] for one in listed] == [room["id"]] and "members" not in listed[0], f"the list is {listed}")
        seen = api.must("GET", "/v1/rooms/{id}", 200, id=room["id"], key=read).json()
        check(seen["members"][0] == {"client_id": CLIENT, "role": "player", "slot": 0}, f"the members are {seen['members']}")
        check("slot" not in seen["members"][2], "a spectator has a slot")
        token = api.must("POST", "/v1/rooms/{id}/tokens", 200, id=room["id"], key=operate).json()
        alone = api.must("POST", "/v1/rooms/{id}/tokens", 200, id=room["id"], key=operate, headers={"Accept": BYTES}, prism=False)
        check(len(alone.body) == 2048 and alone.body == base64.b64decode(token["token"]), "the token's two forms differ")
        check(alone.headers["Orrery-Client-Id"] == token["client_id"], "the token's client ids differ")
        api.must("POST", "/v1/rooms/{id}/drain", 202, id=room["id"], key=operate, body=self.GOOD["drainRoom"])
        check(api.must("GET", "/v1/rooms/{id}", 200, id=room["id"], key=read).json()["phase"] == "draining", "no drain")
        api.must("POST", "/v1/rooms/{id}/stop", 202, id=room["id"], key=operate)
        api.must("GET", "/v1/rooms/{id}", 404, id=room["id"], key=read)
        # Prism writes a body's JSON anew, on one line.
        wrong = api.must("POST", "/v1/rooms", 400, key=operate, body='{"scene": "yard",\n "nam": "x"}', prism=False).json()
        check(wrong["line"] == 2 and "nam" in wrong["detail"], f"an unknown field: {wrong}")
        wrong = api.must("POST", "/v1/rooms", 422, key=operate, body={"scene": "yardd"}).json()
        check(wrong["field"] == "scene", f"an unknown scene: {wrong}")
        version = api.must("GET", "/v1/version", 200, key=read).json()
        check(version["key"] == {"name": "r", "level": "read"}, f"the key is {version['key']}")

    def downloads(self):
        """Without Prism, which reads bodies as texts."""
        run, data = self.recording
        options = {"id": run, "key": self.keys["operate"], "prism": False}
        path = "/v1/recordings/{id}"
        whole = self.api.must("GET", path, 200, **options)
        check(whole.body == data, "the file differs")
        check(whole.headers["Content-Disposition"] == 'attachment; filename="yard-20260101T000000Z-r1.orr"', "its name")
        for field, begin, end in (("bytes=0-0", 0, 1), ("bytes=1000-", 1000, len(data)), ("bytes=-7", len(data) - 7, len(data)),
                                  (f"bytes=5-{len(data) * 9}", 5, len(data))):
            part = self.api.must("GET", path, 206, headers={"Range": field}, **options)
            check(part.body == data[begin:end], f"{field} differs")
            check(part.headers["Content-Range"] == f"bytes {begin}-{end - 1}/{len(data)}", f"{field}: Content-Range")
        for field in (f"bytes={len(data)}-", "bytes=-0"):
            self.api.must("GET", path, 416, headers={"Range": field}, **options)
        head = send(self.api.direct, "HEAD", "/v1/recordings/" + run, self.keys["operate"])
        check(head.status == 200 and head.headers["Content-Length"] == str(len(data)) and not head.body, "HEAD")

    def levels(self):
        """Each operation needs the level that it names, and no more."""
        below = {"operate": "read", "admin": "operate"}
        for method, path, operation in self.api.operations():
            level, name = operation.get("x-level"), operation["operationId"]
            if level in below:
                answer = self.api.must(method, path, 403, id=self.id_of(path), key=self.keys[below[level]], body=self.GOOD.get(name))
                check(answer.json()["type"] == "urn:orrery:problem:level-too-low", f"{method} {path}: {answer.body}")
            if level:
                self.api.must(method, path, 401, id=self.id_of(path), key="0" * 64, body=self.GOOD.get(name))
                # Prism answers for the server where there is no key.
                answer = self.api.must(method, path, 401, id=self.id_of(path), body=self.GOOD.get(name), prism=False)
                check(answer.json()["type"] == "urn:orrery:problem:no-key", f"{method} {path}: {answer.body}")

    def refusals(self):
        """What every operation refuses in the same way."""
        for method, path, operation in self.api.operations():
            name = operation["operationId"]
            statuses = {int(status) for status in operation["responses"]}
            with_key = {"id": self.id_of(path), "key": self.keys["admin"]}
            body = self.GOOD.get(name)
            self.api.must(method, path, 400, body=body, headers={"query": "?x=1"}, **with_key)
            self.api.must(method, path, 403, body=body, headers={"Origin": "http://elsewhere.example"}, **with_key)
            if body is not None:
                self.api.must(method, path, 400, body='{"reason": "x"', prism=False, **with_key)  # it takes no such text
                self.api.must(method, path, 400, body={"reasson": "x"}, **with_key)
                self.api.must(method, path, 413, body={"reason": "x" * 70000}, **with_key)
                self.api.must(method, path, 415, body="a=b", headers={"Content-Type": "application/x-www-form-urlencoded"},
                              **with_key)
                self.api.must(method, path, 422, body=self.INVALID[name], **with_key)
            if 404 in statuses:
                self.api.must(method, path, 404, id="f" * 32, key=self.keys["admin"], body=body)
        self.fake.tell("reset")
        self.room()
        for _ in range(2):
            self.api.must("POST", "/v1/rooms", 201, key=self.keys["operate"], body={"scene": "yard"})
        full = self.api.must("POST", "/v1/rooms", 409, key=self.keys["operate"], body={"scene": "yard"}).json()
        check(full["type"] == "urn:orrery:problem:limit-reached", f"a room too many: {full}")
        room = self.room()
        self.api.must("POST", "/v1/drain", 202, key=self.keys["admin"], body={"within_s": 1})
        self.api.must("POST", "/v1/rooms", 409, key=self.keys["operate"], body={"scene": "yard"})
        self.api.must("POST", "/v1/rooms/{id}/tokens", 409, id=room, key=self.keys["operate"])
        self.fake.tell("reset")

    def faults(self):
        """Of the rooms, and of the system below them."""
        for fault, status in (("throws", 500), ("io", 503)):
            for method, path, operation in self.api.operations():
                needs_room = operation["operationId"] in ("createRoom", "drainRoom", "stopRoom", "mintToken", "kickClient")
                if "x-level" not in operation or (fault == "io" and not needs_room):
                    continue
                id = self.id_of(path)
                self.fake.tell("fault " + fault)
                answer = self.api.must(method, path, status, id=id, key=self.keys["admin"],
                                       body=self.GOOD.get(operation["operationId"]))
                check("is for nobody" not in str(answer.body), "an exception's text comes out")
                self.fake.tell("fault none")

    def too_many_wrong_keys(self):
        for method, path, operation in self.api.operations():
            if "x-level" not in operation:
                continue
            for _ in range(60):  # one a second is let through
                answer = self.api.call(method, path, 429, id=self.id_of(path), key=secrets.token_hex(32),
                                       body=self.GOOD.get(operation["operationId"]))
                check(answer.status in (401, 429), f"{method} {path}: {answer.status}")
                if answer.status == 429:
                    break
            self.api.must("GET", "/v1/host", 200, key=self.keys["read"])  # a good key is served

    def too_many_connections(self):
        import socket
        threads, queue = 8, 128
        self.fake.tell("hold")
        held = [socket.create_connection(("127.0.0.1", self.api.direct)) for _ in range(threads)]
        request = f"GET /v1/host HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.keys['read']}\r\n\r\n".encode()
        for one in held:
            one.sendall(request)
        for _ in range(200):
            if self.fake.tell("") == threads:
                break
            time.sleep(0.05)
        waiting = [socket.create_connection(("127.0.0.1", self.api.direct)) for _ in range(queue)]
        for one in waiting:
            one.sendall(request)
        time.sleep(0.3)
        for method, path, operation in self.api.operations():
            self.api.must(method, path, 503, id="none", key=self.keys["admin"], body=self.GOOD.get(operation["operationId"]))
        self.fake.tell("release")
        for one in held + waiting:
            check(one.recv(12) == b"HTTP/1.1 200", "a request that was held or waited was not answered")
            one.close()

    def log(self):
        """It says who did what, and has no key."""
        text = self.fake.text()
        for line in ("o created room r1 of scene yard", "o kicks client id " + CLIENT, "a drains the server within 60 s"):
            check("control: " + line in text, f"the log has no line '{line}'")
        check(not any(key in text for key in self.keys.values()), "the log has a key")

    def all_seen(self):
        documented = {(method, path, int(status)) for method, path, operation in self.api.operations()
                      for status in operation["responses"]}
        missing = documented - self.api.seen
        check(not missing, f"documented and never seen: {sorted(missing)}")
        return len(documented)


class Real:
    """`orrery serve --rooms`; `with` ends it whatever happens."""

    def __init__(self, build, source, folder, keys):
        self.orrery, self.drive = (os.path.join(build, "bin", name) for name in ("orrery", "orrery_drive"))
        self.folder = folder
        self.process = subprocess.Popen(
            [self.orrery, "serve", "--rooms", "--scenes", os.path.join(source, "deploy", "scenes"), "--record", os.path.join(folder, "real"),
             "--port", "0", "--control-keys", keys], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(values(self.process.stdout.readline())["control"].split(":")[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def test(self, api, key):
        """A room is created, played in, watched, and its recording proves itself."""
        room = api.must("POST", "/v1/rooms", 201, key=key, body={"scene": "yard", "name": "evening"}).json()
        at = {"id": room["id"], "key": key}
        token = api.must("POST", "/v1/rooms/{id}/tokens", 200, headers={"Accept": BYTES}, body={"client_id": CLIENT}, prism=False, **at)
        path = os.path.join(self.folder, "connect.token")
        with open(path, "wb") as file:
            file.write(token.body)
        driver = subprocess.Popen([self.drive, "--token", path, "--auto", "--seconds", "30"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                members = api.must("GET", "/v1/rooms/{id}", 200, **at).json()["members"]
                if members:
                    break
                time.sleep(0.05)
            check(members == [{"client_id": CLIENT, "role": "player", "slot": 0}], f"the members are {members}")
            api.must("POST", "/v1/rooms/{id}/kick", 202, body={"client_id": CLIENT}, **at)
            driver.wait(20)  # long before its 30 s
        finally:
            driver.kill()
            driver.wait()
        for _ in range(200):
            listed = api.must("GET", "/v1/rooms", 200, key=key).json()["rooms"]
            if listed[0]["clients"] == 0:
                break
            time.sleep(0.05)
        check([one["id"] for one in listed] == [room["id"]] and listed[0]["clients"] == 0, f"the rooms are {listed}")
        check(api.must("GET", "/v1/host", 200, key=key).json()["totals"]["clients_connected"] == 1, "nobody was connected")
        check("yard" in api.must("GET", "/v1/version", 200, key=key).json()["scenes"], "there is no yard")
        api.must("POST", "/v1/rooms/{id}/stop", 202, **at)
        for _ in range(200):
            recordings = api.must("GET", "/v1/recordings", 200, key=key).json()["recordings"]
            if not recordings[0]["open"]:
                break
            time.sleep(0.05)
        check(len(recordings) == 1 and recordings[0]["run_id"] == room["recording"]["run_id"], f"the recordings are {recordings}")
        got = api.must("GET", "/v1/recordings/{id}", 200, id=recordings[0]["run_id"], key=key, prism=False)
        copy = os.path.join(self.folder, "copy.orr")
        with open(copy, "wb") as file:
            file.write(got.body)
        verified = subprocess.run([self.orrery, "verify", "--require-complete", copy], capture_output=True, text=True)
        check(verified.returncode == 0, "the recording: " + verified.stdout + verified.stderr)
        api.must("POST", "/v1/drain", 202, key=key, body={"within_s": 0})
        check(self.process.wait(20) == 0, f"the server ended with {self.process.returncode}")


def timed(part, *arguments):
    begin = time.monotonic()
    result = part(*arguments)
    print(f"{part.__qualname__}: {time.monotonic() - begin:.1f} s", flush=True)
    return result


def main():
    build, source = sys.argv[1:3]
    path = os.path.join(source, "deploy", "openapi.yaml")
    tools = sys.argv[3] if len(sys.argv) > 3 else None
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    routes = subprocess.run([os.path.join(build, "bin", "control_fake"), "--routes"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        keys = {level: secrets.token_hex(32) for level in ("read", "operate", "admin")}
        keys_path = os.path.join(folder, "keys")
        with open(os.open(keys_path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.writelines(f"{level[0]} {level} {key}\n" for level, key in keys.items())
        os.mkdir(os.path.join(folder, "recordings"))
        data = secrets.token_bytes(300_001)
        with open(os.path.join(folder, "recordings", "yard-20260101T000000Z-r1.orr"), "wb") as file:
            file.write(data)
        with Fake(build, keys_path, os.path.join(folder, "recordings")) as fake:
            api = Api(document, fake.port)
            listed = [f"{method} {path}" for method, path, _ in api.operations()]
            check(sorted(listed) == sorted(routes.stdout.split("\n")[:-1]),
                  f"the server has the routes {routes.stdout.splitlines()}, the document {listed}")
            test = Test(api, fake, keys, ("0" * 31 + "1", data))

            def all_of():
                for part in (test.successes, test.contents, test.downloads, test.levels, test.refusals, test.faults,
                             test.too_many_wrong_keys, test.too_many_connections):
                    timed(part)
                test.log()
                return test.all_seen()

            with Real(build, source, folder, keys_path) as real, contextlib.ExitStack() as stack:
                real_api = Api(document, real.port)
                if tools:  # all of Prism's at once, since each takes seconds to begin
                    strict, loose, of_real = (stack.enter_context(Prism(tools, path, port, requests_too)) for port, requests_too in
                                              ((fake.port, True), (fake.port, False), (real.port, True)))
                    for one in (strict, loose, of_real):
                        one.wait()
                    api.strict, api.loose, real_api.strict, real_api.loose = strict.port, loose.port, of_real.port, of_real.port
                count = all_of()
                timed(real.test, real_api, keys["admin"])
    print(f"{api.sent} requests, {api.through_prism} of them through Prism; all {count} documented answers seen")


try:
    main()
except Failure as failure:
    print(f"control: {failure}")
    sys.exit(1)
