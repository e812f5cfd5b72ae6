import { describe, expect, test } from "vitest"
import { CliError, type CommandLine, type OptionValues } from "../../compiler/cli/command.ts"
import { commands } from "../../compiler/cli/commands.ts"
import { run } from "./run.ts"

/** Words of a command line, and what they mean (part of its arguments) or the error they are. */
type Row = readonly [words: readonly string[], options: OptionValues, meaning: object | RegExp]

const tables: Readonly<Record<string, readonly Row[]>> = {
  playground: [
    [[], { out: "site" }, { out: "site", format: "text" }],
    [[], { out: "site", format: "json" }, { out: "site", format: "json" }],
  ],
  init: [
    [[], {}, { folder: ".", example: "minimal" }],
    [["a/b"], { example: "minimal" }, { folder: "a/b", example: "minimal" }],
    [[], { example: "minimla" }, /no example `minimla`; did you mean `minimal`\?/],
  ],
  validate: [
    [[], {}, { project: { folder: ".", entry: "gateway.conf" }, format: "text" }],
    [
      [],
      { config: "a/b.conf", format: "sarif" },
      { project: { folder: "a/", entry: "b.conf" }, format: "sarif" },
    ],
    [[], { config: "/x/b.conf" }, { project: { folder: "/x/", entry: "b.conf" } }],
    [[], { config: "a/" }, /needs a file/],
    [[], { format: "yaml" }, /unknown format: --format yaml/],
    [[], { fix: true }, { format: "text", fix: "write" }],
    [[], { fix: true, format: "junit" }, { format: "junit", fix: "write" }],
    [[], { fix: true, dryRun: true }, { fix: "show" }],
    [[], { dryRun: true }, /--dry-run needs --fix/],
    [[], { fix: true, dryRun: true, format: "json" }, /--dry-run prints a diff, not json/],
  ],
  fmt: [
    [[], { check: true }, { files: [], check: true }],
    [["a.conf", "b.conf"], {}, { files: ["a.conf", "b.conf"], check: false }],
  ],
  test: [
    [
      [],
      {},
      {
        files: [],
        filter: undefined,
        format: "text",
        output: undefined,
        coverage: false,
        minCoverage: undefined,
        watch: false,
      },
    ],
    [["a", "b*"], { coverage: true, filter: "x" }, { files: ["a", "b*"], coverage: true, filter: "x" }],
    [
      [],
      { format: "junit", output: "r.xml", watch: true },
      { format: "junit", output: "r.xml", watch: true },
    ],
    [[], { minCoverage: "90" }, { coverage: true, minCoverage: 90 }],
    [[], { minCoverage: "101" }, /--min-coverage 101 is not a percentage/],
    [[], { minCoverage: "-1" }, /is not a percentage/],
    [[], { minCoverage: "9.5" }, /is not a percentage/],
    [[], { format: "sarif" }, /unknown format: --format sarif/],
  ],
  ci: [
    [
      [],
      {},
      {
        project: { folder: ".", entry: "gateway.conf" },
        base: undefined,
        format: "text",
        comment: undefined,
      },
    ],
    [
      [],
      { base: "../main", comment: "c.md", format: "github" },
      { base: "../main", comment: "c.md", format: "github" },
    ],
    [[], { minCoverage: "80", failUnder: "70" }, { minCoverage: "80", failUnder: "70" }],
    [[], { format: "sarif" }, /unknown format: --format sarif/],
  ],
  doctor: [
    [[], {}, { project: { folder: ".", entry: "gateway.conf" }, format: "text" }],
    [[], { json: true }, { format: "json" }],
  ],
  completion: [
    [["bash"], {}, { shell: "bash" }],
    [["fish"], {}, { shell: "fish" }],
    [[], {}, /needs the name of a shell/],
    [["csh"], {}, /no completion for csh/],
  ],
  "model rename": [
    [["doc#a", "doc#b"], { dryRun: true }, { moves: [{ from: "doc#a", to: "doc#b" }], dryRun: true }],
    [["doc#a"], {}, /needs the old and the new word/],
  ],
  "model split": [
    [
      ["doc#a", "doc#b=user,user:*", "doc#c"],
      { store: "docs" },
      {
        moves: [
          { from: "doc#a", to: "doc#b", users: ["user", "user:*"] },
          { from: "doc#a", to: "doc#c" },
        ],
        store: "docs",
      },
    ],
    [["doc#a", "doc#b"], {}, /at least two new ones/],
  ],
  "model merge": [
    [
      ["doc#a", "doc#b", "doc#c"],
      {},
      {
        moves: [
          { from: "doc#a", to: "doc#c" },
          { from: "doc#b", to: "doc#c" },
        ],
      },
    ],
    [["doc#a", "doc#b"], {}, /at least two relations and a new one/],
  ],
  "model moves": [
    [[], {}, { wait: false, format: "text" }],
    [[], { wait: true, format: "json" }, { wait: true, format: "json" }],
    [[], { format: "xml" }, /unknown format/],
  ],
  "model finish": [
    [["acme"], { yes: true }, { store: "acme", yes: true }],
    [[], {}, /needs a store/],
  ],
  "model compare": [
    [["a.fga", "b.fga"], { format: "json" }, { before: "a.fga", after: "b.fga", format: "json" }],
    [["a.fga"], {}, /needs two models/],
  ],
  "model explain": [
    [
      ["order#viewer"],
      { model: "m/fga.mod" },
      { type: "order", relation: "viewer", file: "m/fga.mod", store: undefined, format: "text" },
    ],
    [["order#viewer"], { store: "acme" }, { file: undefined, store: "acme" }],
    [["order:viewer"], {}, /TYPE#RELATION, not `order:viewer`/],
    [[], {}, /TYPE#RELATION/],
    [["a#b"], { model: "m/" }, /needs a file/],
    [["a#b"], { model: "m.fga", store: "acme" }, /exclude each other/],
  ],
  "model print": [[[], { sourceInfo: true, format: "json" }, { sourceInfo: true, format: "json" }]],
  "import openapi": [
    [["a.yaml"], {}, { file: "a.yaml", name: undefined, path: undefined, format: "text" }],
    [["a.yaml"], { name: "a", path: "/a/b" }, { name: "a", path: "/a/b" }],
    [["a/.."], {}, /needs the file of one/],
    [["a.yaml"], { name: "a b" }, /is not a valid name/],
    [["a.yaml"], { path: "a" }, /is not a valid path/],
  ],
  "export openapi": [
    [["a"], {}, { api: "a", version: undefined, format: "json" }],
    [["a"], { apiVersion: "v2", format: "yaml" }, { version: "v2", format: "yaml" }],
    [["a"], { format: "xml" }, /--format xml/],
  ],
  "policy convert": [
    [
      ["a.xml"],
      {},
      { file: "a.xml", name: undefined, section: "inbound", fragments: new Map(), values: new Map() },
    ],
    [
      ["a.xml"],
      { name: "orders", section: "on-error", fragment: ["a=b.xml", "c=d=e.xml"] },
      {
        name: "orders",
        section: "on-error",
        fragments: new Map([
          ["a", "b.xml"],
          ["c", "d=e.xml"],
        ]),
      },
    ],
    [["a/."], {}, /needs the file of one/],
    [["a.xml"], { name: "1" }, /is not a valid name/],
    [["a.xml"], { section: "backend" }, /unknown section/],
    [["a.xml"], { fragment: ["a"] }, /is not a fragment/],
    [
      ["a.xml"],
      { value: ["a=", "b=c=d"] },
      {
        values: new Map([
          ["a", ""],
          ["b", "c=d"],
        ]),
      },
    ],
    [["a.xml"], { value: ["a"] }, /is not a value/],
  ],
  plan: [
    [[], { out: "next.json" }, { out: "next.json", format: "text" }],
    [[], {}, { against: undefined, out: undefined, format: "text" }],
    [[], { against: "empty" }, { against: "empty" }],
    [[], { json: true }, { format: "json", requests: undefined }],
    [[], { requests: "r.json" }, { requests: "r.json", format: "text" }],
    [[], { json: true, format: "text" }, /--json and --format text exclude/],
    [[], { format: "markdown" }, { format: "markdown" }],
    [[], { format: "sarif" }, /unknown format: --format sarif/],
    [
      [],
      { against: "a", tuples: "t.csv", store: "docs", full: "f", context: '{"x": 1}' },
      { people: { tuples: "t.csv", store: "docs", full: "f", context: { x: 1 } } },
    ],
    [[], { tuples: "t.csv" }, /--tuples needs an old model/],
    [[], { full: "f", store: "docs" }, { people: { running: true, full: "f", store: "docs" } }],
    [[], { people: false }, { people: { running: false } }],
    [[], { people: false, full: "f" }, /--full is for the comparison of people/],
    [[], { against: "a", full: "f" }, /--full is for the comparison of people/],
    [[], { against: "a", context: "{}" }, /--context is for the comparison of people/],
    [[], { out: "a", sign: "ci.key", message: "why" }, { sign: "ci.key", reason: "why" }],
    [[], { sign: "ci.key" }, /--sign needs a file to write/],
    [[], { out: "a", sign: "ci.key", against: "empty" }, /--sign and --against exclude each other/],
    [[], { remove: "stores" }, { remove: ["stores"] }],
    [[], { remove: "stores", against: "empty" }, /--remove and --against exclude each other/],
  ],
  "signing-key create": [
    [["ci.key"], {}, { file: "ci.key", name: undefined }],
    [["ci.key"], { name: "ci" }, { name: "ci" }],
  ],
  "signing-key show": [
    [["ci.key"], { name: "ci" }, { file: "ci.key", name: "ci" }],
    [[], {}, /needs the file/],
  ],
  apply: [
    [[], {}, { file: undefined, yes: false, allowDanger: false }],
    [["next.json"], { yes: true, allowDanger: true }, { file: "next.json", yes: true, allowDanger: true }],
    [[], { allow: "breaking,opens" }, { allow: ["opens", "breaking"] }],
    [[], { allow: "danger" }, /unknown class `danger`/],
    [["next.json"], { probe: true }, { file: "next.json", probe: true }],
    [[], { wait: "2m" }, { waitMs: 120_000 }],
    [[], { wait: false }, { waitMs: 0 }],
    [[], { wait: "2" }, /--wait 2 is not a duration/],
    [[], { canary: "5%" }, { canary: { percent: 5, seconds: 600, limits: {} } }],
    [["next.json"], { canary: "0.5", for: "2h" }, { canary: { percent: 0.5, seconds: 7_200 } }],
    [
      [],
      { canary: "5%", returnWhen: "errors +0.5%, denials off,latency x2", minRequests: "0" },
      { canary: { limits: { errorPoints: 0.5, denialPoints: null, latencyRatio: 2, requestsMin: 0 } } },
    ],
    [[], { canary: "100%" }, /--canary 100% is not a share of 0.01% to 99%/],
    [[], { canary: "0" }, /is not a share/],
    [[], { canary: "5%", for: "10" }, /--for 10 is not a duration/],
    [[], { canary: "5%", for: "10ms" }, /--for must be at least one second/],
    [[], { canary: "5%", returnWhen: "errors 1%" }, /has the rule `errors 1%`, which cannot be read/],
    [[], { canary: "5%", returnWhen: "latency +1%" }, /`latency \+1%`/],
    [[], { canary: "5%", returnWhen: "latency x0.5" }, /`latency x0.5`/],
    [[], { canary: "5%", minRequests: "-1" }, /--min-requests must be a whole number/],
    [[], { for: "10m" }, /belong to a canary/],
    [[], { remove: "tokens,subscriptions" }, { remove: ["subscriptions", "tokens"], canary: undefined }],
    [[], {}, { remove: [] }],
    [[], { remove: "token" }, /unknown kind `token`/],
    [[], { remove: " " }, /--remove needs kinds/],
    [[], { remove: "tokens", canary: "5%" }, /exclude each other: the old plan still serves callers/],
  ],
  "canary status": [
    [[], {}, { format: "text" }],
    [[], { json: true }, { format: "json" }],
  ],
  "canary promote": [
    [[], { yes: true, message: "fine", wait: "1m" }, { yes: true, reason: "fine", waitMs: 60_000 }],
  ],
  "canary cancel": [[[], { yes: true }, { yes: true, reason: undefined }]],
  consent: [
    [["next.json"], { allow: "opens" }, { to: { file: "next.json" }, allow: ["opens"], yes: false }],
    [[], { rollback: "41", allow: "opens", yes: true }, { to: { serial: 41 }, yes: true }],
    [["next.json"], { withdraw: true, message: "no" }, { allow: [], reason: "no" }],
    [["next.json"], { withdraw: true, allow: "opens" }, /--allow or --withdraw, and not both/],
    [["next.json"], {}, /--allow or --withdraw/],
    [["next.json"], { rollback: "41", allow: "opens" }, /a plan file, or --rollback/],
    [[], { allow: "opens" }, /a plan file, or --rollback/],
  ],
  diff: [
    [["a", "b"], { format: "json" }, { before: "a", after: "b", format: "json" }],
    [["a"], {}, /needs two/],
    [["a", "b"], { requests: "r.json" }, { requests: "r.json" }],
    [["a", "b"], { traffic: "t" }, { traffic: "t", format: "text" }],
    [["a", "b"], { traffic: "t", format: "json" }, /cannot be a part of the JSON/],
  ],
  replay: [
    [
      ["t"],
      {},
      { record: "t", against: undefined, format: "text", project: { folder: ".", entry: "gateway.conf" } },
    ],
    [["t"], { against: "../main", json: true }, { against: "../main", format: "json" }],
    [[], {}, /needs the folder of a record/],
  ],
  explain: [
    [["sp2001"], {}, { what: "code", code: "SP2001" }],
    [["sp2001"], { json: true }, { what: "code", code: "SP2001", format: "json" }],
    [[], {}, /needs the code/],
    [["sp2001", "GET"], {}, /takes no options/],
    [["request", "post", "/a"], { websocket: true }, /a WebSocket request has the method GET/],
    [
      ["request", "GET", "/a"],
      { websocket: true },
      {
        ...{ what: "request", body: undefined, format: "text", source: { kind: "control", url: undefined } },
        question: {
          ...{ method: "GET", target: "/a" },
          headers: [
            ["Connection", "Upgrade"],
            ["Upgrade", "websocket"],
            ["Sec-WebSocket-Version", "13"],
            ["Sec-WebSocket-Key", expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/)],
          ],
        },
      },
    ],
    [["sp2001"], { as: "ann" }, /takes no options/],
    [
      ["request", "get", "/a?b"],
      { as: "ann", claim: ["scope=a b", "level=3"], header: ["X-A: b:c"], host: "h", ip: "::1" },
      {
        what: "request",
        source: { kind: "control", url: undefined },
        question: {
          ...{ method: "GET", target: "/a?b", host: "h", ip: "::1", headers: [["X-A", "b:c"]] },
          claims: { sub: "ann", scope: "a b", level: 3 },
        },
      },
    ],
    [["request", "GET", "/"], { plan: "p.json" }, { source: { kind: "plan", file: "p.json" } }],
    [["request", "GET", "/"], { config: "a/b.conf" }, { source: { project: { entry: "b.conf" } } }],
    [["request"], { id: "1", url: "http://x" }, { what: "refusal", id: "1", source: { url: "http://x" } }],
    [["request"], { id: "1", plan: "p.json" }, /takes no method/],
    [["request", "GET", "/"], { id: "1" }, /takes no method/],
    [["request", "GET"], {}, /a method and a path/],
    [["request", "GET", "/", "/"], {}, /a method and a path/],
    [["request", "GET", "a"], {}, /does not start with `\/`/],
    [["request", "GET", "/"], { claim: ["a=b"] }, /--claim needs --as/],
    [["request", "GET", "/"], { as: "a", claim: ["ab"] }, /`ab` is not a claim/],
    [["request", "GET", "/"], { ip: "10.0.0" }, /is not an IP address/],
    [["request", "GET", "/"], { as: "a", token: "t" }, /cannot be combined/],
    [["request", "GET", "/"], { header: ["nothing"] }, /`nothing` is not a header/],
    [["request", "GET", "/"], { plan: "p", url: "http://x" }, /exclude each other/],
  ],
  "try request": [
    [
      ["get", "/a?b"],
      {
        as: "ann",
        claim: ["scope=a"],
        tuple: ["user:ann owner order:1"],
        time: "2030-01-31",
        given: "a.gw.yaml",
      },
      {
        question: { method: "GET", target: "/a?b", claims: { sub: "ann", scope: "a" } },
        tuples: [{ user: "user:ann", relation: "owner", object: "order:1" }],
        ...{ as: "ann", timeMs: Date.UTC(2030, 0, 31), given: "a.gw.yaml", format: "text" },
      },
    ],
    [["GET"], {}, /a method and a path/],
    [["GET", "a"], {}, /does not start with `\/`/],
    [["GET", "/"], { websocket: true }, /needs a running gateway/],
    [["GET", "/"], { tuple: ["user:ann owner"] }, /is not a tuple/],
    [["GET", "/"], { time: "soon" }, /is not a date/],
  ],
  "hash-password": [
    [[], {}, { cost: undefined }],
    [[], { cost: "65536" }, { cost: 65536 }],
    [[], { cost: "0" }, /not a whole number: 0/],
    [[], { cost: "2.5" }, /not a whole number/],
  ],
  history: [
    [["show", "41"], { json: true }, { show: 41, format: "json" }],
    [["41"], {}, /lists all plans, or shows one/],
    [["show", "x"], {}, /the serial must be a whole number/],
    [[], {}, { limit: 20, format: "text" }],
    [[], { kept: true }, { kept: true }],
    [["show", "41"], { kept: true }, /--kept lists all kept plans/],
    [[], { kept: true, limit: "3" }, /--kept lists all kept plans/],
    [[], { limit: "3" }, { limit: 3 }],
    [[], { limit: "0" }, /whole number of at least 1/],
    [[], { limit: "many" }, /not `many`/],
  ],
  rollback: [
    [["41"], { yes: true }, { serial: 41, yes: true }],
    [[], {}, /needs a serial/],
    [["-1"], {}, /whole number/],
    [["41"], { wait: "500ms" }, { waitMs: 500, withoutDatabase: false }],
    [["41"], { withoutDatabase: true }, { serial: 41, withoutDatabase: true }],
    [["41"], { withoutDatabase: true, despiteCanary: true }, { withoutDatabase: true, despiteCanary: true }],
    [["41"], { despiteCanary: true }, /is for --without-database/],
    [["41"], { withoutDatabase: true, wait: "1m" }, /changes one process/],
    [["41"], { withoutDatabase: true, allow: "opens" }, /Omit --allow, --wait|no consent can be stored/],
  ],
  prune: [
    [[], { plans: "3", dryRun: true }, { retention: { plansKept: 3 }, dryRun: true }],
    [
      [],
      { changes: "30d", deleted: "12h" },
      { retention: { changesSeconds: 2_592_000, deletedSeconds: 43_200 } },
    ],
    [[], {}, /needs to know what to keep/],
    [[], { changes: "30m" }, /less than an hour/],
  ],
  "tuple import": [
    [["a.csv"], {}, { file: "a.csv", format: "csv", fromLine: 1, store: undefined }],
    [["-"], { store: "docs", fromLine: "7" }, { file: "-", format: "jsonl", fromLine: 7, store: "docs" }],
    [["a.txt"], { format: "yaml" }, { format: "yaml", output: "text" }],
    [["a.csv"], { json: true }, { format: "csv", output: "json" }],
    [[], {}, /needs a file/],
    [["a.txt"], {}, /the format of a\.txt is not known/],
  ],
  "tuple export": [
    [[], {}, { file: undefined, format: "jsonl" }],
    [["-"], { format: "csv" }, { file: undefined, format: "csv" }],
    [["a.csv"], {}, { file: "a.csv", format: "csv" }],
    [["a.json"], {}, /cannot be exported as yaml/],
  ],
  watch: [
    [[], {}, { store: undefined, after: "now", type: undefined, format: "text" }],
    [
      [],
      { store: "docs", after: "x", type: "doc", json: true },
      { store: "docs", after: "x", type: "doc", format: "json" },
    ],
  ],
  console: [[[], { format: "json" }, { format: "json" }]],
  status: [[[], { format: "json" }, { format: "json" }]],
  serve: [
    [[], {}, { source: undefined, roles: ["gateway", "authz", "control", "portal"], workers: 1 }],
    [[], { workers: "4" }, { workers: 4 }],
    [[], { workers: "auto" }, { workers: "auto" }],
    [[], { workers: "0" }, /not a number of processes: 0/],
    [[], { workers: "257" }, /not a number of processes: 257/],
    [[], { workers: "two" }, /not a number of processes: two/],
    [[], { only: "control, gateway" }, { roles: ["gateway", "control"] }],
    [[], { plan: "p.json", only: "authz" }, { source: { kind: "plan", file: "p.json" }, roles: ["authz"] }],
    [[], { config: "a/b.conf" }, { source: { kind: "text", project: { folder: "a/", entry: "b.conf" } } }],
    [[], { plan: "p.json", config: "b.conf" }, /exclude each other/],
    [[], { config: "a/" }, /needs a file/],
    [[], { only: "gatway" }, /unknown role `gatway`/],
    [[], { only: "" }, /unknown role/],
  ],
  dev: [
    [[], {}, { identity: { host: "127.0.0.1", port: 8081 }, verbose: false }],
    [
      [],
      { backends: "[::1]:1,localhost:2", identity: "127.0.0.1:3" },
      {
        identity: { port: 3 },
        backends: [
          { host: "::1", port: 1 },
          { host: "localhost", port: 2 },
        ],
      },
    ],
    [[], { backends: "127.0.0.1:1" }, /two addresses/],
    [[], { identity: "8081" }, /not an address/],
    [[], { identity: "127.0.0.1:70000" }, /not an address/],
  ],
  check: [
    [
      ["user:bob", "viewer", "order:1"],
      { store: "acme" },
      { user: "user:bob", store: "acme", explain: false },
    ],
    [["user:bob", "viewer"], {}, /a user, a relation and an object/],
    [["a", "b", "c"], { context: "[1]" }, /not a JSON object/],
    [["a", "b", "c"], { context: "{" }, /not a JSON object/],
    [["a", "b", "c"], { store: "../x" }, /neither the name nor the id of a store/],
  ],
  "list-objects": [
    [
      ["user:bob", "viewer", "order"],
      { store: "acme", context: '{"a":1}' },
      {
        question: { user: "user:bob", relation: "viewer", type: "order" },
        store: "acme",
        context: { a: 1 },
        format: "text",
      },
    ],
    [["user:bob", "viewer", "order"], { json: true }, { format: "json" }],
    [["user:bob", "viewer"], {}, /needs a user, a relation and a type/],
    [["user:bob", "viewer", "order:1"], {}, /`order:1` is an object, but list-objects needs a type/],
    [["a", "b", "c"], { context: "[]" }, /not a JSON object/],
    [["a", "b", "c"], { store: "../x" }, /neither the name nor the id of a store/],
  ],
  "list-users": [
    [
      ["group#member", "viewer", "order:a:b"],
      {},
      {
        question: {
          object: { type: "order", id: "a:b" },
          relation: "viewer",
          user_filters: [{ type: "group", relation: "member" }],
        },
      },
    ],
    [["user", "viewer", "order:1"], {}, { question: { user_filters: [{ type: "user" }] } }],
    [["user", "viewer"], {}, /needs a type, a relation and an object/],
    [["user", "viewer", "order"], {}, /`order` is not an object/],
    [["user:bob", "viewer", "order:1"], {}, /`user:bob` is a user, but list-users needs a type/],
  ],
  "tuple write": [
    [
      ["user:bob", "viewer", "order:1"],
      { condition: "c", context: '{"a":1}' },
      { condition: "c", context: { a: 1 } },
    ],
    [["user:bob", "viewer", "order:1"], { context: "{}" }, /--context needs --condition/],
    [["user:bob"], {}, /a user, a relation and an object/],
  ],
  "tuple delete": [[["u", "r", "o"], { ignoreMissing: true }, { idempotent: true }]],
  "tuple read": [
    [[], { object: "order:" }, /a type, which needs --user/],
    [[], { object: "order:", user: "user:a" }, { object: "order:", user: "user:a" }],
    [[], {}, { object: undefined, format: "text" }],
    [[], { user: "user:ann", object: "order:" }, { user: "user:ann", object: "order:" }],
    [[], { user: "user:ann" }, /need --object/],
  ],
  lsp: [
    [[], {}, { project: { folder: ".", entry: "gateway.conf" } }],
    [[], { stdio: true, config: "a/b.conf" }, { project: { folder: "a/", entry: "b.conf" } }],
  ],
  shell: [
    [[], {}, { url: undefined, token: undefined, store: undefined, command: undefined, format: undefined }],
    [
      [],
      { url: "http://a:1/", token: "t", store: "s", command: "stores" },
      { url: "http://a:1", token: "t", store: "s", command: "stores" },
    ],
    [[], { url: "a:1" }, /--url is not an http/],
    [[], { token: "t" }, /--token needs --url/],
    [[], { format: "junit" }, /unknown format: --format junit/],
  ],
  token: [
    [[], {}, { sub: "ann", url: undefined }],
    [[], { sub: "zoe", url: "http://127.0.0.1:1/" }, { sub: "zoe", url: "http://127.0.0.1:1" }],
    [[], { url: "ftp://x" }, /not an http/],
  ],
  "subscription create": [
    [
      ["ann"],
      { product: "p", owner: "ann@example.com", expires: "2030-01-31" },
      {
        name: "ann",
        scope: { product: "p" },
        owner: "ann@example.com",
        expiresAt: "2030-01-31T00:00:00.000Z",
      },
    ],
    [["ann"], { all: true, state: "submitted" }, { scope: { all: true }, state: "submitted" }],
    [["ann"], {}, /exactly one of/],
    [["ann"], { all: true, expires: "2030-13-01" }, /is not a date/],
    [["a b"], { all: true }, /is not a valid name/],
  ],
  "subscription list": [
    [[], { state: "active", limit: "3" }, { query: { state: "active", limit: "3" }, format: "text" }],
    [[], { limit: "0" }, /--limit/],
  ],
  "subscription show": [
    [["ann"], {}, { name: "ann", format: "text" }],
    [[], {}, /is not a valid name/],
  ],
  "subscription approve": [[["ann"], {}, { name: "ann", action: "approve", expiresAt: undefined }]],
  "subscription reject": [[["ann"], {}, { action: "reject" }]],
  "subscription suspend": [[["ann"], {}, { action: "suspend" }]],
  "subscription activate": [
    [["ann"], { expires: "never" }, { action: "activate", expiresAt: null }],
    [["ann"], { expires: "later" }, /is not a date/],
  ],
  "subscription cancel": [[["ann"], {}, { action: "cancel" }]],
  "subscription rotate": [
    [["primary", "ann"], {}, { key: "primary", name: "ann" }],
    [["both", "ann"], {}, /neither `primary` nor `secondary`/],
  ],
  "audit verify": [
    [[], {}, { expected: undefined }],
    [[], { expect: `7:${"ab".repeat(32)}` }, { expected: { seq: 7, hash: "ab".repeat(32) } }],
    [[], { expect: "7" }, /is not a row/],
  ],
  "audit export": [[[], { from: "2026-01-31" }, { from: "2026-01-31T00:00:00.000Z", to: undefined }]],
  "audit prune": [
    [[], { olderThan: "400d" }, { olderThanSeconds: 400 * 86_400 }],
    [[], {}, /needs an age/],
    [[], { olderThan: "1h" }, /less than a day/],
  ],
  login: [
    [[], {}, { issuer: undefined }],
    [[], { issuer: "staff" }, { issuer: "staff" }],
  ],
  logout: [[[], {}, {}]],
  whoami: [[[], { json: true }, { format: "json" }]],
  "control-token create": [
    [["ci"], { role: "publisher" }, { name: "ci", role: "publisher", lifetimeMs: 90 * 86_400_000 }],
    [["ci"], { role: "viewer", expires: "12h" }, { lifetimeMs: 43_200_000, format: "text" }],
    [
      ["ci"],
      { may: "plan.read, status" },
      { role: undefined, may: ["plan.read", "status"], lifetimeMs: 90 * 86_400_000 },
    ],
    [["ci"], {}, /needs a role or a scope/],
    [["ci"], { may: "," }, /--may names no operation/],
    [["ci"], { role: "owner" }, /unknown value owner/],
  ],
  "control-token list": [[[], {}, { format: "text" }]],
  "control-token revoke": [[["ci"], {}, { name: "ci" }]],
  "subscription delete": [[["ann"], {}, { name: "ann" }]],
  usage: [
    [[], {}, { query: { by: "subscription,user" }, format: "table" }],
    [
      [],
      { by: "day,status", since: "2026-01-31", api: "orders", format: "csv" },
      { query: { by: "day,status", since: "2026-01-31T00:00:00.000Z", api: "orders" }, format: "csv" },
    ],
    [[], { deprecated: true }, { query: { deprecated: "true" } }],
    [[], { by: "colour" }, /cannot be grouped by `colour`/],
    [[], { since: "yesterday" }, /--since yesterday is not a date/],
    [[], { since: "2026-02-01", until: "2026-02-01" }, /--until is not after --since/],
    [
      [],
      { since: "2026-01-31", until: "2026-02-01" },
      {
        query: {
          by: "subscription,user",
          since: "2026-01-31T00:00:00.000Z",
          until: "2026-02-01T00:00:00.000Z",
        },
      },
    ],
    [[], { format: "text" }, /unknown format: --format text/],
  ],
  migrate: [[[], {}, {}]],
  docs: [
    [[], {}, { words: [] }],
    [["rate", "limit"], {}, { words: ["rate", "limit"] }],
  ],
  schema: [
    [[], {}, { of: "plan" }],
    [["explanation"], {}, { of: "explanation" }],
    [["model", "compare"], {}, { of: "model compare" }],
  ],
}

const lines = new Map<string, CommandLine<unknown>>()
for (const { name, load } of commands) lines.set(name, (await load()).line)

test("every command has its table", () => {
  expect(Object.keys(tables).sort()).toEqual([...lines.keys()].sort())
})

describe.each(Object.entries(tables))("%s", (name, rows) => {
  test.each(rows)("%j %j", (words, options, meaning) => {
    const line = lines.get(name) as CommandLine<unknown>
    if (!(meaning instanceof RegExp)) return expect(line.parse(words, options)).toMatchObject(meaning)
    expect(() => line.parse(words, options)).toThrow(CliError)
    expect(() => line.parse(words, options)).toThrow(meaning)
  })
})

test("every command's help has its options and an example of itself", async () => {
  for (const [name, line] of lines) {
    const help = await run({ cwd: "/" }, ...name.split(" "), "--help")
    expect(help.code, name).toBe(0)
    for (const [flags] of line.options ?? []) expect(help.out).toContain(flags)
    expect(line.examples.filter(([example]) => example.includes(`sallyport ${name}`))).not.toEqual([])
  }
})
