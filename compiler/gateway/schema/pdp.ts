import { identityForms } from "./credentials.ts"
import { breakerArgs } from "./providers.ts"
import { many, type StatementRow, slot, word } from "./row.ts"

export const pdp: StatementRow = {
  keyword: "pdp",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["pdp"] })], block: "pdp", blockRequired: true }],
  docs: "A policy decision point that speaks AuthZEN: `require` and `filter` ask it instead of the engine, where they say `by NAME` or where it is the only one and there is no store.",
  example: 'pdp corp { url "https://pdp.example"; authenticate bearer pdp_key }',
}

export const pdpRows: readonly StatementRow[] = [
  {
    keyword: "url",
    required: true,
    forms: [{ args: [slot("url", "url")] }],
    docs: "Its base URL: evaluations are asked for at `/access/v1/evaluation` and `/access/v1/evaluations` below it.",
    example: 'url "https://pdp.example"',
  },
  {
    keyword: "discover",
    forms: [{ args: [] }],
    byDefault: "the endpoints are below `url`",
    docs: "Its metadata (`/.well-known/authzen-configuration`) says where it is asked.",
    example: "discover",
  },
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration", { min: 1, max: 60_000 })] }],
    byDefault: "1s",
    docs: "Longest time for an answer; without one the caller gets 503.",
    example: "timeout 500ms",
  },
  {
    keyword: "cache",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 3_600_000 })] }],
    byDefault: "nothing is kept",
    docs: "How long a decision about the very same question counts. What is allowed or taken away meanwhile shows so late.",
    example: "cache 5s",
  },
  {
    keyword: "batch",
    forms: [{ args: [slot("count", "count", { min: 1, max: 10_000 })] }],
    byDefault: "50",
    docs: "Most evaluations in one request; more questions of a `filter`, `require any` or `require all` are asked in several.",
    example: "batch 200",
  },
  {
    keyword: "actions",
    several: true,
    forms: [{ args: [many(slot("action", "relation", { label: "ACTION" }), 1000)] }],
    byDefault: "any action may be asked for",
    docs: "The actions it knows. With them, `require` and `filter` that ask for another one are an error.",
    example: "actions read write",
  },
  {
    keyword: "authenticate",
    several: 2,
    forms: [
      ...identityForms,
      { args: [word("bearer"), slot("bearer", "reference", { to: ["secret"], label: "SECRET" })] },
    ],
    docs: "How the gateway shows it who it is: a password, a key, a token that is got for it (a fresh one where it is refused with 401), or a certificate in TLS.",
    example: "authenticate bearer pdp_key",
  },
  {
    keyword: "tls",
    forms: [{ args: [], block: "tls", blockRequired: true }],
    byDefault: "certificates are checked against the system's authorities",
    docs: "How its certificate is checked.",
    example: 'tls { ca file("certs/internal-ca.pem") }',
  },
  {
    keyword: "breaker",
    forms: [{ args: breakerArgs }],
    byDefault: "no breaker",
    docs: "Does not ask while it fails (no answer in time, none that is a decision, or a status of 500 to 599): callers get 503 at once. Then one question goes through to see whether it is well again.",
    example: "breaker 5 failures in 30s open 10s",
  },
]
