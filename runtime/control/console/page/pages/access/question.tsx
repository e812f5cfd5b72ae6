import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { RelationsByType } from "../../engine.ts"
import { partsOf } from "../../engine.ts"
import { Field } from "../../parts/basic.tsx"
import { addressOf, go, place } from "../../router.ts"

/** A field of a question. Its value is in the address under its name. */
export interface QuestionField {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly choices?: readonly string[]
  readonly isOptional?: boolean
}

/**
 * The form of a question. Its fields are in the address, so that a colleague gets the same answer; sending it changes the address, and the back button
 * returns to the question before.
 */
export function Question(props: {
  readonly view: string
  readonly fields: readonly QuestionField[]
  readonly button: string
  /** More fields, whose names are given too. */
  readonly children?: ComponentChildren
  readonly onAsk?: () => void
  /** Values of the address that stay, beside the store. */
  readonly kept?: readonly string[]
}) {
  const { view, fields, button, children, onAsk, kept = [] } = props
  const { query } = place.value
  return (
    <form
      // Another address brings other values.
      key={query.toString()}
      class="question"
      onSubmit={(event) => {
        event.preventDefault()
        const given = [...new FormData(event.currentTarget)].map(([name, value]): [string, string] => [
          name,
          String(value).trim(),
        ])
        const rest = ["store", ...kept].map((name) => [name, query.get(name) ?? undefined])
        const next = addressOf(["access", view], {
          ...Object.fromEntries(rest),
          ...Object.fromEntries(given),
        })
        if (next === location.pathname + location.search) onAsk?.()
        else go(next)
      }}
    >
      <div class="row">
        {fields.map((field) => (
          <div class="grow" key={field.name}>
            <NameField field={field} value={query.get(field.name) ?? ""} />
          </div>
        ))}
        <button type="submit" class="primary ask">
          {button}
        </button>
      </div>
      {children}
    </form>
  )
}

/** A field for a name, with the names that are known. `value`: what it contains at first. */
export function NameField(props: {
  readonly field: QuestionField
  readonly value?: string
  readonly onInput?: (value: string) => void
}) {
  const { field, value, onInput } = props
  const id = useId()
  const { name, label, placeholder, choices, isOptional = false } = field
  return (
    <Field id={id} label={label}>
      <input
        {...{ id, name, placeholder }}
        defaultValue={value}
        required={!isOptional}
        list={choices && `${id}-choices`}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput?.(event.currentTarget.value)}
      />
      {choices && (
        <datalist id={`${id}-choices`}>
          {choices.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </Field>
  )
}

/** Values for conditions, as JSON in the address. */
export function ContextField() {
  const id = useId()
  const given = place.value.query.get("context") ?? ""
  return (
    <details open={given !== ""}>
      <summary>Values for conditions</summary>
      <Field id={id} label="Context (JSON)" hint="Conditions of tuples read these values.">
        <textarea
          id={id}
          name="context"
          rows={3}
          spellcheck={false}
          placeholder={'{"hour": 9}'}
          defaultValue={given}
        />
      </Field>
    </details>
  )
}

/**
 * The context in the address; undefined: none is given.
 * @throws Error when it is no JSON object
 */
export function contextOf(query: URLSearchParams): Record<string, unknown> | undefined {
  const text = query.get("context") ?? ""
  if (text === "") return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('The context is not valid JSON. It is an object, such as {"hour": 9}.')
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error('The context must be an object, such as {"hour": 9}.')
  return value as Record<string, unknown>
}

/** The relations of an object's type, or of all types while the type is not known. */
export function relationsOf(types: RelationsByType, object: string): readonly string[] {
  const own = types.get(object.split(":", 1)[0] ?? "")
  const all = own === undefined ? [...types.values()].flatMap((each) => [...each.keys()]) : [...own.keys()]
  return [...new Set(all)].sort()
}

/** Beginnings of names: `user:`, and sets like `group:…#member` are typed further. */
export function typesAsNames(types: RelationsByType): readonly string[] {
  return [...types.keys()].map((type) => `${type}:`)
}

/** Throws for a name that has no type, with the form that is expected. */
export function named(
  value: string,
  field: string,
): { type: string; id: string; relation: string | undefined } {
  const parts = partsOf(value)
  if (parts === undefined)
    throw new Error(`${field} “${value}” has no type: write it like ${example(field)}.`)
  return parts
}

function example(field: string): string {
  return field === "User" ? "user:ann" : "document:1"
}
