import { digestOf } from "../../../runtime/plan/canonical.ts"
import type { Counting, LimitKey } from "../../../runtime/plan/step-values.ts"
import type { TextPart } from "../../../runtime/plan/text.ts"
import type { Argument } from "../ast.ts"
import { type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { oneOf, type StatementRow, slot, word } from "../schema/row.ts"
import { listed } from "../schema/slots.ts"
import { checkClaim } from "./claims.ts"
import { type AuthWay, brings, mayHold, type StatementPlace, wordOf } from "./place.ts"
import type { Lowered, StepContext } from "./step.ts"

/** The variables in which a limit reports its state. */
export function variablesOf(counting: Counting): NonNullable<Lowered["declares"]> {
  const names = Object.entries(counting).flatMap(([field, name]) =>
    field.endsWith("Variable") && typeof name === "string" ? [name] : [],
  )
  return Object.fromEntries(names.map((name) => [name, "int" as const]))
}

/** Whether every caller has at least one of the keys. Reports it if not. */
export function checkKeys(
  bound: BoundStatement,
  keys: readonly LimitKey[],
  { place, report }: StepContext,
): boolean {
  const { ways } = place.auth
  const known = ways.flatMap(({ claims }) => (claims === undefined ? [] : [claims]))
  const [first] = known
  for (const { slot, argument, value } of bound.args.filled) {
    const key = value as LimitKey
    if (slot.kind !== "limit-key" || key.by !== "claim" || first === undefined) continue
    // The tokens of one issuer may have the claim. Callers with another credential are checked below.
    const declared = known.some((claims) => mayHold(claims, key.claim))
    if (!declared && !checkClaim(key.claim, first, argument.span, report)) return false
  }
  const lacking = place.asked ? undefined : ways.find((way) => !keys.some((key) => provides(way, key)))
  if (lacking === undefined) return true
  const names = listed(
    keys.map((key) => `\`${nameOf(key)}\``),
    "or",
  )
  report.add(
    "SP3008",
    headSpan(bound.statement),
    `with \`auth ${wordOf(lacking)}\` a caller has no ${names}`,
    {
      related: [{ span: place.auth.span ?? place.routeSpan, message: "the `auth` of the route" }],
    },
  )
  return false
}

/** `api orders: subscription else ip, 60s`, at most 380 characters. */
export function counterName(scope: string, keys: readonly LimitKey[], periodSeconds: number): string {
  return `${scopeName(scope)}: ${short(keys.map(nameOf).join(" else "), 120)}, ${periodSeconds}s`
}

/**
 * Which calls or tokens a limit counts, as written in gateway.conf: a limit of failures has its own counter. A plain number is left out,
 * because it only says how much one call counts.
 */
export function countedWords(bound: BoundStatement): string {
  const counts = statementsOf(bound.block, "count").filter(({ args }) => args.value("amount") === undefined)
  return counts.map(({ statement }) => statement.args.map(writtenWord).join(" ")).join(" and ")
}

function writtenWord(argument: Argument): string {
  if (argument.kind === "cel") return `(${argument.source.trim().replace(/\s+/g, " ")})`
  return argument.kind === "word" ? argument.text : ""
}

/** A scope as the beginning of a counter's name. */
export function scopeName(scope: string): string {
  return short(scope, 240)
}

/** Shortens a text. A digest keeps two different long texts different. */
export function short(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 14)}… ${digestOf(text).slice("sha256:".length, "sha256:".length + 12)}`
}

export function keysOf(bound: BoundStatement): LimitKey[] {
  return [...bound.args.values<LimitKey>("key")]
}

/** The keys with their texts; undefined when one is invalid (reported). */
export function lowerKeys(bound: BoundStatement, { texts, place }: StepContext): LimitKey[] | undefined {
  const keys: LimitKey[] = []
  for (const { argument, value } of bound.args.all("key")) {
    if (argument.kind !== "text") keys.push(value as LimitKey)
    else {
      const text = texts.lower(argument, place)
      if (text === undefined) return undefined
      keys.push({ by: "text", text })
    }
  }
  return keys
}

const signs = {
  remaining: "remaining",
  total: "total",
  "retry-after": "retryAfter",
  consumed: "consumed",
} as const

/**
 * The block of a limit: which calls count, by how much, and where the state is reported. What counts may depend on the response: `late` is
 * the place after the end of the exchange.
 */
export function lowerCounting(
  bound: BoundStatement,
  { expressions }: StepContext,
  late: StatementPlace,
): Counting | undefined {
  const counting: Counting = {}
  for (const { args } of statementsOf(bound.block, "count")) {
    const test = args.cel("test")
    const amount = args.cel("expression")
    if (test !== undefined) {
      const countIf = expressions.lower(test, late, "bool")
      if (countIf === undefined) return undefined
      counting.countIf = countIf
    } else if (amount !== undefined) {
      const expression = expressions.lower(amount, late, "int")
      if (expression === undefined) return undefined
      counting.increment = { expression }
    } else if (args.get("tokens") !== undefined)
      counting.increment = { tokens: { estimatePrompt: args.value("tokens") === "estimated" } }
    else counting.increment = args.value<number>("amount") ?? 1
  }
  for (const [keyword, field] of Object.entries(signs) as [
    keyof typeof signs,
    (typeof signs)[keyof typeof signs],
  ][])
    for (const { args } of statementsOf(bound.block, keyword)) {
      const header = args.value<string>("header")
      const variable = args.word("variable")?.text
      if (header !== undefined) counting[`${field}Header`] = header
      if (variable !== undefined) counting[`${field}Variable`] = variable
    }
  return counting
}

function nameOf(key: LimitKey): string {
  if (key.by === "text")
    return typeof key.text === "string" ? JSON.stringify(key.text) : textName(key.text.text)
  return key.by === "claim" ? `jwt.${key.claim}` : key.by
}

/** Whether a caller who authenticated this way has the key. */
function provides(way: AuthWay, key: LimitKey): boolean {
  if (key.by === "ip" || key.by === "text") return true
  if (key.by === "subscription") return brings(way, "subscription")
  return brings(way, "jwt") && (way.claims === undefined || mayHold(way.claims, key.claim))
}

/** A text as part of a counter's name. */
function textName(parts: readonly TextPart[]): string {
  const words = parts.map((part) =>
    typeof part === "string"
      ? part
      : "expression" in part
        ? `\${${part.expression.text}}`
        : JSON.stringify(part),
  )
  return JSON.stringify(words.join(""))
}

/** Statements in the block of `limit`. */
export const limitRows: readonly StatementRow[] = [
  {
    keyword: "count",
    several: 2,
    forms: [
      {
        args: [
          oneOf(
            [word("when"), slot("test", "condition")],
            [word("tokens"), slot("tokens", "choice", { choices: ["reported", "estimated"] })],
            [slot("amount", "count", { min: 1, max: 1_000_000_000 })],
            [slot("expression", "expression")],
          ),
        ],
      },
    ],
    byDefault: "every call, as 1",
    docs: "Which calls count, and how much. `when`: a condition, also on the response that the caller got. A number or expression: how much one call counts. `tokens reported`: the tokens that the response of a language model reports; with `tokens estimated`, those of the prompt are counted before it is sent. A call for which this cannot be found out counts.",
    example: "count when (response.status < 400)",
  },
  ...(["remaining", "total", "retry-after", "consumed"] as const).map(
    (keyword): StatementRow => ({
      keyword,
      several: 2,
      forms: [
        {
          args: [
            oneOf(
              [word("header"), slot("header", "header-name")],
              [word("variable"), slot("variable", "name")],
            ),
          ],
        },
      ],
      docs:
        keyword === "consumed"
          ? "A header or variable with the number of tokens a call used, unless the response is a stream."
          : "A header or variable with the state of the limit, in addition to the standard headers.",
      example: `${keyword} header "X-Calls"`,
    }),
  ),
  {
    keyword: "shared",
    forms: [{ args: [word("required")] }],
    byDefault: "each process then counts on its own",
    docs: "Calls get 503 while the Redis of `limits { shared redis }` is unavailable.",
    example: "shared required",
  },
]
