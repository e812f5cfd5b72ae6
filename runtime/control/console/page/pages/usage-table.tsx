import { useMemo } from "preact/hooks"
import type { UsageAnswer, UsageLine } from "../../../api.ts"
import { digits, msText, sizeText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Failed, Loading, Scroll } from "../parts/basic.tsx"
import { Plot } from "../parts/plot.tsx"

/** A field to group usage by. */
export type UsageField = UsageAnswer["by"][number]

const dayMs = 86_400_000

/** Usage by some fields, as a table with an export, and over days as a plot. */
export function UsageTable(props: {
  readonly by: readonly UsageField[]
  readonly filters: Readonly<Record<string, string | undefined>>
  readonly days: number
}) {
  const { by, filters, days } = props
  const path = useMemo(() => usagePath(by, filters, days), [by.join(), JSON.stringify(filters), days])
  const { answer, error, reload } = useLoaded<UsageAnswer>(path)
  const found = answer.value
  if (error.value !== undefined) return <Failed error={error.value} retry={reload} />
  if (found === undefined) return <Loading />
  if (found.lines.length === 0)
    return <Empty title="No calls in this time">Calls are counted some seconds after they end.</Empty>
  return (
    <>
      {found.by.length === 1 && found.by[0] === "day" && <Days lines={found.lines} />}
      <p class="actions">
        <a
          class="button"
          download="usage.csv"
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(found))}`}
        >
          Export as CSV
        </a>
        {found.cut && (
          <span class="quiet">There are more lines; `sallyport usage` has narrower questions.</span>
        )}
      </p>
      <Lines answer={found} />
    </>
  )
}

function usagePath(
  by: readonly UsageField[],
  filters: Readonly<Record<string, string | undefined>>,
  days: number,
): string {
  const given = Object.entries(filters).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const since = new Date(Date.now() - days * dayMs).toISOString()
  return `/v1/usage?${new URLSearchParams([["by", by.join(",")], ["since", since], ...given])}`
}

function Days({ lines }: { readonly lines: readonly UsageLine[] }) {
  const sorted = useMemo(
    () => [...lines].sort((one, other) => ((one.key.day ?? "") < (other.key.day ?? "") ? -1 : 1)),
    [lines],
  )
  if (sorted.length < 2) return null
  return (
    <Plot
      label="Calls per day"
      times={sorted.map(({ key }) => Date.parse(key.day ?? "") / 1000)}
      lines={[{ label: "calls", tone: "c1", values: sorted.map(({ calls }) => calls) }]}
      marks={[]}
      text={digits}
      isDaily
    />
  )
}

function Lines({ answer: { by, lines } }: { readonly answer: UsageAnswer }) {
  return (
    <Scroll label="Usage">
      <table class="list">
        <thead>
          <tr>
            {by.map((name) => (
              <th key={name}>
                {name === "api" ? "API" : name.replace(/^./, (first) => first.toUpperCase())}
              </th>
            ))}
            <th class="number">Calls</th>
            <th class="number">Received</th>
            <th class="number">Sent</th>
            <th class="number">p50</th>
            <th class="number">p95</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={by.map((name) => line.key[name]).join("\u0000")}>
              {by.map((name) => (
                <td key={name} class={name === "day" ? "date" : undefined}>
                  {line.key[name] || <span class="quiet">–</span>}
                </td>
              ))}
              <td class="number">{line.calls.toLocaleString("en")}</td>
              <td class="number">{sizeText(line.bytesIn)}</td>
              <td class="number">{sizeText(line.bytesOut)}</td>
              <td class="number">{msText(line.p50)}</td>
              <td class="number">{msText(line.p95)}</td>
              <td class="number">
                {line.amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(", ") || "–"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** RFC 4180. A field that a spreadsheet would take for a formula begins with an apostrophe. */
function csvOf({ by, lines }: UsageAnswer): string {
  const field = (value: unknown) => {
    const text = String(value ?? "")
    const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  const head = [...by, "calls", "billed", "bytes in", "bytes out", "p50 ms", "p95 ms", "p99 ms", "cost"]
  const rows = lines.map((line) => [
    ...by.map((name) => line.key[name]),
    ...[line.calls, line.billed, line.bytesIn, line.bytesOut, line.p50, line.p95, line.p99],
    line.amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(" "),
  ])
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("")
}
