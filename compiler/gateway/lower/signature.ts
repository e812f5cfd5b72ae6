import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import { connectionFields } from "../../../runtime/plan/http-syntax.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Argument } from "../ast.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { AuthForm } from "../credential-text.ts"
import type { SignatureForm } from "../schema/signature.ts"
import { lowerSaid } from "./caller-token.ts"
import { reportDropped } from "./header.ts"
import type { StepContext } from "./step.ts"

type Plan = StepOf<"validate-hmac">
type Part = Plan["signed"][number]
/** The fields that a form defines. */
type Layout = Pick<Plan, "key" | "algorithm" | "signature" | "timestamp" | "signed">

/** Default of `tolerance`: that of Stripe, Slack and Standard Webhooks. */
export const defaultToleranceSeconds = 300
const daySeconds = 86_400

const plain = { key: "text", algorithm: "sha256" } as const
const inSeconds = { unit: "seconds", toleranceSeconds: defaultToleranceSeconds } as const
const literal = (text: string): Part => ({ literal: text })

/** The forms as their services publish them. */
const published: Readonly<Record<Exclude<SignatureForm, "custom">, Layout>> = {
  github: {
    ...plain,
    signature: { header: "x-hub-signature-256", prefix: "sha256=", encoding: "hex" },
    signed: ["body"],
  },
  stripe: {
    ...plain,
    signature: { header: "stripe-signature", prefix: "v1=", separator: ",", encoding: "hex" },
    timestamp: { from: { prefix: "t=" }, ...inSeconds },
    signed: ["timestamp", literal("."), "body"],
  },
  slack: {
    ...plain,
    signature: { header: "x-slack-signature", prefix: "v0=", encoding: "hex" },
    timestamp: { from: { header: "x-slack-request-timestamp" }, ...inSeconds },
    signed: [literal("v0:"), "timestamp", literal(":"), "body"],
  },
  // https://www.standardwebhooks.com
  standard: {
    ...plain,
    key: "base64",
    signature: { header: "webhook-signature", prefix: "v1,", separator: " ", encoding: "base64" },
    timestamp: { from: { header: "webhook-timestamp" }, ...inSeconds },
    signed: [{ header: "webhook-id" }, literal("."), "timestamp", literal("."), "body"],
  },
}

/** The form of a step: a published one if it has exactly its fields. */
export function signatureFormOf(step: Plan): SignatureForm {
  const { key, algorithm, signature, signed } = step
  const timestamp = step.timestamp && { ...step.timestamp, ...inSeconds, unit: step.timestamp.unit }
  const layout = canonicalJson({ key, algorithm, signature, signed, ...(timestamp && { timestamp }) })
  const found = Object.entries(published).find(([, each]) => canonicalJson(each) === layout)
  return (found?.[0] as SignatureForm | undefined) ?? "custom"
}

/**
 * Default time for which accepted requests are remembered: as long as one can be repeated. One whose time is `tolerance` in the future is valid for
 * twice that; times are rounded to seconds.
 */
export function replaySeconds(timestamp: Plan["timestamp"]): number {
  return timestamp === undefined ? daySeconds : 2 * timestamp.toleranceSeconds + 2
}

/** `auth hmac FORM SECRET … { … }`. `jwt.sub` is the name of the caller. */
export const authHmac: Pick<AuthForm, "ways" | "lower"> = {
  ways: () => [{ kind: "jwt", by: "hmac", claims: { sub: "string" } }],
  lower: lowerHmac,
}

function lowerHmac(bound: BoundStatement, context: StepContext): Plan | undefined {
  const { block, statement, args } = bound
  const { report, values } = context
  const [, word] = statement.args
  const form = word?.kind === "word" ? (word.text as SignatureForm) : "custom"
  const names = args.words("secret")
  const repeated = names.find(({ text }, at) => names.findIndex((each) => each.text === text) < at)
  if (repeated !== undefined)
    report.add("SP2016", repeated.span, `the secret \`${repeated.text}\` is given twice`)
  const layout = form === "custom" ? lowerLayout(bound, report) : published[form]
  const said = lowerSaid(block, context)
  const [first] = names
  if (layout === undefined || said === undefined || first === undefined) return undefined
  const timestamp = withTolerance(layout, bound, report)
  const { status, message } = said
  const replay = lowerReplay(block, { ...layout, timestamp }, report)
  for (const { text } of names) values.needSecret(text)
  return {
    kind: "validate-hmac",
    caller: statementOf(block, "caller")?.args.value<string>("caller") ?? first.text,
    secrets: names.map(({ text }) => ({ secret: text })),
    ...layout,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(replay === undefined ? {} : { replay }),
    status,
    ...(message === undefined ? {} : { message }),
  }
}

/** The timestamp with the tolerance of the block. */
function withTolerance(
  { timestamp }: Layout,
  { block, statement }: BoundStatement,
  report: Report,
): Plan["timestamp"] {
  const said = statementOf(block, "tolerance")
  const ms = said?.args.value<number>("time")
  if (said !== undefined && timestamp === undefined)
    report.add("SP2017", headSpan(said.statement), "the signature has no time that could be compared", {
      help:
        block?.name === "auth hmac custom"
          ? 'Add e.g. `timestamp header "X-Timestamp"`, or remove `tolerance`.'
          : "Remove `tolerance`.",
      related: [{ span: headSpan(statement), message: "the form of the signature" }],
    })
  return timestamp === undefined || ms === undefined
    ? timestamp
    : { ...timestamp, toleranceSeconds: ms / 1000 }
}

/** How repeated requests are recognized. A header that is not signed could be changed by the sender of the repeated request. */
function lowerReplay(block: BoundBlock | undefined, layout: Layout, report: Report): Plan["replay"] {
  const said = statementOf(block, "replay-guard")
  if (said === undefined) return undefined
  const header = said.args.value<string>("name")
  const ms = said.args.value<number>("time")
  const needed = replaySeconds(layout.timestamp)
  const given = ms === undefined ? needed : ms / 1000
  if (header !== undefined && !layout.signed.some((part) => headerOfPart(part) === header))
    report.add(
      "SP3070",
      said.args.get("name")?.argument.span ?? headSpan(said.statement),
      `\`${header}\` is not signed, so a repeated request can have another value of it`,
    )
  if (layout.timestamp !== undefined && given < 2 * layout.timestamp.toleranceSeconds)
    report.add(
      "SP2017",
      said.args.get("time")?.argument.span ?? headSpan(said.statement),
      `a request can be repeated for ${2 * layout.timestamp.toleranceSeconds} s, but is remembered only for ${given} s`,
      { help: "Remove `for`, or make `tolerance` shorter: it counts in both directions." },
    )
  return { ...(header === undefined ? {} : { header }), seconds: given }
}

function headerOfPart(part: Part): string | undefined {
  return typeof part === "object" && "header" in part ? part.header : undefined
}

/** The words of `separator`. */
export const separators: Readonly<Record<string, NonNullable<Plan["signature"]["separator"]>>> = {
  comma: ",",
  semicolon: ";",
  space: " ",
}

/** The general form; undefined when something in it is invalid (reported). */
function lowerLayout({ block, statement }: BoundStatement, report: Report): Layout | undefined {
  const settingOf = <Value>(keyword: string, slot: string = keyword) =>
    statementOf(block, keyword)?.args.value<Value>(slot)
  const header = settingOf<string>("header", "name")
  if (header === undefined) return undefined
  const headerAt = statementOf(block, "header")
  if (headerAt !== undefined) reportDropped(header, headSpan(headerAt.statement), report)
  const prefix = settingOf<string>("prefix")
  const [separatorAt] = statementOf(block, "separator")?.statement.args ?? []
  const separator = separatorAt?.kind === "word" ? separators[separatorAt.text] : undefined
  const timestamp = lowerTimestamp(block, separator !== undefined, report)
  const signed = lowerSigned(block, report)
  if (signed === undefined) return undefined
  checkSigned({ signed, timestamp }, block, statement, report)
  return {
    key: settingOf<Plan["key"]>("key") ?? "text",
    algorithm: settingOf<Plan["algorithm"]>("algorithm") ?? "sha256",
    signature: {
      header,
      ...(prefix === undefined ? {} : { prefix }),
      ...(separator === undefined ? {} : { separator }),
      encoding: settingOf<"hex" | "base64">("encoding") ?? "hex",
    },
    ...(timestamp === undefined ? {} : { timestamp }),
    signed,
  }
}

function lowerTimestamp(block: BoundBlock | undefined, isList: boolean, report: Report): Plan["timestamp"] {
  const said = statementOf(block, "timestamp")
  if (said === undefined) return undefined
  const header = said.args.value<string>("name")
  const prefix = said.args.value<string>("prefix")
  const unit = said.args.value<"seconds" | "milliseconds">("unit") ?? "seconds"
  const toleranceSeconds = defaultToleranceSeconds
  if (header !== undefined) {
    reportDropped(header, headSpan(said.statement), report)
    return { from: { header }, unit, toleranceSeconds }
  }
  if (prefix === undefined) return undefined
  if (!isList)
    report.add("SP2009", headSpan(said.statement), "a header with a signature and a time is a list", {
      help: "Add e.g. `separator comma`.",
    })
  return { from: { prefix }, unit, toleranceSeconds }
}

/** A time that is not signed, or a body that is not, can be changed by a third party that sees a request. */
function checkSigned(
  { signed, timestamp }: Pick<Layout, "signed" | "timestamp">,
  block: BoundBlock | undefined,
  statement: BoundStatement["statement"],
  report: Report,
): void {
  const span = (keyword: string) => headSpan(statementOf(block, keyword)?.statement ?? statement)
  const from = timestamp?.from
  const header = from !== undefined && "header" in from ? from.header : undefined
  const isTimed =
    signed.includes("timestamp") ||
    (header !== undefined && signed.some((part) => headerOfPart(part) === header))
  if (timestamp !== undefined && !isTimed)
    report.add(
      "SP3070",
      span("timestamp"),
      "the time is not signed, so an old request can be sent with a new time",
      {
        help: "Add `timestamp` to `signed`.",
      },
    )
  if (timestamp === undefined && signed.includes("timestamp"))
    report.add(
      "SP2009",
      span("signed"),
      "`signed` has a `timestamp`, but the block does not say where it is",
      {
        help: 'Add e.g. `timestamp header "X-Timestamp"`.',
      },
    )
  if (!signed.includes("body"))
    report.add(
      "SP3071",
      span("signed"),
      "the body is not signed, so a third party that sees a request can send another body",
    )
}

const signedWords = ["method", "path", "query", "target", "host", "timestamp", "body"] as const

/** What is signed; undefined when a part is invalid (reported). */
function lowerSigned(block: BoundBlock | undefined, report: Report): Part[] | undefined {
  const said = statementOf(block, "signed")
  if (said === undefined) return ["body"]
  const parts = said.args.all("part").map(({ argument }) => lowerPart(argument, report))
  const known = parts.filter((part) => part !== undefined)
  return known.length < parts.length ? undefined : known
}

function lowerPart(argument: Argument, report: Report): Part | undefined {
  if (argument.kind === "text") return constantPart(argument, report)
  if (argument.kind !== "word") return undefined
  const { text, span } = argument
  const word = signedWords.find((each) => each === text)
  if (word !== undefined) return word
  const header = /^header:([A-Za-z0-9._-]{1,128})$/.exec(text)?.[1]?.toLowerCase()
  if (header === undefined) {
    report.add("SP2030", span, `\`${shown(text)}\` is not a part of a request that can be signed`, {
      help: `Write ${signedWords.map((each) => `\`${each}\``).join(", ")}, \`header:NAME\` or a string in quotes.`,
    })
    return undefined
  }
  if (header === "host") return "host"
  reportDropped(header, span, report)
  if (connectionFields.has(header))
    report.add("SP2034", span, `\`${header}\` belongs to the connection, and proxies change it`, {
      help: "Remove it from `signed`.",
    })
  return { header }
}

function constantPart(argument: Extract<Argument, { kind: "text" }>, report: Report): Part | undefined {
  const dynamic = argument.parts.find((part) => part.kind === "cel")
  const text = argument.parts.map((part) => (part.kind === "literal" ? part.value : "")).join("")
  if (dynamic !== undefined)
    report.add("SP2031", dynamic.span, "this must be a constant string", {
      help: "Write a part of the request as a word: `body`, `header:NAME`.",
    })
  else if (text === "") report.add("SP2038", argument.span, "the string is empty")
  else if (text.length > 256)
    report.add("SP3016", argument.span, `the string has ${text.length} characters; the maximum is 256`, {
      help: "Shorten it.",
    })
  else return { literal: text }
  return undefined
}
