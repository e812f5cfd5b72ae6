import { useId } from "preact/hooks"

/** A field of one line, with the names that are known to choose from. */
export function NameField(props: {
  readonly label: string
  readonly value: string
  readonly list: readonly string[]
  readonly hint: string
  readonly onInput: (value: string) => void
}) {
  const id = useId()
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        list={id}
        value={props.value}
        placeholder={props.hint}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <datalist id={id}>
        {[...new Set(props.list)].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  )
}
