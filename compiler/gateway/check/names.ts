import type { DiagnosticCode } from "../../core/catalogue.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Argument, CelArgument, TextArgumentPart, Word } from "../ast.ts"
import { namesAddress } from "../bind/addresses.ts"
import type { BoundBlock, BoundStatement, Filled } from "../bind/bound.ts"
import { cuttable, soleName } from "../bind/names.ts"
import { addMeant, meantExpressions } from "../meant-expressions.ts"
import { nounOf, type Program } from "../program.ts"
import { isOperation } from "../schema/operations.ts"
import type { DeclarationKind, SlotKind } from "../schema/row.ts"

const textKinds: readonly SlotKind[] = ["text", "load-text", "url", "address"]
/** Slots for text that can contain named values but no other expressions. */
const loadKinds: readonly SlotKind[] = ["load-text", "url", "data", "address"]

/** Resolves every name in every statement, including statements in unused declarations. */
export function checkNames(program: Program, report: Report, kept?: KeptNames): void {
  walk(program.root, program, report, kept)
}

/** Checks an operation, or adds what checking it added before. */
export type KeptNames = (operation: BoundStatement, check: () => void) => void

/** What a route lacks that is reported as missing may be the use of these declarations. */
const lackingKinds: readonly (readonly [DiagnosticCode, readonly DeclarationKind[]])[] = [
  ["SP3004", ["issuer", "introspection", "oidc", "users"]],
  ["SP3005", ["backend"]],
  ["SP3020", ["value"]],
]

/** Warns about declarations that are never named. Call it after all expressions have been checked. */
export function checkUnused(program: Program, report: Report): void {
  // A statement that was not understood, or a name that was not found, may be the missing use.
  if (program.damaged || report.has("SP2009")) return
  const lacking = new Set(lackingKinds.flatMap(([code, kinds]) => (report.has(code) ? kinds : [])))
  for (const kind of [
    "value",
    "secret",
    "issuer",
    "introspection",
    "oidc",
    "users",
    "pdp",
    "certificate",
    "token",
    "backend",
    "policy",
  ] as const) {
    for (const each of program.all(kind)) {
      if (!each.used && !program.isMisnamed(kind) && !lacking.has(kind))
        report.add("SP2014", each.span, `nothing uses the ${nounOf(kind)} \`${each.name}\``)
    }
  }
}

function walk(
  block: BoundBlock | undefined,
  program: Program,
  report: Report,
  kept: KeptNames | undefined,
): void {
  for (const bound of block?.statements ?? []) {
    const check = () => {
      checkArguments(bound, program, report)
      walk(bound.block, program, report, kept)
      walk(bound.otherwise, program, report, kept)
    }
    if (kept !== undefined && isOperation(bound)) kept(bound, check)
    else check()
  }
}

function checkArguments(bound: BoundStatement, program: Program, report: Report): void {
  if (!bound.statement.broken) for (const filled of bound.args.filled) checkArgument(filled, program, report)
  // Not all slots of a broken statement are filled. Names in its other arguments still count as used.
  if (bound.broken) for (const argument of bound.statement.args) markWords(argument, program)
}

/** Names inside of expressions are only marked as used here: whether they exist depends on the place, which lowering knows. */
function checkArgument({ slot, argument, isNamed }: Filled, program: Program, report: Report): void {
  if (argument.kind === "word") {
    if (isNamed === true) program.resolve(argument, ["value"], report)
    else if (slot.kind === "reference" && slot.to !== undefined) program.resolve(argument, slot.to, report)
    else if (slot.kind === "address" && !namesAddress(argument)) return
    else if (textKinds.includes(slot.kind)) checkWord(argument, program, report)
    else if (slot.kind === "scope" && !cuttable.includes(argument.text))
      program.resolve(argument, ["policy"], report)
  } else if (argument.kind === "text") {
    for (const part of argument.parts) {
      if (loadKinds.includes(slot.kind)) checkLoadPart(part, program, report)
      markExpression(part, program)
    }
  } else if (argument.kind === "cel") markExpression(argument, program)
}

/** A bare word where text is expected is a named value. A word that cannot be a name was meant as text. */
function checkWord(word: Word, program: Program, report: Report): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(word.text)) program.resolve(word, ["value", "secret"], report)
  else
    report.add("SP2004", word.span, `\`${shown(word.text)}\` is a string without quotes`, {
      help: `Write \`"${shown(word.text)}"\`.`,
    })
}

/** In text without access to a request, a lone name is a named value. */
function checkLoadPart(part: TextArgumentPart, program: Program, report: Report): void {
  if (part.kind === "literal") {
    const isValue = (name: string): boolean => program.find("value", name)?.kind === "value"
    addMeant(meantExpressions(part.span, isValue), program, report)
  }
  const name = part.kind === "cel" ? soleName(part.source) : undefined
  if (name !== undefined)
    program.resolve({ kind: "word", text: name, span: part.span }, ["value", "secret"], report)
}

/** Marks the named values an expression seems to use as used. Whether the expression may use them is checked where it is lowered. */
function markExpression(part: TextArgumentPart | CelArgument, program: Program): void {
  if (part.kind === "cel") program.useValuesIn(part.source)
}

/** A broken statement could use any declaration that it names, so none of them is reported as unused. */
function markWords(argument: Argument, program: Program): void {
  if (argument.kind === "text") for (const part of argument.parts) markExpression(part, program)
  if (argument.kind !== "word") return
  for (const kind of [
    "value",
    "issuer",
    "introspection",
    "oidc",
    "users",
    "pdp",
    "certificate",
    "token",
    "backend",
    "policy",
  ] as const) {
    if (program.find(kind, argument.text) !== undefined) program.use(kind, argument.text)
  }
}
