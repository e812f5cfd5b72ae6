import { useSignal } from "@preact/signals"
import { Badge, Empty, Failed } from "../../parts/basic.tsx"
import { addressOf, place } from "../../router.ts"
import { type ListedUser, NameList, userKinds, userName } from "./names.tsx"
import { ContextField, contextOf, named, Question, relationsOf, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** Who has a relation to an object? */
export default function Who({ store, types }: AccessView) {
  const { query } = place.value
  const turn = useSignal(0)
  const object = query.get("object") ?? ""
  const relation = query.get("relation") ?? ""
  const kinds = userKinds(types)
  const kind = query.get("kind") || kinds[0] || "user"
  return (
    <>
      <section class="panel" aria-label="Question">
        <Question
          view="who"
          button="List"
          onAsk={() => (turn.value += 1)}
          fields={[
            {
              name: "relation",
              label: "Who has",
              placeholder: "viewer",
              choices: relationsOf(types, object),
            },
            { name: "object", label: "on", placeholder: "document:1", choices: typesAsNames(types) },
            {
              name: "kind",
              label: "among",
              placeholder: kinds[0] ?? "user",
              choices: kinds,
              isOptional: true,
            },
          ]}
        >
          <ContextField />
        </Question>
      </section>
      {object !== "" && relation !== "" ? (
        <Users key={`${query} ${turn}`} store={store.id} object={object} relation={relation} kind={kind} />
      ) : (
        <Empty title="Ask who has a relation to an object">
          Groups and wildcards count: the list has everybody who is in by any way.
        </Empty>
      )}
    </>
  )
}

function Users(props: {
  readonly store: string
  readonly object: string
  readonly relation: string
  readonly kind: string
}) {
  const { store, object, relation, kind } = props
  const { query } = place.value
  let body: Record<string, unknown>
  try {
    const { type, id } = named(object, "Object")
    const [userType, userRelation] = kind.split("#")
    const filter = { type: userType, ...(userRelation === undefined ? {} : { relation: userRelation }) }
    body = { object: { type, id }, relation, user_filters: [filter], context: contextOf(query) }
  } catch (error) {
    return <Failed error={error} />
  }
  const given = query.get("store") ?? undefined
  const context = query.get("context") ?? undefined
  return (
    <NameList<UsersPage>
      question={{ store, path: "list-users", body, namesOf: namesOfPage }}
      label={`Who has ${relation} on ${object}`}
      noun="user"
      none={`No ${kind} has ${relation} on ${object}`}
      row={(user) => (
        <>
          <a
            href={addressOf(["access", "check"], { store: given, user, relation, object, context })}
            title={user}
          >
            {user}
          </a>
          {user.endsWith(":*") && <Badge tone="warn">everybody of the type</Badge>}
        </>
      )}
    />
  )
}

interface UsersPage {
  readonly users: readonly ListedUser[]
  readonly excluded_users?: readonly ListedUser[]
  readonly continuation_token?: string
}

function namesOfPage({ users, excluded_users = [] }: UsersPage) {
  return { names: users.map(userName), excluded: excluded_users.map(userName) }
}
