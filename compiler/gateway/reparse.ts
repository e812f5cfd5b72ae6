import type { DiagnosticCode } from "../core/catalogue.ts"
import { Report, type Reported } from "../core/diagnostic.ts"
import { SourceFile, type Span } from "../core/source.ts"
import { adopt, EarlierStatements } from "./adopt.ts"
import type { Block, Comment, Document, Statement } from "./ast.ts"
import { nestingMax } from "./layout.ts"
import { parseWithCodes } from "./parser.ts"
import { placeDocument, placeSpan, type Shift, shiftDocument, shiftSpan } from "./tree-spans.ts"

/** A parsed file with the findings of its syntax. */
export interface ParsedFile {
  readonly document: Document
  readonly findings: readonly Reported[]
  /** A mistake of a line may change what other lines mean. */
  readonly isUnclear: boolean
  /** While it is unclear: the statements of the last tree that was not. What a mistake took away comes back with its repair. */
  readonly clear?: EarlierStatements
}

/** Parses a whole file. */
export function parseFile(file: SourceFile): ParsedFile {
  const report = new Report()
  const { document, codes } = parseWithCodes(file, report)
  return { document, findings: report.reported.map(copied), isUnclear: isUnclear(codes) }
}

/**
 * The file with another text. Statements whose text is the same stay the same objects, with their spans moved; `SourceFile` is the same, too.
 */
export function parseAgain(parsed: ParsedFile, text: string): ParsedFile {
  return reparse(parsed, text) ?? parseWhole(parsed, text)
}

/** Parses the whole text, and takes what is equal from the earlier tree. */
function parseWhole({ document: before, isUnclear, clear }: ParsedFile, text: string): ParsedFile {
  const last = EarlierStatements.of(before)
  const lastClear = isUnclear ? clear : last
  const { file } = before
  const again = parseFile(new SourceFile(file.path, text))
  placeDocument(again.document, file, 0)
  for (const finding of again.findings) for (const span of spansOf(finding)) placeSpan(span, file, 0)
  file.rewrite(text)
  const earlier = lastClear === undefined || lastClear === last ? [last] : [last, lastClear]
  const statements = adopt(again.document.statements, file, earlier)
  const document = { file, statements, comments: again.document.comments }
  return {
    ...{ document, findings: again.findings, isUnclear: again.isUnclear },
    ...(again.isUnclear && lastClear !== undefined ? { clear: lastClear } : {}),
  }
}

/**
 * The file with another text, in which only the lines around the change are parsed again. All other statements stay the same objects, with
 * their spans moved; `SourceFile` is the same, too. Undefined if a mistake, now or before, may reach beyond its lines: then nothing is changed.
 */
function reparse(parsed: ParsedFile, text: string): ParsedFile | undefined {
  const { document, findings } = parsed
  const { file } = document
  if (parsed.isUnclear) return undefined
  const edit = changeBetween(file.text, text)
  const part = partAround(document, edit)
  if (part === undefined) return undefined
  const { start, end } = part
  const report = new Report()
  const lines = new SourceFile(file.path, text.slice(start, end + edit.by))
  const { document: own, codes } = parseWithCodes(lines, report)
  if (isUnclear(codes)) return undefined
  if (part.path.length + depthOf(own.statements) > nestingMax) return undefined
  const added = report.reported.map(copied)
  placeDocument(own, file, start)
  for (const finding of added) for (const span of spansOf(finding)) placeSpan(span, file, start)
  const shift: Shift = { start, end, by: edit.by }
  const isOutside = ({ span }: { readonly span: Comment["span"] | undefined }): boolean =>
    span === undefined || span.end <= start || span.start >= end
  const comments = document.comments.filter(isOutside)
  const kept = findings.filter(isOutside)
  const next = comments.findIndex(({ span }) => span.start >= end)
  const before = next < 0 ? comments.length : next
  const statements = replaced(document.statements, part, own.statements)
  file.rewrite(text)
  shiftDocument({ file, statements: document.statements, comments }, shift)
  for (const finding of kept) for (const span of spansOf(finding)) shiftSpan(span, shift)
  return {
    document: {
      ...{ file, statements },
      comments: [...comments.slice(0, before), ...own.comments, ...comments.slice(before)],
    },
    findings: [...kept, ...added],
    isUnclear: false,
  }
}

/**
 * Mistakes of which the scanners, the layout and the parser see only the line. Others, e.g. a brace that does not balance, can change the
 * meaning of everything that follows.
 */
const lineCodes: ReadonlySet<DiagnosticCode> = new Set([
  ...(["SP1005", "SP1008", "SP1009", "SP1010", "SP1011", "SP1012", "SP1014"] as const),
  ...(["SP1013", "SP1018", "SP1019", "SP1021", "SP1022", "SP1030", "SP1031", "SP1033", "SP1034"] as const),
])

function isUnclear(codes: ReadonlySet<DiagnosticCode>): boolean {
  return ![...codes].every((code) => lineCodes.has(code))
}

/** What differs between two texts, as a change of the first. */
function changeBetween(before: string, after: string): Shift {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++
  let same = 0
  while (
    same < most - start &&
    before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)
  )
    same++
  return { start, end: before.length - same, by: after.length - before.length }
}

/** Whole lines of a file that hold whole statements of one block. */
interface Part {
  readonly start: number
  readonly end: number
  /** The statements around them, the outermost first. */
  readonly path: readonly Statement[]
  /** The statements of the block that are in these lines: from `first` on, `count` of them. */
  readonly first: number
  readonly count: number
}

/** The smallest part that has the change. */
function partAround(document: Document, change: Shift): Part | undefined {
  const { text } = document.file
  const path: Statement[] = []
  const levels: { readonly statements: readonly Statement[]; readonly block: Block | undefined }[] = [
    { statements: document.statements, block: undefined },
  ]
  for (let statements = document.statements; ; ) {
    const around = statements.find(
      ({ block }) => block !== undefined && block.open.end <= change.start && change.end <= block.close.start,
    )
    if (around?.block === undefined) break
    path.push(around)
    levels.push({ statements: around.block.statements, block: around.block })
    statements = around.block.statements
  }
  for (let depth = levels.length - 1; depth >= 0; depth--) {
    const { statements, block } = levels[depth] as (typeof levels)[number]
    const lines = linesOf(text, statements, change)
    // The lines must not have the braces of the block.
    if (block !== undefined && (lines.start < block.open.end || lines.end > block.close.start)) continue
    return { ...lines, path: path.slice(0, depth) }
  }
  return undefined
}

/** The lines of a change, with all lines of the statements that these lines have. */
function linesOf(
  text: string,
  statements: readonly Statement[],
  change: Shift,
): Pick<Part, "start" | "end" | "first" | "count"> {
  let [from, to] = [change.start, change.end]
  for (;;) {
    const { start, end } = wholeLines(text, from, to)
    const within = statements.filter(({ span }) => span.start < end && span.end > start)
    const first = Math.min(from, within[0]?.span.start ?? from)
    const last = Math.max(to, within.at(-1)?.span.end ?? to)
    if (first === from && last === to) {
      const next = statements.findIndex(({ span }) => span.start >= end)
      const before = next < 0 ? statements.length : next
      return { start, end, first: before - within.length, count: within.length }
    }
    from = first
    to = last
  }
}

/** From the start of the line of `from` to the end of that of `to`, with its line end: without it, the next line would continue this one. */
function wholeLines(text: string, from: number, to: number): { start: number; end: number } {
  const next = text.indexOf("\n", to)
  const start = from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1
  return { start, end: next < 0 ? text.length : next + 1 }
}

/** The statements with others in the part. Statements around it are copies, all others the same objects. */
function replaced(
  statements: readonly Statement[],
  { path: [outer, ...path], first, count, ...lines }: Part,
  by: readonly Statement[],
): readonly Statement[] {
  if (outer === undefined) return statements.toSpliced(first, count, ...by)
  return statements.map((each) =>
    each === outer && each.block !== undefined
      ? {
          ...each,
          block: {
            ...each.block,
            statements: replaced(each.block.statements, { ...lines, path, first, count }, by),
          },
        }
      : each,
  )
}

/** How deep the blocks of statements are nested. */
function depthOf(statements: readonly Statement[]): number {
  const depths = statements.map(({ block, otherwise }) => {
    const others = [otherwise?.when ?? [], otherwise?.block?.statements ?? []].flat()
    return Math.max(block === undefined ? 0 : 1 + depthOf(block.statements), depthOf(others) + 1)
  })
  return Math.max(0, ...depths)
}

/** A finding with spans of its own: those of the tree move with the tree. */
function copied(finding: Reported): Reported {
  const { span, related, fix } = finding
  return {
    ...finding,
    span: span && { ...span },
    related: related.map((each) => ({ ...each, span: { ...each.span } })),
    ...(fix === undefined ? {} : { fix: fix.map((each) => ({ ...each, span: { ...each.span } })) }),
  }
}

function spansOf({ span, related, fix = [] }: Reported): Span[] {
  return [span ?? [], [...related, ...fix].map((each) => each.span)].flat()
}
