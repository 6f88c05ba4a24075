// Reads and checks manifests of Kubernetes, for tests/e2e/manifests.py.
//
//   manifests.mjs parse FILE...   the documents of YAML files, as JSON: {FILE: [document, ...]}
//   manifests.mjs check           of standard input, a JSON list of documents: what is wrong with each, as a list of lists
//
// A document is checked by validate() of kubernetes-models, which lets unknown fields pass. These are found by what its
// validators read: they read every field that the kind has.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const groups = { "": "Core", "rbac.authorization.k8s.io": "Rbac", "networking.k8s.io": "Networking", apps: "Apps", batch: "Batch" };
const big = (text) => text[0].toUpperCase() + text.slice(1);

async function validatorsOf({ apiVersion, kind }) {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const models = await import(`kubernetes-models/${group ? group + "/" : ""}${version}`);
  const { validate } = await import(`kubernetes-models/_schemas/IoK8sApi${groups[group]}${big(version)}${kind}`);
  return { Model: models[kind], validate };
}

// `value` as the validators see it, which notes the fields that they read.
function watched(value, seen) {
  if (value === null || typeof value !== "object") return value;
  const children = new Map();
  const fields = new Set();
  seen.set(value, fields);
  return new Proxy(value, {
    get(target, name) {
      if (typeof name === "string") fields.add(name);
      if (!Object.hasOwn(target, name)) return target[name];
      if (!children.has(name)) children.set(name, watched(target[name], seen));
      return children.get(name);
    },
  });
}

function unread(value, seen, path, found) {
  if (value === null || typeof value !== "object") return;
  for (const [name, child] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name;
    if (seen.get(value)?.has(name)) unread(child, seen, here, found);
    else found.push(`${here}: there is no such field`);
  }
}

async function faultsOf(document) {
  let validators;
  try {
    validators = await validatorsOf(document);
    if (!validators.Model) throw new Error("no model");
  } catch {
    return [`${document.apiVersion} ${document.kind}: there is no such kind`];
  }
  const faults = [];
  try {
    new validators.Model(document).validate();
  } catch (error) {
    faults.push(error.message);
  }
  const seen = new Map();
  validators.validate(watched(document, seen));
  if (faults.length === 0) unread(document, seen, "", faults);
  return faults;
}

const [verb, ...files] = process.argv.slice(2);
if (verb === "parse") {
  const read = {};
  for (const file of files) {
    const documents = parseAllDocuments(readFileSync(file, "utf8"), { strict: true, uniqueKeys: true });
    for (const document of documents) {
      for (const fault of [...document.errors, ...document.warnings]) {
        console.error(`${file}: ${fault.message}`);
        process.exitCode = 1;
      }
    }
    read[file] = documents.map((document) => document.toJS());
  }
  console.log(JSON.stringify(read));
} else if (verb === "check") {
  const documents = JSON.parse(readFileSync(0, "utf8"));
  console.log(JSON.stringify(await Promise.all(documents.map(faultsOf))));
} else {
  console.error("usage: manifests.mjs parse FILE... | check");
  process.exitCode = 64;
}
