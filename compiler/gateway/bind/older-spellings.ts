import type { Report, TextEdit } from "../../core/diagnostic.ts"
import { type Span, textOf } from "../../core/source.ts"
import type { Argument, Statement, Word } from "../ast.ts"
import type { BlockName } from "../schema/block-name.ts"

/** The first words of a statement, as earlier versions wrote them, and as they are written now. */
interface OlderWords {
  readonly blocks: readonly BlockName[]
  readonly older: readonly string[]
  readonly now: readonly string[]
}

/** A statement in the present spelling. `edits` make the same change in the text. */
interface Renewed {
  readonly keyword: Word
  readonly args: readonly Argument[]
  readonly edits: readonly TextEdit[]
}

/** A row stays for one release after the one that changed the spelling. */
const olderWords: readonly OlderWords[] = [
  { blocks: ["issuer"], older: ["any-issuer"], now: ["issuer", "*"] },
  { blocks: ["issuer"], older: ["any-audience"], now: ["audience", "*"] },
  { blocks: ["authz jwt"], older: ["any-subject"], now: ["subject", "*"] },
  { blocks: ["subscription"], older: ["all-apis"], now: ["api", "*"] },
  { blocks: ["authz cors"], older: ["origins", "any"], now: ["origins", "*"] },
  { blocks: ["authz cors"], older: ["headers", "any"], now: ["headers", "*"] },
  { blocks: ["backend"], older: ["token"], now: ["authenticate", "token"] },
  { blocks: ["auth jwt", "auth introspection"], older: ["header"], now: ["from", "header"] },
  { blocks: ["limit", "quota"], older: ["count", "if"], now: ["count", "when"] },
  { blocks: ["inbound"], older: ["use", "backend"], now: ["backend"] },
  { blocks: ["inbound"], older: ["use", "url"], now: ["backend"] },
  { blocks: ["inbound"], older: ["use", "weighted"], now: ["backend", "weighted"] },
  { blocks: ["inbound"], older: ["use", "by"], now: ["backend", "by"] },
]

/** The statements that wrote a share as `5 percent`. */
const withShare: readonly string[] = ["breaker", "budget", "decisions", "eject", "mirror", "sample"]

/**
 * A statement of `block` in the present spelling. Reports the older one with its fix, which `fmt` applies. The words of the result have the
 * places of those they replace.
 */
export function renewed(statement: Statement, block: BlockName, report: Report): Statement {
  const found =
    firstWords(statement, block) ??
    (withShare.includes(statement.keyword.text) ? share(statement) : undefined)
  const renewal = found ?? (statement.keyword.text === "cache" ? cacheCondition(statement) : undefined)
  const [edit] = renewal?.edits ?? []
  if (renewal === undefined || edit === undefined) return statement
  report.add("SP2043", edit.span, `\`${textOf(edit.span)}\` is now written \`${edit.text}\``, {
    help: `Write \`${edit.text}\`. \`sallyport fmt\` does this in every file of the project.`,
    fix: renewal.edits,
  })
  return { ...statement, keyword: renewal.keyword, args: renewal.args }
}

function firstWords({ keyword, args }: Statement, block: BlockName): Renewed | undefined {
  const all = [keyword, ...args]
  const row = olderWords.find(
    ({ blocks, older }) =>
      blocks.includes(block) &&
      older.every((text, index) => {
        const each = all[index]
        return each?.kind === "word" && each.text === text
      }),
  )
  const last = row === undefined ? undefined : all[row.older.length - 1]
  if (row === undefined || last === undefined) return undefined
  const words = row.now.map((text, index): Word => {
    // A word that has no older one at its place gets the place of the last.
    const { span } = index < row.older.length ? (all[index] as Word) : last
    return { kind: "word", text, span }
  })
  const edit = { span: between(keyword.span, last.span), text: row.now.join(" ") }
  const [first, ...others] = words
  const rest = all.slice(row.older.length)
  if (row.older.join(" ") === "use url") return withUrl({ keyword: first as Word, args: rest, edits: [edit] })
  return { keyword: first as Word, args: [...others, ...rest], edits: [edit] }
}

/** `use url NAME` sent to the URL in a named value; `backend NAME` is a backend. */
function withUrl({ keyword, args, edits }: Renewed): Renewed {
  const [url, ...rest] = args
  if (url?.kind !== "word") return { keyword, args, edits }
  const { span, text } = url
  const quoted: Argument = {
    kind: "text",
    form: "quoted",
    parts: [{ kind: "cel", source: text, span }],
    span,
  }
  return { keyword, args: [quoted, ...rest], edits: [...edits, { span, text: `"\${${text}}"` }] }
}

/** `5 percent` as `5%`. */
function share({ keyword, args }: Statement): Renewed | undefined {
  const at = args.findIndex((each) => each.kind === "word" && each.text === "percent")
  const [number, percent] = [args[at - 1], args[at]]
  if (number?.kind !== "word" || percent === undefined || !/^[\d.]+$/.test(number.text)) return undefined
  const text = `${number.text}%`
  const span = between(number.span, percent.span)
  return {
    keyword,
    args: [...args.slice(0, at - 1), { kind: "word", text, span }, ...args.slice(at + 1)],
    edits: [{ span, text }],
  }
}

/** `cache response 60s if (…)` and `cache store 60s if (…)`. */
function cacheCondition({ keyword, args }: Statement): Renewed | undefined {
  const [what] = args
  if (what?.kind !== "word" || (what.text !== "response" && what.text !== "store")) return undefined
  const at = args.findIndex((each) => each.kind === "word" && each.text === "if")
  const word = args[at]
  if (word === undefined) return undefined
  const when: Word = { kind: "word", text: "when", span: word.span }
  return {
    keyword,
    args: args.map((each) => (each === word ? when : each)),
    edits: [{ span: word.span, text: "when" }],
  }
}

function between(first: Span, last: Span): Span {
  return { file: first.file, start: first.start, end: last.end }
}
