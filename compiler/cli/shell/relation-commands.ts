import { contextOf, type ShellCommand, usageOf } from "./shell-command.ts"
import { rows } from "./shown.ts"

/** The API's error for an item it could not decide. */
interface ItemError {
  readonly message: string
}

export const listRelations: ShellCommand = {
  name: "list-relations",
  usage: "list-relations USER OBJECT [{CONTEXT}]",
  summary: "the relations that the user has on the object",
  places: ["user", "object"],
  async run(session, words) {
    const store = await session.store()
    const [user, object, more] = words.words
    // A fourth word is a mistake, e.g. an id with a blank; ignoring it would answer another question.
    if (user === undefined || object === undefined || more !== undefined) throw usageOf(listRelations)
    const answer = await store.ask("list-relations", { user, object, ...contextOf(words) })
    const { relations, errors } = answer as {
      readonly relations: readonly string[]
      readonly errors: Readonly<Record<string, ItemError>>
    }
    // Names that worked are offered by the completion from now on.
    store.remember(user, object)
    return rows(["RELATION"], "No relations.", one(Object.entries(errors)), (failed) => [
      ...relations.map((relation) => ({ cells: [relation], json: { relation } })),
      // A relation that could not be decided (a missing value of a condition) is shown, not dropped: it may be granted.
      ...failed.map(([relation, error]) => ({
        cells: [`${relation}: ${error.message}`],
        json: { relation, error },
      })),
    ])
  },
}

type Cell = boolean | { readonly error: ItemError }

export const matrix: ShellCommand = {
  name: "matrix",
  usage: "matrix USER,… RELATION,… OBJECT,… [{CONTEXT}]",
  summary: "relations of several users on several objects: one row per pair",
  places: ["user", "relation", "object"],
  async run(session, words) {
    const store = await session.store()
    const [who, which, what, more] = words.words
    if (who === undefined || which === undefined || what === undefined || more !== undefined)
      throw usageOf(matrix)
    const [users, relations, objects] = [namesOf(who), which.split(","), namesOf(what)]
    const body = { users, relations, objects, ...contextOf(words) }
    const { cells } = (await store.ask("matrix", body)) as { readonly cells: Cell[][][] }
    store.remember(...users, ...objects)
    return rows(["USER", "OBJECT", ...relations], "No cells.", one(cells), () =>
      users.flatMap((user, row) =>
        objects.map((object, at) => {
          // The API's order is user, relation, object; a row here is a pair of user and object.
          const found = relations.map((_, column) => cells[row]?.[column]?.[at] ?? false)
          const named = Object.fromEntries(relations.map((relation, column) => [relation, found[column]]))
          return { cells: [user, object, ...found.map(cellText)], json: { user, object, relations: named } }
        }),
      ),
    )
  },
}

function cellText(cell: Cell): string {
  return typeof cell === "boolean" ? (cell ? "yes" : "-") : cell.error.message
}

/** A comma separates names only if a type follows it, because ids can contain commas. */
function namesOf(word: string): readonly string[] {
  return word.split(/,(?=[^:,]+:)/)
}

/** A command's rows come in pages; these two have one. */
async function* one<Page>(page: Page): AsyncGenerator<Page> {
  yield page
}
