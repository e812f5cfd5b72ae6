import type { ConditionSeen, Explanation, NearestMiss, ProofNode, TupleKey } from "./ports.ts"

const summaryMax = 1_000

/**
 * An explanation for people: the result, then the proof as a tree, or the obstacles and possible remedies. Lines end in a line feed; two
 * spaces per level.
 */
export function explanationText(explanation: Explanation): string {
  const { allowed, proof, complete } = explanation
  const lines = [verdict(explanation)]
  if (proof !== undefined) lines.push(...proofLines(proof, 1))
  if (!allowed) lines.push(...denyLines(explanation))
  if (!complete) lines.push(allowed ? "  (not all of it is shown)" : "  (there may be more ways)")
  return lines.map((line) => `${line}\n`).join("")
}

function verdict({ allowed, user, relation, object, missing_context = [] }: Explanation): string {
  if (allowed) return `allowed: ${user} has ${relation} on ${object}`
  return missing_context.length === 0
    ? `denied: ${user} does not have ${relation} on ${object}`
    : `conditional: whether ${user} has ${relation} on ${object} depends on the context`
}

/** A deny in one line, for a log: the obstacle and the nearest remedy. */
export function explanationSummary({
  blocked_by = [],
  missing_context = [],
  misses = [],
  conditions = [],
  undecided,
}: Explanation): string {
  const parts = [
    ...blocked_by.slice(0, 1).map((node) => `excluded by ${reasonOf(node)}`),
    ...conditions
      .slice(0, 1)
      .map(({ tuple, condition }) => `${tupleWords(tuple)}: ${conditionWords(condition)}`),
    ...(missing_context.length > 0 ? [`needs to know ${missing_context.join(", ")}`] : []),
    ...(undecided ? [undecidedWords] : []),
    ...misses.slice(0, 1).map((miss) => `nearest: ${missWords(miss)}`),
  ]
  const text = parts.length === 0 ? "no tuple grants it" : parts.join("; ")
  return text.length <= summaryMax ? text : `${text.slice(0, summaryMax - 1)}…`
}

const undecidedWords = "tuples and exclusions depend on each other in a cycle, so nothing is granted"

/** A tuple in the command line's syntax: `user:ann owner order:1`. */
export function tupleWords({ user, relation, object, condition }: TupleKey): string {
  return `${user} ${relation} ${object}${condition === undefined ? "" : ` with ${condition.name}`}`
}

function denyLines({
  blocked_by = [],
  conditions = [],
  missing_context = [],
  misses = [],
  undecided,
}: Explanation): string[] {
  return [
    ...(undecided ? [`  ${undecidedWords}`] : []),
    ...section(
      "excluded by",
      blocked_by.flatMap((node) => proofLines(node, 2)),
    ),
    ...section(
      "conditions that are false",
      conditions.map(({ tuple, condition }) => `    ${tupleWords(tuple)}: ${conditionWords(condition)}`),
    ),
    ...section(
      "context that would decide it",
      missing_context.map((name) => `    ${name}`),
    ),
    ...section(
      "it would be allowed after any of",
      misses.map((miss) => `    ${missWords(miss)}`),
    ),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines]
}

function proofLines(node: ProofNode, depth: number): string[] {
  const line = `${"  ".repeat(depth)}${node.holds ? "" : "not "}${node.object}#${node.relation}: ${ruleWords(node)}`
  return [line, ...(node.children ?? []).flatMap((child) => proofLines(child, depth + 1))]
}

function ruleWords(node: ProofNode): string {
  switch (node.by) {
    case "tuple":
    case "userset":
    case "from":
      return `tuple ${node.tuple === undefined ? "" : tupleWords(node.tuple)}${node.contextual ? ", of the request" : ""}${
        node.condition === undefined ? "" : `, ${conditionWords(node.condition)}`
      }`
    case "computed":
      return "computed"
    case "intersection":
      return "all of"
    case "but not":
      return node.holds ? "but not" : "excluded by"
    case "self":
      return "the user is this userset itself"
    case "none":
      return "nothing grants it"
    case "above":
      return "as above"
    case "cut":
      return "…"
  }
}

function conditionWords({ name, outcome, values, missing_context = [], error }: ConditionSeen): string {
  const given = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const seen = given.length === 0 ? "" : ` (${given.join(", ")})`
  if (outcome === "missing_context") return `${name} needs ${missing_context.join(", ")}${seen}`
  return `${name} ${outcome === "error" ? `fails: ${error}` : `is ${outcome}`}${seen}`
}

function missWords({ add, remove, missing_context = [] }: NearestMiss): string {
  const steps = [
    ...add.map((tuple) => `write ${tupleWords(tuple)}`),
    ...remove.map((tuple) => `delete ${tupleWords(tuple)}`),
  ]
  const context = missing_context.length === 0 ? "" : `, given ${missing_context.join(", ")}`
  return `${steps.join(" and ")}${context}`
}

/** The tuple with which an exclusion begins, or its node. */
function reasonOf(node: ProofNode): string {
  for (let at: ProofNode | undefined = node; at !== undefined; at = at.children?.[0])
    if (at.tuple !== undefined) return tupleWords(at.tuple)
  return `${node.object}#${node.relation}`
}
