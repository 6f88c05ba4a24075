#!/usr/bin/env python3
"""Promises of the web server of `orrery serve`, kept by the built program over real loopback sockets, with Debian's
python3-websockets as the client: a token by POST, its single use, codes of refusal, limits, and bounded memory."""
import asyncio
import json
import os
import socket
import struct
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from debian_websockets import websockets
from programs import Server, check, main

ASKS_FOR_ACK = bytes([0x80, 0, 0])  # a channel packet: flags, sequence
WAIT_S = 20  # far more than anything here takes


def fetch(server, path, method="GET", **headers):
    request = urllib.request.Request("http://" + server.facts["http"] + path, method=method,
                                     headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def token_of(server):
    status, headers, token = fetch(server, "/token", "POST")
    check(status == 200 and len(token) == 2048, f"POST /token: {status}, {len(token)} bytes")
    check(headers["Cache-Control"] == "no-store", str(headers))
    return token


def connect(server, **options):
    return websockets.connect(f"ws://{server.facts['http']}/play", **options)


async def receive(client):
    return await asyncio.wait_for(client.recv(), WAIT_S)


async def close_code(client):
    try:
        while True:
            await receive(client)
    except websockets.ConnectionClosed as closed:
        return closed.code, closed.reason


async def play(client, token):
    """Brings a token and returns the answer: type, client index, largest number of clients."""
    await client.send(token)
    return struct.unpack("<BII", await receive(client))


def a_client_comes_in_by_a_token_once_and_gets_channel_packets(programs, folder):
    async def run(server):
        token = token_of(server)
        async with connect(server) as client:
            check(client.extensions == [], "the server has agreed to an extension")
            check(await play(client, token) == (1, 0, 64), "the answer to the token")
            await client.send(ASKS_FOR_ACK)
            packet = await receive(client)
            while not packet:  # a keep-alive
                packet = await receive(client)
            check(packet[0] & 0x40, f"no acknowledgement: {packet.hex()}")
            async with connect(server) as second:
                await second.send(token)
                code, reason = await close_code(second)
                check(code == 4002 and "connected already" in reason, f"{code} {reason}")
            async with connect(server) as other:
                check(await play(other, token_of(server)) == (1, 1, 64), "a second client")
        async with connect(server) as again:
            await again.send(token)
            code, reason = await close_code(again)
            check(code == 4003 and "used before" in reason, f"{code} {reason}")
    with Server(programs, os.path.join(folder, "rec")) as server:
        asyncio.run(run(server))
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        check("from ws 127.0.0.1:" in server.log_text(), server.log_text())
        check("disconnected: it left" in server.log_text(), server.log_text())


def the_token_file_is_good_over_a_websocket_too_and_a_stopping_server_says_so(programs, folder):
    async def run(server):
        async with connect(server) as client:
            with open(server.token, "rb") as file:
                await play(client, file.read())
            server.process.terminate()
            code, reason = await close_code(client)
            check(code == 4103 and "stopped" in reason, f"{code} {reason}")
    with Server(programs, os.path.join(folder, "rec")) as server:
        asyncio.run(run(server))


def what_is_no_token_or_no_message_of_ours_is_refused_by_its_code(programs, folder):
    async def run(server):
        for first, wanted in ((b"x" * 2048, 4000), (b"short", 4000), (b"x" * 2049, 1009), ("text", 1003)):
            async with connect(server) as client:
                await client.send(first)
                code, reason = await close_code(client)
                check(code == wanted, f"{first[:9]}: {code} {reason}")
        async with connect(server) as client:
            await play(client, token_of(server))
            await client.send(b"x" * 1201)
            code, reason = await close_code(client)
            check(code == 4102, f"{code} {reason}")
        for origin, good in (("http://evil.example.com", False), ("https://play.example.com", True),
                             ("http://" + server.facts["http"], True)):
            try:
                async with connect(server, origin=origin):
                    check(good, origin + " may connect")
            except websockets.InvalidStatusCode as error:
                check(not good and error.status_code == 403, f"{origin}: {error}")
    with Server(programs, os.path.join(folder, "rec"), "--allow-origin", "https://play.example.com") as server:
        asyncio.run(run(server))
        check(server.stop() == 0, "SIGTERM does not end the server with 0")


def files_are_those_of_the_folder_and_tokens_only_for_loopback_names(programs, folder):
    page = os.path.join(folder, "page")
    os.makedirs(os.path.join(page, "assets"))
    for name, text in (("index.html", "<p>hello"), ("assets/app.js", "1")):
        with open(os.path.join(page, name), "w") as file:
            file.write(text)
    with open(os.path.join(folder, "secret"), "w") as file:
        file.write("secret")
    with Server(programs, os.path.join(folder, "rec"), "--web", page) as server:
        status, headers, body = fetch(server, "/")
        check(status == 200 and body == b"<p>hello" and headers["Content-Type"].startswith("text/html"), f"{headers}")
        check("default-src 'self'" in headers["Content-Security-Policy"], str(headers))
        check(fetch(server, "/", If_None_Match=headers["ETag"])[0] == 304, "the tag is not known again")
        check(fetch(server, "/assets/app.js")[1]["Content-Type"].startswith("text/javascript"), "type of a script")
        for path in ("/../secret", "/%2e%2e/secret", "/assets/../../secret", "/secret", "/assets"):
            check(fetch(server, path)[0] == 404, path + " is served")
        check(fetch(server, "/token")[0] == 405, "a token by GET")
        check(fetch(server, "/token", "POST", Host="evil.example.com")[0] == 421, "a token for another name")
        check(fetch(server, "/token", "POST", Origin="http://evil.example.com")[0] == 403, "a token for another origin")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")


def with_a_key_file_no_token_is_given_away(programs, folder):
    key = os.path.join(folder, "key")
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("ab" * 32)
    with Server(programs, os.path.join(folder, "rec"), "--key-file", key, "--json") as server:
        status, _, body = fetch(server, "/token", "POST")
        check(status == 403 and b"owner of the page" in body, f"{status} {body}")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
    with Server(programs, os.path.join(folder, "rec2"), "--serve-scene", "off", "--no-http") as server:
        check("http" not in server.facts, str(server.facts))
        check(server.stop() == 0, "SIGTERM does not end the server with 0")


def a_taken_port_is_named_with_the_option_that_mends_it(programs, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = programs.run(programs.orrery, "serve", programs.yard, "--port", "0", "--http-port", port,
                              "--record", os.path.join(folder, "rec"))
    check(result.returncode == 3, f"{result.returncode}: {result.stderr}")
    check(port in result.stderr and "--http-port" in result.stderr, result.stderr)
    check(not os.listdir(os.path.join(folder, "rec")), "a recording without a tick was left behind")


def memory_kib(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def strangers_cost_bounded_memory_and_a_player_nothing(programs, folder):
    """Readers that take nothing, frames that never end and heads that never come, beside a player over UDP."""
    upgrade = ("GET /play HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()
    huge = b"\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff" + b"mask" + b"x" * 4096
    with Server(programs, os.path.join(folder, "rec"), "--insecure", "--json", "--status-every-s", "0.2") as server:
        host, port = server.facts["http"].split(":")
        before = memory_kib(server.process)
        strangers = []
        for i in range(200):
            stranger = socket.create_connection((host, int(port)), timeout=WAIT_S)
            strangers.append(stranger)
            try:
                if i % 4 == 0:
                    stranger.sendall(b"GET / HTTP/1.1\r\nx: " + b"y" * 4096)
                else:
                    stranger.sendall(upgrade)
                    stranger.recv(12)
                    if i % 4 == 1:
                        stranger.sendall(huge)
                    elif i % 4 == 2:
                        stranger.sendall(b"\x82\xfe\x08\x00" + b"mask" + b"x" * 2000)  # 48 bytes are missing
                    elif i % 4 == 3:
                        stranger.sendall((b"\x89\xfd" + b"mask" + b"p" * 125) * 2000)  # pings, whose answers nobody reads
            except OSError:
                pass  # the server has ended it
        drive = programs.run(programs.drive, "--server", server.address, "--auto", "--seconds", "5")
        check(drive.returncode == 0, f"{drive.returncode}: {drive.stdout} {drive.stderr}")
        after = memory_kib(server.process)
        check(after - before < 40 * 1024, f"the server grew from {before} to {after} KiB")
        for stranger in strangers:
            stranger.close()
        check(server.stop() == 0, "SIGTERM does not end the server with 0")
        statuses = [json.loads(line) for line in server.lines if line.startswith('{"tick"')]
        check(statuses and statuses[-1]["recording"] == "on", "no status line")
        print(f"  memory of the server: {before} KiB before, {after} KiB with 200 strangers and a player")


if __name__ == "__main__":
    main([a_client_comes_in_by_a_token_once_and_gets_channel_packets,
          the_token_file_is_good_over_a_websocket_too_and_a_stopping_server_says_so,
          what_is_no_token_or_no_message_of_ours_is_refused_by_its_code,
          files_are_those_of_the_folder_and_tokens_only_for_loopback_names,
          with_a_key_file_no_token_is_given_away,
          a_taken_port_is_named_with_the_option_that_mends_it,
          strangers_cost_bounded_memory_and_a_player_nothing])
