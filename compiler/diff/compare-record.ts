import { sizeText } from "../../runtime/plan/quantities.ts"
import type { RecordPlan } from "../../runtime/plan/resources.ts"
import { closes, compareFields, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { codeWords, textWords } from "../analysis/words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** Which requests are recorded, and what of them. Who has the secret and the files can read it. */
export function recordChanges(
  before: RecordPlan | undefined,
  after: RecordPlan | undefined,
): UnplacedChange[] {
  if (same(before, after)) return []
  const about = {
    subject: { kind: "gateway", name: "record" },
    scope: { kind: "gateway", name: "" },
    path: "gateway.record",
    ...(before === undefined ? {} : { before: recordWords(before) }),
    ...(after === undefined ? {} : { after: recordWords(after) }),
  } as const
  if (before === undefined)
    return [
      changeOf(
        { ...about, action: "added" },
        opens(
          "requests are recorded: paths, queries, headers and listed claims can be read with the files and the secret",
        ),
      ),
    ]
  if (after === undefined)
    return [
      changeOf(
        { ...about, action: "removed" },
        closes("requests are no longer recorded; files that exist stay"),
      ),
    ]
  return [changeOf({ ...about, action: "changed" }, compareFields(recordRules, before, after))]
}

const recordRules: FieldRules<RecordPlan> = {
  folder: () => neutral("new files are in another folder; those in the old one are no longer deleted"),
  protectedBy: (_, { secret }) => opens(`new files can be read with the secret \`${secret}\``),
  sample: (before, after) =>
    neutral(`${after > before ? "more" : "fewer"} requests are recorded: ${after}% instead of ${before}%`),
  bytesMax: (before, after) =>
    neutral(`the record keeps ${after > before ? "more" : "less"}: ${sizeText(after)}`),
  claims: (before, after) => listFindings(before, after, "the claim", opens, closes),
  headers: (before, after) => listFindings(before, after, "the header", opens, closes),
  redact: (before, after) => [
    ...listFindings(before.headers, after.headers, "the header", closes, opens),
    ...listFindings(before.queries, after.queries, "the query parameter", closes, opens),
  ],
  addresses: (_, after) =>
    after === "whole"
      ? opens("whole addresses of clients are recorded instead of their networks")
      : closes("only networks of clients are recorded"),
}

/** `added`, `removed`: what it means that a name is in the list, or no longer. Recording more opens something. */
function listFindings(
  before: readonly string[],
  after: readonly string[],
  noun: string,
  added: (why: string) => Finding,
  removed: (why: string) => Finding,
): Finding[] {
  const finding = (names: readonly string[], make: (why: string) => Finding): Finding[] => {
    if (names.length === 0) return []
    const are = names.length === 1 ? "is" : "are"
    const isRecorded = make("").risk === "opens"
    const nouns = names.length === 1 ? noun : `${noun}s`
    return [make(`${nouns} ${codeWords(names)} ${are} ${isRecorded ? "now" : "no longer"} recorded`)]
  }
  return [
    ...finding(
      after.filter((name) => !before.includes(name)),
      added,
    ),
    ...finding(
      before.filter((name) => !after.includes(name)),
      removed,
    ),
  ]
}

/** `record` as it is written in gateway.conf. */
function recordWords({
  folder,
  protectedBy,
  sample,
  bytesMax,
  claims,
  headers,
  redact,
  addresses,
}: RecordPlan): string {
  const quoted = (names: readonly string[]) => names.map((name) => textWords(name)).join(" ")
  const list = (keyword: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${keyword} ${quoted(names)}`]
  return `record { ${[
    `folder ${textWords(folder)}`,
    `encrypt-with ${protectedBy.secret}`,
    `sample ${sample}%`,
    `keep ${sizeText(bytesMax)}`,
    ...list("claims", claims),
    ...list("headers", headers),
    ...list("redact header", redact.headers),
    ...list("redact query", redact.queries),
    ...(addresses === undefined ? [] : [`addresses ${addresses}`]),
  ].join("; ")} }`
}
