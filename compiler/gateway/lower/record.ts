import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { RecordPlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, statementOf, statementsOf } from "../bind/bound.ts"
import { Once } from "./collector.ts"
import type { Values } from "./values.ts"

const defaultPercent = 1
const defaultBytesMax = 2 ** 30

/** Which requests the gateway records, and where. Without a folder or a secret (reported) there is no record. */
export function lowerRecord(
  gateway: BoundBlock | undefined,
  values: Values,
  report: Report,
): Pick<NonNullable<PlanBody["gateway"]>, "record"> {
  const block = statementOf(gateway, "record")?.block
  const folder = statementOf(block, "folder")?.args.value<string>("folder")
  const secret = statementOf(block, "encrypt-with")?.args.word("secret")?.text
  if (folder === undefined || secret === undefined) return {}
  values.needSecret(secret)
  const record: RecordPlan = {
    folder,
    protectedBy: { secret },
    sample: statementOf(block, "sample")?.args.value<number>("share") ?? defaultPercent,
    bytesMax: statementOf(block, "keep")?.args.value<number>("size") ?? defaultBytesMax,
    claims: namesOf(block, "claims", "claim", report),
    headers: namesOf(block, "headers", "header", report),
    redact: {
      headers: namesOf(block, "redact", "header", report),
      queries: namesOf(block, "redact", "query", report),
    },
    ...(statementOf(block, "addresses") === undefined ? {} : { addresses: "whole" }),
  }
  return { record }
}

const wordsOf: Readonly<Record<string, string>> = {
  claim: "the claim",
  header: "the header",
  query: "the query parameter",
}

/** The names that all statements with the keyword have in a slot, each once. */
function namesOf(block: BoundBlock | undefined, keyword: string, slot: string, report: Report): string[] {
  const once = new Once(report)
  const names = statementsOf(block, keyword)
    .flatMap(({ args }) => args.all(slot))
    .filter(({ argument, value }) =>
      once.isFirst(value as string, argument.span, `${wordsOf[slot]} \`${value}\``),
    )
  return names.map(({ value }) => value as string).sort()
}
