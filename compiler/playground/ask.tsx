import { type Signal, signal, useSignalEffect } from "@preact/signals"
import type { ComponentProps } from "preact"
import { ask } from "./client.ts"
import { NameField } from "./name-field.tsx"
import { addTuple, analysis, store } from "./project.ts"
import { Proof } from "./proof.tsx"
import type { ShownStore, StoreAnswer, StoreQuestion } from "./protocol.ts"

const kind = signal<StoreQuestion["kind"]>("check")
const user = signal("")
const relation = signal("")
const object = signal("")
const type = signal("")
const context = signal("")
const answer = signal<StoreAnswer | undefined>(undefined)

const kinds = [
  ["check", "Check"],
  ["objects", "What may a user do"],
  ["users", "Who can"],
] as const

/** Questions to the engine. Each change of the question or the project asks again. */
export function Ask() {
  useSignalEffect(() => {
    const asked = questionOf(store.value)
    // A new analysis is a new engine.
    void analysis.value
    if (asked === undefined) {
      answer.value = undefined
      return
    }
    void ask(asked).then((found) => {
      if (JSON.stringify(asked) === JSON.stringify(questionOf(store.peek()))) answer.value = found
    })
  })
  const known = store.value
  if (known === undefined)
    return (
      <p class="quiet empty">
        There is no store to ask: mend the findings, or add a model and a `*.fga.yaml` file.
      </p>
    )
  return (
    <div class="ask">
      <fieldset class="choices">
        <legend>Question</legend>
        {kinds.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="kind"
              checked={kind.value === value}
              onChange={() => (kind.value = value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <div class="fields">
        {kind.value !== "users" && <Word label="User" value={user} list={usersOf(known)} hint="user:ann" />}
        {kind.value === "users" && (
          <Word label="Type of users" value={type} list={typesOf(known)} hint="user" />
        )}
        <Word label="Relation" value={relation} list={relationsOf(known)} hint="viewer" />
        {kind.value === "objects" ? (
          <Word label="Type of objects" value={type} list={typesOf(known)} hint="document" />
        ) : (
          <Word label="Object" value={object} list={objectsOf(known)} hint="document:1" />
        )}
        <Word label="Context (JSON)" value={context} list={[]} hint='{"now": "2026-01-01T00:00:00Z"}' />
      </div>
      {kind.value === "check" && <AddTuple />}
      <div aria-live="polite">
        <Shown answer={answer.value} />
      </div>
    </div>
  )
}

/** Makes the question a tuple of the store. */
function AddTuple() {
  const tuple = { user: user.value.trim(), relation: relation.value.trim(), object: object.value.trim() }
  const isComplete = Object.values(tuple).every((word) => word !== "")
  return (
    <p>
      <button type="button" disabled={!isComplete} onClick={() => void addTuple(tuple)}>
        Add as a tuple
      </button>
    </p>
  )
}

/** A field of the question. */
function Word({
  value,
  ...props
}: Omit<ComponentProps<typeof NameField>, "value" | "onInput"> & { readonly value: Signal<string> }) {
  return (
    <NameField
      {...props}
      value={value.value}
      onInput={(text) => {
        value.value = text
      }}
    />
  )
}

function Shown({ answer: shown }: { readonly answer: StoreAnswer | undefined }) {
  if (shown === undefined) return <p class="quiet">Fill in the question. The answer follows each change.</p>
  if (shown.kind === "error") return <p class="notice bad">{shown.message}</p>
  if (shown.kind === "explained") return <Proof explanation={shown.explanation} />
  if (shown.names.length === 0) return <p class="notice">Nobody and nothing: the list is empty.</p>
  return (
    <ul class="names">
      {shown.names.map((name) => (
        <li key={name}>
          <code>{name}</code>
        </li>
      ))}
    </ul>
  )
}

/** The question of the form; undefined while a part of it is missing. */
function questionOf(known: ShownStore | undefined): StoreQuestion | undefined {
  const [who, word, what, kindOf] = [user, relation, object, type].map(({ value }) => value.trim()) as [
    string,
    string,
    string,
    string,
  ]
  const about = { store: known?.id ?? "", context: context.value, relation: word }
  if (known === undefined || word === "") return undefined
  if (kind.value === "check")
    return who === "" || what === "" ? undefined : { ...about, kind: "check", user: who, object: what }
  if (kind.value === "objects")
    return who === "" || kindOf === "" ? undefined : { ...about, kind: "objects", user: who, type: kindOf }
  return what === "" || kindOf === "" ? undefined : { ...about, kind: "users", type: kindOf, object: what }
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort().slice(0, 500)
const usersOf = ({ tuples }: ShownStore): string[] => sorted(tuples.map((tuple) => tuple.user))
const objectsOf = ({ tuples }: ShownStore): string[] => sorted(tuples.map((tuple) => tuple.object))
const typesOf = ({ model }: ShownStore): string[] => model.type_definitions.map(({ type: name }) => name)

/** The relations of the object's type; of all types while that is not written. */
function relationsOf({ model: { type_definitions: types } }: ShownStore): string[] {
  const wanted = kind.value === "objects" ? type.value : object.value.split(":")[0]
  const found = types.filter((each) => each.type === wanted)
  return sorted((found.length > 0 ? found : types).flatMap(({ relations = {} }) => Object.keys(relations)))
}

/** Fills the form with a first question that has an answer: the first tuple of a store. */
export function suggest(known: ShownStore | undefined): void {
  const first = known?.tuples.find((tuple) => !tuple.user.includes("*"))
  kind.value = "check"
  user.value = first?.user ?? ""
  relation.value = first?.relation ?? ""
  object.value = first?.object ?? ""
  type.value = ""
  context.value = ""
}
