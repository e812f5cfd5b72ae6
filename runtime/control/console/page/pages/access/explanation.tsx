import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"
import type {
  ConditionedTuple,
  Explanation,
  NearestMiss,
  ProofNode,
  TupleKey,
} from "../../../../../check/ports.ts"
import { may } from "../../client.ts"
import { Failed, Loading, Panel } from "../../parts/basic.tsx"
import { conditionText, ProofTree, tupleText } from "../../parts/proof.tsx"
import { addressOf, place, setQuery } from "../../router.ts"
import { textOfSteps } from "../../tuple-lines.ts"

/** The answer to a check, with its proof or what prevents it. */
export function Explained(props: {
  readonly explanation: Explanation
  readonly context: string | undefined
}) {
  const { explanation, context } = props
  const { proof, blocked_by = [], missing_context = [], conditions = [], misses = [] } = explanation
  const isTree = place.value.query.get("as") === "tree"
  const linkOf = (node: ProofNode) => checkAddress(explanation.user, node, context)
  return (
    <>
      <Verdict explanation={explanation} />
      {missing_context.length > 0 && (
        <Panel title="Values that would decide it">
          <p>A condition reads {listed(missing_context)}. Give the values under “Values for conditions”.</p>
        </Panel>
      )}
      <Reasons explanation={explanation} />
      {proof && isTree && (
        <Panel title="Proof">
          <ProofTree nodes={[proof]} label="Proof" linkOf={linkOf} />
        </Panel>
      )}
      {blocked_by.length > 0 && isTree && (
        <Panel title="Excluded by">
          <ProofTree nodes={blocked_by} label="Excluded by" linkOf={linkOf} />
        </Panel>
      )}
      {conditions.length > 0 && <Uncounted conditions={conditions} />}
      {misses.length > 0 && (
        <Panel title="What would allow it" aside="any one of these">
          <ul class="names">
            {misses.map((miss) => (
              <li key={missText(miss)}>
                <Miss miss={miss} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {!explanation.complete && (
        <p class="quiet">A limit ended the search for reasons: there may be more than are shown.</p>
      )}
    </>
  )
}

/** The drawing of the reasons, or the choice to have it instead of the tree. */
function Reasons({ explanation }: { readonly explanation: Explanation }) {
  const isTree = place.value.query.get("as") === "tree"
  const drawing = useSignal<ComponentType<{ readonly explanation: Explanation }> | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  useEffect(() => {
    if (isTree) return
    import("./proof-drawing.tsx").then(
      (module) => {
        drawing.value = module.default
      },
      (error: unknown) => {
        failure.value = error
      },
    )
  }, [isTree])
  const { proof, blocked_by = [], misses = [] } = explanation
  if (proof === undefined && blocked_by.length === 0 && misses.length === 0) return null
  const Drawing = drawing.value
  const button = (
    <button type="button" onClick={() => setQuery({ as: isTree ? undefined : "tree" })}>
      {isTree ? "Show the drawing" : "Show as a tree"}
    </button>
  )
  if (isTree)
    return proof === undefined && blocked_by.length === 0 ? null : <p class="actions as-tree">{button}</p>
  return (
    <Panel title="Reasons" aside={button}>
      {failure.value !== undefined && <Failed error={failure.value} />}
      {Drawing === undefined ? (
        failure.value === undefined && <Loading />
      ) : (
        <Drawing explanation={explanation} />
      )}
    </Panel>
  )
}

function Uncounted({ conditions }: { readonly conditions: readonly ConditionedTuple[] }) {
  return (
    <Panel title="Tuples that do not count">
      <ul class="names">
        {conditions.map(({ tuple, condition }) => (
          <li key={tupleText(tuple)}>
            <code>{tupleText(tuple)}</code> <span class="quiet">{conditionText(condition)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Verdict({ explanation }: { readonly explanation: Explanation }) {
  const { allowed, user, relation, object, missing_context = [], undecided, revision } = explanation
  const isOpen = !allowed && missing_context.length > 0
  const store = place.value.query.get("store") ?? undefined
  return (
    <div class={`notice verdict ${allowed ? "good" : isOpen ? "warn" : "bad"}`}>
      <p class="verdict-word">{allowed ? "Allowed" : isOpen ? "Depends on the context" : "Denied"}</p>
      <p>
        <code>{user}</code> {allowed ? "has" : isOpen ? "may have" : "does not have"} <code>{relation}</code>{" "}
        on <code>{object}</code> <span class="quiet">at revision {revision}</span>
      </p>
      {undecided && (
        <p>Tuples and exclusions depend on each other so that no answer follows. That is a deny.</p>
      )}
      <p class="actions">
        <a class="button" href={addressOf(["access", "who"], { store, object, relation })}>
          All users who have it
        </a>
        <a
          class="button"
          href={addressOf(["access", "what"], { store, user, relation, type: object.split(":", 1)[0] })}
        >
          All objects of this user
        </a>
      </p>
    </div>
  )
}

/** The same question about a node of the proof: a cut tree continues there. */
function checkAddress(
  user: string,
  { object, relation }: { readonly object: string; readonly relation: string },
  context: string | undefined,
): string {
  const store = place.value.query.get("store") ?? undefined
  return addressOf(["access", "check"], { store, user, relation, object, context })
}

function Miss({ miss: { add, remove, missing_context = [] } }: { readonly miss: NearestMiss }) {
  const steps: (readonly ["add" | "remove", TupleKey])[] = [
    ...add.map((tuple) => ["add", tuple] as const),
    ...remove.map((tuple) => ["remove", tuple] as const),
  ]
  const edit = steps.map(([kind, tuple]) => ({ kind, tuple }))
  const store = place.value.query.get("store") ?? undefined
  return (
    <>
      {steps.map(([word, tuple], at) => (
        <span key={word + tupleText(tuple)}>
          {at > 0 && " and "}
          {word} <code>{tupleText(tuple)}</code>
        </span>
      ))}
      {missing_context.length > 0 && <span class="quiet">, given {missing_context.join(", ")}</span>}{" "}
      {may("operator", "engine.write") && (
        <a href={addressOf(["access", "edit"], { store, steps: textOfSteps(edit) })}>Preview …</a>
      )}
    </>
  )
}

const missText = ({ add, remove }: NearestMiss): string =>
  [...add.map(tupleText), "–", ...remove.map(tupleText)].join(" ")

function listed(names: readonly string[]) {
  return names.map((name, at) => (
    <span key={name}>
      {at > 0 && ", "}
      <code>{name}</code>
    </span>
  ))
}
