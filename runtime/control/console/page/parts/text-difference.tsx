import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { counted } from "../format.ts"
import { Scroll } from "./basic.tsx"
import type { TextLine } from "./plan-desk.ts"

/** A line with its number in each text; null: it is not in that text. */
interface NumberedLine {
  readonly sign: TextLine[0]
  readonly text: string
  readonly old: number | null
  readonly next: number | null
}

/** Lines that are shown together. `isFolded`: equal lines that are hidden at first. */
interface Part {
  readonly key: number
  readonly isFolded: boolean
  readonly lines: readonly NumberedLine[]
}

const contextLines = 3
/** Rows of one part; more would make the page slow. */
const rowsMax = 1_000
const words = { "-": "removed", "+": "added", " ": "" } as const

/** The lines of both texts, cut into changes with the lines around them, and the equal lines between. */
export function partsOf(lines: readonly TextLine[]): readonly Part[] {
  let [old, next] = [0, 0]
  const all = lines.map(([sign, text]): NumberedLine => {
    if (sign !== "+") old += 1
    if (sign !== "-") next += 1
    return { sign, text, old: sign === "+" ? null : old, next: sign === "-" ? null : next }
  })
  const near = new Uint8Array(all.length)
  for (const [at, { sign }] of all.entries())
    if (sign !== " ") near.fill(1, Math.max(0, at - contextLines), at + contextLines + 1)
  const parts: Part[] = []
  let start = 0
  for (let at = 1; at <= all.length; at++) {
    if (at < all.length && near[at] === near[start]) continue
    parts.push({ key: start, isFolded: near[start] === 0, lines: all.slice(start, at) })
    start = at
  }
  return parts
}

/** The difference of two texts by lines. Equal parts are folded; buttons lead from change to change. `label`: what is compared. */
export function TextDifference(props: { readonly label: string; readonly lines: readonly TextLine[] }) {
  const opened = useSignal<ReadonlyMap<number, number>>(new Map())
  const holder = useRef<HTMLTableElement>(null)
  const parts = partsOf(props.lines)
  const show = (key: number, rows: number) => {
    opened.value = new Map([...opened.peek(), [key, rows]])
  }
  const changes = parts.filter(({ isFolded }) => !isFolded).length
  if (changes === 0)
    return (
      <p class="quiet">
        Both texts are equal. What differs is not part of them, such as lists of policy elements.
      </p>
    )
  return (
    <>
      <p class="actions difference-tools">
        <button type="button" onClick={() => moveTo(holder.current, -1)}>
          Previous change
        </button>
        <button type="button" onClick={() => moveTo(holder.current, 1)}>
          Next change
        </button>
        <span class="quiet">{counted(changes, "part")} with changes</span>
      </p>
      <Scroll label={props.label}>
        <table class="difference" ref={holder}>
          <caption class="unseen">{props.label}</caption>
          <thead class="unseen">
            <tr>
              <th>Line before</th>
              <th>Line after</th>
              <th>Change</th>
              <th>Text</th>
            </tr>
          </thead>
          {parts.map((part) => (
            <PartRows
              key={part.key}
              part={part}
              rows={opened.value.get(part.key) ?? (part.isFolded ? 0 : rowsMax)}
              onShow={(rows) => show(part.key, rows)}
            />
          ))}
        </table>
      </Scroll>
    </>
  )
}

/** Moves the focus to the change before or after that which has it. */
function moveTo(table: HTMLTableElement | null, by: 1 | -1): void {
  const changes = [...(table?.querySelectorAll<HTMLElement>("tbody[data-change]") ?? [])]
  const last = changes.findIndex((each) => each.dataset["change"] === "here")
  const next = changes[Math.max(0, Math.min(changes.length - 1, last === -1 && by === -1 ? 0 : last + by))]
  for (const each of changes) each.dataset["change"] = each === next ? "here" : ""
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: "center" })
}

function PartRows(props: {
  readonly part: Part
  readonly rows: number
  readonly onShow: (rows: number) => void
}) {
  const { part, rows, onShow } = props
  const { lines, isFolded } = part
  const rest = lines.length - rows
  const changed = lines.filter(({ sign }) => sign !== " ").length
  return (
    <tbody
      {...(isFolded
        ? {}
        : { "data-change": "", tabIndex: -1, "aria-label": counted(changed, "changed line") })}
    >
      {lines.slice(0, rows).map((line) => (
        <Row key={`${line.old} ${line.next}`} line={line} />
      ))}
      {rest > 0 && (
        <tr class="fold">
          <td colSpan={4}>
            <button type="button" class="link" onClick={() => onShow(rows + rowsMax)}>
              Show {counted(Math.min(rest, rowsMax), isFolded ? "equal line" : "more line")}
              {rest > rowsMax && ` of ${rest.toLocaleString("en")}`}
            </button>
          </td>
        </tr>
      )}
    </tbody>
  )
}

function Row({ line: { sign, text, old, next } }: { readonly line: NumberedLine }) {
  return (
    <tr class={words[sign]}>
      <td class="number quiet">{old}</td>
      <td class="number quiet">{next}</td>
      <td class="sign">{sign !== " " && <span class="unseen">{words[sign]}</span>}</td>
      <td>
        <code>{text}</code>
      </td>
    </tr>
  )
}
