import { sizeText } from "../../../runtime/plan/quantities.ts"
import { closes, type FieldRules, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { durationWords } from "../../analysis/words.ts"
import { headSpan, statementOf } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { optional, type StatementRow, slot } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

type MirrorFields = Fields<"mirror">

const defaults = { bodyBytesMax: 64 * 1024, concurrencyMax: 64, timeoutMs: 10_000 }

/** `mirror BACKEND 10% { … }` */
export const mirrorStatement: StatementDefinition = {
  row: {
    keyword: "mirror",
    several: true,
    forms: [
      {
        args: [slot("backend", "reference", { to: ["backend"] }), optional(slot("share", "percentage"))],
        block: "mirror",
      },
    ],
    docs: "Sends a copy of the request to another backend as well, when the request itself is sent, and discards the response. The client does not wait for it. Without a share, every request is copied.",
    example: "mirror orders_v2 10%",
  },
  lower: (bound, { backends, steps }) => {
    const { block, args } = bound
    const backend = args.word("backend")
    if (backend === undefined || !backends.useDeclared(backend.text)) return undefined
    const number = (keyword: string, slot: string) => statementOf(block, keyword)?.args.value<number>(slot)
    return steps.add(
      {
        kind: "mirror",
        backend: backend.text,
        percent: args.value<number>("share") ?? 100,
        bodyBytesMax: number("body", "size") ?? defaults.bodyBytesMax,
        concurrencyMax: number("concurrency", "max") ?? defaults.concurrencyMax,
        timeoutMs: number("timeout", "time") ?? defaults.timeoutMs,
        credentials: statementOf(block, "credentials") !== undefined,
      },
      headSpan(bound.statement),
    )
  },
}

/** The statements in the block of `mirror`. */
export const mirrorRows: readonly StatementRow[] = [
  {
    keyword: "body",
    forms: [{ args: [slot("size", "size", { min: 0, max: 100_000_000 })] }],
    byDefault: sizeText(defaults.bodyBytesMax),
    docs: "Largest body of a copy. A request with a larger one is not copied, because a part of a body is another request.",
    example: "body 1MB",
  },
  {
    keyword: "concurrency",
    forms: [{ args: [slot("max", "count", { min: 1, max: 10_000 })] }],
    byDefault: String(defaults.concurrencyMax),
    docs: "Most copies of this statement that a process sends at a time. While so many run, further requests are not copied.",
    example: "concurrency 20",
  },
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration", { min: 1, max: 3_600_000 })] }],
    byDefault: durationWords(defaults.timeoutMs),
    docs: "Longest time for a copy and its response; then its connection is closed.",
    example: "timeout 5s",
  },
  {
    keyword: "credentials",
    forms: [{ args: [] }],
    byDefault:
      "a copy has no `Authorization`, `Proxy-Authorization` and `Cookie`, none of the keys, tokens and signatures that the route asks for, and no header or query parameter that a statement sets from a secret",
    docs: "Copies have the credentials that the request has.",
    example: "credentials",
  },
]

/** Printing and comparison of a step that copies requests to another backend. */
export const mirror: StepText<"mirror"> = {
  print: ({ backend, percent, bodyBytesMax, concurrencyMax, timeoutMs, credentials }) =>
    statement(
      `mirror ${backend}${percent === 100 ? "" : ` ${percent}%`}`,
      bodyBytesMax !== defaults.bodyBytesMax && `body ${sizeText(bodyBytesMax)}`,
      concurrencyMax !== defaults.concurrencyMax && `concurrency ${concurrencyMax}`,
      timeoutMs !== defaults.timeoutMs && `timeout ${durationWords(timeoutMs)}`,
      credentials && "credentials",
    ),
  identities: ({ backend }) => [`mirror ${backend}`, "mirror"],
  added: (step) => copied(step),
  removed: ({ backend }) => closes(`\`${backend}\` no longer gets copies of requests`),
  changed: {
    backend: (_, __, { after }) => copied(after),
    percent: (before, after, items) => {
      const { backend } = items.after
      if (before === 0) return copied(items.after)
      if (after === 0) return closes(`\`${backend}\` no longer gets copies of requests`)
      return neutral(`\`${backend}\` gets copies of ${after}% of the requests instead of ${before}%`)
    },
    bodyBytesMax: (before, after, items) =>
      after > before
        ? opens(`\`${items.after.backend}\` also gets requests with bodies up to ${sizeText(after)}`)
        : neutral(`requests with bodies over ${sizeText(after)} are no longer copied`),
    concurrencyMax: (_, after) => neutral(`at most ${after} copies are sent at a time`),
    timeoutMs: (_, after) => neutral(`copies have ${durationWords(after)} to complete`),
    credentials: (_, after, items) =>
      after
        ? opens(withCredentials(items.after.backend))
        : closes("copies of requests have no credentials any more"),
  } satisfies FieldRules<MirrorFields>,
}

function copied({ backend, percent, credentials }: MirrorFields): Finding[] {
  const share = percent === 100 ? "requests" : `${percent}% of the requests`
  return [
    opens(`\`${backend}\` gets copies of ${share}, with their bodies`),
    ...(credentials ? [opens(withCredentials(backend))] : []),
  ]
}

const withCredentials = (backend: string) => `\`${backend}\` gets the credentials of callers`
