import { expressionOf } from "../../runtime/expression/request-context.ts"
import type { Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import { asItLooks } from "../core/odd-characters.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type { Word } from "./ast.ts"
import { type BoundBlock, type BoundStatement, statementOf } from "./bind/bound.ts"
import { PartRecorder } from "./recorder.ts"
import type { DeclarationKind } from "./schema/row.ts"
import { article, listed } from "./schema/slots.ts"

/** A named declaration. */
export interface Declaration {
  readonly kind: DeclarationKind
  readonly name: string
  readonly bound: BoundStatement
  /** The name in its declaration. */
  readonly span: Span
  /** Set when something refers to it. */
  used: boolean
}

/** The displayed form of a name that an odd character splits, up to the next whitespace. Undefined without such a character. */
function cutNameAsItLooks({ file, start }: Span): string | undefined {
  const pattern = /[^ \t\r\n;{}()"]*/y
  pattern.lastIndex = start
  const written = pattern.exec(file.text)?.[0] ?? ""
  const looks = asItLooks(written)
  return looks === written ? undefined : looks
}

/** Finding the nearest name takes time proportional to the number of names, so limit the hints for projects with thousands of mistakes. */
const hintsMax = 100

/** Kinds that are declared at the top level of a file and can be referenced from anywhere. */
const fileKinds: readonly DeclarationKind[] = [
  "value",
  "secret",
  "issuer",
  "certificate",
  "introspection",
  "oidc",
  "users",
  "pdp",
  "token",
  "backend",
  "policy",
  "api",
  "product",
  "subscription",
]

/** All declarations of all files, by kind and name. */
export class Program {
  readonly root: BoundBlock
  /** Something was not understood: what seems missing or unused may not be. */
  readonly damaged: boolean
  readonly gateway: BoundStatement | undefined
  /** The engine; undefined: gateway.conf has no `authz`. */
  readonly authz: BoundStatement | undefined
  /** How operators reach the control API; undefined if the text does not say it. */
  readonly control: BoundStatement | undefined
  /** The developer portal; undefined: gateway.conf has no `portal`. */
  readonly portal: BoundStatement | undefined
  /** What a change of the plan needs; undefined if the text does not say it. */
  readonly change: BoundStatement | undefined
  /** `authz url "…"`: a decision point in place of the engine. */
  readonly authzUrl: BoundStatement | undefined
  readonly #tables = new Map<DeclarationKind, Map<string, Declaration>>()
  /**
   * Kinds with a declaration that was not understood, and words of statements that were not understood: a name that is not found may be one
   * of them.
   */
  readonly #uncertain = new Set<DeclarationKind>()
  readonly #ghosts = new Set<string>()
  readonly #misnamed = new Set<DeclarationKind>()
  #hintsLeft = hintsMax
  /** Set if parts of this compilation are kept for the next one. */
  readonly recorder: PartRecorder | undefined

  /**
   * `complete`: all files were read. Otherwise a missing name may be declared in an unread file. `keeps`: parts of the compilation are recorded
   * for the next one.
   */
  constructor(root: BoundBlock, complete: boolean, report: Report, keeps = false) {
    this.recorder = keeps ? new PartRecorder(report) : undefined
    this.root = complete ? root : { ...root, damaged: true, guesses: [undefined] }
    this.damaged = isDamaged(this.root)
    if (!complete) for (const kind of [...fileKinds, "store"] as const) this.#uncertain.add(kind)
    this.gateway = statementOf(root, "gateway")
    this.control = statementOf(root, "control")
    this.portal = statementOf(root, "portal")
    this.change = statementOf(root, "change")
    const authz = statementOf(root, "authz")
    const isUrl = authz?.args.get("url") !== undefined
    this.authz = isUrl ? undefined : authz
    this.authzUrl = isUrl ? authz : undefined
    for (const kind of fileKinds) this.#tables.set(kind, new Map())
    this.#tables.set("secret", this.#table("value"))
    this.#tables.set("store", new Map())
    this.#declareAll(root, fileKinds, report)
    // A second `authz` has its own error; its stores are still declared.
    for (const authz of root.statements) {
      if (authz.row.keyword === "authz" && authz.block?.damaged === true) this.#uncertain.add("store")
      if (authz.row.keyword === "authz" && authz.block !== undefined)
        this.#declareAll(authz.block, ["store"], report)
    }
  }

  /** Declarations of a kind by name, in the order of the files. */
  all(kind: DeclarationKind): Declaration[] {
    return [...this.#table(kind).values()].filter((each) => each.kind === kind)
  }

  /**
   * Finds a declaration without reporting, and without marking it as used. A value is also found as `secret` and the reverse: check `kind`.
   */
  find(kind: DeclarationKind, name: string): Declaration | undefined {
    return this.#tables.get(kind)?.get(name)
  }

  /** Whether a name that is not found may be declared by a statement that was not understood. */
  excused(kinds: readonly DeclarationKind[], name: string): boolean {
    return this.#ghosts.has(name) || kinds.some((kind) => this.#uncertain.has(kind))
  }

  /** Finds the declaration that a word names and marks it as used, or reports it as unknown. */
  resolve(word: Word, kinds: readonly DeclarationKind[], report: Report): Declaration | undefined {
    for (const kind of kinds) {
      const found = this.#table(kind).get(word.text)
      if (found === undefined || !kinds.includes(found.kind)) continue
      this.use(kind, word.text)
      return found
    }
    if (!this.excused(kinds, word.text)) this.#reportUnknown(word, kinds, report)
    return undefined
  }

  /** Marks every named value that an expression seems to name as used. */
  useValuesIn(source: string): void {
    for (const [name] of source.matchAll(/[A-Za-z_][A-Za-z0-9_]*/g)) {
      if (this.find("value", name) !== undefined) this.use("value", name)
    }
  }

  /** Marks a declaration as used, if there is one. */
  use(kind: DeclarationKind, name: string): void {
    const declared = this.find(kind, name)
    if (declared !== undefined) declared.used = true
    this.recorder?.note(({ program }) => program.use(kind, name))
  }

  /** ` did you mean …?`, until the maximum number of hints is reached. */
  hint(name: string, candidates: readonly string[]): string {
    if (this.#hintsLeft <= 0) return ""
    this.spendHint()
    return didYouMean(name, candidates)
  }

  /** Counts a hint. */
  spendHint(): void {
    this.#hintsLeft -= 1
    this.recorder?.note(({ program }) => program.spendHint())
  }

  /** Whether later mistakes got no hints. Which ones did then depends on the order in which all are found. */
  get isOutOfHints(): boolean {
    return this.#hintsLeft <= 0
  }

  /** Records that a name, possibly of this kind, was not found. */
  misname(kind: DeclarationKind): void {
    this.#misnamed.add(kind)
    this.recorder?.note(({ program }) => program.misname(kind))
  }

  /** Whether a name, possibly of this kind, was not found: an unused declaration may be the one that was meant. */
  isMisnamed(kind: DeclarationKind): boolean {
    return this.#misnamed.has(kind)
  }

  /** Reports an unknown name with the nearest one, or with how to declare it. Kinds with a wrong name excuse later unused declarations. */
  #reportUnknown(word: Word, kinds: readonly DeclarationKind[], report: Report): void {
    for (const kind of kinds) this.misname(kind)
    if (this.#isCutByOddCharacter(word, kinds)) return
    // After the last hint the candidates are unused. With thousands of mistakes even collecting them takes too long.
    const hinted = this.#hintsLeft > 0
    const candidates = hinted ? kinds.flatMap((kind) => this.all(kind)) : []
    const other = [...this.#tables.keys()]
      .map((kind) => this.#table(kind).get(word.text))
      .find((each) => each !== undefined)
    const what = listed(kinds.map(nounOf), "or")
    const hint = this.hint(
      word.text,
      candidates.map((each) => each.name),
    )
    const near = candidates.find((each) => hint.includes(`\`${each.name}\``))
    const backend = other?.kind === "backend" ? `Write \`backend ${word.text}\` to send requests there. ` : ""
    const remedy = hinted && hint === "" ? remedyFor(word.text, kinds, candidates.length === 0) : undefined
    const help = remedy === undefined ? undefined : `${backend}${remedy}`
    report.add("SP2012", word.span, `unknown ${what} \`${shown(word.text)}\`${hint}`, {
      ...(help === undefined ? {} : { help }),
      related: [
        ...(near === undefined ? [] : [{ span: near.span, message: `\`${near.name}\` is declared here` }]),
        ...(other === undefined
          ? []
          : [{ span: other.span, message: `${article(nounOf(other.kind))} has this name` }]),
      ],
    })
  }

  /** Whether an odd character splits the name, here or in its declaration. Such a character has its own finding. */
  #isCutByOddCharacter(word: Word, kinds: readonly DeclarationKind[]): boolean {
    if (this.#hintsLeft <= 0) return false
    if (cutNameAsItLooks(word.span) !== undefined) return true
    const declared = kinds.flatMap((kind) => this.all(kind))
    return declared.some(({ span }) => cutNameAsItLooks(span) === word.text)
  }

  #table(kind: DeclarationKind): Map<string, Declaration> {
    const table = this.#tables.get(kind)
    if (table === undefined) throw new Error(`no table of ${kind}`)
    return table
  }

  /** Declares what the block declares. Words of unknown statements may be meant as declarations, so they excuse uses of these names. */
  #declareAll(block: BoundBlock, kinds: readonly DeclarationKind[], report: Report): void {
    for (const bound of block.statements) {
      const kind = kinds.find((each) => each === bound.row.keyword)
      if (kind !== undefined) this.#declare(kind, bound, report)
    }
    for (const statement of block.unknown) {
      this.#ghosts.add(statement.keyword.text)
      for (const argument of statement.args) if (argument.kind === "word") this.#ghosts.add(argument.text)
    }
  }

  /** The first declaration of a name counts; the second is reported with the place of the first. */
  #declare(kind: DeclarationKind, bound: BoundStatement, report: Report): void {
    const name = bound.args.word("name")
    if (name === undefined) {
      this.#uncertain.add(kind)
      return
    }
    const table = this.#table(kind)
    const earlier = table.get(name.text)
    if (earlier === undefined) {
      table.set(name.text, { kind, name: name.text, bound, span: name.span, used: false })
      return
    }
    // A broken statement that seems to be a declaration may be a use of the other one.
    if (bound.statement.broken || earlier.bound.statement.broken) return
    report.add(
      "SP2011",
      name.span,
      `\`${name.text}\` is already the name of ${article(nounOf(earlier.kind))}`,
      {
        related: [{ span: earlier.span, message: "declared here" }],
      },
    )
  }
}

/** The noun for a kind in sentences. */
export function nounOf(kind: DeclarationKind): string {
  if (kind === "value") return "named value"
  if (kind === "users") return "table of users"
  if (kind === "token") return "token client"
  if (kind === "pdp") return "decision point"
  if (kind === "oidc") return "OIDC client"
  return kind === "api" ? "API" : kind
}

/** Whether something inside of the block was not understood. */
export function isDamaged(block: BoundBlock | undefined): boolean {
  if (block === undefined) return false
  return block.damaged || block.statements.some((each) => isDamaged(each.block) || isDamaged(each.otherwise))
}

/** What to write if a name is unknown and no similar name exists. */
function remedyFor(name: string, kinds: readonly DeclarationKind[], isFirst: boolean): string | undefined {
  const expression = kinds.includes("value") ? expressionOf(name) : undefined
  if (expression !== undefined)
    return `Write a value of the request as an expression:  \`"\${${expression}}"\`.`
  if (!isFirst) return undefined
  const wanted = /^[A-Za-z_]/.test(name) ? shown(name) : "NAME"
  return `Declare it: ${kinds.map((kind) => `\`${kind} ${wanted} …\``).join(" or ")}.`
}
