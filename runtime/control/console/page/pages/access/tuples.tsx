import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { may } from "../../client.ts"
import { askEngine, type ListedTuple, type RelationsByType } from "../../engine.ts"
import { agoText, counted, momentText } from "../../format.ts"
import { Empty, Failed } from "../../parts/basic.tsx"
import { WindowList } from "../../parts/window-list.tsx"
import { addressOf, place } from "../../router.ts"
import { Question, relationsOf, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

interface TuplesPage {
  readonly tuples: readonly ListedTuple[]
  readonly continuation_token: string
}

/** The engine's maximum. */
const pageSize = 100

/** The tuples of a store, in order of object, relation and user. */
export default function Tuples({ store, types }: AccessView) {
  const { query } = place.value
  const turn = useSignal(0)
  const [object = "", relation = "", user = ""] = ["object", "relation", "user"].map(
    (name) => query.get(name) ?? "",
  )
  const names = typesAsNames(types)
  return (
    <>
      <section class="panel" aria-label="Filter">
        <Question
          view="tuples"
          button="Show"
          onAsk={() => (turn.value += 1)}
          fields={[
            { name: "object", label: "Object", placeholder: "document:1", choices: names, isOptional: true },
            {
              ...{ name: "relation", label: "Relation", placeholder: "any", isOptional: true },
              choices: relationsOf(types, object),
            },
            { name: "user", label: "User", placeholder: "user:ann", choices: names, isOptional: true },
          ]}
        />
      </section>
      <Found key={`${query} ${turn}`} store={store.id} filter={{ object, relation, user }} types={types} />
    </>
  )
}

interface TupleFilter {
  readonly object: string
  readonly relation: string
  readonly user: string
}

function Found(props: {
  readonly store: string
  readonly filter: TupleFilter
  readonly types: RelationsByType
}) {
  const { store, filter, types } = props
  const { rows, hasMore, error, more } = useTuples(store, filter, types)
  const count = rows.value.length
  const mayWrite = may("operator", "engine.write")
  if (error.value !== undefined) return <Failed error={error.value} retry={more} />
  if (count === 0 && !hasMore.value)
    return (
      <Empty title={filter.object || filter.user ? "No tuple matches" : "The store has no tuples"}>
        A tuple says that a user has a relation to an object.
      </Empty>
    )
  return (
    <section class="panel" aria-label="Tuples">
      <div class="list-head">
        <p class="quiet" role="status">
          {counted(count, "tuple")}
          {hasMore.value && " loaded; scroll for more"}
        </p>
      </div>
      <WindowList
        label="Tuples"
        narrowLines={2}
        columns={[
          { title: "Object", class: "wide" },
          { title: "Relation" },
          { title: "User", class: "wide" },
          { title: "Condition", class: "desk" },
          { title: "Written", class: "desk" },
          ...(mayWrite ? [{ title: "Edit", class: "narrow" }] : []),
        ]}
        count={count}
        more={hasMore.value}
        onEnd={more}
        cells={(index) => cellsOf(rows.value[index], mayWrite)}
      />
    </section>
  )
}

function cellsOf(row: ListedTuple | undefined, mayWrite: boolean) {
  if (row === undefined) return []
  const { user, relation, object, condition } = row.key
  const store = place.value.query.get("store") ?? undefined
  const link = (name: string, query: Record<string, string>) => (
    <a href={addressOf(["access", "tuples"], { store, ...query })} title={name}>
      {name}
    </a>
  )
  return [
    link(object, { object }),
    <a
      key="relation"
      href={addressOf(["access", "check"], { store, user, relation, object })}
      title={`Why does ${user} have ${relation} on ${object}?`}
    >
      {relation}
    </a>,
    link(user, { user }),
    condition ? (
      <span title={JSON.stringify(condition.context ?? {})}>{condition.name}</span>
    ) : (
      <span class="quiet">–</span>
    ),
    <span key="written" title={momentText(row.timestamp)}>
      {agoText(row.timestamp)}
    </span>,
    ...(mayWrite
      ? [
          <a
            key="remove"
            href={addressOf(["access", "edit"], { store, steps: `-${user} ${relation} ${object}` })}
            aria-label={`Remove ${user} ${relation} ${object}`}
          >
            Remove …
          </a>,
        ]
      : []),
  ]
}

/** The filters with which the engine is asked one after the other: it needs a type of objects with a user. */
function keysOf(
  { object, relation, user }: TupleFilter,
  types: RelationsByType,
): readonly (object | undefined)[] {
  if (object === "" && user === "" && relation === "") return [undefined]
  const rest = { ...(relation && { relation }), ...(user && { user }) }
  if (object !== "") return [{ object: object.includes(":") ? object : `${object}:`, ...rest }]
  if (user === "")
    throw new Error("Name an object or a user, too: the engine does not look for a relation alone.")
  return [...types]
    .filter(([, relations]) => relation === "" || relations.has(relation))
    .map(([type]) => ({ object: `${type}:`, ...rest }))
}

/** Reads the tuples page by page. */
function useTuples(store: string, filter: TupleFilter, types: RelationsByType) {
  const rows = useSignal<readonly ListedTuple[]>([])
  const hasMore = useSignal(true)
  const error = useSignal<unknown>(undefined)
  const at = useSignal({ key: 0, token: "", isBusy: false })
  const read = async () => {
    const keys = keysOf(filter, types)
    // Filters that find nothing are passed over at once.
    for (let found = 0; hasMore.peek() && found === 0; ) {
      const { key, token } = at.peek()
      const tuple_key = keys[key]
      if (
        /^[^:]+:$/.test(String((tuple_key as { object?: string } | undefined)?.object)) &&
        filter.user === ""
      )
        throw new Error("Name the object with its id, like document:1, or a user, too.")
      const page = await askEngine<TuplesPage>(store, "read", {
        ...{ tuple_key, page_size: pageSize },
        ...(token && { continuation_token: token }),
      })
      const next = page.continuation_token
      at.value = { ...at.peek(), key: next === "" ? key + 1 : key, token: next }
      if (at.value.key >= keys.length) hasMore.value = false
      found = page.tuples.length
      if (found > 0) rows.value = [...rows.peek(), ...page.tuples]
    }
  }
  const more = () => {
    if (at.peek().isBusy) return
    at.value = { ...at.peek(), isBusy: true }
    error.value = undefined
    read()
      .catch((reason: unknown) => {
        error.value = reason
      })
      .finally(() => {
        at.value = { ...at.peek(), isBusy: false }
      })
  }
  useEffect(more, [])
  return { rows, hasMore, error, more }
}
