import { cacheResponse } from "../lower/cache-response.ts"
import { authBasic } from "../steps/basic-auth.ts"
import { check } from "../steps/check-header.ts"
import { compressStatement } from "../steps/compress.ts"
import { corsStatement } from "../steps/cors.ts"
import { deprecationRows } from "../steps/deprecation.ts"
import { filterStatement } from "../steps/filter.ts"
import { backendStatement } from "../steps/forward.ts"
import { grantStatement, revokeStatement } from "../steps/grant.ts"
import { authIntrospection } from "../steps/introspect.ts"
import { allow, deny } from "../steps/ip-filter.ts"
import { concurrency } from "../steps/limit-concurrency.ts"
import { authOidc } from "../steps/oidc-session.ts"
import { quota } from "../steps/quota.ts"
import { limit } from "../steps/rate-limit.ts"
import { requireStatement } from "../steps/require.ts"
import { authCertificate } from "../steps/validate-certificate.ts"
import { authJwt } from "../steps/validate-jwt.ts"
import { authSubscription } from "../steps/validate-key.ts"
import { onError } from "./flow.ts"
import {
  docsRow,
  documentSizeRow,
  lenientRow,
  mockRow,
  openapiRow,
  securityRow,
  skipRow,
  validateRow,
} from "./openapi.ts"
import { operations } from "./operations.ts"
import { many, type StatementRow, slot, word } from "./row.ts"
import { authHmacForms } from "./signature.ts"
import { policyXml } from "./xml.ts"

const authForms: StatementRow["forms"] = [
  { args: [word("none")] },
  authJwt.form,
  authSubscription.form,
  authIntrospection.form,
  authOidc.form,
  authBasic.form,
  authCertificate.form,
  ...authHmacForms,
  { args: [word("policy")] },
]

export const auth: StatementRow = {
  keyword: "auth",
  several: 10,
  forms: authForms,
  docs: "Who may call. Several lines in one block are alternatives. The nearest block with `auth` decides (operation, version, API, gateway).",
  example: 'auth jwt acme { claim scope has "orders.read" }',
}

export const use: StatementRow = {
  keyword: "use",
  several: true,
  forms: [{ args: [many(slot("policy", "reference", { to: ["policy"], label: "POLICY" }), 100)] }],
  docs: "Inserts the statements of a policy here.",
  example: "use edge",
}

export const without: StatementRow = {
  keyword: "without",
  several: true,
  forms: [{ args: [many(slot("name", "scope"), 100)] }],
  docs: "Removes statements of outer blocks: the statements of a policy, or all statements of a kind: `auth`, `limit`, `require`, `cors`, `compress`, `check`, `allow`, `deny`, `concurrency`, `filter`, `grant`, `revoke`, `inbound`, `outbound`, `on-error`, `cache`.",
  example: "without edge",
}

export const inbound: StatementRow = {
  keyword: "inbound",
  several: true,
  forms: [{ args: [], block: "inbound", blockRequired: true }],
  docs: "Statements for the request, before it is sent to the backend. They run in this order.",
  example: 'inbound { header set "X-User-Id" "${jwt.sub}" }',
}

export const outbound: StatementRow = {
  keyword: "outbound",
  several: true,
  forms: [{ args: [], block: "outbound", blockRequired: true }],
  docs: "Statements for the response, before it is sent to the caller. They run in this order.",
  example: 'outbound { header remove "Server" }',
}

/** Statements of every scope: gateway, policy, API, version, operation. */
export const everyScope: readonly StatementRow[] = [
  corsStatement.row,
  compressStatement.row,
  allow.row,
  deny.row,
  auth,
  check.row,
  limit,
  quota,
  concurrency,
  use,
  policyXml,
  inbound,
  cacheResponse,
  outbound,
  onError,
]

const timeout: StatementRow = {
  keyword: "timeout",
  forms: [{ args: [slot("time", "duration-or-none", { min: 1, max: 86_400_000 })] }],
  byDefault: "the gateway's `limits { timeout }`",
  docs: "Longest time for a complete request and response; `none` for streams without an end.",
  example: "timeout none",
}

const websocket: StatementRow = {
  keyword: "websocket",
  forms: [{ args: [word("off")] }, { args: [], block: "websocket", blockRequired: true }],
  byDefault: "WebSockets are passed on after the inbound statements, and end when either side ends them",
  docs: "Whether WebSockets may be opened, and what closes them besides client and backend. The nearest block decides.",
  example: "websocket { expire-with-token; idle 10m }",
}

export const websocketRows: readonly StatementRow[] = [
  {
    keyword: "expire-with-token",
    forms: [{ args: [] }],
    docs: "Closes a WebSocket when the token it was opened with expires.",
    example: "expire-with-token",
  },
  {
    keyword: "close-when-removed",
    forms: [{ args: [] }],
    docs: "Closes WebSockets when a plan without this operation is applied.",
    example: "close-when-removed",
  },
  {
    keyword: "idle",
    forms: [{ args: [slot("time", "duration", { min: 1000, max: 86_400_000 })] }],
    byDefault: "no limit",
    docs: "Closes a WebSocket in which nothing was sent for this long.",
    example: "idle 10m",
  },
]

const pathFormDocs = {
  "encoded-slash":
    "Paths with `%2F` in a segment. They are matched and forwarded as sent; one that a backend could read as another route, or with dot segments, stays 400.",
  "path-parameters":
    "Allows `;` in a segment, raw or as `%3B`. The path parameter contains it as it was sent. A request gets 400 if `require` would check another id without it.",
  "empty-segments": "Allows `//` inside the part of the path that `{rest*}` matches, except at its start.",
} as const
export type PathFormKeyword = keyof typeof pathFormDocs
export const pathFormKeywords = Object.keys(pathFormDocs) as readonly PathFormKeyword[]

/** Path forms that backends interpret in different ways. They are refused by default; the nearest block decides. */
const pathForms: readonly StatementRow[] = pathFormKeywords.map((keyword) => ({
  keyword,
  forms: [{ args: [slot("treatment", "choice", { choices: ["pass", "refuse"] })] }],
  byDefault: "`refuse`: 400",
  docs: pathFormDocs[keyword],
  example: `${keyword} pass`,
}))

/** Statements that filter responses by relations or change tuples. */
const relationRows: readonly StatementRow[] = [filterStatement.row, grantStatement.row, revokeStatement.row]

/** Statements of APIs, versions and operations. */
export const routeScope: readonly StatementRow[] = [
  ...everyScope,
  requireStatement.row,
  ...relationRows,
  without,
  backendStatement.row,
  timeout,
  validateRow,
  mockRow,
  websocket,
  ...pathForms,
]

/** Who can read the document of an API, and how often. */
export const docsRows: readonly StatementRow[] = [corsStatement.row, auth, limit, without]

export const openapiRows: readonly StatementRow[] = [securityRow(auth), documentSizeRow, skipRow, lenientRow]

export const policyRows: readonly StatementRow[] = [...everyScope, requireStatement.row, ...relationRows]

export const apiRows: readonly StatementRow[] = [
  {
    keyword: "path",
    required: true,
    forms: [{ args: [slot("path", "path")] }],
    docs: "The path of the API, after the version: `/v1/orders`. The backend gets only what follows it; a backend that has the same path needs it in its URL.",
    example: 'path "/orders"',
  },
  {
    keyword: "host",
    forms: [{ args: [many(slot("host", "host"), 100)] }],
    byDefault: "every host",
    docs: "Host names of the API; `*.example.com` is every name below. Several APIs may have the same path on different hosts. The most specific host is matched first.",
    example: 'host "api.acme.example" "*.acme.example"',
  },
  {
    keyword: "version",
    several: true,
    forms: [{ args: [slot("name", "name", { to: ["version"] })], block: "version" }],
    docs: "A version of the API. Its path begins with `/NAME`; an API without versions has no such prefix.",
    example: "version v1 { backend orders_v1; deprecated }",
  },
  openapiRow,
  docsRow,
  ...routeScope,
  ...operations,
]

export const versionRows: readonly StatementRow[] = [
  ...deprecationRows,
  openapiRow,
  docsRow,
  ...routeScope,
  ...operations,
]
