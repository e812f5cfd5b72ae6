import { explanationText } from "../../../runtime/check/explain-text.ts"
import type { Passage, Sent } from "../../../runtime/gateway/in-process/passage.ts"
import type { FieldLine } from "../../../runtime/gateway/in-process/world.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { placesOf, type StepPlace } from "../../gateway-test/step-uses.ts"
import { visible } from "../../render/width.ts"

const bodyShown = 2_000

/** What became of a request: the response, its steps, what backends got, limits and decisions. */
export async function passageText(passage: Passage, plan: Plan, asked: string): Promise<string> {
  const { response, finished, sent, limits, decisions } = passage
  const called = [finished.problem, finished.reason].filter((each) => each !== undefined).join(", ")
  const lines = [
    `${asked}: ${response.status}${called === "" ? "" : ` (${called})`}`,
    ...headerLines(response.headers, "  "),
    ...bodyLines(response.body, "  "),
    ...(finished.cause === undefined ? [] : [`  because: ${firstLine(finished.cause)}`]),
    "",
    `route    ${finished.route ?? "none"}`,
    ...stepLines(passage, plan),
    ...sent.flatMap(sentLines),
    ...limits.map(
      ({ is, callsMax, periodSeconds, left, key }) =>
        `${is.padEnd(8)} ${left ?? "?"} of ${callsMax ?? "?"} left in ${periodSeconds} s for ${key}`,
    ),
  ]
  for (const decision of decisions) {
    const explanation = await decision.explain()
    const text = explanation === undefined ? "" : explanationText(explanation).trimEnd()
    lines.push(...text.split("\n").map((line, at) => `${at === 0 ? "decision" : "        "} ${line}`))
  }
  return lines.map((line) => `${visible(line)}\n`).join("")
}

function stepLines({ steps, finished }: Passage, plan: Plan): string[] {
  const places = placesOf(plan, finished.route)
  return steps.map(({ id, kind, outcome }) => {
    const found = [...new Set((places.get(id) ?? []).map(({ place }: StepPlace) => place))].join(" or ")
    const mark = outcome === "passed" ? "ok  " : outcome === "answered" ? "STOP" : "?   "
    return `  ${mark}   ${kind}${found === "" ? "" : `  ${found}`}`
  })
}

function sentLines({ backend, origin, method, target, headers, body, answer }: Sent): string[] {
  const outcome = "failure" in answer ? answer.failure : `responded ${answer.status}`
  return [
    `backend  ${backend ?? origin} got ${method} ${target} and ${outcome}`,
    ...headerLines(headers, "           "),
    ...bodyLines(body, "           "),
  ]
}

function headerLines(headers: readonly FieldLine[], indent: string): string[] {
  return headers.map(([name, value]) => `${indent}${name}: ${value}`)
}

function bodyLines(body: Buffer, indent: string): string[] {
  if (body.length === 0) return []
  const text = body.toString("utf8")
  const shown = text.length > bodyShown ? `${text.slice(0, bodyShown)}…` : text
  return [
    "",
    ...shown
      .trimEnd()
      .split("\n")
      .map((line) => `${indent}${line}`),
  ]
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? ""
}
