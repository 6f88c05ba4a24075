"""Reads a C header of declarations: clang makes the syntax tree, this module takes the tree apart.

What it does not understand (a bit field, a union, a `long`, a function with `...`, a declaration without ORRERY_API) is
NotUnderstood, with its line: a binding that leaves something out silently would be worse than none.
"""
import json
import os
import re
import subprocess
import tempfile

PREFIX = "ORRERY_"
BASE_TYPES = {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t",
              "float", "double", "int", "unsigned int"}


class NotUnderstood(Exception):
    pass


class Header:
    """The declarations of a header, as clang sees them."""

    def __init__(self, path, clang):
        self.path, self.clang = path, clang
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.bytes = self.text.encode()
        tree = json.loads(self.run("-Xclang", "-ast-dump=json", "-fparse-all-comments", "-fsyntax-only", path))
        self.nodes = [node for node in tree["inner"] if self.is_ours(node)]
        self.typedefs, self.structs, self.opaque = {}, {}, set()
        self.functions, self.enums, self.macros, self.hooks = [], [], [], []
        for node in self.nodes:
            self.read(node)
        for name, record in self.structs.items():
            record["fields"] = self.fields(name, record["node"])
            self.hooks += [(f"{name}_{field['name']}", field["hook"], f"{name}.{field['name']}: {field['comment']}")
                           for field in record["fields"] if field["hook"]]
        self.read_macros()

    def run(self, *arguments, stdin=None):
        command = [self.clang, "-x", "c", "-std=c11", *arguments]
        result = subprocess.run(command, input=stdin, capture_output=True, text=True)
        if result.returncode:
            raise NotUnderstood(f"{self.path}: clang cannot read it:\n{result.stderr}")
        return result.stdout

    @staticmethod
    def place(location):
        return location.get("expansionLoc", location)

    def is_ours(self, node):
        location = self.place(node.get("loc", {}))
        return "offset" in location and "includedFrom" not in location and not node.get("isImplicit")

    def fail(self, node, text):
        line = self.bytes[: self.place(node["loc"])["offset"]].count(b"\n") + 1
        name = node.get("name", node["kind"])
        raise NotUnderstood(f"{self.path}:{line}: {name}: {text}; teach client_sdk/csharp/c_header.py")

    # ------------------------------------------------------------------------------------------------ declarations

    def read(self, node):
        kind, name = node["kind"], node.get("name")
        if kind == "TypedefDecl":
            self.read_typedef(node, name)
        elif kind == "RecordDecl":
            if node.get("tagUsed") != "struct":
                self.fail(node, "only structs are understood")
            if not node.get("completeDefinition"):
                self.opaque.add(name)
            elif not name:
                self.fail(node, "a struct needs a name behind `struct`")
            else:
                self.opaque.discard(name)
                self.structs[name] = {"node": node, "comment": self.comment(node)}
        elif kind == "EnumDecl":
            self.enums.append(self.read_enum(node))
        elif kind == "FunctionDecl":
            self.functions.append(self.read_function(node))
        elif kind not in ("StaticAssertDecl", "EmptyDecl"):
            self.fail(node, f"a {kind} is not understood")

    def read_typedef(self, node, name):
        spelled = node["type"]["qualType"]
        if spelled == f"struct {name}" or spelled == name:
            return  # typedef struct name name
        if "(" in spelled:
            self.fail(node, "a typedef of a function is not understood")
        self.typedefs[name] = spelled

    def read_enum(self, node):
        values, last, before = [], -1, None
        for constant in node.get("inner", []):
            if constant["kind"] != "EnumConstantDecl":
                continue
            explicit = self.constant_in(constant)
            last = int(explicit["value"]) if explicit else last + 1
            if not -2**31 <= last < 2**31:
                self.fail(constant, "an enumerator that is no int")
            values.append((constant["name"], last, self.comment(constant, before)))
            before = constant
        return {"node": node, "values": values, "comment": self.comment(node)}

    def constant_in(self, node):
        """The constant expression below a node, if there is one."""
        for child in node.get("inner", []):
            found = child if child["kind"] == "ConstantExpr" else self.constant_in(child)
            if found:
                return found
        return None

    def read_function(self, node):
        name, inner = node["name"], node.get("inner", [])
        if node.get("variadic"):
            self.fail(node, "a function with `...`")
        if any(child["kind"] == "CompoundStmt" for child in inner):
            self.fail(node, "a function with a body")
        if not any(child["kind"] == "VisibilityAttr" for child in inner):
            self.fail(node, "a function without ORRERY_API")
        returned = node["type"]["qualType"].split("(", 1)[0].strip()
        parameters = []
        for child in inner:
            if child["kind"] != "ParmVarDecl":
                continue
            if not child.get("name"):
                self.fail(child, f"a parameter of {name} without a name")
            # The type as it was written: an array is a pointer to its first element here.
            spelled = re.sub(r"\s*\[\d*\]$", " *", child["type"]["qualType"])
            parameters.append((child["name"], self.type_of(child, spelled)))
            if "(" in spelled:
                note = f"The {child['name']} of {name}()."
                self.hooks.append((f"{name}_{child['name']}", self.hook(child, spelled), note))
        return {"name": name, "returned": self.type_of(node, returned), "parameters": parameters,
                "comment": self.comment(node)}

    def fields(self, struct, node):
        fields, before = [], None
        for child in node.get("inner", []):
            if child["kind"] in ("FullComment",):
                continue
            if child["kind"] != "FieldDecl":
                self.fail(child if "loc" in child else node, f"a {child['kind']} in a struct")
            if child.get("isBitfield"):
                self.fail(child, "a bit field")
            if not child.get("name"):
                self.fail(child, f"a field of {struct} without a name")
            spelled, count = child["type"]["qualType"], 0
            array = re.fullmatch(r"(.*?)\s*\[(\d+)\]", spelled)
            if array:
                spelled, count = array[1], int(array[2])
            if "[" in spelled or array and not count:
                self.fail(child, f"the type `{child['type']['qualType']}`")
            fields.append({"name": child["name"], "type": self.type_of(child, spelled), "count": count,
                           "comment": self.comment(child, before), "hook": None})
            if "(" in spelled:
                fields[-1]["hook"] = self.hook(child, spelled)
            before = child
        return fields

    def hook(self, node, spelled):
        """The function that a pointer points to: what it returns, and its parameters with names."""
        match = re.fullmatch(r"(.*?)\s*\(\*\)\((.*)\)", spelled)
        types = [part.strip() for part in match[2].split(",")]
        if types == ["void"]:
            types = []
        begin, end = self.place(node["range"]["begin"])["offset"], self.place(node["range"]["end"])["offset"]
        written = self.bytes[begin: end + 1].decode()
        names = re.findall(r"(\w+)\s*(?=[,)])", written[written.index(node["name"]) + len(node["name"]) + 1:])
        names = [] if names == ["void"] else names
        if len(names) != len(types) or len(set(names)) != len(names) or "..." in types:
            self.fail(node, "the names of the hook's parameters")
        return self.type_of(node, match[1]), [(name, self.type_of(node, kind)) for name, kind in zip(names, types)]

    def type_of(self, node, spelled):
        """(pointers, is the innermost const, base name); ("hook") for a pointer to a function."""
        if re.fullmatch(r"[^()]*\(\*\)\([^()]*\)", spelled):
            return (1, False, "(*)")
        match = re.fullmatch(r"(const\s+)?(?:struct\s+)?([\w ]+?)\s*((?:\*\s*(?:const\s*)?)*)", spelled)
        if not match:
            self.fail(node, f"the type `{spelled}`")
        pointers, base = match[3].count("*"), match[2].strip()
        seen = set()
        while base in self.typedefs and base not in BASE_TYPES and base not in seen:
            seen.add(base)
            base = self.typedefs[base]
        pointed_to = base in self.opaque or base in ("void", "char")
        known = base in BASE_TYPES or base in self.structs or pointers and pointed_to
        if not known and base != "void":  # what is `void` itself, and no pointer, is returned
            self.fail(node, f"the type `{spelled}`")
        if pointers > 2:
            self.fail(node, f"the type `{spelled}`")
        return (pointers, bool(match[1]), base)

    # ---------------------------------------------------------------------------------------------------- comments

    def comment(self, node, before=None):
        """The comment of a declaration; without one, that which stands before the run of declarations it is in."""
        found = [child for child in node.get("inner", []) if child["kind"] == "FullComment"]
        if found:
            words = []

            def collect(part):
                if part["kind"] == "TextComment":
                    words.append(part["text"])
                elif "inner" not in part and part["kind"] != "ParagraphComment":
                    words.append(self.source_of(part))
                for child in part.get("inner", []):
                    collect(child)

            collect(found[0])
            text = re.sub(r"\s+", " ", " ".join(words)).strip()
            text = re.sub(r"(^| )\* ", r"\1", text)  # the star that a line of a comment begins with
            begins = [self.place(part["range"]["begin"])["offset"] for part in (found[0], node)]
            starts_before = begins[0] < begins[1]
            if starts_before and not self.adjacent(found[0], node):  # a heading
                text = ""
            node["run_comment"] = text if starts_before else ""
            return text
        text = before.get("run_comment", "") if before is not None and self.adjacent(before, node) else ""
        node["run_comment"] = text
        return text

    def source_of(self, part):
        begin, end = self.place(part["range"]["begin"]), self.place(part["range"]["end"])
        return self.bytes[begin["offset"]: end["offset"] + end.get("tokLen", 1)].decode()

    def adjacent(self, before, node):
        begin, end = self.place(before["range"]["end"])["offset"], self.place(node["range"]["begin"])["offset"]
        return b"\n\n" not in self.bytes[begin:end]

    # ------------------------------------------------------------------------------------------------------ macros

    def read_macros(self):
        """Constants that are macros: clang computes their values and types."""
        written = {}
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)(.*)$", self.text, re.MULTILINE):
            name, call, rest = match.groups()
            value, _, note = rest.partition("/*")
            if name == PREFIX + "API" or not (call or value.strip()):
                continue  # an attribute, and guards
            line = self.text[: match.start()].count("\n") + 1
            if call or not name.startswith(PREFIX) or name in written or value.rstrip().endswith("\\"):
                raise NotUnderstood(f"{self.path}:{line}: the macro {name}; teach client_sdk/csharp/c_header.py")
            if not note:
                above = re.search(r"/\*((?:(?!\*/).)*)\*/\n$", self.text[: match.start()], re.DOTALL)
                note = above[1] if above else ""
            written[name] = re.sub(r"\s+", " ", note.replace("*/", "")).strip()
        if not written:
            return
        probe = f'#include "{os.path.abspath(self.path)}"\n'
        probe += "".join(f"enum {{ value_{name} = ({name}) }};\n" for name in written)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "probe.c")
            with open(file, "w", encoding="utf-8") as out:
                out.write(probe)
            tree = json.loads(self.run("-Xclang", "-ast-dump=json", "-fsyntax-only", "-Wno-everything", file))
        enums = [node for node in tree["inner"] if node["kind"] == "EnumDecl"]
        constants = [child for enum in enums for child in enum.get("inner", []) if child["kind"] == "EnumConstantDecl"]
        values = {constant["name"]: self.constant_in(constant) for constant in constants}
        # `unsigned long` is 64 bits where this script runs; a macro has no ABI, so that its type need not be exact.
        sharp = {"int": "int", "unsigned int": "uint", "long": "long", "unsigned long": "ulong", "long long": "long",
                 "unsigned long long": "ulong"}
        for name, note in written.items():
            value = values["value_" + name]
            self.macros.append((name, sharp[value["type"]["qualType"]], int(value["value"]), note))
