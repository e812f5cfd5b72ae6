import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { StepDraft } from "../../gateway/plan-builder.ts"
import type { Random } from "../edits.ts"

/** Where a list of steps stands. */
export type Section = "inbound" | "backend" | "outbound" | "onError"

/** Names that belong to one route alone, so that routes beside it count and keep nothing for it. */
export interface Lane {
  readonly name: string
  /** URL of the service that requests of our own go to. */
  readonly service: string
}

const cel = (text: string): Text => ({ text: [{ expression: { lang: "cel", text, type: "string" } }] })
const value = (text: string) => ({ expression: { lang: "cel" as const, text, type: "dyn" } })

const requestTexts = [
  "request.ip",
  'request.header("x-a")',
  'request.header("x-b")',
  'request.query("role")',
  'request.cookie("c")',
  "query.a",
  "request.path",
  "jwt.sub",
  "string(var.v)",
  'has(var.v) ? string(var.v) : "none"',
  'has(jwt.sub) ? string(jwt.sub) : "nobody"',
  "string(request.body.k)",
  "request.text",
]
const responseTexts = [
  'response.header("x-b")',
  "string(response.status)",
  "response.reason",
  "response.text",
  "string(response.body.k)",
]
const requestTests = [
  'request.header("x-a") == "1"',
  'request.header("x-b") != "2"',
  'request.query("role") == "admin"',
  'has(var.v) && var.v == "1"',
  'has(jwt.sub) && jwt.sub == "ann"',
  "has(subscription.name)",
  'query.a == "1"',
  'request.text.contains("hidden")',
  'request.method == "POST"',
]
const responseTests = [
  "response.status == 404",
  'response.header("x-b") == "2"',
  'response.text.contains("public")',
  "response.body.k == 1",
]

/** Draws what steps are made of from few names, so that two steps often meet. */
export class Draw {
  readonly random: Random
  readonly section: Section
  readonly lane: Lane

  constructor(random: Random, section: Section, lane: Lane) {
    this.random = random
    this.section = section
    this.lane = lane
  }

  one<T>(...items: readonly T[]): T {
    return items[this.random(items.length)] as T
  }

  maybe(): boolean {
    return this.random(2) === 0
  }

  get hasResponse(): boolean {
    return this.section === "outbound" || this.section === "onError"
  }

  get expression(): string {
    return this.one(...requestTexts, ...(this.hasResponse ? [...responseTexts, ...responseTexts] : []))
  }

  get test(): string {
    return this.one(...requestTests, ...(this.hasResponse ? [...responseTests, ...responseTests] : []))
  }

  get text(): Text {
    return this.random(3) > 0 ? this.one("1", "2", "hidden", "public") : cel(this.expression)
  }

  get message(): "request" | "response" {
    return this.hasResponse && this.random(4) > 0 ? "response" : "request"
  }

  get variable(): string {
    return this.one("v", "w")
  }

  /** A small step that may stand inside of others. */
  get small(): StepDraft {
    const kinds = ["set-header", "set-variable", "set-query", "check-header", "respond", "trace"] as const
    return draftOf(this.one(...kinds), this)
  }
}

type Drafting<Kind extends StepKind> = (draw: Draw) => Extract<StepDraft, { kind: Kind }>

const token: Pick<StepOf<"validate-jwt">, "from" | "claims" | "status" | "claimStatus"> = {
  from: { header: "authorization", scheme: "Bearer" },
  claims: [],
  status: 401,
  claimStatus: 403,
}

const accessDrafts = {
  "validate-jwt": (draw) => ({
    ...token,
    kind: "validate-jwt",
    issuers: ["acme"],
    from: draw.one(token.from, { query: "a", forward: draw.maybe() }, { cookie: "c", forward: draw.maybe() }),
    requireExpiration: true,
    ...(draw.maybe() ? { output: draw.variable } : {}),
  }),
  introspect: (draw) => ({
    ...token,
    kind: "introspect",
    introspection: "acme",
    claimStatus: draw.one(403, 401),
  }),
  "basic-auth": (draw) => ({
    kind: "basic-auth",
    users: "partners",
    realm: "r",
    status: 401,
    forward: draw.maybe(),
  }),
  "validate-key": (draw) => ({
    kind: "validate-key",
    api: "main",
    header: draw.one("x-key", null),
    query: draw.one("role", "key", null),
    status: 401,
    forward: draw.maybe(),
  }),
  "check-header": (draw) => ({
    kind: "check-header",
    name: draw.one("x-a", "x-b", "host"),
    values: draw.maybe() ? [] : [draw.text],
    ignoreCase: false,
    status: draw.one(400, 401, 403),
  }),
  "ip-filter": (draw) => ({
    kind: "ip-filter",
    action: draw.one("allow", "deny"),
    networks: [draw.one("127.0.0.0/8", "10.0.0.0/8")],
    ranges: [],
  }),
  "rate-limit": (draw) => ({
    kind: "rate-limit",
    counter: `${draw.lane.name} ${draw.one("one", "two")}: x, 60s`,
    callsMax: draw.one(1, 2, 3),
    periodSeconds: 3600,
    keys: [
      draw.one<StepOf<"rate-limit">["keys"][number]>(
        { by: "ip" },
        { by: "subscription" },
        { by: "claim", claim: "sub" },
        { by: "text", text: draw.text },
      ),
    ],
    ...(draw.one(true, false, false)
      ? { countIf: { lang: "cel", text: "response.status == 404", type: "bool" } }
      : {}),
    ...(draw.maybe() ? { remainingVariable: draw.variable } : {}),
    ...(draw.maybe() ? { totalHeader: "x-total" } : {}),
  }),
  quota: (draw) => ({
    kind: "quota",
    counter: `${draw.lane.name} ${draw.one("one", "two")}`,
    callsMax: draw.one(1, 2),
    periodSeconds: 3600,
    keys: [draw.one<StepOf<"quota">["keys"][number]>({ by: "ip" }, { by: "claim", claim: "sub" })],
    ...(draw.maybe() ? { remainingVariable: draw.variable } : {}),
  }),
  "limit-concurrency": (draw) => ({
    kind: "limit-concurrency",
    counter: `${draw.lane.name} inside`,
    key: draw.text,
    max: 1,
    steps: draw.maybe() ? [] : [draw.small],
  }),
  cors: (draw) => ({
    kind: "cors",
    origins: draw.one(["*"], ["https://a.example"]),
    methods: ["GET"],
    headers: [],
    expose: draw.one([], ["x-b"]),
    credentials: false,
    maxAgeSeconds: 0,
    terminateUnmatched: draw.maybe(),
  }),
  require: (draw) => ({
    kind: "require",
    store: "acme",
    relation: "viewer",
    object: "order:7",
    user: draw.one<Text>("user:ann", {
      text: [
        "user:",
        { expression: { lang: "cel", text: draw.one("jwt.sub", 'request.header("x-a")'), type: "string" } },
      ],
    }),
  }),
  "require-any": (draw) => ({
    kind: "require-any",
    steps: [draftOf("require", draw), { ...draftOf("require", draw), relation: "owner" } as StepDraft],
  }),
  "require-all": (draw) => ({
    kind: "require-all",
    steps: [draftOf("require", draw), { ...draftOf("require", draw), relation: "owner" } as StepDraft],
  }),
  filter: () => ({
    kind: "filter",
    store: "acme",
    items: "items",
    relation: "viewer",
    object: { text: ["order:", { expression: { lang: "cel", text: "item.id", type: "string" } }] },
    user: "user:ann",
  }),
  grant: (draw) => ({
    kind: "grant",
    action: draw.one("write", "delete"),
    store: "acme",
    user: draw.one<Text>("user:ann", {
      text: ["user:", { expression: { lang: "cel", text: "string(var.v)", type: "string" } }],
    }),
    relation: "viewer",
    object: draw.one("order:1", "order:2"),
  }),
  "any-of": (draw) => ({
    kind: "any-of",
    steps: [draftOf("validate-jwt", draw), draftOf(draw.one("validate-key", "basic-auth"), draw)],
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }

const contentDrafts = {
  "set-header": (draw) => {
    const action = draw.one<StepOf<"set-header">["action"]>("set", "append", "default", "remove")
    const names = [
      "x-a",
      "x-b",
      "x-c",
      "authorization",
      "cookie",
      "content-type",
      "content-encoding",
      "origin",
    ]
    return {
      kind: "set-header",
      message: draw.message,
      action,
      name: draw.one(...names, ...names, "host", "x-key"),
      values: action === "remove" ? [] : [draw.text],
    }
  },
  "set-query": (draw) => {
    const action = draw.one<StepOf<"set-query">["action"]>("set", "append", "default", "remove")
    return {
      kind: "set-query",
      action,
      name: draw.one("a", "role", "key"),
      values: action === "remove" ? [] : [draw.text],
    }
  },
  rewrite: (draw) => ({
    kind: "rewrite",
    path: draw.one<Text>("/other", "/other?a=9", {
      text: ["/x/", { expression: { lang: "cel", text: draw.expression, type: "string" } }],
    }),
    raw: false,
    keepQuery: draw.maybe(),
  }),
  "set-method": (draw) => ({
    kind: "set-method",
    method: draw.one<Text>("PUT", "POST", cel('request.header("x-a")')),
  }),
  "set-status": (draw) => ({
    kind: "set-status",
    status: draw.one(200, 404, 503),
    ...(draw.maybe() ? { reason: draw.text } : {}),
  }),
  "set-host": (draw) => ({
    kind: "set-host",
    host: draw.one<StepOf<"set-host">["host"]>({ preserve: true }, "a.example", cel('request.header("x-a")')),
  }),
  "set-body": (draw) => ({
    kind: "set-body",
    message: draw.message,
    media: draw.one("application/json", "text/plain", null),
    content: draw.one<StepOf<"set-body">["content"]>(
      { text: '{"k":"hidden"}' },
      { text: draw.text },
      { value: { lang: "cel", text: '{"k": request.header("x-a")}', type: "dyn" } },
      { liquid: "{{ body }} {{ context.Variables.v }} {{ context.Request.Headers['x-a'] }}" },
    ),
  }),
  "find-replace": (draw) => ({
    kind: "find-replace",
    message: draw.message,
    from: draw.one("hidden", "public", "internal"),
    to: draw.text,
  }),
  "mask-urls": (draw) => ({ kind: "mask-urls", message: draw.message, headers: draw.maybe() }),
  jsonp: (draw) => ({ kind: "jsonp", callback: draw.one("a", "role") }),
  "xml-to-json": (draw) => ({
    kind: "xml-to-json",
    message: draw.message,
    style: "direct",
    apply: draw.one("always", "content-type"),
    considerAccept: draw.maybe(),
    alwaysArray: false,
  }),
  "json-to-xml": (draw) => ({
    kind: "json-to-xml",
    message: draw.message,
    apply: draw.one("always", "content-type"),
    considerAccept: draw.maybe(),
    parseDates: false,
    namespaceSeparator: ":",
  }),
  respond: (draw) => ({
    kind: "respond",
    status: draw.one(200, 403, 404),
    headers: [{ name: "x-own", action: "set", values: [draw.text] }],
    media: "text/plain",
    body: { text: draw.text },
  }),
  "set-variable": (draw) => ({
    kind: "set-variable",
    name: draw.variable,
    value: draw.one<StepOf<"set-variable">["value"]>(draw.text, value(draw.expression)),
  }),
  "validate-content": (draw) => ({
    kind: "validate-content",
    message: draw.message,
    bytesMax: draw.one(20, 10_000),
    onSize: draw.one("prevent", "detect"),
    onUnspecified: draw.one("prevent", "ignore"),
    types: [{ media: "application/json", as: "json", action: draw.one("prevent", "detect") }],
    errors: draw.variable,
  }),
  "validate-parameters": (draw) => ({
    kind: "validate-parameters",
    parameters: [
      {
        in: draw.one("query", "header"),
        name: draw.one("a", "x-a"),
        required: draw.maybe(),
        style: "simple",
        explode: false,
        action: draw.one("prevent", "detect"),
      },
    ],
    unspecified: { query: draw.one("prevent", "ignore"), header: "ignore" },
    ...(draw.maybe() ? { errors: draw.variable } : {}),
  }),
  "validate-headers": (draw) => ({
    kind: "validate-headers",
    headers: [{ name: "x-b", required: true, action: draw.one("prevent", "detect") }],
    unspecified: draw.one("ignore", "detect"),
  }),
  "validate-status": (draw) => ({
    kind: "validate-status",
    codes: [{ code: "404", action: draw.one("prevent", "detect") }],
    unspecified: "ignore",
    errors: draw.variable,
  }),
  trace: (draw) => ({
    kind: "trace",
    source: "test",
    severity: "information",
    message: draw.text,
    metadata: [],
  }),
  metric: (draw) => ({
    kind: "metric",
    name: "seen_total",
    value: draw.one<StepOf<"metric">["value"]>(1, { tokens: "total" }),
    labels: [{ name: "a", value: draw.text }],
  }),
  deprecation: (draw) => ({ kind: "deprecation", deprecated: true, closed: draw.one(true, false, false) }),
  "cache-lookup": () => ({
    kind: "cache-lookup",
    varyHeaders: ["x-a"],
    varyQuery: null,
    authorized: true,
    downstream: "none",
    mustRevalidate: false,
  }),
  "cache-store": () => ({ kind: "cache-store", seconds: 3600 }),
  "cache-get": (draw) => ({
    kind: "cache-get",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    variable: draw.variable,
    ...(draw.maybe() ? { default: "absent" } : {}),
  }),
  "cache-set": (draw) => ({
    kind: "cache-set",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    value: draw.text,
    seconds: 3600,
  }),
  "cache-remove": (draw) => ({ kind: "cache-remove", key: `${draw.lane.name} ${draw.one("k", "l")}` }),
  "cache-value": (draw) => ({
    kind: "cache-value",
    key: `${draw.lane.name} ${draw.one("k", "l")}`,
    variable: draw.variable,
    seconds: 3600,
    steps: [draw.small, draftOf("set-variable", draw)],
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }

const flowDrafts = {
  when: (draw) => ({
    kind: "when",
    test: draw.test,
    matched: [draw.small],
    otherwise: draw.one(true, false, false) ? [draw.small] : [],
  }),
  retry: (draw) => ({
    kind: "retry",
    test: { lang: "cel", text: draw.one("false", draw.test), type: "bool" },
    times: 1,
    intervalSeconds: 0,
    fastFirst: true,
    steps: draw.section === "backend" ? [{ kind: "forward", backend: "main" }] : [draw.small, draw.small],
  }),
  parallel: (draw) => ({
    kind: "parallel",
    until: draw.one("all", "any"),
    branches: [[draw.small], [draw.small]],
  }),
  "send-request": (draw) => ({
    kind: "send-request",
    mode: draw.one("new", "new", "copy"),
    url: draw.one<Text>(`${draw.lane.service}/side`, {
      text: [
        `${draw.lane.service}/side?n=`,
        { expression: { lang: "cel", text: 'request.header("x-a")', type: "string" } },
      ],
    }),
    headers: [],
    media: null,
    timeoutSeconds: 20,
    variable: draw.variable,
    ignoreError: draw.maybe(),
    wait: true,
  }),
  "content-safety": () => ({
    kind: "content-safety",
    backend: "safety",
    categories: [{ name: "Hate", threshold: 4 }],
    levels: "four",
    blocklists: [],
    shieldPrompt: false,
    completions: false,
  }),
  authenticate: (draw) => ({
    kind: "authenticate",
    authentication: draw.one<StepOf<"authenticate">["authentication"]>(
      { scheme: "basic", user: "us", password: draw.text },
      { scheme: "bearer", token: "own" },
      { scheme: "token", client: "own" },
    ),
    ...(draw.maybe() ? { output: draw.variable } : {}),
  }),
  "set-backend": (draw) => ({
    kind: "set-backend",
    target: draw.one<StepOf<"set-backend">["target"]>(
      { backend: "main" },
      { backend: "other" },
      {
        by: cel(draw.expression),
        cases: [{ value: "1", backend: "other" }],
        otherwise: null,
        ...(draw.maybe() ? { strict: true } : {}),
      },
    ),
  }),
  forward: (draw) => ({
    kind: "forward",
    backend: "main",
    ...(draw.maybe() ? { bufferResponse: true } : {}),
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }

/** Every kind of step is drawn: a kind without a row does not compile. */
const drafts: { readonly [Kind in StepKind]: Drafting<Kind> } = {
  ...accessDrafts,
  ...contentDrafts,
  ...flowDrafts,
}

/** The sections a kind is drawn for. */
const sectionsOf: { readonly [Kind in StepKind]: readonly Section[] } = {
  "validate-jwt": ["inbound"],
  introspect: ["inbound"],
  "basic-auth": ["inbound"],
  "validate-key": ["inbound"],
  "any-of": ["inbound"],
  cors: ["inbound"],
  "check-header": ["inbound", "backend"],
  "ip-filter": ["inbound"],
  "rate-limit": ["inbound"],
  quota: ["inbound"],
  "limit-concurrency": ["inbound", "backend", "outbound"],
  require: ["inbound"],
  "require-any": ["inbound"],
  "require-all": ["inbound"],
  filter: ["outbound"],
  grant: ["outbound"],
  "validate-content": ["inbound", "outbound"],
  "validate-parameters": ["inbound"],
  "validate-headers": ["outbound"],
  "validate-status": ["outbound"],
  "set-header": ["inbound", "backend", "outbound", "onError"],
  "set-query": ["inbound", "backend"],
  "set-method": ["inbound", "backend"],
  "set-status": ["outbound", "onError"],
  rewrite: ["inbound", "backend"],
  "set-host": ["inbound", "backend"],
  "set-body": ["inbound", "backend", "outbound", "onError"],
  "find-replace": ["inbound", "outbound", "onError"],
  "mask-urls": ["inbound", "outbound"],
  jsonp: ["outbound"],
  "xml-to-json": ["inbound", "outbound"],
  "json-to-xml": ["inbound", "outbound"],
  respond: ["inbound", "outbound", "onError"],
  "set-variable": ["inbound", "backend", "outbound", "onError"],
  trace: ["inbound", "backend", "outbound", "onError"],
  metric: ["inbound", "outbound", "onError"],
  deprecation: ["inbound"],
  "cache-lookup": ["inbound"],
  "cache-store": ["outbound"],
  "cache-get": ["inbound", "outbound"],
  "cache-set": ["inbound", "outbound"],
  "cache-remove": ["inbound", "outbound"],
  "cache-value": ["inbound", "outbound"],
  "set-backend": ["inbound", "backend"],
  "send-request": ["inbound", "outbound", "onError"],
  "content-safety": ["inbound"],
  authenticate: ["inbound", "backend"],
  retry: ["inbound", "backend", "outbound"],
  parallel: ["inbound", "outbound"],
  when: ["inbound", "backend", "outbound", "onError"],
  forward: ["backend"],
}

/** All kinds of steps. */
export const kinds = Object.keys(drafts) as readonly StepKind[]

/** Whether steps of a kind are drawn for a section. */
export function standsIn(kind: StepKind, section: Section): boolean {
  return sectionsOf[kind].includes(section)
}

/** A step of a kind, as the draw has it. */
export function draftOf<Kind extends StepKind>(kind: Kind, draw: Draw): StepDraft {
  return (drafts[kind] as (draw: Draw) => StepDraft)(draw)
}
