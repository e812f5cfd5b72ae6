import { identityForms } from "./credentials.ts"
import { breakerForms } from "./providers.ts"
import { many, type StatementRow, slot, word } from "./row.ts"

export const pdp: StatementRow = {
  keyword: "pdp",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["pdp"] })], block: "pdp", blockRequired: true }],
  docs: "A policy decision point that speaks AuthZEN. `require` and `filter` ask it instead of the engine when they say `by NAME`, or when it is the only one and the project has no store.",
  example: 'pdp corp { url "https://pdp.example"; authenticate bearer pdp_key }',
}

export const pdpRows: readonly StatementRow[] = [
  {
    keyword: "url",
    required: true,
    forms: [{ args: [slot("url", "url")] }],
    docs: "Base URL of the decision point; the gateway asks `/access/v1/evaluation` and `/access/v1/evaluations` below it.",
    example: 'url "https://pdp.example"',
  },
  {
    keyword: "discover",
    forms: [{ args: [] }],
    byDefault: "the endpoints are below `url`",
    docs: "Takes the endpoints from its metadata (`/.well-known/authzen-configuration`).",
    example: "discover",
  },
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration", { min: 1, max: 60_000 })] }],
    byDefault: "1s",
    docs: "Longest time for a response; after it the caller gets 503.",
    example: "timeout 500ms",
  },
  {
    keyword: "cache",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 3_600_000 })] }],
    byDefault: "decisions are not cached",
    docs: "How long a decision is cached for equal questions. Changes of permissions take effect that much later.",
    example: "cache 5s",
  },
  {
    keyword: "batch",
    forms: [{ args: [slot("count", "count", { min: 1, max: 10_000 })] }],
    byDefault: "50",
    docs: "Maximum number of evaluations in one request. `filter`, `require any` and `require all` with more questions send several requests.",
    example: "batch 200",
  },
  {
    keyword: "actions",
    several: true,
    forms: [{ args: [many(slot("action", "relation", { label: "ACTION" }), 1000)] }],
    byDefault: "every action is allowed",
    docs: "The actions that the decision point knows. With them, a `require` or `filter` for another action is an error.",
    example: "actions read write",
  },
  {
    keyword: "authenticate",
    several: 2,
    forms: [
      ...identityForms,
      { args: [word("bearer"), slot("bearer", "reference", { to: ["secret"], label: "SECRET" })] },
    ],
    docs: "The gateway's credentials for the decision point: a password, a key, a token (a fresh one after a 401), or a client certificate.",
    example: "authenticate bearer pdp_key",
  },
  {
    keyword: "tls",
    forms: [{ args: [], block: "tls", blockRequired: true }],
    byDefault: "certificates are checked against the system's authorities",
    docs: "How the certificate of the decision point is checked.",
    example: 'tls { ca file("certs/internal-ca.pem") }',
  },
  {
    keyword: "breaker",
    forms: breakerForms.map((args) => ({ args })),
    byDefault: "no breaker",
    docs: "Stops sending questions while the decision point fails (no response in time, no decision, or a status of 500 to 599): callers get 503 at once. After the `open` time, one question tests whether it works again.",
    example: "breaker 5 failures in 30s open 10s",
  },
]
