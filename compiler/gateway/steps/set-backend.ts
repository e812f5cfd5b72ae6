import { cookieName } from "../../../runtime/plan/http-syntax.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Finding, neutral, opens } from "../../analysis/finding.ts"
import { same } from "../../analysis/same.ts"
import { durationWords, textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { StepContext } from "../lower/step.ts"
import { textAt } from "../lower/text-or-expression.ts"
import { type Printed, statement } from "../print.ts"
import { oneOf, optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

type Target = StepOf<"set-backend">["target"]

const backend = slot("backend", "reference", { to: ["backend"] })

/** `backend NAME`, `backend "URL" raw`, `backend weighted by "…" { … }`, `backend by "…" { … }` */
export const chooseBackend: StatementDefinition = {
  row: {
    keyword: "backend",
    several: true,
    forms: [
      {
        args: [word("weighted"), optional(word("by"), slot("key", "text"))],
        block: "weighted",
        blockRequired: true,
      },
      { args: [word("by"), slot("value", "text")], block: "choices", blockRequired: true },
      { args: [oneOf([backend], [slot("url", "text", { label: '"URL"' }), optional(word("raw"))])] },
    ],
    docs: "Sends the request to another backend: by name, by weight (with `by` the same one for the same value), by the value of a string, or to a URL. With `raw` an expression may decide the host.",
    example: "backend orders_v2",
  },
  lower: (bound, context) => {
    const target = targetOf(bound, context)
    return target === undefined
      ? undefined
      : context.steps.add({ kind: "set-backend", target }, headSpan(bound.statement))
  },
}

/** Statements of `backend weighted`. */
export const weightedRows: readonly StatementRow[] = [
  {
    keyword: "backend",
    several: 50,
    required: true,
    forms: [{ args: [backend, word("weight"), slot("weight", "count", { min: 0, max: 1000 })] }],
    docs: "A backend and its weight. With weight 0 it gets no requests.",
    example: "backend orders_v2 weight 5",
  },
  {
    keyword: "sticky",
    forms: [
      {
        args: [
          word("cookie"),
          slot("cookie", "constant", { label: '"NAME"', max: 128 }),
          optional(word("for"), slot("time", "duration", { min: 1000, max: 34_560_000_000 })),
        ],
      },
    ],
    byDefault: "each request is distributed by itself, or by the string of `by`",
    docs: "A caller keeps its backend by a cookie with a random id, which the gateway sets; without `for`, until the browser closes.",
    example: 'sticky cookie "orders_side" for 30d',
  },
]

/** Statements of `backend by`. */
export const choiceRows: readonly StatementRow[] = [
  {
    keyword: "case",
    several: 200,
    required: true,
    forms: [{ args: [slot("value", "constant", { max: 1024 }), backend] }],
    docs: "The backend for this string.",
    example: 'case "beta" orders_v2',
  },
  {
    keyword: "otherwise",
    forms: [{ args: [backend] }],
    byDefault: "the route's own backend",
    docs: "The backend for any other string.",
    example: "otherwise orders_v1",
  },
  {
    keyword: "refuse-others",
    forms: [{ args: [] }],
    docs: "Any other string is an error (500). Without this statement, such requests go to the route's own backend.",
    example: "refuse-others",
  },
]

/** Where the statement sends requests; undefined when that is invalid (reported). */
function targetOf(bound: BoundStatement, context: StepContext): Target | undefined {
  if (bound.block?.name === "weighted") return weightedTarget(bound, context)
  if (bound.block?.name === "choices") return chosenTarget(bound, context)
  if (bound.args.get("url") !== undefined) return urlTarget(bound, context)
  const backend = namedBackend(bound, context)
  return backend === undefined ? undefined : { backend }
}

function urlTarget(bound: BoundStatement, context: StepContext): Target | undefined {
  const url = textAt(bound, "url", context)
  if (url === undefined) return undefined
  const raw = bound.statement.args.some((each) => each.kind === "word" && each.text === "raw")
  const [first] = typeof url === "string" ? [url] : url.text
  // A host alone is complete. Otherwise the constant must reach to the first slash: an expression after `https://api` could add
  // `.evil.example`.
  const isWhole = typeof url === "string" && /^https?:\/\/[^/]+$/.test(url)
  if (!raw && !isWhole && !(typeof first === "string" && /^https?:\/\/[^/]+\//.test(first))) {
    context.report.add("SP2026", bound.args.text("url")?.span, "the host must be a constant", {
      help: "Begin with `http://HOST/` or `https://HOST/`, or add `raw` to let the request decide the host.",
    })
    return undefined
  }
  return { url, raw }
}

function weightedTarget(bound: BoundStatement, context: StepContext): Target | undefined {
  const weighted = statementsOf(bound.block, "backend").flatMap((each) => {
    const backend = namedBackend(each, context)
    const weight = each.args.value<number>("weight")
    return backend === undefined || weight === undefined ? [] : [{ backend, weight }]
  })
  const key = textAt(bound, "key", context)
  const cookie = stickyCookie(bound, context)
  if (cookie === "wrong") return undefined
  if (weighted.length > 0 && weighted.every(({ weight }) => weight === 0)) {
    context.report.add("SP3081", headSpan(bound.statement), "every backend has weight 0")
    return undefined
  }
  // Every backend is unknown, which is reported with the names.
  if (weighted.length === 0) return undefined
  return {
    weighted,
    ...(key === undefined ? {} : { key }),
    ...(cookie === undefined ? {} : { cookie }),
  }
}

function chosenTarget(bound: BoundStatement, context: StepContext): Target | undefined {
  const by = textAt(bound, "value", context)
  if (by === undefined) return undefined
  const cases = statementsOf(bound.block, "case").flatMap((each) => {
    const backend = namedBackend(each, context)
    const value = each.args.value<string>("value")
    return backend === undefined || value === undefined ? [] : [{ value, backend }]
  })
  const refuse = statementOf(bound.block, "refuse-others")
  const other = statementOf(bound.block, "otherwise")
  if (refuse !== undefined && other !== undefined) {
    const detail = "`otherwise` and `refuse-others` exclude each other"
    context.report.add("SP2017", refuse.statement.keyword.span, detail, {
      related: [{ span: other.statement.keyword.span, message: "`otherwise`" }],
      help: "Keep one of the two.",
    })
    return undefined
  }
  // `null` keeps the route's own backend for other texts.
  const otherwise = namedBackend(other, context) ?? null
  return { by, cases, otherwise, ...(refuse === undefined ? {} : { strict: true as const }) }
}

type Weighted = Extract<Target, { weighted: unknown }>

/** The cookie of `sticky`; undefined without one. */
function stickyCookie(bound: BoundStatement, { report }: StepContext): Weighted["cookie"] | "wrong" {
  const sticky = statementOf(bound.block, "sticky")
  const name = sticky?.args.value<string>("cookie")
  if (sticky === undefined || name === undefined) return undefined
  const by = bound.args.get("key")
  if (by !== undefined) {
    report.add("SP2017", sticky.statement.keyword.span, "`by` and `sticky` exclude each other", {
      related: [{ span: by.argument.span, message: "`by`" }],
      help: "Keep one of the two.",
    })
    return "wrong"
  }
  if (!cookieName.safeParse(name).success) {
    report.add(
      "SP2010",
      sticky.args.get("cookie")?.argument.span,
      `\`${name}\` cannot be the name of a cookie`,
      {
        help: "Use letters, digits, `_` and `-`.",
      },
    )
    return "wrong"
  }
  const timeMs = sticky.args.value<number>("time")
  return { name, ...(timeMs === undefined ? {} : { seconds: Math.floor(timeMs / 1000) }) }
}

function namedBackend(bound: BoundStatement | undefined, { backends }: StepContext): string | undefined {
  const word = bound?.args.word("backend")
  return word !== undefined && backends.useDeclared(word.text) ? word.text : undefined
}

/** Printing and comparison of a step that chooses the backend. */
export const setBackend: StepText<"set-backend"> = {
  print: ({ target }) => targetText(target),
  identities: () => ["set-backend"],
  added: ({ target }) => otherTarget(target),
  removed: () =>
    opens("requests go to the route's own backend, with the headers and bodies that callers send"),
  changed: {
    target: (before, after) =>
      // Only the shares differ: each request could have met each of these backends before.
      "weighted" in before && "weighted" in after && isWithin(after, before)
        ? otherShares(before, after)
        : otherTarget(after),
  },
}

/** The statement of each form of `backend`. */
function targetText(target: Target): Printed {
  // In the order of the forms of the statement.
  if ("backend" in target) return statement(`backend ${target.backend}`)
  if ("url" in target) return statement(`backend ${textWords(target.url)}${target.raw ? " raw" : ""}`)
  if ("weighted" in target)
    return statement(
      `backend weighted${target.key === undefined ? "" : ` by ${textWords(target.key)}`}`,
      target.weighted.map(({ backend, weight }) => `backend ${backend} weight ${weight}`),
      target.cookie !== undefined && stickyText(target.cookie),
    )
  return statement(
    `backend by ${textWords(target.by)}`,
    target.cases.map(({ value, backend }) => `case ${textWords(value)} ${backend}`),
    target.otherwise !== null && `otherwise ${target.otherwise}`,
    target.strict === true && "refuse-others",
  )
}

/** What another destination of requests means. */
function otherTarget(target: Target): Finding {
  return "url" in target && target.raw
    ? opens("an expression decides where requests go")
    : opens("requests may go to another backend, with the headers and bodies that callers send")
}

/** Whether each backend that may get requests could get them before. */
function isWithin(after: Weighted, before: Weighted): boolean {
  const earlier = percentsOf(before)
  return [...percentsOf(after)].every(
    ([backend, percent]) => percent === 0 || (earlier.get(backend) ?? 0) > 0,
  )
}

/** The same backends get other shares: each request could have met each of them before. */
function otherShares(before: Weighted, after: Weighted): Finding[] {
  const shares = percentsOf(before)
  const now = percentsOf(after)
  const changed = [...new Set([...shares.keys(), ...now.keys()])].flatMap((backend) => {
    const [earlier, percent] = [shares.get(backend) ?? 0, now.get(backend) ?? 0]
    const words = `\`${backend}\` gets ${percentText(percent)} of the requests instead of ${percentText(earlier)}`
    return percentText(percent) === percentText(earlier) ? [] : [neutral(words)]
  })
  const { cookie } = after
  const isKept = same([before.key, before.cookie], [after.key, cookie])
  const kept =
    cookie === undefined
      ? after.key === undefined
        ? "each request is distributed by itself"
        : `requests are distributed by ${textWords(after.key)}`
      : `callers keep their backend by the cookie \`${cookie.name}\``
  const found = [...changed, ...(isKept ? [] : [neutral(kept)])]
  return found.length === 0 ? [neutral("the shares of the backends stay the same")] : found
}

/** Shares in percent. */
function percentsOf({ weighted }: Weighted): ReadonlyMap<string, number> {
  const sum = weighted.reduce((total, { weight }) => total + weight, 0)
  const shares = new Map<string, number>()
  for (const { backend, weight } of weighted)
    shares.set(backend, (shares.get(backend) ?? 0) + (weight * 100) / sum)
  return shares
}

const percentText = (percent: number) => `${Math.round(percent * 10) / 10}%`

function stickyText({ name, seconds }: NonNullable<Weighted["cookie"]>): string {
  return `sticky cookie ${textWords(name)}${seconds === undefined ? "" : ` for ${durationWords(seconds * 1000)}`}`
}
