import { compactList } from "../core/compact.ts"
import { Report } from "../core/diagnostic.ts"
import { didYouMean, nearest } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Argument, Document, Statement } from "./ast.ts"
import { Args, type BoundBlock, type BoundStatement, type Filled, headSpan, mentions } from "./bind/bound.ts"
import { Constants } from "./bind/constants.ts"
import { mayHide } from "./bind/hidden.ts"
import type { KeptBindings } from "./bind/kept-bindings.ts"
import { laterArgument, reportKeyword } from "./bind/keyword.ts"
import { type Failure, type Matched, matchArguments } from "./bind/match.ts"
import { misplacedWord } from "./bind/misplaced-word.ts"
import { renewed } from "./bind/older-spellings.ts"
import { readArgument } from "./bind/read.ts"
import { syntaxOf } from "./bind/syntax.ts"
import type { BlockName } from "./schema/block-name.ts"
import { blocks } from "./schema/blocks.ts"
import type { StatementRow } from "./schema/row.ts"
import { listed } from "./schema/slots.ts"

const rowsOf = Object.fromEntries(
  Object.entries(blocks).map(([name, block]) => [name, new Map(block.rows.map((row) => [row.keyword, row]))]),
) as unknown as { readonly [Name in BlockName]: ReadonlyMap<string, StatementRow> }

/**
 * Binds every statement to its row of the schema. Checks that the keyword is known and allowed, arguments fit their slots, literals are
 * valid, the block is as required, nothing is repeated and nothing required is missing. Names are resolved later, when all declarations are
 * known. Statements that are not understood are reported and left out.
 */
export function bind(documents: readonly Document[], report: Report, kept?: KeptBindings): BoundBlock {
  const statements = documents.flatMap((document) => document.statements)
  const constants = new Constants(documents)
  kept?.begin(constants)
  return bindStatements("file", statements, undefined, { report, constants, kept })
}

/** What statements are bound with. `kept`: what an earlier compilation made of the same statements. */
interface Binding {
  readonly report: Report
  readonly constants: Constants
  readonly kept?: KeptBindings | undefined
}

/** Binds the statements of a block. `owner` is the statement that has the block. */
export function bindStatements(
  name: BlockName,
  statements: readonly Statement[],
  owner: Statement | undefined,
  binding: Binding,
): BoundBlock {
  const { report } = binding
  const rows = rowsOf[name]
  const bound: BoundStatement[] = []
  const unknown: Statement[] = []
  let damaged = owner?.broken ?? false
  for (const written of statements) {
    // The loader has already followed the include and reported its problems.
    if (name === "file" && written.keyword.text === "include") continue
    // In a broken line, the words can be anything.
    const statement = renewed(written, name, written.broken ? new Report() : report)
    const row = rows.get(statement.keyword.text) ?? blocks[name].anyKeyword
    if (row === undefined) {
      damaged = true
      unknown.push(statement)
      continue
    }
    const each = bindKept(row, statement, name, binding)
    if (each.broken) damaged = true
    bound.push(each)
  }
  reportRepeated(name, bound, report)
  if (bound.length > 9) reportTooMany(name, bound, report)
  const guesses = guessKeywords({ name, statements: bound, unknown }, owner, report)
  if (owner?.broken === true) guesses.push(undefined)
  const block = { name, statements: compactList(bound), damaged, unknown, guesses }
  if (owner !== undefined) reportMissing(block, owner, report)
  return block
}

/** Reports unknown keywords of a block, and returns those that are most likely meant. */
function guessKeywords(
  { name, statements, unknown }: Pick<BoundBlock, "name" | "statements" | "unknown">,
  owner: Statement | undefined,
  report: Report,
): (string | undefined)[] {
  if (unknown.length === 0) return []
  // Of two that are equally similar, the one is meant that the block can still have.
  const isUsedUp = (row: StatementRow): boolean =>
    row.several === undefined && statements.some((each) => each.row === row)
  const { rows } = blocks[name]
  const likely = [...rows.filter((row) => !isUsedUp(row)), ...rows.filter(isUsedUp)]
  const candidates = likely.map(({ keyword }) => keyword)
  return unknown.map((statement) => {
    // A broken line already has a finding, and its words can be anything.
    if (!statement.broken) reportKeyword(statement, { name, owner, candidates }, report)
    return nearest(statement.keyword.text, candidates)
  })
}

/** A statement of a block that can have thousands is bound once, and again only after its text has changed. */
function bindKept(
  row: StatementRow,
  statement: Statement,
  inside: BlockName,
  binding: Binding,
): BoundStatement {
  const { kept, report } = binding
  if (kept === undefined || !keptInside.has(inside)) return bindStatement(row, statement, inside, binding)
  return kept.once(statement, report, (own) =>
    bindStatement(row, statement, inside, { ...binding, report: own }),
  )
}

const keptInside: ReadonlySet<BlockName> = new Set<BlockName>(["file", "api", "version"])

/**
 * One statement against its row. A statement with a mistake is bound as far as it is understood, so that its name and block still count for
 * other findings.
 */
function bindStatement(
  row: StatementRow,
  statement: Statement,
  inside: BlockName,
  binding: Binding,
): BoundStatement {
  const { report, constants, kept } = binding
  const matched = matchArguments(row, statement.args)
  let broken = statement.broken
  // In a broken line, further findings would only follow from its mistake. Keep what can be read, above all the name.
  const quiet = { report: statement.broken ? new Report() : report, constants, kept }
  const { filled, misread } = readArguments(row, matched, inside, quiet)
  // After an argument that fits no slot, later arguments are misplaced too: `limit per 1m` lacks a number, it has no `per` too many.
  if (matched.failure !== undefined && !broken && !misread)
    reportArguments(row, statement, matched.failure, inside, report)
  if (!statement.broken && exceeds(matched, filled, report)) broken = true
  if (matched.failure !== undefined || misread) broken = true
  const form = matched.form
  const block = bindBlock(row, form.block, statement, matched.failure !== undefined, binding)
  if (form.blockRequired === true && statement.block === undefined) {
    if (!broken)
      report.add("SP2005", headSpan(statement), `\`${row.keyword}\` needs a block`, syntaxHelp(row))
    broken = true
  }
  const otherwise = bindOtherwise(row, form.block, statement, binding)
  return { row, form, statement, args: new Args(filled), block, otherwise, broken }
}

/** Reads the arguments whose literals are valid in their slots, and reports the others. */
function readArguments(
  row: StatementRow,
  { slots, budgets }: Matched,
  inside: BlockName,
  { report, constants }: Binding,
): { readonly filled: Filled[]; readonly misread: boolean } {
  const filled: Filled[] = []
  let misread = false
  for (const [slot, argument] of slots) {
    const read = constants.literalsOf(slot, argument, budgets.has(slot.slot), report)
    if (read === "itself") {
      const misplaced = misplacedWord(slot, argument, row, (word) => rowsOf[inside].has(word))
      const literal = constants.filledIn(slot, argument)
      const value = readArgument(slot, literal, misplaced === undefined ? report : new Report())
      if (value !== undefined) filled.push({ slot, argument, value })
      else if (misplaced !== undefined)
        report.add("SP2004", argument.span, misplaced, remedyOf(argument, inside) ?? syntaxHelp(row))
      misread ||= value === undefined
      continue
    }
    misread ||= read === undefined
    const { values = [], ...source } = read ?? {}
    for (const value of values) filled.push({ slot, argument, value, ...source })
  }
  return { filled, misread }
}

/** Reports arguments beyond the number their slot takes. */
function exceeds({ budgets, slots }: Matched, filled: readonly Filled[], report: Report): boolean {
  let found = false
  for (const [name, atMost] of budgets) {
    const written = slots.flatMap(([slot, argument]) => (slot.slot === name ? [argument] : []))
    // A value can be several items.
    const read = filled.flatMap(({ slot, argument }) => (slot.slot === name ? [argument] : []))
    const all = read.length > written.length ? read : written
    const tooMany = all[atMost]
    if (tooMany === undefined) continue
    found = true
    report.add(
      "SP3016",
      tooMany.span,
      `the statement lists ${all.length} items here; the maximum is ${atMost}`,
    )
  }
  return found
}

/** The block of a statement, bound by the form that fits its arguments. */
function bindBlock(
  row: StatementRow,
  name: BlockName | undefined,
  statement: Statement,
  formUnknown: boolean,
  binding: Binding,
): BoundBlock | undefined {
  const { block } = statement
  if (block === undefined) return undefined
  if (name !== undefined) return bindStatements(name, block.statements, statement, binding)
  // With unknown arguments the author may have meant another form, for which the block is right.
  if (!formUnknown && !statement.broken) {
    binding.report.add("SP2006", block.open, `\`${headText(statement)}\` takes no block`, syntaxHelp(row))
  }
  return undefined
}

/** An `else` chain is nested: the block of each link has the next `when` as its only statement. */
function bindOtherwise(
  row: StatementRow,
  name: BlockName | undefined,
  { otherwise, broken }: Statement,
  binding: Binding,
): BoundBlock | undefined {
  if (otherwise === undefined) return undefined
  if (row.otherwise !== true || name === undefined) {
    if (!broken) binding.report.add("SP2007", otherwise.keyword, `\`${row.keyword}\` has no \`else\``)
    return undefined
  }
  const { block, when } = otherwise
  if (when !== undefined) return bindStatements(name, [when], when, binding)
  return block === undefined ? undefined : bindStatements(name, block.statements, undefined, binding)
}

/** Reports arguments that match no form of the row. */
function reportArguments(
  row: StatementRow,
  statement: Statement,
  { at, expected, words }: Failure,
  inside: BlockName,
  report: Report,
): void {
  const argument = statement.args[at]
  if (argument === undefined) {
    const detail = `after \`${headText(statement)}\` ${listed(expected, "or")} is missing`
    report.add("SP2004", headSpan(statement), detail, syntaxHelp(row))
    return
  }
  if (argument.kind === "equals") {
    report.add("SP2036", argument.span, `\`=\` is not expected after \`${row.keyword}\``, {
      fix: [{ span: argument.span, text: "" }],
    })
    return
  }
  const hint = argument.kind === "word" ? didYouMean(argument.text, words) : ""
  const detail =
    expected.length === 0
      ? `\`${row.keyword}\` takes no further argument, found ${argumentText(argument)}`
      : `expected ${listed(expected, "or")}, found ${argumentText(argument)}${hint}`
  const later = laterArgument(row.keyword, argument)
  if (later === undefined)
    report.add("SP2004", argument.span, detail, remedyOf(argument, inside) ?? syntaxHelp(row))
  else report.add("SP2003", argument.span, later)
}

/** The remedy for an argument that begins another statement of the same block, and for `env(…)` where the plan decides for all environments. */
function remedyOf(argument: Argument, inside: BlockName): { readonly help: string } | undefined {
  if (argument.kind === "call" && argument.name.text === "env")
    return {
      help: "The plan decides this for every environment: write it here, or name a `value` with constant text.",
    }
  if (argument.kind !== "word" || !beginsStatement(argument.text, inside)) return undefined
  return {
    help: `Write \`${argument.text}\` on a new line, or a \`;\` before it: it is a statement of its own.`,
  }
}

/** Whether a word can be the keyword of a statement of the block. */
function beginsStatement(word: string, inside: BlockName): boolean {
  return rowsOf[inside].has(word) || blocks[inside].anyKeyword !== undefined
}

/** Statements that a block can have once. Names of claims are keywords of their own, so they are compared in every case. */
function reportRepeated(name: BlockName, bound: readonly BoundStatement[], report: Report): void {
  const first = new Map<string, BoundStatement>()
  for (const each of bound) {
    const { text, span } = each.statement.keyword
    if (each.statement.broken) continue
    const earlier = first.get(text)
    if (earlier === undefined) first.set(text, each)
    else if (each.row.several === undefined || name === "claims") {
      const where = name === "file" ? "is declared twice" : `is given twice in ${blocks[name].title}`
      report.add("SP2008", span, `\`${shown(text)}\` ${where}`, {
        related: [{ span: earlier.statement.keyword.span, message: "the first" }],
        ...(each.row.instead === undefined ? {} : { help: each.row.instead }),
      })
    }
  }
}

/** The finding is at the first statement beyond the maximum. */
function reportTooMany(name: BlockName, bound: readonly BoundStatement[], report: Report): void {
  for (const row of blocks[name].rows) {
    if (typeof row.several !== "number") continue
    const all = bound.filter((each) => each.row === row)
    const tooMany = all[row.several]
    if (tooMany === undefined) continue
    const detail = `${blocks[name].title} has ${all.length} \`${row.keyword}\` statements; the maximum is ${row.several}`
    report.add("SP3016", tooMany.statement.keyword.span, detail)
  }
}

/** A statement that exists but is broken is not missing. */
function reportMissing(block: BoundBlock, owner: Statement, report: Report): void {
  for (const row of blocks[block.name].rows) {
    if (row.required !== true || mentions(block, row.keyword) || mayHide(block, row.keyword)) continue
    const detail = `\`${headText(owner)}\` has no \`${row.keyword}\``
    report.add("SP2009", headSpan(owner), detail, { help: `Add e.g. \`${row.example}\`.` })
  }
}

function syntaxHelp(row: StatementRow): { help: string } {
  return {
    help: `Write ${listed(
      syntaxOf(row).map((line) => `\`${line}\``),
      "or",
    )}, e.g. \`${row.example}\`.`,
  }
}

function headText(statement: Statement): string {
  const { file, start, end } = headSpan(statement)
  return shown(file.text.slice(start, end))
}

function argumentText(argument: Argument): string {
  if (argument.kind === "word") return `\`${shown(argument.text)}\``
  if (argument.kind === "text") return "text in quotes"
  return argument.kind === "cel"
    ? "an expression"
    : `\`${shown(argument.kind === "call" ? argument.name.text : "=")}(…)\``
}
