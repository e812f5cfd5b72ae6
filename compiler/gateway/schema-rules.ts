import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import type { SchemaChange, SchemaComparison } from "../analysis/schema-comparison.ts"

type Action = "ignore" | "detect" | "prevent"

/** A rule that validates one part of a message, optionally against a schema. */
interface SchemaRule {
  readonly action: Action
  readonly required?: boolean
  readonly schema?: string | undefined
}

/**
 * What the rules of a step validate. `gone` and `come`: what a removed or added rule means if another part of the step covers the same
 * thing.
 */
export interface Judged<Rule extends SchemaRule> {
  readonly message: "request" | "response"
  nameOf(rule: Rule): string
  subject(name: string): string
  /** Whether the schema's types decide how the value is parsed. */
  isText(rule: Rule): boolean
  gone(name: string, rule: Rule): readonly Finding[] | undefined
  come(name: string, rule: Rule): readonly Finding[] | undefined
}

/** Compares rules by what they validate. */
export function ruleChanges<Rule extends SchemaRule>(
  before: readonly Rule[],
  after: readonly Rule[],
  judged: Judged<Rule>,
  schemas: SchemaComparison,
): Finding[] {
  const byName = (rules: readonly Rule[]) => new Map(rules.map((rule) => [judged.nameOf(rule), rule]))
  const [old, next] = [byName(before), byName(after)]
  const found: Finding[] = []
  for (const [name, rule] of old) {
    const now = next.get(name)
    if (now !== undefined) found.push(...ruleChange(name, rule, now, judged, schemas))
    else found.push(...(judged.gone(name, rule) ?? [lost(name, rule)]))
  }
  for (const [name, rule] of next)
    if (!old.has(name)) found.push(...(judged.come(name, rule) ?? [got(name, rule, judged.message)]))
  return found
}

function lost(name: string, { action }: SchemaRule): Finding {
  return action === "prevent"
    ? opens(`\`${name}\` is no longer checked`)
    : neutral(`errors of \`${name}\` are no longer logged`)
}

function got(name: string, { action, required }: SchemaRule, message: "request" | "response"): Finding {
  if (action !== "prevent") return neutral(`errors of \`${name}\` are logged`)
  if (message === "response") return breaking(`responses with errors of \`${name}\` become 502`)
  return required === true
    ? closes(`requests with a missing or invalid \`${name}\` are refused`)
    : closes(`requests with an invalid \`${name}\` are refused`)
}

/** The effect of a changed rule: a request that is refused `closes`, a response that is withheld is `breaking` for the caller. */
function ruleChange<Rule extends SchemaRule>(
  name: string,
  old: Rule,
  next: Rule,
  judged: Judged<Rule>,
  schemas: SchemaComparison,
): Finding[] {
  if (same(old, next)) return []
  const refuse = (what: string) =>
    judged.message === "request" ? closes(`${what} are refused`) : breaking(`${what} become 502`)
  if (old.action !== next.action) {
    if (old.action === "prevent")
      return [opens(`errors of \`${name}\` are ${next.action === "ignore" ? "let through" : "only logged"}`)]
    if (next.action === "prevent") return [refuse(`errors of \`${name}\``)]
  }
  if (next.action !== "prevent") return [neutral(`other errors of \`${name}\` are logged`)]
  const found: Finding[] = []
  if ((old.required ?? false) !== (next.required ?? false)) {
    const without =
      judged.message === "request" ? `requests without \`${name}\`` : `responses without \`${name}\``
    found.push(next.required === true ? refuse(without) : opens(`${without} may pass`))
  }
  const besides = { ...old, schema: next.schema, required: next.required }
  if (!same(JSON.parse(JSON.stringify(besides)), next))
    found.push(
      opens(`\`${name}\` is read differently: refused requests may now pass, and others may now be refused`),
    )
  const isText = judged.isText(old) || judged.isText(next)
  const changes = schemas.compare(old.schema, next.schema).map((change) => ({
    ...change,
    effect: isText && readsOtherwise.test(change.pointer) ? ("other" as const) : change.effect,
  }))
  if (found.length === 0 && changes.length === 0)
    return [neutral(`the schema of \`${name}\` is written differently but means the same`)]
  return [...found, ...schemaFindings(changes, judged.message, judged.subject(name))]
}

/** These keywords decide by type whether a text is parsed as a number, a list or neither. */
const readsOtherwise = /\/(?:type|not|if|(?:allOf|anyOf|oneOf)(?:\/\d+)?)$/

const shownMax = 20

const effects = ["other", "wider", "narrower"] as const

/** The differences of a schema by their effect, the first few of each in full. */
function schemaFindings(
  changes: readonly SchemaChange[],
  message: "request" | "response",
  subject: string,
): Finding[] {
  return effects.flatMap((effect) => {
    const found = changes.filter((change) => change.effect === effect)
    const shown = found
      .slice(0, shownMax)
      .map(({ words, pointer }) => schemaFinding(effect, message, subject, `${words}, at \`${pointer}\``))
    if (found.length <= shownMax) return shown
    const more = `and ${found.length - shownMax} more differences of the schema`
    return [...shown, schemaFinding(effect, message, subject, more)]
  })
}

/** `narrower` accepts fewer values, `wider` more; `other` may be both and counts as the riskier one. */
function schemaFinding(
  effect: SchemaChange["effect"],
  message: "request" | "response",
  subject: string,
  words: string,
): Finding {
  if (message === "response") {
    if (effect === "narrower") return breaking(`${subject} may become 502: ${words}`)
    const also = effect === "other" ? ", others become 502" : ""
    return opens(`${subject} that were withheld may pass${also}: ${words}`)
  }
  if (effect === "narrower") return closes(`${subject} may be refused: ${words}`)
  const also = effect === "other" ? ", others be refused" : ""
  return opens(`${subject} that were refused may pass${also}: ${words}`)
}
