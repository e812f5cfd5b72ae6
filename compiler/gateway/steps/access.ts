import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text as PlanText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { isOriginPattern, registeredMethods } from "../../core/http-words.ts"
import { didYouMean } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import { textOf } from "../../core/source.ts"
import { type Bound, type BoundBlock, headSpan, mentions, statementOf } from "../bind/bound.ts"
import type { LowerStep, StepContext } from "../lower/step.ts"
import { reportDropped } from "./dropped-header.ts"

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

/** `cors { … }` */
export const lowerCors: LowerStep = (bound, context) => {
  const { report, steps } = context
  const { block } = bound
  checkMethods(block, report)
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

function lowerOrigins(statement: Bound, context: StepContext): PlanText[] | undefined {
  if (statement.args.get("origin") === undefined) return ["*"]
  const origins: PlanText[] = []
  let wrong = false
  for (const { argument } of statement.args.all("origin")) {
    const text = argument.kind === "text" ? context.texts.lower(argument, context.place) : undefined
    if (text !== undefined) origins.push(text)
    if (text !== undefined && mayBeOrigin(text)) continue
    wrong = true
    if (text === undefined) continue
    const written = typeof text === "string" ? text : textOf(argument.span)
    context.report.add(
      "SP2039",
      argument.span,
      `\`${shown(written)}\` is not the origin of a site: it would never match`,
      {
        help: 'Write scheme, host and perhaps port, e.g. `"https://app.acme.example"` or `"https://*.acme.example"`.',
      },
    )
  }
  return wrong ? undefined : origins
}

/** Of a text that is known later only what is behind its last value: a path there fits no origin. */
function mayBeOrigin(text: PlanText): boolean {
  if (typeof text === "string") return isOriginPattern(text)
  const last = "text" in text ? text.text.at(-1) : undefined
  return typeof last !== "string" || !/\/[^/]/.test(last.replace("://", ""))
}

/** Warns of methods that are most likely misspelt: a preflight never asks for them. */
function checkMethods(block: BoundBlock | undefined, report: Report): void {
  for (const { argument, value } of statementOf(block, "methods")?.args.all("method") ?? []) {
    const method = value as string
    if (method === "*" || registeredMethods.includes(method)) continue
    const hint = didYouMean(method, registeredMethods)
    report.add("SP2041", argument.span, `no page asks for the method \`${shown(method)}\`${hint}`)
  }
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
