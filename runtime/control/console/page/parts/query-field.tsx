import { place, setQuery } from "../router.ts"

/**
 * A search field whose text is a parameter of the address, so that a filtered list can be sent to a colleague. `isLive`: it filters while somebody types,
 * otherwise when the field is left or Enter is pressed. A new text begins at the first page (`after`), and with nothing opened or closed (`open`).
 */
export function QueryField(props: {
  readonly name: string
  readonly label: string
  readonly isLive?: boolean
  readonly isWide?: boolean
}) {
  const { name, label, isLive = false, isWide = false } = props
  const changed = ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }) =>
    setQuery({ [name]: value, after: undefined, open: undefined })
  return (
    <label class={isWide ? "wide-field" : undefined}>
      <span>{label}</span>
      <input
        type="search"
        value={place.value.query.get(name) ?? ""}
        {...(isLive ? { onInput: changed } : { onChange: changed })}
      />
    </label>
  )
}
