import { durationText, sizeText } from "../../runtime/plan/quantities.ts"
import type { DiagnosticCode } from "../core/catalogue.ts"
import type { BlockName } from "./schema/block-name.ts"
import { blocks } from "./schema/blocks.ts"
import { expressionSlots, reportedAt } from "./schema/findings.ts"
import { operations } from "./schema/operations.ts"
import type { ArgumentPattern, Form, Slot, SlotKind, StatementRow } from "./schema/row.ts"
import { labelOf } from "./schema/slots.ts"

/** A statement of gateway.conf as described in the manual and by `sallyport help`. */
export interface StatementReference {
  readonly keyword: string
  /** One line for each form. */
  readonly syntax: readonly string[]
  /** Sentences that describe the statement. */
  readonly docs: string
  /** The words and bounds of its arguments, e.g. `N: 1–100`. */
  readonly bounds: readonly string[]
  /** What applies without the statement; undefined if nothing does. */
  readonly byDefault: string | undefined
  /** Whether its block must have the statement. */
  readonly required: boolean
  /** How often it can appear in one block; Infinity: any number of times. */
  readonly times: number
  /** The blocks that it can open. */
  readonly opens: readonly BlockName[]
  /** Whether it takes expressions: then findings about expressions are possible too. */
  readonly expressions: boolean
  /** Codes of findings about it, without those about expressions and those that are possible at any statement. */
  readonly findings: readonly DiagnosticCode[]
  readonly example: string
}

/** A block of gateway.conf and the statements it can contain, in the order of the schema. */
export interface BlockReference {
  readonly name: BlockName
  /** How findings name it. */
  readonly title: string
  readonly statements: readonly StatementReference[]
}

/** The whole language: every block, and every statement of each. Statements with equal text are equal in every field. */
export function languageReference(): readonly BlockReference[] {
  return Object.entries(blocks).map(([name, { title, rows, anyKeyword }]) => ({
    name: name as BlockName,
    title,
    statements: [...rows, ...(anyKeyword === undefined ? [] : [anyKeyword])].map((row) =>
      referenceOf(name, row),
    ),
  }))
}

/** The description of a row. Everything that the manual says about a statement comes from here. */
function referenceOf(block: string, row: StatementRow): StatementReference {
  const { keyword, forms, several, docs, example } = row
  const slots = forms.flatMap(({ args }) => args.flatMap(slotsOf))
  return {
    keyword,
    syntax: forms.flatMap((form) => waysOf(keyword, form)),
    docs,
    bounds: [...new Set(slots.flatMap(boundsOf))],
    byDefault: row.byDefault,
    required: row.required === true,
    times: several === true ? Number.POSITIVE_INFINITY : (several ?? false) || 1,
    opens: [...new Set(forms.flatMap(({ block }) => (block === undefined ? [] : [block])))],
    expressions: slots.some(({ kind }) => expressionSlots.includes(kind)),
    findings: findingsOf(block, keyword, slots),
    example,
  }
}

const operationMethods: ReadonlySet<string> = new Set(operations.map(({ keyword }) => keyword))

/** Above this number of alternatives, print one line with `|`: a list of thirty lines is unreadable. */
const waysMax = 16

/** The alternatives of one form, each on its own line, because `a b | c d e` is ambiguous. */
function waysOf(keyword: string, { args, block, blockRequired }: Form): string[] {
  const end = block === undefined ? "" : blockRequired === true ? " { … }" : " [{ … }]"
  const ways = sequences(args)
  const shown = ways.length > waysMax ? [args.map(inOneLine)] : ways
  return shown.map((words) => [keyword, ...words].join(" ") + end)
}

function sequences(parts: readonly ArgumentPattern[]): string[][] {
  return parts.reduce<string[][]>(
    (before, part) => before.flatMap((words) => alternativesOf(part).map((more) => [...words, ...more])),
    [[]],
  )
}

function alternativesOf(part: ArgumentPattern): string[][] {
  if (!("oneOf" in part)) return [[inOneLine(part)]]
  return shownAlternatives(part.oneOf).flatMap(sequences)
}

function shownAlternatives(
  alternatives: readonly (readonly ArgumentPattern[])[],
): readonly (readonly ArgumentPattern[])[] {
  return alternatives.filter(([first]) => first === undefined || !("slot" in first) || first.refused !== true)
}

/** A part of a form on one line, for forms with too many alternatives. */
function inOneLine(part: ArgumentPattern): string {
  if ("word" in part) return part.word
  if ("slot" in part) return labelOf(part)
  if ("optional" in part) return `[${part.optional.map(inOneLine).join(" ")}]`
  if ("many" in part) {
    const each = labelOf(part.many)
    return part.between === undefined ? `${each} …` : `${each} [${part.between} ${each} …]`
  }
  return shownAlternatives(part.oneOf)
    .map((alternative) => alternative.map(inOneLine).join(" "))
    .join(" | ")
}

function slotsOf(part: ArgumentPattern): readonly Slot[] {
  if ("slot" in part) return part.refused === true ? [] : [part]
  if ("optional" in part) return part.optional.flatMap(slotsOf)
  if ("many" in part) return [part.many]
  return "oneOf" in part ? part.oneOf.flatMap((alternative) => alternative.flatMap(slotsOf)) : []
}

/** `WORD: one of a, b, c` where the syntax line does not list the words; `N: 1–100`; and whether the environment can set it. */
function boundsOf(slot: Slot): readonly string[] {
  const outside = slot.setting === undefined ? [] : [`\`${labelOf(slot)}\` can be \`env(NAME, "…")\``]
  return [...valuesOf(slot), ...outside]
}

function valuesOf(slot: Slot): readonly string[] {
  const label = labelOf(slot)
  if (slot.choices !== undefined) {
    const listed = slot.choices.map((choice) => `\`${choice}\``).join(", ")
    return slot.choices.join("|") === label ? [] : [`\`${label}\` is one of ${listed}`]
  }
  const { min, max } = slot
  const text = textOf(slot.kind)
  if (text === undefined || max === undefined || max >= Number.MAX_SAFE_INTEGER) return []
  const whole = slot.wholeSeconds === true ? ", in whole seconds" : ""
  return [`\`${label}\` is ${text(min ?? 0)} to ${text(max)}${whole}`]
}

function textOf(kind: SlotKind): ((value: number) => string) | undefined {
  if (kind === "count" || kind === "status") return String
  if (kind === "duration" || kind === "duration-or-none") return durationText
  return kind === "size" ? sizeText : undefined
}

/** The codes that can be reported at a statement: those of its keyword and those of the kinds of its arguments. */
function findingsOf(block: string, keyword: string, slots: readonly Slot[]): DiagnosticCode[] {
  const name = operationMethods.has(keyword) ? "operation" : keyword
  const qualified = `${block} ${name}`
  // The words in `limits` name limits; in other blocks, `body` and `header` are other statements.
  const names = new Set(block === "limits" ? [qualified] : [name, qualified])
  const kinds = new Set(slots.map(({ kind }) => kind))
  const declares = slots.some(
    ({ kind, to }) => kind === "value-name" || (kind === "name" && to !== undefined),
  )
  return Object.entries(reportedAt).flatMap(([code, at]) => {
    const found =
      typeof at === "string"
        ? at === "declares" && declares
        : at.keywords?.some((each) => names.has(each)) === true ||
          at.slots?.some((kind) => kinds.has(kind)) === true ||
          (at.settings === true && slots.some(({ setting }) => setting !== undefined))
    return found ? [code as DiagnosticCode] : []
  })
}
