import type { SourceFile, Span } from "../core/source.ts"
import type { ConditionNode, ModelDocument, Name, Origin, RelationDefinition, TypeNode } from "./ast.ts"
import { parseModel } from "./document.ts"
import type { ModelMistakes } from "./mistakes.ts"
import type { ModFile } from "./mod-file.ts"
import { checkReadable } from "./readable.ts"
import { checkRepetitions } from "./repetitions.ts"

/** The files around a `fga.mod`. `Project` of core/load.ts implements it. */
export interface ModuleFiles {
  /** Reads a file that `fga.mod` names, relative to its folder. Reports at that place why a file can't be read. */
  readNamed(path: string, at: Span): SourceFile | undefined
  /** The files in its folder and below whose names have this ending, to find modules that the list lacks. Reports nothing. */
  beside(ending: string, at: Span): readonly SourceFile[]
}

/**
 * Parses the files of a modular model and links them: one document, whose parts keep their places in their own files and know their module.
 * Files are taken in the order of `contents`, then `more`. Extensions are applied after all types, so that their order does not matter.
 */
export function readModules(
  mod: ModFile,
  parts: ModuleFiles,
  mistakes: ModelMistakes,
  more: readonly SourceFile[] = [],
): ModelDocument {
  const linker = new Linker(mistakes)
  const listed = mod.contents.value.map(({ text, span }) => ({ text, file: parts.readNamed(text, span) }))
  for (const { text, file } of [...listed, ...more.map((file) => ({ text: file.path, file }))]) {
    const own = file === undefined ? undefined : mistakes.in(file)
    if (own === undefined || !checkReadable(own)) linker.missing()
    else {
      const document = parseModel(own)
      checkRepetitions(document, own, true)
      linker.add(text, document, own)
    }
  }
  return linker.link(mod)
}

interface Extension {
  readonly type: TypeNode
  readonly origin: Origin
}

/** Links modules into one tree whose parts keep the places in their files. */
class Linker {
  readonly #mistakes: ModelMistakes
  readonly #types: TypeNode[] = []
  readonly #extensions: Extension[] = []
  readonly #conditions: ConditionNode[] = []
  readonly #conditionNames = new Map<string, Name>()
  #namesMissing = false

  constructor(mistakes: ModelMistakes) {
    this.#mistakes = mistakes
  }

  /** A file could not be read, or its content could not be determined: any name may be defined there. */
  missing(): void {
    this.#namesMissing = true
  }

  /** Adds one module. Its extensions wait until all types are known. */
  add(
    path: string,
    { file, header, types, conditions, namesMissing }: ModelDocument,
    own: ModelMistakes,
  ): void {
    if (namesMissing) this.missing()
    if (header?.kind !== "module") {
      own.add("SP4055", header?.span ?? file.span(0, 0), "file is not a module")
    }
    // The definitions of a file without a module header still count: only its header is wrong.
    const origin: Origin = { module: header?.kind === "module" ? header.name.text : "", file: path }
    for (const type of types) {
      if (type.extend) this.#extensions.push({ type, origin })
      else this.#types.push({ ...type, origin })
    }
    for (const condition of conditions) this.#addCondition({ ...condition, origin })
  }

  /** Adds the relations of extensions to their types. */
  link(mod: ModFile): ModelDocument {
    const added = new Map<TypeNode, RelationDefinition[]>()
    const known = new Map([...this.#types].reverse().map((type) => [type.name.text, type]))
    for (const extension of this.#extensions) {
      const type = known.get(extension.type.name.text)
      if (type === undefined) this.#reportUnknown(extension.type.name, known.keys())
      else added.set(type, [...(added.get(type) ?? []), ...this.#relationsOf(extension, type, added)])
    }
    return {
      file: mod.file,
      header: { kind: "model", schema: mod.schema, span: mod.schema.span },
      types: this.#types.map((type) => {
        const more = added.get(type)
        return more === undefined ? type : { ...type, relations: [...type.relations, ...more] }
      }),
      conditions: this.#conditions,
      namesMissing: this.#namesMissing,
    }
  }

  /** Conditions have unique names in all modules. */
  #addCondition(condition: ConditionNode): void {
    const { name } = condition
    const first = this.#conditionNames.get(name.text)
    // A duplicate within one file was reported with that file.
    if (first !== undefined && first.span.file !== name.span.file) {
      const related = [{ span: first.span, message: "defined here first" }]
      this.#mistakes.add("SP4029", name.span, `duplicate condition \`${name.text}\``, { related })
    } else this.#conditionNames.set(name.text, name)
    this.#conditions.push(condition)
  }

  /** The relations an extension adds, without those the type already has. */
  #relationsOf(
    { type: extending, origin }: Extension,
    type: TypeNode,
    added: ReadonlyMap<TypeNode, readonly RelationDefinition[]>,
  ): RelationDefinition[] {
    const before = [...type.relations, ...(added.get(type) ?? [])]
    const names = new Map([...before].reverse().map((each) => [each.name.text, each.name]))
    return extending.relations.flatMap((relation) => {
      const first = names.get(relation.name.text)
      if (first === undefined) return [{ ...relation, origin }]
      const detail = `relation \`${relation.name.text}\` already exists on type \`${type.name.text}\``
      const related = [{ span: first.span, message: "defined here first" }]
      this.#mistakes.add("SP4028", relation.name.span, detail, { related })
      return []
    })
  }

  #reportUnknown({ text, span }: Name, known: Iterable<string>): void {
    if (this.#namesMissing) return
    this.#mistakes.addUnknown("SP4056", span, `extended type \`${text}\` does not exist`, text, known)
  }
}
