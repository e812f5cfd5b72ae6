import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import type { StepId } from "../../runtime/plan/steps.ts"
import { textWords } from "../analysis/words.ts"
import type { Printed } from "../gateway/print.ts"
import { printStep } from "../gateway/step-texts.ts"
import { printModel } from "../model/print-model.ts"
import { StepWords } from "./step-words.ts"

const sections = ["inbound", "backend", "outbound", "onError"] as const
/** Fields of a plan that have a form of their own here, or are made of policy documents whose steps are in the routes. */
const special: ReadonlySet<string> = new Set(["routes", "steps", "models", "outlines"])
/** A list or an object is in one line up to this many characters. */
const inlineMax = 100

/** Statements with the steps inside of them below each other. */
class PlanWords extends StepWords {
  override inside(ids: readonly StepId[]): Printed[] {
    return ids.flatMap((id) => {
      const step = this.body.steps[id]
      return step === undefined ? [] : [printStep(step, this)]
    })
  }
}

/**
 * A plan as lines for people who compare it with another one: its declarations, each route with its steps as statements of gateway.conf, and its models as
 * text. Texts of plans with the same digest are equal. It is not gateway.conf: names, comments and inheritance are not in a plan.
 */
export function planText({ plan: body }: Plan): string {
  const words = new PlanWords(body)
  const lines: string[] = []
  for (const [name, value] of Object.entries(body))
    if (!special.has(name)) addField(name, value, "", words, lines)
  for (const [key, route] of Object.entries(body.routes)) addRoute(key, route, words, lines)
  addModels(body, lines)
  return `${lines.join("\n")}\n`
}

function addRoute(key: string, route: PlanBody["routes"][string], words: PlanWords, lines: string[]): void {
  const { sections: steps, ...rest } = route
  lines.push("", `route ${key}`)
  for (const [name, value] of Object.entries(rest)) addField(name, value, "  ", words, lines)
  for (const section of sections) {
    if (steps[section].length === 0) continue
    lines.push(`  ${section}`)
    for (const id of steps[section]) addStep(id, "    ", words, lines)
  }
}

function addStep(id: string, indent: string, words: PlanWords, lines: string[]): void {
  const step = words.body.steps[id]
  if (step !== undefined) addPrinted(printStep(step, words), indent, lines)
}

/** A statement, its block in lines of its own. */
function addPrinted(printed: Printed, indent: string, lines: string[]): void {
  const { head, text, block, otherwise } = printed
  const own = text === undefined ? head : `${head} ${textWords(text)}`
  lines.push(`${indent}${own}${block.length > 0 ? " {" : ""}`)
  for (const each of block) addPrinted(each, `${indent}  `, lines)
  if (block.length > 0) lines.push(`${indent}}`)
  if (otherwise !== undefined) addPrinted(otherwise, indent, lines)
}

/** Models under the names of their stores. */
function addModels({ models, authz }: PlanBody, lines: string[]): void {
  for (const [digest, { model }] of Object.entries(models)) {
    const stores = Object.entries(authz?.stores ?? {}).filter(([, store]) => store.model === digest)
    lines.push("", `model of ${stores.map(([name]) => name).join(", ") || "no store"}`)
    const printed = printModel(model)
    // A model of the API may have names that the language does not allow.
    const text = "text" in printed ? printed.text : JSON.stringify(model, null, 2)
    for (const line of text.trimEnd().split("\n")) lines.push(line === "" ? "" : `  ${line}`)
  }
}

/** Any other part of a plan: short values in one line, others below their name. Ids of steps are their statements. */
function addField(name: string, value: unknown, indent: string, words: PlanWords, lines: string[]): void {
  const inner = `${indent}  `
  const parsed = typeof value === "string" ? documentIn(value) : value
  if (typeof parsed === "string" && parsed.includes("\n")) {
    lines.push(`${indent}${name}`)
    for (const line of parsed.trimEnd().split("\n")) lines.push(inner + line)
    return
  }
  if (typeof parsed !== "object" || parsed === null) {
    lines.push(`${indent}${name} ${typeof parsed === "string" ? parsed : JSON.stringify(parsed)}`)
    return
  }
  const isSteps = Array.isArray(parsed) && parsed.length > 0 && parsed.every((each) => isStep(each, words))
  const whole = isSteps ? "" : JSON.stringify(parsed)
  // Declarations are easier to compare below each other.
  if (whole !== "" && whole.length <= inlineMax && indent !== "") {
    lines.push(`${indent}${name} ${whole}`)
    return
  }
  lines.push(`${indent}${name}`)
  if (isSteps) for (const id of parsed) addStep(String(id), inner, words, lines)
  else
    for (const [key, each] of Object.entries(parsed))
      addField(Array.isArray(parsed) ? "-" : key, each, inner, words, lines)
}

function isStep(value: unknown, { body }: PlanWords): boolean {
  return typeof value === "string" && Object.hasOwn(body.steps, value)
}

/** The portal has OpenAPI documents as JSON in one line. */
function documentIn(text: string): unknown {
  if (!text.startsWith("{") || text.length <= inlineMax) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
