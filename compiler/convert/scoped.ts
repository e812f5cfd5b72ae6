import type { Step } from "../../runtime/plan/steps.ts"
import { attributeOf, type Element, type Node } from "../policy/ast.ts"
import { printStep } from "./print-step.ts"
import { lossOf, lowered, type Site, unitsOf } from "./section.ts"
import { translateStep } from "./translate-step.ts"
import { NoCounterpart, refuse } from "./translation.ts"
import type { Statement, Unit } from "./units.ts"
import { commentLines } from "./write-text.ts"

/** Policies that neither answer nor are seen by anybody when the call is refused behind them. */
const quiet: ReadonlySet<string> = new Set([
  "base",
  "cors",
  "set-header",
  "set-query-parameter",
  "set-variable",
  "rewrite-uri",
  "set-backend-service",
])

const guards: ReadonlySet<string> = new Set(["validate-jwt", "validate-azure-ad-token"])

/**
 * `inbound` with what gateway.conf says outside of it: `cors` runs before everything, and so does `auth`. A check of tokens becomes `auth` only where nothing
 * that stands before it could be told from running behind it.
 */
export function scopedOf(element: Element, site: Site, onError: string): { scope: Unit[]; inbound: Unit[] } {
  const scope: Unit[] = []
  const inbound: Unit[] = []
  let comments: Unit[] = []
  let rest: Node[] = []
  let before: Element[] = []
  let [checked, shared] = [false, false]
  const flush = (): void => {
    inbound.push(...unitsOf(rest, site))
    rest = []
  }
  for (const node of element.children) {
    if (node.kind === "comment") comments.push({ kind: "comment", lines: commentLines(node.text) })
    if (node.kind !== "element") continue
    const isFirst = guards.has(node.name)
      ? !checked && mayMove(node, before, onError)
      : node.name === "cors" && !shared
    if (isFirst) {
      scope.push(...comments, scopedUnit(node, site))
      if (node.name === "cors") shared = true
      else checked = true
    } else {
      flush()
      inbound.push(...comments, ...unitsOf([node], site))
    }
    comments = []
    before = [...before, node]
  }
  inbound.push(...comments)
  return { scope, inbound }
}

/** What in `on-error` could tell whether something ran before the call was refused. */
const tells = /Variables|context\s*\.\s*Request|include-fragment|<send-|<cache-/

function mayMove(guard: Element, before: readonly Element[], onError: string): boolean {
  const others = before.filter(({ name }) => name !== "base" && name !== "cors")
  if (others.length === 0) return true
  if (tells.test(onError) || others.some(({ name }) => !quiet.has(name))) return false
  const name = attributeOf(guard, "header-name")?.raw.span ?? undefined
  const header = (
    name === undefined ? "authorization" : name.file.text.slice(name.start, name.end)
  ).toLowerCase()
  return others.every((each) => {
    if (each.name === "set-variable") return attributeOf(guard, "token-value") === undefined
    if (each.name === "set-query-parameter") return attributeOf(guard, "query-parameter-name") === undefined
    if (each.name !== "set-header") return true
    const raw = attributeOf(each, "name")?.raw
    if (raw?.kind !== "text" || attributeOf(guard, "token-value") !== undefined) return false
    return raw.span.file.text.slice(raw.span.start, raw.span.end).toLowerCase() !== header
  })
}

function scopedUnit(element: Element, site: Site): Unit {
  try {
    const refusal = site.refused.get(element)
    if (refusal !== undefined) return lossOf(element, refusal, site)
    const steps = lowered(element, site)
      .flatMap((used) => [used, ...(used.inside["steps"] ?? [])])
      .flatMap(({ id }) => {
        const step = site.surroundings.stepOf(id)
        return step === undefined || step.kind === "any-of"
          ? []
          : [translateStep(step, site.around, site.tally)]
      })
    if (steps.length === 0) return refuse("it has no effect here")
    return statement(element, steps)
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error
    return lossOf(element, error.message, site)
  }
}

function statement(element: Element, steps: readonly Step[]): Statement {
  return { kind: "statement", element, steps, lines: steps.flatMap(printStep), blocks: [] }
}
