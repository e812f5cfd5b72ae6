import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { StepDraft } from "../../gateway/plan-builder.ts"
import type { Drafting } from "./draw.ts"

const token: Pick<StepOf<"validate-jwt">, "from" | "claims" | "status" | "claimStatus"> = {
  from: { header: "authorization", scheme: "Bearer" },
  claims: [],
  status: 401,
  claimStatus: 403,
}

/** Steps that decide who may pass. */
export const accessDrafts = {
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
  "oidc-session": (draw) => ({
    kind: "oidc-session",
    client: "web",
    claims: [],
    ...draw.one<{ forward?: "access-token" }>({}, { forward: "access-token" }),
    ...draw.one<{ claimsFrom?: "access-token" }>({}, { claimsFrom: "access-token" }),
    status: 401,
    claimStatus: draw.one(403, 401),
  }),
  "basic-auth": (draw) => ({
    kind: "basic-auth",
    users: "partners",
    realm: "r",
    status: 401,
    forward: draw.maybe(),
  }),
  "validate-certificate": (draw) => ({
    kind: "validate-certificate",
    ...draw.one<object>({}, { subjects: ["CN=a"] }, { names: [{ kind: "dns", value: "a.example" }] }),
    status: 401,
    ...draw.one<{ forward?: "certificate" | "chain" }>({}, { forward: "chain" }),
  }),
  "validate-key": (draw) => ({
    kind: "validate-key",
    api: "main",
    header: draw.one("x-key", null),
    query: draw.one("role", "key", null),
    status: 401,
    forward: draw.maybe(),
  }),
  "validate-hmac": (draw) => ({
    kind: "validate-hmac",
    caller: "partner",
    secrets: [{ secret: "s" }],
    key: "text",
    algorithm: "sha256",
    signature: { header: draw.one("x-a", "x-b"), encoding: "hex" },
    signed: ["body"],
    ...(draw.maybe() ? { replay: { seconds: 60 } } : {}),
    status: 401,
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
  compress: (draw) => ({
    kind: "compress",
    codings: draw.one(["br", "gzip"], ["gzip"]),
    types: ["application/json"],
    bytesMin: 0,
    crossSite: draw.maybe(),
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
    steps: [
      draw.draftOf("require", draw),
      { ...draw.draftOf("require", draw), relation: "owner" } as StepDraft,
    ],
  }),
  "require-all": (draw) => ({
    kind: "require-all",
    steps: [
      draw.draftOf("require", draw),
      { ...draw.draftOf("require", draw), relation: "owner" } as StepDraft,
    ],
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
    steps: [draw.draftOf("validate-jwt", draw), draw.draftOf(draw.one("validate-key", "basic-auth"), draw)],
  }),
} satisfies { readonly [Kind in StepKind]?: Drafting<Kind> }
