import { signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { addressOf, go } from "./router.ts"

interface KeyedPage {
  readonly name: string
  readonly title: string
  readonly key: string
}

const isHelpOpen = signal(false)
/** How long the second key after `g` may take. */
const chordMs = 1_500

/** Keys of the whole console: `g` and a letter opens a page, `/` goes to the search, `j` and `k` to the next and previous row, `?` shows all. A field keeps its keys. */
export function useKeys(pages: readonly KeyedPage[]): void {
  useEffect(() => {
    let chordAt = Number.NEGATIVE_INFINITY
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      const isChord = performance.now() - chordAt < chordMs
      chordAt = Number.NEGATIVE_INFINITY
      const page = isChord ? pages.find(({ key }) => key === event.key) : undefined
      if (page !== undefined) go(addressOf([page.name]))
      else if (event.key === "g") chordAt = performance.now()
      else if (event.key === "?") isHelpOpen.value = true
      else if (event.key === "j" || event.key === "k") moveRow(event.key === "j" ? 1 : -1)
      else if (event.key === "/") document.querySelector<HTMLInputElement>("input[type=search]")?.focus()
      else return
      event.preventDefault()
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [pages])
}

/** Moves the focus to the link or button of the next or previous row of a list. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll("table.list tbody tr, .window-table tbody tr")].flatMap(
    (row) => row.querySelector<HTMLElement>("a, button") ?? [],
  )
  const at = rows.findIndex((each) => each.closest("tr")?.contains(document.activeElement))
  rows[at === -1 && step === -1 ? rows.length - 1 : at + step]?.focus()
}

/** Whether a field gets the key, also one inside of a shadow root: the event's target is then the root's host. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]")
}

/** The list of keys. */
export function Keys({ pages }: { readonly pages: readonly KeyedPage[] }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isHelpOpen.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {pages.map(({ name, title, key }) => (
          <div key={name}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search on this page</dd>
        </div>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>Next and previous row of a list</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This list</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}
