#!/usr/bin/env python3
"""Fails where a public name has no comment: a Doxygen run over the public headers gives no warning.

    doxygen.py ROOT          runs Doxygen over the headers of ROOT that HEADERS names
    doxygen.py --self-test   shows that names without a comment are found, and those with one are not
    doxygen.py --filter FILE prints FILE as Doxygen reads it: its INPUT_FILTER

The headers have plain comments. What a comment documents, and the filter writes before it as /** */:

  * The first comment of a file is that of the file.
  * A comment on lines of its own documents the declaration that follows it at once, and the further ones of that run:
    all functions, all variables, all enumerators or all macros. The run ends at a blank line, at the next comment, and
    at a type. A comment before a blank line documents nothing.
  * A comment behind a declaration, an enumerator or the { of a type documents that one; all names of `float a, b;`. It
    goes on in lines of // that begin in the same column.
  * An enum on one line is documented as a whole.
  * A member with the name of its type, or with the last word of it, is documented by the type: Spring spring,
    BodyId body, BodyType type.

These names need no comment: destructors, default constructors, copies, moves, what is defaulted or deleted, friends,
the namespace `detail`, macros without a value or with an #undef, private parts, and what the description of a
constraint tells the engine (HOOKS; sim/constraints/fields.h has their meaning). Doxygen does not ask for a comment of a
type without members.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

HEADERS = ["client_sdk/include/orrery/*.h", "client_sdk/include/orrery/*.hpp", "sim/include/orrery/*.hpp", "sim/constraints/*.h",
           "server/include/orrery/*.hpp", "server/room/director.h", "server/room/room.h", "protocol/session/board.h",
           "protocol/session/world_events.h", "protocol/session/token_role.h"]
INTERNAL = re.compile(r"sim/constraints/(.*-inl|bundle|fields|.*_form)\.h$")
HOOKS = {"fields", "at_start", "kBodies", "kFirstState", "kTarget", "kSteer", "kBrake"}
DOXYFILE = """
INPUT = {files}
OUTPUT_DIRECTORY = "{out}"
INPUT_FILTER = "{python} {script} --filter"
EXTENSION_MAPPING = h=C++
PREDEFINED = ORRERY_API= __cplusplus
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SEARCH_INCLUDES = NO
AUTOLINK_SUPPORT = NO
MARKDOWN_SUPPORT = NO
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
WARN_IF_UNDOCUMENTED = YES
WARN_IF_DOC_ERROR = YES
WARN_FORMAT = "$file:$line: $text"
QUIET = YES
"""
TOKEN = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<macro>   (?m:^)[ \t]*\#(?: \\\n | [^\n/] | /(?![/*]) )* )
  | (?P<space>   \s+ )
  | (?P<code>    "(?:\\.|[^"\\])*" | \d[\w'.]* | '(?:\\.|[^'\\])' | [A-Za-z_]\w* | . )""", re.S | re.X)
TYPE = re.compile(r"(typedef )?(struct|class|union|enum)\b(?!.*[(=])")
SPECIAL = re.compile(r"~ | operator = \(|= (delete|default) ;$|^friend ")


class Token:
    def __init__(self, kind, text, line, column):
        self.kind, self.text, self.line, self.column = kind, text, line, column
        self.before = self.behind = ""

    def last_line(self):
        return self.line + self.text.count("\n")

    def hide(self):
        self.text, self.before, self.behind = "\n" * self.text.count("\n"), "", ""


def tokens_of(text):
    tokens, line, begin = [], 1, 0
    for match in TOKEN.finditer(text):
        tokens.append(Token(match.lastgroup, match[0], line, match.start() - begin))
        if "\n" in match[0]:
            line, begin = line + match[0].count("\n"), match.start() + match[0].rindex("\n") + 1
    return tokens


def words(comment):
    """The text of a comment, with a mark for what Doxygen would read as a command or tag."""
    if comment.startswith("//"):
        lines = [comment[2:]]
    else:
        lines = [re.sub(r"^\s*\*(?!\*/) ?", "", line) for line in comment[2:-2].split("\n")]
    return "\n".join(re.sub(r"([\\@<>&#%\"])", r"\\\1", line.strip()) for line in lines)


def commas_of(tokens):
    """The commas of `float a, b;`, each with what its declaration begins with when it stands alone: `float`."""
    depth, beginning, before, commas = 0, None, "", []
    for i, token in enumerate(tokens):
        following = next((other.text for other in tokens[i + 1:] if other.text.strip()), "")
        named = re.match(r"[A-Za-z_]", token.text) and following in ("=", ",", "{", "[", ";")
        if beginning is None and depth == 0 and before.strip() and named:
            beginning = before
        if token.text == "(" and beginning is None:
            return []  # a function
        opening, closing = ("<([{", ">)]}") if beginning is None else ("([{", ")]}")
        depth += (token.text in opening) - (token.text in closing)
        if depth == 0 and token.text == ",":
            commas.append((token, beginning))
        before += token.text
    return commas


class Declaration:
    def __init__(self, first, last, texts, commas=()):
        self.first, self.last, self.texts, self.commas = first, last, texts, commas

    def write(self, hidden):
        if hidden or not self.texts:
            return
        doc = " ".join(" ".join(self.texts).split())
        if self.first.kind == "macro":
            self.last.behind = f" /**< {doc} */"
        else:
            self.first.before = f"/** {doc} */ "
            for comma, beginning in self.commas:
                comma.text = f"; /** {doc} */ {beginning}"


class Filter:
    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.undefined = set(re.findall(r"^\s*#\s*undef\s+(\w+)", text, re.M))
        self.scopes = []          # (kind, name, declaration) of each open brace
        self.comments = []        # on lines of their own, directly before
        self.run = []             # texts of the run
        self.run_kind = ""        # "function", "variable", "type", "enumerator" or "macro"
        self.ended = None         # the declaration that ended on this line
        self.more = None          # (declaration, line, column) of a // that may go on
        self.done = []
        self.at = 0

    def close(self, declaration, hidden):
        self.done.append((declaration, hidden))
        self.ended = declaration

    def take(self, kind):
        """What the comments before a declaration of this kind, or the run, say of it."""
        if self.comments:
            self.run, self.run_kind, self.comments = self.comments, kind, []
        elif kind != self.run_kind:
            self.run = []
        return list(self.run)

    def comment(self, token):
        text = words(token.text)
        if self.ended and self.ended.last.last_line() == token.line:
            self.ended.texts.append(text)
            self.run = []
            self.more = (self.ended, token.line, token.column)
        elif self.more and (self.more[1] + 1, self.more[2]) == (token.line, token.column):
            self.more[0].texts.append(text)
            self.more = (self.more[0], token.line, token.column)
        else:
            self.more, self.run = None, []
            self.comments.append(text)
        token.hide()

    def skip(self, open_at):
        """The index of the brace that closes the one at open_at."""
        depth = 0
        for i in range(open_at, len(self.tokens)):
            if self.tokens[i].kind == "code":
                depth += {"{": 1, "}": -1}.get(self.tokens[i].text, 0)
                if depth == 0:
                    return i
        return len(self.tokens) - 1

    def next_code(self, at):
        while at + 1 < len(self.tokens):
            at += 1
            if self.tokens[at].kind != "space" and self.tokens[at].kind != "comment":
                return self.tokens[at].text
        return ""

    def finish(self, start, end, code):
        """The declaration of the tokens from start to end."""
        kind, name, outer = self.scopes[-1] if self.scopes else ("", "", None)
        whole = " ".join(code)
        whole = re.sub(r"^(template < [^()]*? > )+", "", whole)
        if kind == "enum":
            own = "enumerator"
        elif whole.startswith(("using ", "typedef ")):
            own = "type"
        else:
            own = "function" if re.match(r"[^={]*\(|.*\boperator\b", whole) else "variable"
        texts = self.take(own)
        first, last = self.tokens[start], self.tokens[end]
        if kind == "enum" and outer.last.line == last.line:
            texts = outer.texts
        member = re.search(r"(\w+) (\w+)( =.*| \{.*)? ;$", whole)
        if kind == "class" and not texts and member:
            named = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", member[1]).lower()
            if f"_{named}".endswith(f"_{member[2]}") or named == f"{member[2]}_id":
                texts = [f"See {member[1]}."]
        hidden = bool(SPECIAL.search(whole) or HOOKS.intersection(code) and kind == "class" or
                      name and re.match(rf"(explicit )?{name} \( ((const )?{name} & (& )?)?\)", whole))
        if hidden:
            for token in self.tokens[start:end + 1]:
                token.hide()
        self.close(Declaration(first, last, texts, commas_of(self.tokens[start:end + 1]) if kind != "enum" else ()), hidden)

    def declaration(self):
        start, code, depth = self.at, [], 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "code":
                if depth == 0 and self.scopes and self.scopes[-1][0] == "enum" and token.text == "}":
                    end = self.at - 1
                    while self.tokens[end].kind != "code":  # comments behind the last enumerator are read again
                        end -= 1
                    self.at = end
                    return self.finish(start, end, code)
                if token.text == "{" and depth == 0:
                    whole = re.sub(r"^(template < [^()]*? > )+", "", " ".join(code))
                    if re.match(r'namespace detail$', whole):
                        end = self.skip(self.at)
                        for hidden in self.tokens[start:end + 1]:
                            hidden.hide()
                        self.at = end
                        self.comments, self.run = [], []
                        return None
                    if re.match(r'(inline )?namespace\b|extern "C"$', whole):
                        self.scopes.append(("namespace", "", None))
                        self.comments, self.run = [], []
                        return None
                    if TYPE.match(whole):
                        type_ = Declaration(self.tokens[start], token, self.take("type"))
                        self.close(type_, False)
                        name = re.search(r"(?:struct|class|union|enum) (?:class )?(\w+)", whole)
                        self.scopes.append(("enum" if TYPE.match(whole)[2] == "enum" else "class", name[1] if name else "", type_))
                        self.run = []
                        return None
                    code.append("{")
                    self.at = self.skip(self.at)
                    if self.next_code(self.at) not in (";", ","):
                        return self.finish(start, self.at, code)
                    self.at += 1
                    continue
                depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
                code.append(token.text)
                if depth == 0 and (token.text == ";" or token.text == "," and self.scopes and self.scopes[-1][0] == "enum"):
                    return self.finish(start, self.at, code)
            self.at += 1
        return None

    def output(self):
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "space":
                if token.text.count("\n") > 1:
                    self.comments, self.run, self.more, self.ended = [], [], None, None
            elif token.kind == "comment":
                self.comment(token)
            elif token.kind == "macro":
                define = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?[ \t]*(\S?)", token.text)
                if define:
                    hidden = not define[3] or define[1] in self.undefined
                    self.close(Declaration(token, token, self.take("macro")), hidden)
                    if hidden:
                        token.hide()
                else:
                    self.comments, self.run = [], []
            elif token.text in ("public", "private", "protected") and self.next_code(self.at) == ":":
                while self.tokens[self.at].text != ":":
                    self.at += 1
                self.comments, self.run, self.ended = [], [], None
            elif token.text == "}":
                kind, _, type_ = self.scopes.pop()
                self.comments, self.run, self.ended = [], [], None
                if kind != "namespace":
                    while self.tokens[self.at].text != ";":
                        self.at += 1
            elif token.text != ";":
                self.declaration()
            self.at += 1
        for declaration, hidden in self.done:
            declaration.write(hidden)
        return "".join(token.before + token.text + token.behind for token in self.tokens)


def filtered(path):
    text = path.read_text(encoding="utf-8")
    head = re.match(r"\s*(//[^\n]*\n(\s*//[^\n]*\n)*|/\*.*?\*/)", text, re.S)
    doc = " ".join(" ".join(words(line) for line in re.findall(r"//[^\n]*|/\*.*?\*/", head[0], re.S)).split()) if head else ""
    return f"/** @file {path.parent.name}/{path.name} {doc} */ " + Filter(text).output()


def bare_enumerators(xml, root):
    """Places and names of enumerators without a comment, of which Doxygen 1.9.4 does not warn."""
    for enum in xml.iterfind(".//memberdef[@kind='enum']"):
        at = enum.find("location")
        for value in enum.iterfind("enumvalue"):
            if not any("".join(value.find(text).itertext()).strip() for text in ("briefdescription", "detaileddescription")):
                yield f"{at.get('file').removeprefix(f'{root}/')}:{at.get('line')}", value.findtext("name")


def warnings(root, headers):
    if not shutil.which("doxygen"):
        sys.exit("doxygen.py: there is no doxygen. Install it: deploy/deps test")
    with tempfile.TemporaryDirectory() as folder:
        doxyfile = Path(folder, "Doxyfile")
        doxyfile.write_text(DOXYFILE.format(files=" ".join(f'"{header}"' for header in headers), out=folder, python=sys.executable,
                                            script=Path(__file__).resolve()), encoding="utf-8")
        done = subprocess.run(["doxygen", doxyfile], cwd=root, capture_output=True, text=True, check=False)
        found = [line.replace(f"{Path(root).resolve()}/", "") for line in done.stderr.splitlines() if line.strip()]
        found += [f"{at}: enumerator {name} is not documented" for xml in sorted(Path(folder, "xml").glob("*.xml"))
                  for at, name in bare_enumerators(ElementTree.parse(xml), root)]
        read = len(list(Path(folder, "xml").glob("*_8h*.xml")))
        if done.returncode != 0 or read != len(headers):
            found.append(f"doxygen ended with {done.returncode} and has read {read} of {len(headers)} headers")
        return found


def check(root):
    headers = sorted({path.relative_to(root).as_posix() for pattern in HEADERS for path in root.glob(pattern)})
    headers = [header for header in headers if not INTERNAL.match(header)]
    found = warnings(root, headers)
    for line in found:
        print(line)
    print(f"{len(headers)} headers, {len(found)} warnings")
    return 1 if found or len(headers) < 40 else 0


BARE = """// A file.
#pragma once
#define GUARD
#define ONE 1
#define TWO 2  // twice

namespace detail {
inline int hidden() { return 0; }
}
namespace n {

// A comment before a blank line.

struct Bare {
    Bare(const Bare&) = delete;
    int x;  // documented
};
// A type.
struct Type {
    int above = 0;
    int a = 0, b{0};  // a trailing comment, and
                      // more of it
    int after = 0;
    // The first of a run,
    int first, second;
    int third[2];

    int apart;
    Bare bare;
    Type other;
    bool operator==(const Type&) const = default;
    ~Type();
    // A function.
    int f() const { return 0; }
    int g(int x = 1) const;
    int variable = 0;

    template <class Self, class Visitor>
    static void fields(Self& s, Visitor& v) {}

  private:
    int secret;
};
enum class Several {
    commented,  // so
    bare,
};
// Documented as a whole.
enum class Line { x, y };

}  // namespace n
"""
UNDOCUMENTED = ["ONE", "Several", "above", "after", "apart", "bare", "n::Bare", "other", "variable"]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "bare.h").write_text(BARE, encoding="utf-8")
        lines = warnings(root, ["bare.h"])
    found = sorted(re.search(r"(?:Member|Compound|enumerator) (\S+)|$", line)[1] or line for line in lines)
    if found != UNDOCUMENTED:
        print(f"found: {found}", f"instead of: {UNDOCUMENTED}", sep="\n")
    return 0 if found == UNDOCUMENTED else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:2] == ["--filter"]:
        sys.stdout.write(filtered(Path(sys.argv[2])))
        return 0
    return check(Path(sys.argv[1]).resolve())


sys.exit(main())
