#!/usr/bin/env python3
"""A client that was built with the header of engine version 31 plays by the shared library of this build."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Server, check, main


def a_program_of_the_header_of_version_31_plays(programs, folder):
    with Server(programs, os.path.join(folder, "rec")) as server:
        client = programs.run(programs.client_31, server.token)
        check(client.returncode == 0, f"client_31 ended with {client.returncode}: {client.stdout}{client.stderr}")
        check(server.stop() == 0, "SIGTERM does not end the server with 0")


main([a_program_of_the_header_of_version_31_plays])
