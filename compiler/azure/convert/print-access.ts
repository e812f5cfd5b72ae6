import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import { textWords } from "../../analysis/words.ts"
import { block, fixed, type Print } from "./statement.ts"
import { none } from "./translation.ts"
import { headerCase, parenthesized, quotedAll } from "./write-text.ts"

type Judged = "ignore" | "detect" | "prevent"

const validateStatus: Print<"validate-status"> = ({ codes, unspecified, errors }) => {
  const judged = (action: Judged): string[] =>
    codes.flatMap((each) => (each.action === action ? [each.code] : []))
  const line = (word: string, action: Judged): string[] => {
    const found = judged(action)
    return found.length === 0 ? [] : [`${word} ${found.join(" ")}`]
  }
  return [
    `validate status ${unspecified} {`,
    ...line("allow", "ignore"),
    ...line("detect", "detect"),
    ...line("prevent", "prevent"),
    ...(errors === undefined ? [] : [`errors ${errors}`]),
    "}",
  ]
}

const validateHeaders: Print<"validate-headers"> = (step) => {
  const { headers, described, named = [], unspecified, errors } = step
  if (described !== undefined) return none("headers as an OpenAPI document describes them")
  if (headers.some((header) => header.required || header.action !== "ignore"))
    return none("a header that may be there and is judged")
  return [
    `validate headers ${unspecified} {`,
    ...(headers.length === 0 ? [] : [`allow${quotedAll(headers.map(({ name }) => headerCase(name)))}`]),
    ...(["detect", "prevent"] as const).flatMap((action) => {
      const names = named.flatMap((each) => (each.action === action ? [headerCase(each.name)] : []))
      return names.length === 0 ? [] : [`${action}${quotedAll(names)}`]
    }),
    ...(errors === undefined ? [] : [`errors ${errors}`]),
    "}",
  ]
}

const validateContent: Print<"validate-content"> = (step) => {
  const { bytesMax, onSize, onUnspecified, mediaMap, types, errors } = step
  const size = fixed(bytesMax, "a size")
  return block(`validate content ${known(onUnspecified)}`, [
    types.map(({ as, media, schema, action }) =>
      schema === undefined
        ? `${as}${media === "*" ? "" : ` ${textWords(media)}`} ${action}`
        : none("a schema of the cloud's store"),
    ),
    (mediaMap?.rules ?? []).map(
      (rule) =>
        `map ${"from" in rule ? textWords(rule.from) : parenthesized(rule.when.text)} to ${textWords(rule.to)}`,
    ),
    mediaMap?.missing === undefined ? [] : [`map missing to ${textWords(mediaMap.missing)}`],
    mediaMap?.any === undefined ? [] : [`map any to ${textWords(mediaMap.any)}`],
    [`size ${size % 1024 === 0 ? `${size / 1024}KB` : `${size}B`} ${known(onSize)}`],
    errors === undefined ? [] : [`errors ${errors}`],
  ])
}

function known(action: StepOf<"validate-content">["onSize"]): Judged {
  return typeof action === "string" ? action : none("what is done about a violation, found per request")
}

/** Statements that let callers in or refuse them, and what judges answers. */
export const accessStatements: { readonly [Kind in StepKind]?: Print<Kind> } = {
  "validate-content": validateContent,
  "validate-status": validateStatus,
  "validate-headers": validateHeaders,
}
