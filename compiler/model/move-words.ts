import { Report, type TextEdit } from "../core/diagnostic.ts"
import { withEdits } from "../core/fixes.ts"
import { SourceFile, type Span } from "../core/source.ts"
import type { ModelDocument, Name, RelationDefinition, Restriction, Rewrite, TypeNode } from "./ast.ts"
import { parseModel } from "./document.ts"
import { ModelMistakes } from "./mistakes.ts"

/** Tuples of an old word, `type#relation` or `type`, get a new one. `users`: only those of these types of users. */
export interface WordMove {
  readonly from: string
  readonly to: string
  readonly users?: readonly string[] | undefined
}

/** A text, or why it cannot be written. */
export type MovedText = { readonly text: string } | { readonly problem: string }

/**
 * A model in the text language with the new words beside the old ones. A new relation accepts the same users as the old one and, unless it takes
 * only some of them, contains it. What reads the old word still does.
 */
export function withNewWords(text: string, moves: readonly WordMove[]): MovedText {
  return edited(text, (model) => {
    const edits: TextEdit[] = []
    const targets = new Map<string, WordMove[]>()
    for (const move of moves) targets.set(move.to, [...(targets.get(move.to) ?? []), move])
    for (const own of targets.values()) edits.push(model.added(own, moves))
    return [...edits, ...model.accepted(moves)]
  })
}

/** The same model without the old words: what read an old word reads the new ones. */
export function withoutOldWords(text: string, moves: readonly WordMove[]): MovedText {
  return edited(text, (model) => model.removed(moves))
}

function edited(text: string, editsOf: (model: MovedModel) => readonly TextEdit[]): MovedText {
  const report = new Report()
  const file = new SourceFile("model.fga", text)
  const document = parseModel(new ModelMistakes(file, report))
  if (report.sorted().some(({ severity }) => severity === "error"))
    return { problem: "the model has syntax errors; `sallyport validate` shows them" }
  try {
    return { text: withEdits(text, editsOf(new MovedModel(document))) }
  } catch (error) {
    if (error instanceof MoveProblem) return { problem: error.message }
    throw error
  }
}

class MoveProblem extends Error {}

/** Finds the edits of one model. */
class MovedModel {
  readonly #document: ModelDocument
  readonly #text: string

  constructor(document: ModelDocument) {
    this.#document = document
    this.#text = document.file.text
  }

  /** The new word of some moves, after the last of their old words. */
  added(own: readonly WordMove[], moves: readonly WordMove[]): TextEdit {
    const [first] = own
    const [type = "", relation] = (first?.to ?? "").split("#")
    if (relation === undefined) return this.#addedType(first?.from ?? "", type)
    const node = this.#type(type)
    if (node.relations.some(({ name }) => name.text === relation))
      throw new MoveProblem(`\`${type}\` already has a relation \`${relation}\`: choose a new name`)
    const old = own.map(({ from }) => this.#relation(node, from.split("#")[1] ?? ""))
    const last = old.at(-1) as RelationDefinition
    const text =
      own.length === 1
        ? this.#definitionText(own[0] as WordMove, last, moves)
        : this.#unionText(own, old, moves)
    const end = this.#lineEnd(last.rewrite?.span.end ?? last.name.span.end)
    return { span: this.#span(end, end), text: `\n${this.#indentOf(last.name)}define ${relation}: ${text}` }
  }

  /** Old words in lists of users get the new ones beside them. */
  accepted(moves: readonly WordMove[]): TextEdit[] {
    return this.#restrictions().flatMap(({ restriction, relation }) => {
      // The new relation's own list is written with it.
      const found = moves.flatMap((move) => renamedUser(this.#userText(restriction), move) ?? [])
      const users = [...new Set(found)].filter((user) => !this.#lists(relation, user))
      const { end } = restriction.span
      const condition = this.#text.slice(restriction.subject.end, end)
      return users.map((user) => ({ span: this.#span(end, end), text: `, ${user}${condition}` }))
    })
  }

  removed(moves: readonly WordMove[]): TextEdit[] {
    const edits: TextEdit[] = []
    const gone = new Set(moves.map(({ from }) => from))
    for (const type of this.#document.types) {
      if (gone.has(type.name.text)) edits.push({ span: this.#typeSpan(type), text: "" })
      else
        for (const relation of type.relations)
          if (gone.has(`${type.name.text}#${relation.name.text}`))
            edits.push({ span: this.#lines(relation), text: "" })
          else if (relation.rewrite !== undefined)
            edits.push(...this.#rewritten(type.name.text, relation, relation.rewrite, moves))
    }
    return edits
  }

  #definitionText(move: WordMove, definition: RelationDefinition, moves: readonly WordMove[]): string {
    const { rewrite } = definition
    const list = this.#listOf(rewrite, move)
    const inner = this.#listText(list, move, moves)
    const old = move.from.split("#")[1] ?? ""
    const whole = this.#whole(definition)
    const around = (put: string) =>
      `${this.#text.slice(whole.start, list.span.start)}${put}${this.#text.slice(list.span.end, whole.end)}`
    if (move.users !== undefined) return around(inner)
    if (isPlain(rewrite)) return `${inner} or ${old}`
    // Below `and` and `but not` the old tuples count where the new ones do.
    return around(isInUnion(rewrite, list) ? `${inner} or ${old}` : `(${inner} or ${old})`)
  }

  #unionText(
    own: readonly WordMove[],
    old: readonly RelationDefinition[],
    moves: readonly WordMove[],
  ): string {
    if (!old.every(({ rewrite }) => isPlain(rewrite)))
      throw new MoveProblem(
        "relations with `and` or `but not` cannot be merged by a command: write the model by hand",
      )
    const users = own.flatMap((move, at) => this.#usersOf(this.#listOf(old[at]?.rewrite, move), move, moves))
    return `[${[...new Set(users)].join(", ")}] or ${old.map(({ name }) => name.text).join(" or ")}`
  }

  #listText(list: DirectList, move: WordMove, moves: readonly WordMove[]): string {
    return `[${this.#usersOf(list, move, moves).join(", ")}]`
  }

  #usersOf(list: DirectList, { users }: WordMove, moves: readonly WordMove[]): string[] {
    const wanted = list.restrictions.filter(
      (restriction) => users === undefined || users.includes(this.#userText(restriction)),
    )
    const texts = wanted.flatMap((restriction) => {
      const user = this.#userText(restriction)
      const condition = this.#text.slice(restriction.subject.end, restriction.span.end)
      const renamed = moves.flatMap((move) => renamedUser(user, move) ?? [])
      return (renamed.length === 0 ? [user] : renamed).map((each) => `${each}${condition}`)
    })
    return [...new Set(texts)]
  }

  #listOf(rewrite: Rewrite | undefined, { from }: WordMove): DirectList {
    const found = rewrite === undefined ? undefined : listsIn(rewrite)[0]
    if (found === undefined)
      throw new MoveProblem(`\`${from}\` takes no tuples: change its name in the model, nothing has to move`)
    return found
  }

  /** A copy of a type under a new name. */
  #addedType(from: string, to: string): TextEdit {
    if (this.#document.types.some(({ name }) => name.text === to))
      throw new MoveProblem(`the model already has a type \`${to}\`: choose a new name`)
    const type = this.#type(from)
    const { start, end } = this.#typeSpan(type)
    const edits: TextEdit[] = [{ span: type.name.span, text: to }]
    for (const { restriction, type: of } of this.#restrictions())
      if (of === type && restriction.type.text === from) edits.push({ span: restriction.type.span, text: to })
    const copy = this.#cut(start, end, edits)
    return {
      span: this.#span(end, end),
      text: `${this.#text.slice(0, end).endsWith("\n\n") ? "" : "\n"}${copy}`,
    }
  }

  /** A definition that reads new words instead of old ones. */
  #rewritten(
    type: string,
    relation: RelationDefinition,
    rewrite: Rewrite,
    moves: readonly WordMove[],
  ): TextEdit[] {
    const own = `${type}#${relation.name.text}`
    switch (rewrite.kind) {
      case "direct":
        return this.#without(rewrite, moves)
      case "computed": {
        const names = newNames(moves, `${type}#${rewrite.relation.text}`)
        return names.length === 0 ? [] : [{ span: rewrite.span, text: joined(names) }]
      }
      case "from":
        return this.#fromNew(type, rewrite, moves)
      case "union": {
        // The new relation stands on its own now: it takes over what else the old one read.
        const oldOf = (each: Rewrite) =>
          each.kind === "computed" &&
          moves.some(({ from, to }) => to === own && from === `${type}#${each.relation.text}`)
            ? this.#relation(this.#type(type), each.relation.text)
            : undefined
        const kept = rewrite.operands.flatMap((each) => {
          const old = oldOf(each)?.rewrite
          if (oldOf(each) === undefined) return [each]
          return old?.kind === "union" && isPlain(old)
            ? old.operands.filter(({ kind }) => kind !== "direct")
            : []
        })
        const texts = [
          ...new Set(kept.map((each) => this.#textWith(each, this.#rewritten(type, relation, each, moves)))),
        ]
        // Merged relations would be named twice.
        if (texts.length === rewrite.operands.length && kept.every((each) => rewrite.operands.includes(each)))
          return rewrite.operands.flatMap((each) => this.#rewritten(type, relation, each, moves))
        return [{ span: this.#parenthesized(rewrite.span, texts.length), text: texts.join(" or ") }]
      }
      case "intersection":
        return rewrite.operands.flatMap((each) => this.#rewritten(type, relation, each, moves))
      case "exclusion":
        return [rewrite.base, rewrite.subtract].flatMap((each) =>
          this.#rewritten(type, relation, each, moves),
        )
    }
  }

  /** `viewer from parent`, where some types behind `parent` have the old word. */
  #fromNew(
    type: string,
    rewrite: Extract<Rewrite, { kind: "from" }>,
    moves: readonly WordMove[],
  ): TextEdit[] {
    const tupleset = this.#type(type).relations.find(({ name }) => name.text === rewrite.tupleset.text)
    const list = tupleset?.rewrite === undefined ? undefined : listsIn(tupleset.rewrite)[0]
    const behind = (list?.restrictions ?? []).map((each) => each.type.text)
    const word = rewrite.relation.text
    const names = [
      ...new Set(
        behind.flatMap((each) => {
          const renamed = newNames(moves, `${each}#${word}`)
          const has = this.#document.types.find(({ name }) => name.text === each)?.relations ?? []
          return renamed.length > 0 ? renamed : has.some(({ name }) => name.text === word) ? [word] : []
        }),
      ),
    ]
    if (names.length === 0 || (names.length === 1 && names[0] === word)) return []
    return [
      { span: rewrite.span, text: joined(names.map((name) => `${name} from ${rewrite.tupleset.text}`)) },
    ]
  }

  /** A list of users without old words. */
  #without({ restrictions, span }: DirectList, moves: readonly WordMove[]): TextEdit[] {
    const kept = restrictions.filter((each) =>
      moves.every((move) => renamedUser(this.#userText(each), move) === undefined),
    )
    if (kept.length === restrictions.length) return []
    const texts = kept.map((each) => this.#text.slice(each.span.start, each.span.end))
    return [{ span, text: `[${texts.join(", ")}]` }]
  }

  /** An operand after some edits. The span of an operator does not cover its parentheses. */
  #textWith(rewrite: Rewrite, edits: readonly TextEdit[]): string {
    const { span } = rewrite
    const text = this.#cut(span.start, span.end, edits)
    return rewrite.kind === "direct" || rewrite.kind === "computed" || rewrite.kind === "from"
      ? text
      : `(${text})`
  }

  /** With its parentheses, if one operand is left in them. */
  #parenthesized({ start, end }: Span, operands: number): Span {
    const before = /\(\s*$/.exec(this.#text.slice(0, start))
    const after = /^\s*\)/.exec(this.#text.slice(end))
    if (operands !== 1 || before === null || after === null) return this.#span(start, end)
    return this.#span(before.index, end + after[0].length)
  }

  /** A part of the text, with edits in it. */
  #cut(start: number, end: number, edits: readonly TextEdit[]): string {
    const outside = [
      { span: this.#span(0, start), text: "" },
      { span: this.#span(end, this.#text.length), text: "" },
    ]
    return withEdits(this.#text, [...outside, ...edits])
  }

  #type(name: string): TypeNode {
    const found = this.#document.types.find((each) => each.name.text === name)
    if (found === undefined) throw new MoveProblem(`the model has no type \`${name}\``)
    return found
  }

  #relation({ name, relations }: TypeNode, word: string): RelationDefinition {
    const found = relations.find((each) => each.name.text === word)
    if (found === undefined) throw new MoveProblem(`\`${name.text}\` has no relation \`${word}\``)
    return found
  }

  #restrictions() {
    return this.#document.types.flatMap((type) =>
      type.relations.flatMap((relation) =>
        (relation.rewrite === undefined ? [] : listsIn(relation.rewrite)).flatMap(({ restrictions }) =>
          restrictions.map((restriction) => ({ restriction, relation, type })),
        ),
      ),
    )
  }

  #lists({ rewrite }: RelationDefinition, user: string): boolean {
    const lists = rewrite === undefined ? [] : listsIn(rewrite)
    return lists.some(({ restrictions }) => restrictions.some((each) => this.#userText(each) === user))
  }

  #userText({ subject }: Restriction): string {
    return this.#text.slice(subject.start, subject.end).replace(/\s/g, "")
  }

  /** The text of a definition with its outer parentheses, which the spans of operators do not cover. */
  #whole({ name, rewrite }: RelationDefinition): { readonly start: number; readonly end: number } {
    const end = rewrite?.span.end ?? name.span.end
    const colon = this.#text.indexOf(":", name.span.end) + 1
    const start = colon + (/^\s*/.exec(this.#text.slice(colon))?.[0].length ?? 0)
    return { start, end: end + (/^(?:\s*\))*/.exec(this.#text.slice(end))?.[0].length ?? 0) }
  }

  #indentOf({ span }: Name): string {
    const start = this.#text.lastIndexOf("\n", span.start) + 1
    return /^\s*/.exec(this.#text.slice(start, span.start))?.[0] ?? ""
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf("\n", offset)
    return end < 0 ? this.#text.length : end
  }

  /** The lines of a definition, without the comments before it. */
  #lines({ name, rewrite }: RelationDefinition): Span {
    const start = this.#text.lastIndexOf("\n", name.span.start) + 1
    return this.#span(
      start,
      Math.min(this.#text.length, this.#lineEnd(rewrite?.span.end ?? name.span.end) + 1),
    )
  }

  /** A type with its relations, up to the end of its last line. */
  #typeSpan(type: TypeNode): Span {
    const start = this.#text.lastIndexOf("\n", type.name.span.start) + 1
    const last = type.relations.at(-1)
    const end = this.#lineEnd(last?.rewrite?.span.end ?? last?.name.span.end ?? type.name.span.end)
    return this.#span(start, Math.min(this.#text.length, end + 1))
  }

  #span(start: number, end: number): Span {
    return this.#document.file.span(start, end)
  }
}

type DirectList = Extract<Rewrite, { kind: "direct" }>

/** A list of users, or a union of one with other operands. */
function isPlain(rewrite: Rewrite | undefined): boolean {
  if (rewrite?.kind === "direct") return true
  return rewrite?.kind === "union" && rewrite.operands.some(({ kind }) => kind === "direct")
}

/** Whether a list is an operand of a union. */
function isInUnion(rewrite: Rewrite | undefined, list: DirectList): boolean {
  if (rewrite === undefined) return false
  if (rewrite.kind === "exclusion") return isInUnion(rewrite.base, list) || isInUnion(rewrite.subtract, list)
  if (!("operands" in rewrite)) return false
  if (rewrite.kind === "union" && rewrite.operands.includes(list)) return true
  return rewrite.operands.some((each) => isInUnion(each, list))
}

function listsIn(rewrite: Rewrite): DirectList[] {
  if (rewrite.kind === "direct") return [rewrite]
  if (rewrite.kind === "exclusion") return [...listsIn(rewrite.base), ...listsIn(rewrite.subtract)]
  return "operands" in rewrite ? rewrite.operands.flatMap(listsIn) : []
}

/** The relations that an old one becomes. */
function newNames(moves: readonly WordMove[], word: string): string[] {
  return moves
    .filter(({ from, to }) => from === word && to.includes("#"))
    .map(({ to }) => to.split("#")[1] ?? "")
}

function joined(operands: readonly string[]): string {
  return operands.length === 1 ? (operands[0] as string) : `(${operands.join(" or ")})`
}

/** A user of a list in new words; undefined: the move does not concern it. */
function renamedUser(user: string, { from, to }: WordMove): string | undefined {
  if (user === from) return to
  if (from.includes("#")) return undefined
  return user.startsWith(`${from}#`) || user.startsWith(`${from}:`)
    ? `${to}${user.slice(from.length)}`
    : undefined
}
