import { signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

/** Rows that are drawn above and below what can be seen, so that a quick scroll shows no gap and the keyboard finds the next row. */
const spareRows = 8
/** Browsers do not draw elements that are higher than some 17 million pixels. Longer lists scroll in proportion. */
const heightMax = 12_000_000
/** In pixels, as in the style sheet. */
const rowHeights = { one: 32, two: 56 } as const
const headHeight = 26

const narrow = matchMedia("(max-width: 760px)")
const isNarrow = signal(narrow.matches)
narrow.addEventListener("change", ({ matches }) => {
  isNarrow.value = matches
})

/** A column of a list. */
export interface WindowColumn {
  readonly title: string
  /** The class that says how wide it is, and whether a phone shows it. */
  readonly class?: string
}

/**
 * A list of any length, of which only the rows in view are in the document. It is scrolled like anything else, also by the arrow keys. Cells are one line
 * high. On a phone a row has two lines if `narrowLines` is 2.
 */
export function WindowList(props: {
  readonly label: string
  readonly columns: readonly WindowColumn[]
  readonly count: number
  /** Whether more rows follow that are not loaded. */
  readonly more?: boolean
  readonly narrowLines?: 1 | 2
  /** The cells of a row, one for each column. */
  readonly cells: (index: number) => readonly ComponentChildren[]
  /** Called when the end comes into view. */
  readonly onEnd?: () => void
}) {
  const { label, columns, count, more = false, narrowLines = 1, cells, onEnd } = props
  const rowHeight = isNarrow.value && narrowLines === 2 ? rowHeights.two : rowHeights.one
  const { view, first, shown, height, offset } = useWindow(count, rowHeight)
  const last = Math.min(count, first + shown)
  const isAtEnd = last >= count
  useEffect(() => {
    if (isAtEnd && more) onEnd?.()
  }, [isAtEnd, more, count])
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it (WCAG 2.1.1).
    <section class="window" ref={view} tabIndex={0} aria-label={label}>
      <div class="window-space" style={{ height: `${height + headHeight}px` }}>
        <table
          class={`window-table ${rowHeight === rowHeights.two ? "two-lines" : ""}`}
          aria-label={label}
          aria-rowcount={more ? -1 : count + 1}
          style={{ transform: `translateY(${offset}px)` }}
        >
          <thead>
            <tr aria-rowindex={1}>
              {columns.map(({ title, class: kind }) => (
                <th key={title} class={kind}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((index) => (
              <tr key={index} aria-rowindex={index + 2}>
                {cells(index).map((cell, at) => (
                  <td key={columns[at]?.title} class={columns[at]?.class}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Which rows are in view, and where they are. */
function useWindow(count: number, rowHeight: number) {
  const view = useRef<HTMLElement>(null)
  const top = useSignal(0)
  const seen = useSignal(600)
  useEffect(() => {
    const element = view.current
    if (element === null) return undefined
    const scrolled = () => {
      top.value = element.scrollTop
    }
    const sized = new ResizeObserver(() => {
      seen.value = Math.max(rowHeights.one, element.clientHeight - headHeight)
    })
    sized.observe(element)
    element.addEventListener("scroll", scrolled, { passive: true })
    return () => {
      sized.disconnect()
      element.removeEventListener("scroll", scrolled)
    }
  }, [])
  const whole = count * rowHeight
  const height = Math.min(whole, heightMax)
  const space = Math.max(1, height - seen.value)
  // Equal to the scroll position unless the list is longer than a browser can draw.
  const at = height === whole ? top.value : (Math.min(top.value, space) / space) * (whole - seen.value)
  const first = Math.max(0, Math.min(count - 1, Math.floor(at / rowHeight)) - spareRows)
  const shown = Math.ceil(seen.value / rowHeight) + 2 * spareRows
  const offset = Math.max(0, top.value - (at - first * rowHeight))
  return { view, first, shown, height, offset }
}
