import type { Policy } from "./policy.ts"
import { Violations } from "./violations.ts"

/** Fields every answer may have, whatever an API says of its own. */
const everywhere: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "date",
  "server",
  "via",
  "vary",
  "cache-control",
  "age",
  "etag",
  "last-modified",
])

/** Judges the header fields of the answer: required ones are there; others than those named are `unspecified`. */
export const validateHeaders: Policy<"validate-headers"> = (plan, provision) => {
  const log = provision.traceLog()
  const known = new Set(plan.headers.map(({ name }) => name))
  return (exchange) => {
    const { response } = exchange
    if (response === undefined) throw new Error("the header of the answer is judged before there is one")
    const violations = new Violations(plan.kind, log)
    for (const { name, required, action } of plan.headers) {
      if (required && response.headers.get(name) === undefined)
        violations.add(action, { in: "header", pointer: name, message: "is required and missing" })
    }
    if (plan.unspecified !== "ignore") {
      const { flat } = response.headers
      const told = new Set<string>()
      for (let at = 0; at < flat.length; at += 2) {
        const name = flat[at] as string
        if (known.has(name) || everywhere.has(name) || told.has(name)) continue
        told.add(name)
        violations.add(plan.unspecified, {
          in: "header",
          pointer: name,
          message: "is none this API answers with",
        })
      }
    }
    return violations.settle(exchange, "response", plan.errors)
  }
}
