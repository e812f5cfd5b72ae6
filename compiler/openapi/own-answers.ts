/** What the gateway adds to an operation: who may call, rate limits, and its own responses. */
export interface GatewayFacts {
  /** Alternative schemes and scopes: those of the gateway, or those of the document by name. Undefined: the declaration of the document applies. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  readonly limits: readonly { readonly calls: number; readonly periodSeconds: number; readonly by: string }[]
  /** Rate limit headers of every response, in lower case. */
  readonly limitHeaders: readonly string[]
  /** The header with the time of the next allowed attempt. */
  readonly retryAfter: string
  /** Statuses of the gateway's own responses. `errors` is their format. */
  readonly problems: readonly number[]
  readonly errors: "problem" | "apim"
  /** Set when its version is deprecated. */
  readonly deprecated: boolean
}

type Json = Record<string, unknown>

/** Bodies of the gateway's own responses. */
export const ownAnswers = {
  problem: {
    description: "A problem (RFC 9457).",
    content: {
      "application/problem+json": {
        schema: {
          type: "object",
          required: ["type", "title", "status"],
          properties: {
            type: { type: "string", format: "uri" },
            title: { type: "string" },
            status: { type: "integer" },
            detail: { type: "string" },
            request_id: { type: "string" },
            errors: {
              type: "array",
              items: {
                type: "object",
                required: ["in", "pointer", "message"],
                properties: {
                  in: { type: "string" },
                  pointer: { type: "string" },
                  message: { type: "string" },
                },
              },
            },
            errors_left_out: { type: "integer" },
          },
        },
      },
    },
  },
  apim: {
    description: "An error in the format of Azure API Management.",
    content: {
      "application/json": {
        schema: {
          type: "object",
          required: ["statusCode", "message"],
          properties: { statusCode: { type: "integer" }, message: { type: "string" } },
        },
      },
    },
  },
}

/** Header names in their usual spelling. */
function headerName(name: string): string {
  const written: Readonly<Record<string, string>> = {
    ratelimit: "RateLimit",
    "ratelimit-policy": "RateLimit-Policy",
    "www-authenticate": "WWW-Authenticate",
  }
  return written[name] ?? name.replace(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase())
}

const headerTexts: Readonly<Record<string, string>> = {
  ratelimit: "The remaining amount and the seconds until the limit is renewed.",
  "ratelimit-policy": "The limit: the number of calls and the period in seconds.",
}

/** The headers of the gateway's own responses, with their descriptions. */
function headersFor(names: readonly string[]): Json {
  return Object.fromEntries(
    names.map((name) => [
      headerName(name),
      {
        ...(headerTexts[name] === undefined ? {} : { description: headerTexts[name] }),
        schema: { type: "string" },
      },
    ]),
  )
}

/** Headers that every response of an operation has in addition to its own. */
export function limitHeadersOf({ limitHeaders }: GatewayFacts): Json {
  return headersFor([...new Set(limitHeaders)])
}

/** Headers of a response of the gateway itself. */
function headersOf(status: number, facts: GatewayFacts): Json {
  const all = limitHeadersOf(facts)
  if (status === 401) return { ...all, ...headersFor(["www-authenticate"]) }
  if (status !== 429) return all
  const { limits, limitHeaders, retryAfter } = facts
  const wait = { description: "Seconds to wait.", schema: { type: "integer" } }
  const policy = limits.length + limitHeaders.length === 0 ? [] : ["ratelimit-policy"]
  return { ...all, ...headersFor(policy), [headerName(retryAfter)]: wait }
}

const descriptions: Readonly<Record<number, string>> = {
  400: "The request does not match its description.",
  401: "Valid credentials are required.",
  403: "The caller may not do this.",
  429: "The limit of calls is used up.",
}

/** Responses of the gateway itself that the document does not describe. */
export function problemsOf(facts: GatewayFacts, described: readonly string[]): Json {
  const added = facts.problems.filter((status) => !described.includes(String(status)))
  return Object.fromEntries(
    added.map((status) => {
      const headers = headersOf(status, facts)
      const description = descriptions[status] ?? "The gateway refuses the request."
      const { content } = ownAnswers[facts.errors]
      return [
        String(status),
        Object.keys(headers).length === 0
          ? { $ref: "#/components/responses/Problem" }
          : { description, headers, content },
      ]
    }),
  )
}
