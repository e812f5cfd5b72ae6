/** A room: one row of the table that says who may import whom. */
export interface Room {
  /** Folder, or a single file, from the top of the project. A file belongs to the row with the longest path that holds it. */
  readonly path: string
  /** The files other rooms may import, without `.ts`; all their exports are documented. A single file is its own door. */
  readonly doors: readonly string[]
  /** Rooms it may import from, besides itself. */
  readonly may: readonly string[]
  /** Rooms it may import types from, or load with `import()`, but not import statically. */
  readonly lazily?: readonly string[]
  /** Packages it may import. */
  readonly packages?: readonly string[]
  /** Node's own modules it may import: by name, or any. Pure rooms have none. */
  readonly builtins?: readonly string[] | "any"
}

const pure = ["runtime/plan", "runtime/expression", "runtime/model", "runtime/check"]

const compilerRooms = [
  "compiler/core",
  "compiler/gateway",
  "compiler/model",
  "compiler/model-test",
  "compiler/policy",
  "compiler/diff",
  "compiler/render",
  "compiler/compile.ts",
]

const runtimeRooms = [
  ...pure,
  "runtime/store",
  "runtime/identity",
  "runtime/limits",
  "runtime/telemetry",
  "runtime/validation",
  "runtime/policies",
  "runtime/gateway",
  "runtime/authz",
  "runtime/control",
  "runtime/dev",
]

/**
 * Who may import whom. Arrows point down: no room reaches itself through others. A new file outside every row, an
 * arrow that is not here, or a file that is no door fails test/structure.test.ts.
 */
export const rooms: readonly Room[] = [
  // The contract and the pure rooms beside it.
  {
    path: "runtime/plan",
    doors: [
      "address-text",
      "authorization-model",
      "authz",
      "canonical",
      "duplicate-key",
      "json-schema",
      "model",
      "nested-steps",
      "plan",
      "problems",
      "read",
      "relation-plan",
      "resources",
      "steps",
      "steps-access",
      "steps-content",
      "steps-flow",
      "text",
      "value-schema",
    ],
    may: [],
    packages: ["zod"],
    builtins: ["node:crypto"],
  },
  {
    path: "runtime/expression",
    doors: [
      "check",
      "compile",
      "condition",
      "environment",
      "expression-error",
      "finding",
      "request-context",
      "types",
    ],
    may: [],
    packages: ["re2js"],
    builtins: ["node:net"],
  },
  {
    path: "runtime/model",
    doors: [
      "broken-parts",
      "finding",
      "limits",
      "lower",
      "model-index",
      "object-id",
      "reach",
      "read",
      "validate",
    ],
    may: ["runtime/plan", "runtime/expression"],
    packages: ["zod"],
  },
  {
    path: "runtime/check",
    doors: [
      "batch-check",
      "engine",
      "expand",
      "explain",
      "explain-text",
      "list-objects",
      "list-relations",
      "list-users",
      "loaded-model",
      "matrix",
      "memory-source",
      "ports",
      "questions",
      "tuple",
      "work",
    ],
    may: ["runtime/plan", "runtime/model", "runtime/expression"],
  },

  // The runtime.
  {
    path: "runtime/store",
    doors: [
      "assertions",
      "continuation",
      "database",
      "declared-stores",
      "ids",
      "migrate",
      "models",
      "owner-lock",
      "pglite",
      "plans",
      "postgres",
      "processes",
      "read-changes",
      "read-tuples",
      "schema-state",
      "stores",
      "subscriptions",
      "tuple-row",
      "tuple-source",
      "tuple-writer",
      "write-tuples",
    ],
    may: ["runtime/plan", "runtime/check"],
    packages: ["pg", "@electric-sql/pglite", "ulid"],
    builtins: "any",
  },
  {
    path: "runtime/telemetry",
    doors: ["log", "metrics", "process-metrics"],
    may: [],
    packages: ["pino"],
    builtins: "any",
  },
  {
    path: "runtime/validation",
    doors: ["body-value", "media-type", "pairs", "parameter-value", "pattern", "schema-set", "shape"],
    may: ["runtime/plan"],
    packages: ["ajv", "ajv-formats", "re2js"],
  },
  { path: "runtime/limits", doors: ["limiter", "memory"], may: ["runtime/plan"], builtins: "any" },
  {
    path: "runtime/identity",
    doors: ["issuer", "keys", "subscription-key", "verifier", "verify-any"],
    may: ["runtime/plan", "runtime/telemetry"],
    packages: ["jose", "undici", "zod"],
    builtins: "any",
  },
  {
    path: "runtime/policies",
    doors: [
      "answer",
      "canonical-path",
      "exchange",
      "header-list",
      "policy",
      "query-string",
      "run-steps",
      "table",
    ],
    may: [
      "runtime/plan",
      "runtime/expression",
      "runtime/identity",
      "runtime/limits",
      "runtime/check",
      "runtime/telemetry",
    ],
    builtins: "any",
  },
  {
    path: "runtime/gateway",
    doors: [
      "file-watch",
      "gateway",
      "held",
      "issuer-settings",
      "load-error",
      "observer",
      "references",
      "resources",
    ],
    may: [
      "runtime/plan",
      "runtime/policies",
      "runtime/identity",
      "runtime/limits",
      "runtime/check",
      "runtime/expression",
      "runtime/telemetry",
    ],
    packages: ["fastify", "undici", "@fastify/http-proxy"],
    builtins: "any",
  },
  {
    path: "runtime/authz",
    doors: ["access", "api", "ports", "start"],
    may: [
      "runtime/plan",
      "runtime/model",
      "runtime/check",
      "runtime/store",
      "runtime/telemetry",
      "runtime/identity",
    ],
    builtins: "any",
  },
  {
    path: "runtime/control",
    doors: ["api", "plan-keeper", "ports", "server", "subscription-api", "subscription-desk", "token"],
    may: [
      "runtime/plan",
      "runtime/check",
      "runtime/identity",
      "runtime/store",
      "runtime/telemetry",
      "runtime/gateway",
    ],
    packages: ["fastify", "zod", "@fastify/http-proxy", "undici"],
    builtins: "any",
  },
  {
    path: "runtime/dev",
    doors: ["dev-error", "identity-provider", "mint-token", "sample-backends"],
    may: [],
    packages: ["jose"],
    builtins: "any",
  },
  {
    path: "runtime/process",
    doors: [
      "database",
      "denial-log",
      "engine-access",
      "engine-listeners",
      "heartbeat",
      "issued-subscriptions",
      "open-control",
      "plan-stores",
      "refusal-log",
      "request-observer",
      "seed-store",
      "served-plan",
      "start-error",
    ],
    may: runtimeRooms,
    builtins: "any",
  },
  {
    path: "runtime/main.ts",
    doors: [],
    may: [...runtimeRooms, "runtime/process"],
    lazily: [],
    packages: ["fastify"],
    builtins: "any",
  },

  // The compiler.
  {
    path: "compiler/core",
    doors: [
      "catalogue",
      "catalogue/entry",
      "characters",
      "decode",
      "diagnostic",
      "files",
      "glob",
      "json",
      "load",
      "nearest",
      "shown",
      "yaml-problem",
      "source",
    ],
    may: [],
    builtins: "any",
  },
  {
    path: "compiler/model",
    doors: [
      "compile-model",
      "explain",
      "explain-tree",
      "format",
      "model-order",
      "model-text",
      "print-model",
      "required-by",
    ],
    may: ["compiler/core", ...pure.filter((room) => room !== "runtime/check")],
    packages: ["chevrotain", "yaml"],
  },
  {
    path: "compiler/model-test",
    doors: ["coverage", "declared-tests", "run", "store-file", "suite", "words"],
    may: ["compiler/core", "compiler/model", ...pure],
    packages: ["yaml"],
  },
  {
    path: "compiler/policy",
    doors: ["ast", "lower-document", "reader/read-document", "site", "steps"],
    may: ["compiler/core", "runtime/plan"],
    packages: ["zod"],
    builtins: ["node:net"],
  },
  {
    path: "compiler/openapi",
    doors: ["api-document", "plan-schemas", "read-document", "schema"],
    may: ["compiler/core", "runtime/plan", "runtime/validation"],
    packages: ["yaml"],
  },
  {
    path: "compiler/gateway",
    doors: [
      "ast",
      "bind",
      "check/names",
      "check/networks",
      "format",
      "include",
      "lower",
      "models",
      "parser",
      "program",
    ],
    may: ["compiler/core", "compiler/model", ...pure.filter((room) => room !== "runtime/check")],
    packages: ["chevrotain"],
    builtins: ["node:net"],
  },
  { path: "compiler/diff", doors: ["change", "compare-plans"], may: ["runtime/plan", "runtime/model"] },
  {
    path: "compiler/render",
    doors: ["changes", "diagnostics", "explain", "json", "text", "width"],
    may: ["compiler/core", "compiler/diff"],
    packages: ["picocolors"],
  },
  {
    path: "compiler/compile.ts",
    doors: [],
    may: [...compilerRooms.filter((room) => room !== "compiler/compile.ts"), ...pure],
  },
  {
    path: "compiler/cli",
    doors: ["command", "io", "main"],
    // The development parts statically, because only commands that are loaded lazily themselves name them.
    may: [...compilerRooms, ...pure, "runtime/dev"],
    lazily: [...runtimeRooms, "runtime/main.ts"],
    packages: ["commander", "picocolors", "undici", "esbuild", "zod"],
    builtins: "any",
  },
]

/** Longest file and function, in lines. Tables of data may be longer; each is named with its reason. */
export const limits = { fileLines: 400, functionLines: 60, dataTables: [] as readonly string[] }
