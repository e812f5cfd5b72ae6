import { useSignal } from "@preact/signals"
import type { TupleKey } from "../../../../../check/ports.ts"
import { may } from "../../client.ts"
import { askEngine } from "../../engine.ts"
import { counted } from "../../format.ts"
import { useAsked } from "../../loaded.ts"
import { Badge, Empty, Failed, Panel } from "../../parts/basic.tsx"
import { tupleText } from "../../parts/proof.tsx"
import { addressOf, go, place } from "../../router.ts"
import { stepsOf, type TupleStep, textOfSteps } from "../../tuple-lines.ts"
import { askImpact, Preview } from "./preview.tsx"
import { NameField, named, type QuestionField, relationsOf, typesAsNames } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** Adds and removes tuples together, after a look at who gains and who loses. The steps are in the address. */
export default function Edit({ store, types }: AccessView) {
  const { query } = place.value
  const steps = stepsOf(query.get("steps") ?? "")
  const done = useSignal<number | undefined>(undefined)
  const mayWrite = may("operator", "engine.write")
  const change = (next: readonly TupleStep[]) => {
    done.value = undefined
    const given = { store: query.get("store") ?? undefined, context: query.get("context") ?? undefined }
    go(addressOf(["access", "edit"], { ...given, steps: textOfSteps(next) }), true)
  }
  return (
    <>
      {mayWrite && (
        <section class="panel" aria-label="Next tuple">
          <Composer types={types} onStep={(step) => change([...steps, step])} />
        </section>
      )}
      {done.value !== undefined && (
        <p class="notice good" role="status">
          {counted(done.value, "tuple was", "tuples were")} changed.
        </p>
      )}
      {steps.length === 0 ? (
        done.value === undefined && (
          <Empty title="Nothing is to be changed yet">
            {mayWrite
              ? "Add tuples above, or choose tuples to remove in the list of tuples. You see who gains and who loses before anything is written."
              : "Your role may not change tuples."}
          </Empty>
        )
      ) : (
        <>
          <Panel title="Changes" aside="written together, or not at all">
            <ul class="edit-steps">
              {steps.map((step) => (
                <Step
                  key={tupleText(step.tuple)}
                  step={step}
                  onDrop={mayWrite ? () => change(steps.filter((each) => each !== step)) : undefined}
                />
              ))}
            </ul>
          </Panel>
          <Reviewed
            key={`${store.id} ${query}`}
            store={store.id}
            steps={steps}
            onDone={() => {
              change([])
              done.value = steps.length
            }}
          />
        </>
      )}
    </>
  )
}

function Step({ step, onDrop }: { readonly step: TupleStep; readonly onDrop: (() => void) | undefined }) {
  const { kind, tuple } = step
  return (
    <li>
      <Badge tone={kind === "add" ? "good" : "bad"}>{kind}</Badge>
      <code>{tupleText(tuple)}</code>
      {tuple.condition?.context && <code class="quiet">{JSON.stringify(tuple.condition.context)}</code>}
      {onDrop && (
        <button type="button" onClick={onDrop} aria-label={`Leave out: ${kind} ${tupleText(tuple)}`}>
          Leave out
        </button>
      )}
    </li>
  )
}

function Composer({
  types,
  onStep,
}: Pick<AccessView, "types"> & { readonly onStep: (step: TupleStep) => void }) {
  const error = useSignal<unknown>(undefined)
  const object = useSignal("")
  const names = typesAsNames(types)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        const isRemoval = (event.submitter as HTMLButtonElement | null)?.value === "remove"
        try {
          onStep({ kind: isRemoval ? "remove" : "add", tuple: tupleIn(new FormData(form)) })
          error.value = undefined
          form.reset()
          form.querySelector("input")?.focus()
        } catch (reason) {
          error.value = reason
        }
      }}
    >
      <div class="row">
        <Part name="user" label="User" placeholder="user:ann, group:eng#member, user:*" choices={names} />
        <Part
          name="relation"
          label="Relation"
          placeholder="viewer"
          choices={relationsOf(types, object.value)}
        />
        <Part
          {...{ name: "object", label: "Object", placeholder: "document:1", choices: names }}
          onInput={(value) => {
            object.value = value
          }}
        />
      </div>
      <ConditionFields types={types} />
      {error.value !== undefined && <Failed error={error.value} />}
      <p class="actions">
        <button type="submit" value="add">
          Add this tuple
        </button>
        <button type="submit" value="remove">
          Remove this tuple
        </button>
      </p>
    </form>
  )
}

/** The condition of a tuple, where the model has any. */
function ConditionFields({ types }: Pick<AccessView, "types">) {
  const conditions = [...types.values()].flatMap((relations) =>
    [...relations.values()].flat().flatMap(({ condition }) => condition ?? []),
  )
  if (conditions.length === 0) return null
  return (
    <details>
      <summary>Condition</summary>
      <div class="row">
        <Part
          {...{ name: "condition", label: "Condition", placeholder: conditions[0] ?? "" }}
          choices={[...new Set(conditions)]}
          isOptional
        />
        <Part
          {...{ name: "context", label: "Stored context (JSON)" }}
          placeholder={'{"end": "2030-01-01T00:00:00Z"}'}
          isOptional
        />
      </div>
    </details>
  )
}

function Part({ onInput, ...field }: QuestionField & { readonly onInput?: (value: string) => void }) {
  return (
    <div class="grow">
      <NameField field={field} {...(onInput && { onInput })} />
    </div>
  )
}

/** @throws Error for names without a type, and for a context that is no JSON object */
function tupleIn(form: FormData): TupleKey {
  const of = (name: string) => String(form.get(name) ?? "").trim()
  const [user, relation, object, condition, json] = [
    "user",
    "relation",
    "object",
    "condition",
    "context",
  ].map(of)
  named(user ?? "", "User")
  named(object ?? "", "Object")
  if (/\s/.test(relation ?? "")) throw new Error("The relation has a space in it.")
  const plain = { user: user ?? "", relation: relation ?? "", object: object ?? "" }
  if (condition === undefined || condition === "") {
    if (json) throw new Error("A context belongs to a condition: name the condition, too.")
    return plain
  }
  if (!json) return { ...plain, condition: { name: condition } }
  let context: unknown
  try {
    context = JSON.parse(json)
  } catch {
    throw new Error("The stored context is not valid JSON.")
  }
  if (typeof context !== "object" || context === null || Array.isArray(context))
    throw new Error('The stored context must be an object, such as {"hour": 9}.')
  return { ...plain, condition: { name: condition, context: context as Record<string, unknown> } }
}

/** Who gains and who loses, and then the button that writes. */
function Reviewed(props: {
  readonly store: string
  readonly steps: readonly TupleStep[]
  readonly onDone: () => void
}) {
  const { store, steps, onDone } = props
  const { query } = place.value
  const impact = useAsked("impact", () => askImpact(store, steps, query))
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const write = async () => {
    isBusy.value = true
    error.value = undefined
    try {
      await askEngine(store, "write", bodyOf(steps))
      onDone()
    } catch (reason) {
      error.value = reason
    }
    isBusy.value = false
  }
  const isKnown = impact.answer.value !== undefined
  const adds = steps.filter(({ kind }) => kind === "add").length
  const words = [
    ...(adds > 0 ? [`add ${counted(adds, "tuple")}`] : []),
    ...(adds < steps.length ? [`remove ${counted(steps.length - adds, "tuple")}`] : []),
  ].join(", ")
  return (
    <>
      <Preview impact={impact} />
      {error.value !== undefined && <Failed error={error.value} />}
      {may("operator", "engine.write") && (
        <p class="actions">
          <button
            type="button"
            class="primary"
            disabled={isBusy.value || !isKnown}
            onClick={() => void write()}
          >
            Write: {words}
          </button>
        </p>
      )}
    </>
  )
}

/** The body of a write. */
function bodyOf(steps: readonly TupleStep[]): object {
  const keys = (kind: TupleStep["kind"]) =>
    steps.filter((each) => each.kind === kind).map(({ tuple }) => tuple)
  const [writes, deletes] = [keys("add"), keys("remove")]
  return {
    ...(writes.length > 0 && { writes: { tuple_keys: writes } }),
    ...(deletes.length > 0 && {
      deletes: { tuple_keys: deletes.map(({ user, relation, object }) => ({ user, relation, object })) },
    }),
  }
}
