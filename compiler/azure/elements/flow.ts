import { elementsOf } from "../ast.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { bodyChild, bodyOf } from "./body.ts"
import { headerChild, headerLines, statusChild, statusOf } from "./message.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  everywhere,
  flags,
  given,
  optional,
  required,
  requiredDynamic,
  seconds,
} from "./row.ts"

/** The first `when` that holds, otherwise `otherwise`: nested steps, built from the last to the first. */
function choose(use: Use): Used[] | undefined {
  const { element, context } = use
  const otherwise = use.child("otherwise")
  let rest = otherwise === undefined ? [] : otherwise.policies()
  if (use.children("when").length === 0 && !context.document.damaged)
    return use.report("SP7008", use.at, "`choose` has no `<when>`", 'Add `<when condition="@(…)">…</when>`.')
  const last = elementsOf(element).at(-1)
  if (otherwise !== undefined && last?.name !== "otherwise")
    use.report(
      "SP7009",
      otherwise.at,
      "`otherwise` is not the last element of `choose`",
      "Move it after all `when` elements.",
    )
  let broken = false
  // From the last to the first: each `when` has the rest as its `else`.
  for (const each of use.children("when").reverse()) {
    const test = each.condition("condition")
    const matched = each.policies()
    // One broken condition makes all of them invalid: without it, other branches would run.
    if (test === undefined) {
      broken = true
      continue
    }
    const ids = (list: readonly Used[]): string[] => list.map(({ id }) => id)
    rest = each.step(
      { kind: "when", test, matched: ids(matched), otherwise: ids(rest) },
      { matched, otherwise: rest },
    )
  }
  return broken ? undefined : rest
}

function retry(use: Use): Used[] | undefined {
  const steps = use.policies()
  const parts = {
    test: use.condition("condition"),
    times: use.count("count"),
    intervalSeconds: use.count("interval"),
    fastFirst: use.flag("first-fast-retry"),
    ...given("maxSeconds", use.has("max-interval") ? use.count("max-interval") : undefined),
    ...given("deltaSeconds", use.has("delta") ? use.count("delta") : undefined),
  }
  if (!complete(parts)) return undefined
  // Without policies it only waits: documents use it as a delay.
  if (steps.length === 0 && elementsOf(use.element).length > 0) return nothingInside(use)
  return use.step({ kind: "retry", ...parts, steps: steps.map(({ id }) => id) }, { steps })
}

/** The finding for a policy that must contain others. */
function nothingInside(use: Use): undefined {
  const { report } = use.context.host
  // A policy inside may be wrong, which was already reported.
  if (report.errors > 0 && elementsOf(use.element).length > 0) return undefined
  return use.report(
    "SP7008",
    use.at,
    `\`${use.element.name}\` contains no policy`,
    "Put the policies into it, or remove it.",
  )
}

/** Each policy inside becomes a branch. */
function wait(use: Use): Used[] | undefined {
  const until = use.choice("for", ["all", "any"])
  const branches = elementsOf(use.element)
    // Each policy is a branch of its own.
    .map((child) => use.context.inside([child], use))
    // A branch with a mistake is empty, and the mistake is reported.
    .filter((branch) => branch.length > 0)
  if (until === undefined) return undefined
  if (branches.length === 0) return nothingInside(use)
  const inside = Object.fromEntries(branches.map((branch, index) => [`branches.${index}`, branch]))
  return use.step(
    { kind: "parallel", until, branches: branches.map((branch) => branch.map(({ id }) => id)) },
    inside,
  )
}

/** `limit-concurrency`. `scope` is cut, because the plan limits the length of counters. */
function limitConcurrency(use: Use): Used[] | undefined {
  const steps = use.policies()
  const parts = { key: use.text("key"), max: use.number("max-count") }
  if (!complete(parts)) return undefined
  const counter = `${use.context.place.scope.slice(0, 400)}: limit-concurrency`
  return use.step(
    { kind: "limit-concurrency", counter, ...parts, steps: steps.map(({ id }) => id) },
    { steps },
  )
}

/** `return-response`. From a variable it keeps the status of the stored response. */
function returnResponse(use: Use): Used[] | undefined {
  const from = use.has("response-variable-name") ? use.constant("response-variable-name") : undefined
  const statusUse = use.child("set-status")
  // From a variable the status is that of the stored response.
  const status = statusUse === undefined ? (from === undefined ? { status: 200 } : {}) : statusOf(statusUse)
  const headers = headerLines(use)
  const bodyUse = use.child("set-body")
  const body = bodyUse === undefined ? undefined : bodyOf(bodyUse)
  if (status === undefined || headers === undefined || (bodyUse !== undefined && body === undefined))
    return undefined
  return use.step({
    kind: "respond",
    ...given("from", from),
    ...status,
    headers,
    media: null,
    ...given("body", body),
  })
}

/**
 * The example of the operation, otherwise a sample of its schema, when an OpenAPI document describes it. Without a description the response is
 * empty. `index` counts examples from 1, and 0 also means the first: the published reference does not say where it starts.
 */
function mockResponse(use: Use): Used[] | undefined {
  const status = use.has("status-code") ? use.number("status-code") : 200
  const media = use.has("content-type") ? use.constant("content-type") : ""
  const index = use.has("index") ? use.number("index") : 1
  if (status === undefined || media === undefined || index === undefined) return undefined
  // Media types have no letter case (RFC 9110, section 8.3.1).
  const wanted = media === "" ? undefined : media.toLowerCase()
  const { described } = use.context.place
  const examples = described?.examples(status, wanted) ?? 0
  if (index > Math.max(1, examples)) {
    const count = examples === 1 ? "one example" : `${examples === 0 ? "no" : examples} examples`
    const why =
      described === undefined
        ? "no OpenAPI document describes the operation"
        : `its OpenAPI document has ${count} for this response`
    const detail = `there is no example ${index}: ${why}`
    use.context.host.report.add("SP7019", use.spanOf("index"), detail, {})
  }
  // A description without an example gives a sample of its schema.
  const step = described?.answer(status, wanted, Math.max(0, index - 1))
  if (step !== undefined) return use.step(step)
  const headers = media === "" ? [] : [{ name: "content-type", action: "set" as const, values: [media] }]
  return use.step({ kind: "respond", status, headers, media: null })
}

export const flow: ElementTable = {
  choose: {
    about: "Runs the policies of the first `when` whose condition is true, else those of `otherwise`.",
    sections: everywhere,
    children: {
      when: { many: true, attributes: { condition: requiredDynamic }, policies: true },
      otherwise: { policies: true },
    },
    lower: choose,
  },
  retry: {
    about: "Runs its policies again while the condition is true.",
    sections: everywhere,
    attributes: {
      condition: requiredDynamic,
      count: { ...requiredDynamic, whole: { min: 1, max: 50 } },
      interval: { ...requiredDynamic, whole: seconds },
      "max-interval": { ...dynamic, whole: seconds },
      delta: { ...dynamic, whole: seconds },
      "first-fast-retry": flags.off,
    },
    policies: true,
    lower: retry,
  },
  wait: {
    about: "Runs its policies at the same time, until all of them or one of them is done.",
    sections: everywhere,
    attributes: { for: { values: ["all", "any"], byDefault: "all" } },
    policies: true,
    lower: wait,
  },
  "limit-concurrency": {
    about: "Limits how many requests with the same key run its policies at the same time; answers 429.",
    sections: everywhere,
    attributes: { key: requiredDynamic, "max-count": { ...required, whole: { min: 1, max: 1_000_000 } } },
    policies: true,
    lower: limitConcurrency,
  },
  "return-response": {
    about: "Ends the request with this response.",
    sections: everywhere,
    attributes: { "response-variable-name": optional },
    children: { "set-status": statusChild, "set-header": headerChild, "set-body": bodyChild },
    lower: returnResponse,
  },
  "mock-response": {
    about: "Ends the request with the example of the OpenAPI document.",
    sections: everywhere,
    attributes: {
      "status-code": { whole: { min: 200, max: 599 } },
      "content-type": optional,
      index: { whole: { min: 0, max: 1_000_000_000 } },
    },
    lower: mockResponse,
  },
}
