import { CallFailure } from "../../client.ts"
import { askEngine } from "../../engine.ts"
import { counted } from "../../format.ts"
import { useAsked } from "../../loaded.ts"
import { Empty, Failed, Loading, Scroll } from "../../parts/basic.tsx"
import { addressOf, place } from "../../router.ts"
import { type ListedUser, userKinds, userName } from "./names.tsx"
import { ContextField, contextOf, named, Question, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** People of one matrix, at most: it is for a look at an object, and lists have the rest. */
const peopleMax = 200

type Cell = boolean | { readonly error: { readonly message: string } }

/** The access of people by all relations of an object. */
interface MatrixFound {
  readonly people: readonly string[]
  readonly relations: readonly string[]
  /** By person and relation. */
  readonly cells: readonly (readonly Cell[])[]
  readonly isCut: boolean
  /** Relations whose users are not known, because a condition needs values. */
  readonly unlisted: readonly string[]
}

/** People × relations of one object. */
export default function Matrix({ store, types }: AccessView) {
  const { query } = place.value
  const object = query.get("object") ?? ""
  const kinds = userKinds(types)
  const { answer, error, reload } = useAsked(object === "" ? undefined : query.toString(), () =>
    matrixOf({ store, types }, query, kinds[0] ?? "user"),
  )
  const found = answer.value
  return (
    <>
      <section class="panel" aria-label="Question">
        <Question
          view="matrix"
          button="Show"
          onAsk={reload}
          fields={[
            { name: "object", label: "Object", placeholder: "document:1", choices: typesAsNames(types) },
            {
              ...{ name: "kind", label: "People of type", placeholder: kinds[0] ?? "user" },
              ...{ choices: kinds, isOptional: true },
            },
            {
              ...{
                name: "people",
                label: "People",
                placeholder: "those with access; or: user:ann, user:bob",
              },
              isOptional: true,
            },
          ]}
        >
          <ContextField />
        </Question>
      </section>
      {error.value !== undefined ? (
        <Failed error={error.value} />
      ) : object === "" ? (
        <Empty title="Choose an object">The matrix shows who has which of its relations.</Empty>
      ) : found === undefined ? (
        <Loading />
      ) : found.people.length === 0 ? (
        <Empty title={`Nobody has a relation to ${object}`} />
      ) : (
        <Cells found={found} object={object} />
      )}
    </>
  )
}

function Cells({ found, object }: { readonly found: MatrixFound; readonly object: string }) {
  const { people, relations, cells, isCut, unlisted } = found
  const { query } = place.value
  const given = { store: query.get("store") ?? undefined, context: query.get("context") ?? undefined }
  return (
    <div class="panel">
      <p class="quiet" role="status">
        {counted(people.length, "person", "people")}
        {unlisted.length > 0 &&
          `, without those who have only ${unlisted.join(", ")}: a condition needs values`}
        {isCut && ": the first ones of a longer list. “Who can” lists all, or name people above."}
      </p>
      <Scroll label={`Access to ${object}`}>
        <table class="matrix list">
          <thead>
            <tr>
              <th scope="col">User</th>
              {relations.map((relation) => (
                <th key={relation} scope="col">
                  <a href={addressOf(["access", "who"], { ...given, object, relation })}>{relation}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {people.map((user, row) => (
              <tr key={user}>
                <th scope="row" title={user}>
                  {user}
                </th>
                {relations.map((relation, column) => (
                  <td key={relation}>
                    <a
                      href={addressOf(["access", "check"], { ...given, user, relation, object })}
                      class={classOf(cells[row]?.[column])}
                      aria-label={`${user} ${wordOf(cells[row]?.[column])} ${relation}`}
                      title={titleOf(cells[row]?.[column])}
                    >
                      {signOf(cells[row]?.[column])}
                    </a>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}

const classOf = (cell: Cell | undefined): string =>
  cell === true ? "holds" : cell === false ? "quiet" : "fails"
const signOf = (cell: Cell | undefined): string => (cell === true ? "✓" : cell === false ? "–" : "?")
const wordOf = (cell: Cell | undefined): string =>
  cell === true ? "has" : cell === false ? "does not have" : "may have, depending on a condition,"
const titleOf = (cell: Cell | undefined): string | undefined =>
  typeof cell === "object" ? cell.error.message : undefined

async function matrixOf(
  { store, types }: AccessView,
  query: URLSearchParams,
  kindDefault: string,
): Promise<MatrixFound> {
  const object = query.get("object") ?? ""
  const { type, id } = named(object, "Object")
  const relations = [...(types.get(type)?.keys() ?? [])]
  if (relations.length === 0) throw new Error(`The model has no type “${type}” with relations.`)
  const context = contextOf(query)
  const given = (query.get("people") ?? "").split(/[\s,]+/).filter((each) => each !== "")
  const kind = query.get("kind") || kindDefault
  const { users, unlisted } =
    given.length > 0
      ? { users: [...new Set(given)], unlisted: [] }
      : await withAccess(store.id, { type, id, relations, kind, context })
  const people = users.slice(0, peopleMax)
  if (people.length === 0) return { people, relations, cells: [], isCut: false, unlisted }
  const { cells } = await askEngine<{ readonly cells: readonly (readonly (readonly Cell[])[])[] }>(
    store.id,
    "matrix",
    { users: people, relations, objects: [object], context },
  )
  return {
    ...{ people, relations, unlisted, isCut: users.length > people.length },
    cells: cells.map((row) => row.map((column) => column[0] ?? false)),
  }
}

/** Everybody who has one of the relations, some more than a matrix shows. */
async function withAccess(
  store: string,
  asked: {
    readonly type: string
    readonly id: string
    readonly relations: readonly string[]
    readonly kind: string
    readonly context: Record<string, unknown> | undefined
  },
): Promise<{ readonly users: readonly string[]; readonly unlisted: readonly string[] }> {
  const { type, id, relations, kind, context } = asked
  const [userType, relation] = kind.split("#")
  const unlisted: string[] = []
  const lists = await Promise.all(
    relations.map((each) =>
      askEngine<{ readonly users: readonly ListedUser[] }>(store, "list-users", {
        ...{ object: { type, id }, relation: each, context, page_size: peopleMax + 1 },
        user_filters: [{ type: userType, ...(relation && { relation }) }],
      }).then(
        ({ users }) => users.map(userName),
        // A condition without its value: its relation has no list, and its cells say so.
        (error: unknown) => {
          if (!(error instanceof CallFailure) || !error.message.includes("missing context")) throw error
          unlisted.push(each)
          return []
        },
      ),
    ),
  )
  return { users: [...new Set(lists.flat())].sort(), unlisted }
}
