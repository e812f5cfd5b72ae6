import { digits, msText, sizeText } from "../../../control/console/page/format.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Failed, Loading, Panel, Table } from "../../../control/console/page/parts/basic.tsx"
import { type Line, Plot } from "../../../control/console/page/parts/plot.tsx"
import type { OwnUsageAnswer } from "../../api.ts"
import { moneyText } from "../money.ts"

/** Calls, cost and time of the last 30 days, as a plot and by operation. */
export function OwnUsage({ path }: { readonly path: string }) {
  const { answer, error, reload } = useLoaded<OwnUsageAnswer>(`${path}/usage`)
  if (error.value !== undefined) return <Failed error={error.value} retry={reload} />
  const found = answer.value
  if (found === undefined) return <Loading />
  const { days, total, operations } = found
  const lines: Line[] = [
    { label: "calls", tone: "c1", values: days.map(({ calls }) => calls) },
    { label: "failed", tone: "c4", values: days.map(({ failed }) => failed) },
  ]
  const facts = [
    ["Calls", total.calls.toLocaleString()],
    ["Failed", total.failed.toLocaleString()],
    ["p95", msText(total.p95)],
    ["Sent", sizeText(total.bytesOut)],
    ["Cost", total.cost.map(moneyText).join(" + ") || "–"],
  ] as const
  return (
    <Panel title="Usage" aside={`${found.from} to ${found.to}`}>
      <dl class="tiles">
        {facts.map(([label, value]) => (
          <div class="tile plain" key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Plot
        label="Calls a day"
        times={days.map(({ day }) => Date.parse(day) / 1000)}
        {...{ lines, marks: [], text: digits, isDaily: true }}
      />
      {operations.length > 0 && <Operations operations={operations} />}
    </Panel>
  )
}

function Operations({ operations }: { readonly operations: OwnUsageAnswer["operations"] }) {
  return (
    <Table
      label="Usage by operation"
      columns={["API", "Operation", { number: "Calls" }, { number: "Failed" }]}
    >
      {operations.map(({ api, version, operation, calls, failed }) => (
        <tr key={`${api} ${version} ${operation}`}>
          <td>{api === null ? "others" : `${api} ${version ?? ""}`}</td>
          <td>{operation === null ? "–" : <code>{operation}</code>}</td>
          <td class="number">{calls.toLocaleString()}</td>
          <td class="number">{failed.toLocaleString()}</td>
        </tr>
      ))}
    </Table>
  )
}
