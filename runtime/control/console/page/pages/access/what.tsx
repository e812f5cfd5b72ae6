import { useSignal } from "@preact/signals"
import { Empty, Failed } from "../../parts/basic.tsx"
import { addressOf, place } from "../../router.ts"
import { NameList } from "./names.tsx"
import { ContextField, contextOf, named, Question, relationsOf, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** On which objects has somebody a relation? */
export default function What({ store, types }: AccessView) {
  const { query } = place.value
  const turn = useSignal(0)
  const [user = "", relation = "", type = ""] = ["user", "relation", "type"].map(
    (name) => query.get(name) ?? "",
  )
  return (
    <>
      <section class="panel" aria-label="Question">
        <Question
          view="what"
          button="List"
          onAsk={() => (turn.value += 1)}
          fields={[
            { name: "user", label: "What may", placeholder: "user:ann", choices: typesAsNames(types) },
            { name: "relation", label: "as", placeholder: "viewer", choices: relationsOf(types, type) },
            {
              ...{ name: "type", label: "of type", placeholder: "document" },
              choices: [...types].filter(([, relations]) => relations.size > 0).map(([name]) => name),
            },
          ]}
        >
          <ContextField />
        </Question>
      </section>
      {user !== "" && relation !== "" && type !== "" ? (
        <Objects key={`${query} ${turn}`} store={store.id} user={user} relation={relation} type={type} />
      ) : (
        <Empty title="Ask what somebody has a relation to">
          The list has all objects of the type, by any way: tuples, groups, wildcards, other objects.
        </Empty>
      )}
    </>
  )
}

function Objects(props: {
  readonly store: string
  readonly user: string
  readonly relation: string
  readonly type: string
}) {
  const { store, user, relation, type } = props
  const { query } = place.value
  let body: Record<string, unknown>
  try {
    named(user, "User")
    body = { user, relation, type, context: contextOf(query) }
  } catch (error) {
    return <Failed error={error} />
  }
  const given = query.get("store") ?? undefined
  const context = query.get("context") ?? undefined
  return (
    <NameList<ObjectsPage>
      question={{ store, path: "list-objects", body, namesOf: ({ objects }) => ({ names: objects }) }}
      label={`What ${user} may as ${relation}`}
      noun="object"
      none={`${user} has ${relation} on no ${type}`}
      row={(object) => (
        <a
          href={addressOf(["access", "check"], { store: given, user, relation, object, context })}
          title={object}
        >
          {object}
        </a>
      )}
    />
  )
}

interface ObjectsPage {
  readonly objects: readonly string[]
  readonly continuation_token?: string
}
