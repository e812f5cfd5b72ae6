import type { StepOf } from "../../../../runtime/plan/steps.ts"
import type { Text as PlanText } from "../../../../runtime/plan/text.ts"
import { type Bound, headSpan, mentions, statementOf } from "../../bind/bound.ts"
import { idsOf, type Lowered, type LowerStep, type StepContext } from "../step.ts"
import { reportDropped } from "./dropped-header.ts"
import { scopeName } from "./limit.ts"

/** `check header "NAME" is "…" { … }` */
export const lowerCheck: LowerStep = (bound, context) => {
  const { steps, texts, place, report } = context
  const name = bound.args.value<string>("name")
  const values = lowerQuoted(bound, "value", context)
  const messageAt = statementOf(bound.block, "message")?.args.text("message")
  const message = messageAt === undefined ? undefined : texts.lower(messageAt, place)
  if (name === undefined || values === undefined || (messageAt !== undefined && message === undefined))
    return undefined
  reportDropped(name, headSpan(bound.statement), report)
  return steps.add(
    {
      kind: "check-header",
      name,
      values,
      ignoreCase: mentions(bound.block, "ignore-case"),
      status: statementOf(bound.block, "status")?.args.value<number>("status") ?? 403,
      ...(message === undefined ? {} : { message }),
    },
    headSpan(bound.statement),
  )
}

/** `allow ip …`, `deny ip …`: networks in an order of their own, it means nothing. */
export const lowerIp: LowerStep = (bound, { steps, report }) => {
  const networks = new Set<string>()
  const ranges = new Map<string, StepOf<"ip-filter">["ranges"][number]>()
  for (const { argument, value } of bound.args.all("network")) {
    const found = value as string | StepOf<"ip-filter">["ranges"][number]
    const key = typeof found === "string" ? found : `${found.from}-${found.to}`
    if (networks.has(key) || ranges.has(key)) report.add("SP2016", argument.span, `\`${key}\` is there twice`)
    if (typeof found === "string") networks.add(found)
    else ranges.set(key, found)
  }
  return steps.add(
    {
      kind: "ip-filter",
      action: bound.row.keyword === "allow" ? "allow" : "deny",
      networks: [...networks].sort(),
      ranges: [...ranges].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, range]) => range),
    },
    headSpan(bound.statement),
  )
}

/** `concurrency N by "key" { … }` in a section. */
export const lowerConcurrencyBlock: LowerStep = (bound, context) => {
  const inside = context.block(bound.block, context.place)
  return concurrencyStep(bound, `${scopeName(context.scope)}: ${keyWords(bound)}`, inside, context)
}

/** `concurrency N by "key"` of a scope: until the answer is out. */
export function lowerConcurrency(bound: Bound, scope: string, context: StepContext): Lowered | undefined {
  return concurrencyStep(bound, `${scopeName(scope)}: ${keyWords(bound)}`, [], context)
}

function concurrencyStep(
  bound: Bound,
  counter: string,
  inside: readonly Lowered[],
  { texts, place, steps }: StepContext,
): Lowered | undefined {
  const max = bound.args.value<number>("max")
  const keyAt = bound.args.text("key")
  const key = keyAt === undefined ? undefined : texts.lower(keyAt, place)
  if (max === undefined || key === undefined) return undefined
  const step = {
    kind: "limit-concurrency" as const,
    counter: counter.slice(0, 512),
    key,
    max,
    steps: idsOf(inside),
  }
  return steps.add(step, headSpan(bound.statement), { steps: inside })
}

/** The key as it is written: it names the counter, which survives a plan that keeps it. */
function keyWords({ args }: Bound): string {
  const span = args.get("key")?.argument.span
  return span === undefined ? "" : span.file.text.slice(span.start, span.end)
}

/** `cors { … }` */
export const lowerCors: LowerStep = (bound, context) => {
  const { report, steps } = context
  const { block } = bound
  const originsAt = statementOf(block, "origins")
  const origins = originsAt === undefined ? undefined : lowerOrigins(originsAt, context)
  if (origins === undefined) return undefined
  const credentials = statementOf(block, "credentials")
  if (credentials !== undefined && origins.includes("*")) {
    report.add(
      "SP3040",
      credentials.statement.keyword.span,
      "every site would call with the caller's own credentials",
      {
        related:
          originsAt === undefined ? [] : [{ span: headSpan(originsAt.statement), message: "`origins *`" }],
      },
    )
    return undefined
  }
  const names = (keyword: string): string[] => {
    const statement = statementOf(block, keyword)
    if (statement === undefined) return []
    return statement.args.get("header") === undefined
      ? ["*"]
      : [...new Set(statement.args.values<string>("header"))].sort()
  }
  const maxAgeMs = statementOf(block, "max-age")?.args.value<number>("time") ?? 0
  return steps.add(
    {
      kind: "cors",
      origins,
      methods: [...new Set(statementOf(block, "methods")?.args.values<string>("method") ?? [])].sort(),
      headers: names("headers"),
      expose: names("expose"),
      credentials: credentials !== undefined,
      maxAgeSeconds: maxAgeMs / 1000,
      terminateUnmatched: statementOf(block, "forward-unmatched") === undefined,
    },
    headSpan(bound.statement),
  )
}

const originForm = /^(?:null|https?:\/\/(?:\*\.)?[^/?#@\s*]+)\/?$/i

function lowerOrigins(statement: Bound, context: StepContext): PlanText[] | undefined {
  if (statement.args.get("origin") === undefined) return ["*"]
  const origins = lowerQuoted(statement, "origin", context)
  for (const { argument } of statement.args.all("origin")) {
    if (argument.kind !== "text" || argument.parts.some((part) => part.kind === "cel")) continue
    const text = argument.parts.map((part) => (part.kind === "literal" ? part.value : "")).join("")
    if (text === "*" || originForm.test(text)) continue
    context.report.add("SP2039", argument.span, `\`${text}\` is not the origin of a site`, {
      help: 'Write scheme, host and perhaps port, e.g. `"https://app.acme.example"` or `"https://*.acme.example"`.',
    })
    return undefined
  }
  return origins
}

/** The texts of a slot; undefined when one is wrong (reported). */
function lowerQuoted(bound: Bound, slot: string, { texts, place }: StepContext): PlanText[] | undefined {
  const given = bound.args.all(slot)
  const lowered = given.flatMap(({ argument }) => {
    const text = argument.kind === "text" ? texts.lower(argument, place) : undefined
    return text === undefined ? [] : [text]
  })
  return lowered.length < given.length ? undefined : lowered
}
