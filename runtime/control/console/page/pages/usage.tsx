import { PageHead, Panel } from "../parts/basic.tsx"
import { QueryField } from "../parts/query-field.tsx"
import { place, setQuery } from "../router.ts"
import { type UsageField, UsageTable } from "./usage-table.tsx"

const fields: readonly UsageField[] = [
  ...(["day", "subscription", "user", "product"] as const),
  ...(["api", "operation", "version", "status"] as const),
]
const periods = [
  ["1", "last day"],
  ["7", "last 7 days"],
  ["30", "last 30 days"],
  ["365", "last year"],
] as const

/** Calls by caller, product, API or day. */
export default function Usage() {
  const { query } = place.value
  const days = query.get("days") ?? "30"
  const given = (query.get("by") ?? "day").split(",")
  const by = fields.filter((each) => given.includes(each))
  const filters = Object.fromEntries(
    ["subscription", "user", "product", "api"].map((name) => [name, query.get(name) ?? undefined]),
  )
  const toggle = (name: UsageField, isOn: boolean) => {
    const next = isOn ? [...by, name] : by.filter((each) => each !== name)
    setQuery({ by: fields.filter((each) => next.includes(each)).join(",") })
  }
  return (
    <>
      <PageHead title="Usage" about="Calls of all processes, from the database" />
      <div class="filters">
        <label>
          <span>Time</span>
          <select value={days} onChange={(event) => setQuery({ days: event.currentTarget.value })}>
            {periods.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {(["subscription", "product", "api"] as const).map((name) => (
          <QueryField key={name} name={name} label={`Only ${name === "api" ? "API" : name}`} />
        ))}
      </div>
      <fieldset class="choices">
        <legend>Group by</legend>
        {fields.map((name) => (
          <label class="check" key={name}>
            <input
              type="checkbox"
              checked={by.includes(name)}
              onChange={(event) => toggle(name, event.currentTarget.checked)}
            />
            <span>{name === "api" ? "API" : name}</span>
          </label>
        ))}
      </fieldset>
      <Panel title="Calls">
        <UsageTable by={by} filters={filters} days={Number(days) || 30} />
      </Panel>
    </>
  )
}
