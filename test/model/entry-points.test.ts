import fc from "fast-check"
import { expect, test } from "vitest"
import { validateModel } from "../../runtime/model/validate.ts"
import type {
  AuthorizationModel,
  RelationReference,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

/** How OpenFGA looks for entry points: along every path, remembering what it has seen on it. Exponential, and the specification. */
class PathSearch {
  readonly #relations = new Map<string, { rewrite: Userset; references: readonly RelationReference[] }>()

  constructor(model: AuthorizationModel) {
    for (const { type, relations = {}, metadata } of model.type_definitions) {
      for (const [name, rewrite] of Object.entries(relations)) {
        const references = metadata?.relations?.[name]?.directly_related_user_types ?? []
        this.#relations.set(`${type}#${name}`, { rewrite, references })
      }
    }
  }

  /** "entry", "potential loop" or "no entrypoint" of each relation. */
  outcomes(): Map<string, string> {
    const found = [...this.#relations].map(([key, { rewrite }]) => {
      const { entry, loop } = this.#search(key, rewrite, new Set())
      return [key, entry ? "entry" : loop ? "potential loop" : "no entrypoint"] as const
    })
    return new Map(found)
  }

  #search(key: string, rewrite: Userset, before: ReadonlySet<string>): { entry: boolean; loop: boolean } {
    const seen = new Set(before).add(key)
    const type = key.slice(0, key.indexOf("#"))
    const no = { entry: false, loop: false }
    const yes = { entry: true, loop: false }
    const any = (keys: readonly string[]) =>
      keys.some((each) => {
        const relation = this.#relations.get(each)
        return relation !== undefined && !seen.has(each) && this.#search(each, relation.rewrite, seen).entry
      })
    if ("this" in rewrite) {
      const references = this.#relations.get(key)?.references ?? []
      if (references.some(({ relation }) => relation === undefined)) return yes
      return any(references.map((each) => `${each.type}#${each.relation}`)) ? yes : no
    }
    if ("computedUserset" in rewrite) {
      const next = `${type}#${rewrite.computedUserset.relation}`
      if (seen.has(next)) return { entry: false, loop: true }
      return this.#search(next, this.#relations.get(next)?.rewrite ?? { this: {} }, seen)
    }
    if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      const parents = this.#relations.get(`${type}#${tupleset.relation}`)?.references ?? []
      return any(parents.map((each) => `${each.type}#${computedUserset.relation}`)) ? yes : no
    }
    if ("union" in rewrite) {
      const children = rewrite.union.child.map((each) => this.#search(key, each, seen))
      return children.some(({ entry }) => entry)
        ? yes
        : { entry: false, loop: children.some(({ loop }) => loop) }
    }
    const sides =
      "intersection" in rewrite
        ? rewrite.intersection.child
        : [rewrite.difference.base, rewrite.difference.subtract]
    for (const side of sides) {
      const outcome = this.#search(key, side, seen)
      if (!outcome.entry) return outcome
    }
    return yes
  }
}

const names = ["a", "b", "c", "d"]
const types = ["t", "u"]
const name = fc.constantFrom(...names)

const leaf: fc.Arbitrary<Userset> = fc.oneof(
  fc.constant({ this: {} }),
  name.map((relation) => ({ computedUserset: { relation } })),
  name.map((relation) => ({
    tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation } },
  })),
)
const { rewrite } = fc.letrec<{ rewrite: Userset }>((tie) => ({
  rewrite: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.array(tie("rewrite"), { minLength: 2, maxLength: 3 }).map((child) => ({ union: { child } })),
    fc.array(tie("rewrite"), { minLength: 2, maxLength: 3 }).map((child) => ({ intersection: { child } })),
    fc.tuple(tie("rewrite"), tie("rewrite")).map(([base, subtract]) => ({ difference: { base, subtract } })),
  ),
}))
// Mostly relations, so that not everything has an entry.
const reference: fc.Arbitrary<RelationReference> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constantFrom(...types), relation: name }) },
  { weight: 1, arbitrary: fc.constant({ type: "t" }) },
)

const relation = fc.record({ rewrite, references: fc.array(reference, { minLength: 1, maxLength: 2 }) })
const typeOf = (type: string) =>
  fc
    .record({
      relations: fc.array(relation, { minLength: 4, maxLength: 4 }),
      parent: fc.subarray(types, { minLength: 1 }),
    })
    .map(({ relations, parent }) => {
      const all = relations.map((each, at): [string, typeof each] => [names[at] as string, each])
      const direct = all.filter(([, each]) => JSON.stringify(each.rewrite).includes('"this"'))
      return {
        type,
        relations: {
          parent: { this: {} },
          ...Object.fromEntries(all.map(([key, each]) => [key, each.rewrite])),
        },
        metadata: {
          relations: {
            parent: { directly_related_user_types: parent.map((each) => ({ type: each })) },
            ...Object.fromEntries(
              direct.map(([key, each]) => [key, { directly_related_user_types: each.references }]),
            ),
          },
        },
      }
    })

test("entry points are those OpenFGA's search finds, with the same reason when there is none", () => {
  fc.assert(
    fc.property(fc.tuple(...types.map(typeOf)), (type_definitions) => {
      const model: AuthorizationModel = { schema_version: "1.1", type_definitions }
      const outcomes = new PathSearch(model).outcomes()
      const wanted = [...outcomes]
        .filter(([, outcome]) => outcome !== "entry")
        .map(([key, outcome]) => `${key} ${outcome}`)
      const found = validateModel(model)
        .filter(({ kind }) => kind === "relation-no-entry-point")
        .map(({ message, path }) => {
          const type = types[Number(path[1])]
          return `${type}#${path[3]} ${/\((.*)\)/.exec(message)?.[1]}`
        })
      expect(found.sort()).toEqual(wanted.sort())
    }),
    { numRuns: 3000 },
  )
})
