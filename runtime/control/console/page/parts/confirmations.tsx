import type { Signal } from "@preact/signals"
import type { Danger } from "./plan-changes.tsx"

/** A box for each class of changes that a plan has: nobody consents to what they have not read. */
export function Confirmations(props: {
  readonly present: readonly Danger[]
  readonly allow: Signal<readonly Danger[]>
}) {
  const { present, allow } = props
  return (
    <>
      {present.map((name) => (
        <label class="check" key={name}>
          <input
            type="checkbox"
            checked={allow.value.includes(name)}
            onChange={(event) => {
              const others = allow.peek().filter((each) => each !== name)
              allow.value = event.currentTarget.checked ? [...others, name] : others
            }}
          />
          <span>I have read the changes of the class “{name}”</span>
        </label>
      ))}
    </>
  )
}
