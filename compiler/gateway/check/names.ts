import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Argument, CelArgument, TextArgumentPart, Word } from "../ast.ts"
import type { BoundBlock, BoundStatement, Filled } from "../bind/bound.ts"
import { cuttable, soleName } from "../bind/names.ts"
import { addMeant, meantExpressions } from "../meant-expressions.ts"
import { nounOf, type Program } from "../program.ts"
import type { SlotKind } from "../schema/row.ts"

const textKinds: readonly SlotKind[] = ["text", "load-text", "url"]
/** Texts made of named values only. */
const loadKinds: readonly SlotKind[] = ["load-text", "url", "data"]

/** Resolves every name in every statement, also of statements nothing uses. */
export function checkNames(program: Program, report: Report): void {
  walk(program.root, program, report)
}

/** Warns about declarations nothing names; to be called when all expressions have been looked at. */
export function checkUnused(program: Program, report: Report): void {
  // What was not understood, or is not found under its name, may be what uses them.
  if (program.damaged) return
  for (const kind of [
    "value",
    "secret",
    "issuer",
    "introspection",
    "users",
    "pdp",
    "certificate",
    "token",
    "backend",
    "policy",
  ] as const) {
    for (const each of program.all(kind)) {
      if (!each.used && !program.isMisnamed(kind))
        report.add("SP2014", each.span, `nothing uses the ${nounOf(kind)} \`${each.name}\``)
    }
  }
}

function walk(block: BoundBlock | undefined, program: Program, report: Report): void {
  for (const bound of block?.statements ?? []) {
    checkArguments(bound, program, report)
    walk(bound.block, program, report)
    walk(bound.otherwise, program, report)
  }
}

function checkArguments(bound: BoundStatement, program: Program, report: Report): void {
  if (!bound.statement.broken) for (const filled of bound.args.filled) checkArgument(filled, program, report)
  // Slots of a broken statement are not all filled; what it names is in use all the same.
  if (bound.broken) for (const argument of bound.statement.args) markWords(argument, program)
}

function checkArgument({ slot, argument }: Filled, program: Program, report: Report): void {
  if (argument.kind === "word") {
    if (slot.kind === "reference" && slot.to !== undefined) program.resolve(argument, slot.to, report)
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

/** A bare word where text is expected names a value; what can't be a name was meant as text. */
function checkWord(word: Word, program: Program, report: Report): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(word.text)) program.resolve(word, ["value", "secret"], report)
  else
    report.add("SP2004", word.span, `\`${shown(word.text)}\` is text without quotes`, {
      help: `Write \`"${shown(word.text)}"\`.`,
    })
}

/** In text that has no request to read, a lone name is that of a value. */
function checkLoadPart(part: TextArgumentPart, program: Program, report: Report): void {
  if (part.kind === "literal") {
    const isValue = (name: string): boolean => program.find("value", name)?.kind === "value"
    addMeant(meantExpressions(part.span, isValue), program, report)
  }
  const name = part.kind === "cel" ? soleName(part.source) : undefined
  if (name !== undefined)
    program.resolve({ kind: "word", text: name, span: part.span }, ["value", "secret"], report)
}

/** Counts named values an expression seems to use; whether it may is checked where the expression is. */
function markExpression(part: TextArgumentPart | CelArgument, program: Program): void {
  if (part.kind === "cel") program.useValuesIn(part.source)
}

function markWords(argument: Argument, program: Program): void {
  if (argument.kind === "text") for (const part of argument.parts) markExpression(part, program)
  if (argument.kind !== "word") return
  for (const kind of [
    "value",
    "issuer",
    "introspection",
    "users",
    "pdp",
    "certificate",
    "token",
    "backend",
    "policy",
  ] as const) {
    const declared = program.find(kind, argument.text)
    if (declared !== undefined) declared.used = true
  }
}
