import type { StepOf } from "../../../runtime/plan/steps.ts"
import { otherBackend } from "../../analysis/backend-rules.ts"
import { breaking, closes, compareFields, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { ownOf, same } from "../../analysis/same.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { inlineBackendPrefix } from "../bind/names.ts"
import { type Printing, statement } from "../print.ts"
import { slot } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

/** `backend NAME` or `backend "URL"`, in scopes of routes. */
export const backendStatement: StatementDefinition = {
  row: {
    keyword: "backend",
    forms: [{ args: [slot("backend", "reference", { to: ["backend"] })] }, { args: [slot("url", "url")] }],
    docs: "The backend of the requests: a declared one, or its URL. The nearest block decides.",
    example: "backend orders_v1",
  },
  lower: (bound, { backends, texts, place, steps }) => {
    const name = backends.use(bound)
    if (name === undefined) return undefined
    // Only a backend with `balance hash` has a key. It may read the request, so it belongs to the route.
    const key = backends.hashKey(name)
    const hashKey = key === undefined ? undefined : texts.lower(key, place)
    // An invalid key is reported; without it the targets would be chosen in another way than the text says.
    if (key !== undefined && hashKey === undefined) return undefined
    const step = {
      kind: "forward" as const,
      backend: name,
      ...(hashKey === undefined ? {} : { hashKey }),
    }
    return steps.add(step, headSpan(bound.statement))
  },
}

/** Printing and comparison of the step that sends the request to the backend. */
export const forward: StepText<"forward"> = {
  print: (step, printing) => {
    refuseDetails(step, printing)
    const { backend } = step
    if (backend === null) return statement("forward")
    const target = ownOf(printing.body?.backends ?? {}, backend)?.targets[0]
    // A URL instead of a name, as it was written.
    const isInline = backend.startsWith(inlineBackendPrefix) && target !== undefined
    return statement(`backend ${isInline ? textWords(target.url) : backend}`)
  },
  identities: () => ["forward"],
  added: () => opens("requests reach a backend now"),
  removed: () => breaking("requests no longer reach a backend"),
  changed: (before, after, plans) => {
    const [old, next] = [before.backend, after.backend]
    // `null`: a `forward-request` of a document that keeps the route's backend.
    if (old === null || next === null || old === next) return compareFields(fieldRules, before, after)
    // The other fields are compared as if the backend were the same: it is reported with its own differences.
    const besides = { ...before, backend: next }
    return [
      ...otherBackend(old, next, plans.before, plans.after),
      ...(same(besides, after) ? [] : compareFields(fieldRules, besides, after)),
    ]
  },
}

/** Refuses settings for forwarding that only policy documents can express. */
function refuseDetails(step: StepOf<"forward">, printing: Printing): void {
  const { timeoutMs, bufferRequest, bufferResponse, failOnStatus, followRedirects } = step
  const seconds = typeof timeoutMs === "number" ? `${timeoutMs / 1000}s` : "TIME"
  const said: readonly (readonly [boolean | undefined, string])[] = [
    [
      timeoutMs !== undefined,
      `the timeout of a request belongs in the \`backend\` block: \`timeout total ${seconds}\``,
    ],
    [
      bufferRequest,
      "no statement needs the complete request before it is sent; a repeated request is buffered in any case",
    ],
    [bufferResponse, "no statement reads the complete response before it is sent"],
    [
      failOnStatus,
      "no statement treats a status of the backend as an error: use `when (response.status >= 400)` in `outbound`",
    ],
    [followRedirects, "no statement follows redirects of the backend"],
  ]
  for (const [isSaid, why] of said) if (isSaid === true) printing.refuses(why)
}

/** The effect of each changed field. */
const fieldRules: FieldRules<Fields<"forward">> = {
  backend: () => opens("requests go to another backend, with the headers and bodies that callers send"),
  hashKey: () => neutral("targets are chosen by another key"),
  timeoutMs: (before, after) => {
    // No limit is the largest time.
    const [was, is] = [before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY]
    if (typeof was === "number" && typeof is === "number" && is > was)
      return neutral("the backend has more time to respond")
    return closes("the backend has less time: late responses become 504")
  },
  bufferRequest: (_, after) =>
    after === true
      ? closes("requests with a body that is too large to be read completely are refused")
      : opens("requests with a body that is too large to be read completely are let through"),
  bufferResponse: () => neutral("whether bodies of responses are read completely first has changed"),
  failOnStatus: () => neutral("whether an error status of the backend runs `on-error` has changed"),
  followRedirects: (_, after) =>
    after === true
      ? opens("the gateway follows redirects of the backend")
      : breaking("redirects of the backend are sent to the callers"),
}
