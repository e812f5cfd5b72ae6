import type { Explanation } from "../../../../../check/ports.ts"
import { askEngine } from "../../engine.ts"
import { useAsked } from "../../loaded.ts"
import { Empty, Failed, Loading } from "../../parts/basic.tsx"
import { place } from "../../router.ts"
import { Explained } from "./explanation.tsx"
import { ContextField, contextOf, named, Question, relationsOf, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** Can X do Y to Z? The answer with its reasons. */
export default function Check({ store, types }: AccessView) {
  const { query } = place.value
  const [user = "", relation = "", object = ""] = ["user", "relation", "object"].map(
    (name) => query.get(name) ?? "",
  )
  const isAsked = Boolean(user && relation && object)
  const { answer, error, reload } = useAsked(
    isAsked ? [user, relation, object, query.get("context") ?? ""].join(" ") : undefined,
    async () => {
      named(user, "User")
      named(object, "Object")
      const context = contextOf(query)
      return askEngine<Explanation>(store.id, "explain", { tuple_key: { user, relation, object }, context })
    },
  )
  const names = typesAsNames(types)
  return (
    <>
      <section class="panel" aria-label="Question">
        <Question
          view="check"
          button="Check"
          onAsk={reload}
          fields={[
            { name: "user", label: "Can", placeholder: "user:ann", choices: names },
            {
              ...{ name: "relation", label: "do", placeholder: "viewer" },
              choices: relationsOf(types, object),
            },
            { name: "object", label: "to", placeholder: "document:1", choices: names },
          ]}
        >
          <ContextField />
        </Question>
      </section>
      <div aria-live="polite">
        {error.value !== undefined ? (
          <Failed error={error.value} retry={reload} />
        ) : isAsked ? (
          answer.value ? (
            <Explained explanation={answer.value} context={query.get("context") ?? undefined} />
          ) : (
            <Loading />
          )
        ) : (
          <Empty title="Ask whether somebody may do something">
            The answer comes with its proof, or with what would allow it.
          </Empty>
        )}
      </div>
    </>
  )
}
