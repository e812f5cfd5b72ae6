import { Report } from "../core/diagnostic.ts"
import { type SourceFile, type Span, textOf } from "../core/source.ts"
import type { Argument } from "../gateway/ast.ts"
import type { BoundBlock, BoundStatement } from "../gateway/bind/bound.ts"
import type { Program } from "../gateway/program.ts"
import type { ModelDocument, RelationDefinition, Rewrite, TypeNode } from "../model/ast.ts"
import { parseModel } from "../model/document.ts"
import { restrictionsOf } from "../model/lower.ts"
import { ModelMistakes } from "../model/mistakes.ts"
import { gatewayNamesOf } from "./gateway-test-names.ts"
import type { NameUse } from "./name-use.ts"
import type { ParsedModels } from "./parsed-models.ts"
import { namesInPolicy } from "./policy-names.ts"
import { isGatewayTests } from "./test-findings.ts"
import { testNamesOf } from "./test-names.ts"

/** What has names besides gateway.conf and models. */
export interface OtherFiles {
  /** Tests of models and of the gateway, and tuples. */
  readonly tests: readonly SourceFile[]
  readonly policies: readonly SourceFile[]
}

/** All names of a project: those that gateway.conf declares, and the types, relations and conditions of its models, also in tests and policy documents. */
export class ProjectNames {
  readonly #program: Program
  readonly #byName = new Map<string, NameUse[]>()
  readonly #byFile = new Map<string, NameUse[]>()
  readonly #known = new Set<string>()
  readonly #unplaced = new Map<string, string[]>()
  readonly #cut = new Set<string>()

  constructor(program: Program, models: ParsedModels, others: OtherFiles = { tests: [], policies: [] }) {
    this.#program = program
    const add = (use: NameUse) => this.#add(use)
    new GatewayNames(program, add).visit(program.root)
    modelNames(
      models.documents.map(({ document }) => document),
      add,
    )
    for (const file of others.tests) this.#addTests(file)
    for (const file of others.policies) for (const use of namesInPolicy(file, program)) add(use)
  }

  /** The names at an offset; several for a relation that is read from objects of several types. */
  at(path: string, offset: number): readonly NameUse[] {
    return (this.#byFile.get(path) ?? []).filter(({ span }) => span.start <= offset && offset <= span.end)
  }

  /** Declarations and uses, in the order of the files. */
  of(name: string): readonly NameUse[] {
    return this.#byName.get(name) ?? []
  }

  /** All names that begin with these words: `relation doc#`. */
  startingWith(prefix: string): readonly string[] {
    return [...this.#byName.keys()].filter((name) => name.startsWith(prefix))
  }

  /** Files that have a name at a place that cannot be told. */
  unplaced(name: string): readonly string[] {
    const isOfModel = /^(?:type|relation|condition) /.test(name)
    // Names of gateway.conf are in tests of the gateway only.
    const cut = [...this.#cut].filter((path) => isOfModel || isGatewayTests(path))
    return [...(this.#unplaced.get(name) ?? []), ...cut]
  }

  /** The names of a file of tests, and of the model in it. */
  #addTests(file: SourceFile): void {
    const { uses, unplaced, isCut, model } = testNamesOf(file)
    if (isCut) this.#cut.add(file.path)
    for (const use of uses) this.#add(use)
    for (const name of unplaced) this.#addUnplaced(name, file)
    if (isGatewayTests(file.path)) this.#addDeclared(file)
    if (model === undefined) return
    modelNames([parseModel(new ModelMistakes(model.file, new Report()))], ({ name, span }) => {
      const placed = model.placeOf(span)
      if (textOf(placed) === textOf(span)) this.#add({ name, span: placed, declares: false })
      else this.#addUnplaced(name, file)
    })
  }

  /** The names of gateway.conf in tests of the gateway. Subscriptions that the tests make themselves are none. */
  #addDeclared(file: SourceFile): void {
    for (const { kind, text, span } of gatewayNamesOf(file)) {
      const found = this.#program.find(kind, text)
      if (found === undefined) continue
      const name = `${found.kind} ${text}`
      if (span === undefined) this.#addUnplaced(name, file)
      else this.#add({ name, span, declares: false })
    }
  }

  #addUnplaced(name: string, { path }: SourceFile): void {
    this.#unplaced.set(name, [...new Set([...(this.#unplaced.get(name) ?? []), path])])
  }

  #add(use: NameUse): void {
    const { file, start, end } = use.span
    const place = `${use.name} ${start} ${end} ${file.path}`
    if (this.#known.has(place)) return
    this.#known.add(place)
    for (const [map, key] of [
      [this.#byName, use.name],
      [this.#byFile, use.span.file.path],
    ] as const) {
      const known = map.get(key)
      if (known === undefined) map.set(key, [use])
      else known.push(use)
    }
  }
}

type Add = (use: NameUse) => void

/** The names in gateway.conf. */
class GatewayNames {
  readonly #program: Program
  readonly #add: Add

  constructor(program: Program, add: Add) {
    this.#program = program
    this.#add = add
  }

  visit(block: BoundBlock | undefined): void {
    for (const statement of block?.statements ?? []) {
      this.#statement(statement)
      this.visit(statement.block)
      this.visit(statement.otherwise)
    }
  }

  #statement(bound: BoundStatement): void {
    const { row, statement, args } = bound
    const type = typeOfObject(args.get("object")?.argument)
    if (row.keyword === "RELATION") this.#relation(type, statement.keyword.text, statement.keyword.span)
    for (const { slot, argument } of args.filled) {
      const isWord = argument.kind === "word"
      if (slot.slot === "object" || slot.slot === "user") this.#type(argument)
      if (isWord && slot.kind === "relation") this.#relation(type, argument.text, argument.span)
      else if (isWord && (slot.kind === "name" || slot.kind === "value-name"))
        this.#declared(slot.to ?? ["value", "secret"], argument.text, argument.span, true)
      else if (isWord) this.#declared(slot.to ?? ["value", "policy"], argument.text, argument.span, false)
      else this.#expressions(argument)
    }
  }

  /** A name of a declaration, if there is one of these kinds. */
  #declared(kinds: readonly string[], text: string, span: Span, declares: boolean): void {
    for (const kind of kinds) {
      const found = this.#program.find(kind as Parameters<Program["find"]>[0], text)
      if (found === undefined) continue
      const isDeclaration = found.span.file === span.file && found.span.start === span.start
      if (declares && !isDeclaration) continue
      this.#add({ name: `${found.kind} ${text}`, span, declares: isDeclaration })
      return
    }
  }

  /** The type in `"doc:${path.id}"`. */
  #type(argument: Argument): void {
    const type = typeOfObject(argument)
    const first = argument.kind === "text" ? argument.parts[0] : undefined
    if (type === undefined || first === undefined || !textOf(first.span).startsWith(`${type}:`)) return
    const { file, start } = first.span
    this.#add({ name: `type ${type}`, span: file.span(start, start + type.length), declares: false })
  }

  #relation(type: string | undefined, relation: string, span: Span): void {
    if (type !== undefined) this.#add({ name: `relation ${type}#${relation}`, span, declares: false })
  }

  /** The named values in an argument's expressions. */
  #expressions(argument: Argument): void {
    const parts = argument.kind === "text" ? argument.parts : [argument]
    for (const part of parts) {
      if (part.kind !== "cel") continue
      for (const { 0: text, index } of part.source.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)) {
        const start = part.span.start + index
        this.#declared(["value"], text, part.span.file.span(start, start + text.length), false)
      }
    }
  }
}

/** The type in `"doc:${path.id}"`. */
function typeOfObject(argument: Argument | undefined): string | undefined {
  const first = argument?.kind === "text" ? argument.parts[0] : undefined
  return first?.kind === "literal" ? /^([^:#\s]+):/.exec(first.value)?.[1] : undefined
}

/** The names in the files of models. */
function modelNames(documents: readonly ModelDocument[], add: Add): void {
  const relations = new Map<string, RelationDefinition>()
  for (const { types } of documents)
    for (const type of types)
      for (const relation of type.relations)
        relations.set(`${type.name.text}#${relation.name.text}`, relation)
  for (const document of documents) namesOf(document, relations, add)
}

function namesOf(
  { types, conditions }: ModelDocument,
  relations: ReadonlyMap<string, RelationDefinition>,
  add: Add,
): void {
  for (const { name } of conditions) add({ name: `condition ${name.text}`, span: name.span, declares: true })
  for (const type of types) {
    add({ name: `type ${type.name.text}`, span: type.name.span, declares: !type.extend })
    for (const { name, rewrite } of type.relations) {
      add({ name: `relation ${type.name.text}#${name.text}`, span: name.span, declares: true })
      if (rewrite !== undefined) rewriteNames(rewrite, type, relations, add)
    }
  }
}

function rewriteNames(
  rewrite: Rewrite,
  type: TypeNode,
  relations: ReadonlyMap<string, RelationDefinition>,
  add: Add,
): void {
  const own = ({ text, span }: { text: string; span: Span }) =>
    add({ name: `relation ${type.name.text}#${text}`, span, declares: false })
  if (rewrite.kind === "computed") own(rewrite.relation)
  else if (rewrite.kind === "from") {
    own(rewrite.tupleset)
    const parents = directTypes(relations.get(`${type.name.text}#${rewrite.tupleset.text}`)?.rewrite)
    const { text, span } = rewrite.relation
    for (const parent of parents)
      if (relations.has(`${parent}#${text}`))
        add({ name: `relation ${parent}#${text}`, span, declares: false })
  } else if (rewrite.kind === "direct") {
    for (const restriction of rewrite.restrictions) {
      add({ name: `type ${restriction.type.text}`, span: restriction.type.span, declares: false })
      const { relation, condition } = restriction
      if (relation !== undefined)
        add({
          ...{ name: `relation ${restriction.type.text}#${relation.text}`, span: relation.span },
          declares: false,
        })
      if (condition !== undefined)
        add({ name: `condition ${condition.text}`, span: condition.span, declares: false })
    }
  } else {
    const parts = rewrite.kind === "exclusion" ? [rewrite.base, rewrite.subtract] : rewrite.operands
    for (const part of parts) rewriteNames(part, type, relations, add)
  }
}

/** The types that a relation takes directly. */
function directTypes(rewrite: Rewrite | undefined): readonly string[] {
  const restrictions = rewrite === undefined ? undefined : restrictionsOf(rewrite)
  return (restrictions ?? []).map(({ type }) => type.text)
}
