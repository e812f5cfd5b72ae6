import type { Rewrite, TypeNode } from "../model/ast.ts"
import { restrictionsOf } from "../model/lower.ts"
import type { ParsedModels } from "./parsed-models.ts"

/** Which relations the types of a project's models have, and of which types their users are. Two models with a type of one name count as one. */
export class ModelRelations {
  readonly #types = new Map<string, Map<string, Rewrite | undefined>>()

  constructor({ documents }: ParsedModels) {
    for (const { document } of documents) for (const type of document.types) this.#add(type)
  }

  get types(): readonly string[] {
    return [...this.#types.keys()]
  }

  /** The relations of a type. */
  of(type: string): readonly string[] {
    return [...(this.#types.get(type)?.keys() ?? [])]
  }

  /** The types that have a relation of this name. */
  having(relation: string): readonly string[] {
    return this.types.filter((type) => this.#types.get(type)?.has(relation) === true)
  }

  /** The types of the objects that a relation names directly, which `from` reads. Sets of users (`team#member`) are no objects. */
  namedBy(type: string, relation: string): readonly string[] {
    const rewrite = this.#types.get(type)?.get(relation)
    const restrictions = rewrite === undefined ? undefined : restrictionsOf(rewrite)
    return (restrictions ?? []).flatMap((each) => (each.relation === undefined ? [each.type.text] : []))
  }

  /** The types of the users that can have a relation. */
  usersOf(type: string, relation: string): ReadonlySet<string> {
    const found = new Set<string>()
    const seen = new Set<string>()
    const visit = (of: string, name: string): void => {
      if (seen.has(`${of}#${name}`)) return
      seen.add(`${of}#${name}`)
      const rewrite = this.#types.get(of)?.get(name)
      if (rewrite !== undefined) read(rewrite, of)
    }
    const read = (rewrite: Rewrite, of: string): void => {
      if (rewrite.kind === "computed") visit(of, rewrite.relation.text)
      else if (rewrite.kind === "from")
        for (const parent of this.namedBy(of, rewrite.tupleset.text)) visit(parent, rewrite.relation.text)
      else if (rewrite.kind === "direct")
        for (const { type: user, relation: set } of rewrite.restrictions)
          if (set === undefined) found.add(user.text)
          else visit(user.text, set.text)
      else for (const part of rewrite.kind === "exclusion" ? [rewrite.base] : rewrite.operands) read(part, of)
    }
    visit(type, relation)
    return found
  }

  #add({ name, relations }: TypeNode): void {
    const known = this.#types.get(name.text) ?? new Map<string, Rewrite | undefined>()
    this.#types.set(name.text, known)
    for (const each of relations) known.set(each.name.text, each.rewrite)
  }
}
