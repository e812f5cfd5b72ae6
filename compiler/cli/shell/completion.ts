import type { ArgumentKind, ShellContext } from "./shell-command.ts"
import { shellCommands } from "./shell-commands.ts"
import { type StoreView, storesOf } from "./store-view.ts"

/**
 * The possible continuations of a line: commands, stores, types and relations of the model, users and objects of the store's first tuples.
 * Names are offered only after their type, so that an empty word does not list a store of millions.
 * @returns the words, and the part of the line they would replace.
 */
export async function completionsOf(
  session: ShellContext,
  line: string,
): Promise<readonly [words: readonly string[], part: string]> {
  const words = line.trimStart().split(/\s+/)
  const part = words.at(-1) ?? ""
  const names = shellCommands.map(({ name }) => name)
  const offers = async (): Promise<readonly string[]> => {
    if (words.length === 1) return names
    const command = shellCommands.find(({ name }) => name === words[0])
    const place = command?.places[words.length - 2]
    if (command === undefined || place === undefined) return []
    // If the line already names a relation, offer only types that have it.
    return offersFor(place, session, part, words[command.places.indexOf("relation") + 1] ?? "")
  }
  const found = (await offers()).filter((word) => word.startsWith(part))
  // A type is not a complete word: a name follows its colon.
  return [[...new Set(found)].sort().map((word) => (/:$/.test(word) ? word : `${word} `)), part]
}

/** The words that can stand at a place. Names of users and objects are those that were seen in this session, and of the first tuples. */
async function offersFor(
  place: ArgumentKind,
  session: ShellContext,
  part: string,
  relation: string,
): Promise<readonly string[]> {
  if (place === "command") return shellCommands.map(({ name }) => name)
  if (place === "store") {
    for await (const page of storesOf(session.api)) return page.map(({ name }) => name)
    return []
  }
  const store = await session.store()
  const types = await store.types()
  if (place === "type") return [...types.keys()]
  if (place === "user-type")
    return [...types].flatMap(([type, relations]) => [
      type,
      ...relations.map((relation) => `${type}#${relation}`),
    ])
  if (place === "relation") return [...types.values()].flat()
  const withRelation = [...types].filter(([, relations]) => place === "user" || relations.includes(relation))
  if (!part.includes(":")) return withRelation.map(([type]) => `${type}:`)
  return namesOf(store, place, part, types)
}

/** Users and objects by what was typed. `#` begins the relation of a userset. */
async function namesOf(
  store: StoreView,
  place: ArgumentKind,
  part: string,
  types: ReadonlyMap<string, readonly string[]>,
): Promise<readonly string[]> {
  const [object = "", set] = part.split("#")
  const relations = types.get(object.split(":")[0] ?? "") ?? []
  if (place === "user" && set !== undefined) return relations.map((relation) => `${object}#${relation}`)
  const known = [...(await store.names())]
  return place === "user" ? known : known.filter((name) => !/#|:\*$/.test(name))
}
