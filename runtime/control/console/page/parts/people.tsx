import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { ImpactLine } from "../../../impact.ts"
import { postLines } from "../client.ts"
import { counted } from "../format.ts"
import { AccessBadge, WholeChanges } from "./access-changes.tsx"
import { Badge, Empty, Failed, Panel, Scroll, type Tone } from "./basic.tsx"

type ImpactResult = Extract<ImpactLine, { readonly impact: unknown }>
type RelationRow = ImpactResult["impact"]["relations"][number]
type Change = RelationRow["samples"][number]["change"]

/** What is known so far of one store. */
interface StoreState {
  readonly text: string
  readonly result: ImpactResult | undefined
}

const columns = [
  ["gains", "Gain", "bad"],
  ["may-gain", "May gain", "warn"],
  ["loses", "Lose", "warn"],
  ["may-lose", "May lose", "warn"],
  ["undecided", "Undecided", "plain"],
] as const satisfies readonly (readonly [Change, string, Tone])[]

/** Who gains or loses access if a plan is applied now, over the tuples of the running stores. It takes a thread, so it begins by a button. */
export function People({ plan }: { readonly plan: () => Promise<unknown> }) {
  const state = useSignal<"idle" | "running" | "done">("idle")
  const error = useSignal<unknown>(undefined)
  const stores = useSignal<ReadonlyMap<string, StoreState>>(new Map())
  const ending = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => ending.current?.abort(), [])
  const take = (line: ImpactLine) => {
    if ("error" in line) error.value = new Error(line.error)
    if ("store" in line) stores.value = new Map(stores.peek()).set(line.store, stateOf(line))
  }
  const compare = async () => {
    const abort = new AbortController()
    ending.current = abort
    ;[state.value, error.value, stores.value] = ["running", undefined, new Map()]
    try {
      await postLines<ImpactLine>("/v1/plan/impact", { plan: await plan() }, abort.signal, take)
    } catch (reason) {
      if (!abort.signal.aborted) error.value = reason
    }
    state.value = abort.signal.aborted ? "idle" : "done"
  }
  const found = [...stores.value]
  return (
    <Panel title="People" aside="over the tuples of now">
      {state.value === "idle" && (
        <p>
          <button type="button" onClick={() => void compare()}>
            Who gains or loses access?
          </button>
        </p>
      )}
      {state.value === "running" && (
        <p role="status">
          Comparing …{" "}
          <button type="button" onClick={() => ending.current?.abort()}>
            Cancel
          </button>
        </p>
      )}
      {error.value !== undefined && <Failed error={error.value} retry={() => void compare()} />}
      {state.value === "done" && error.value === undefined && found.length === 0 && (
        <Empty title="No model changes, so nobody gains or loses a relation" />
      )}
      {found.map(([store, { text, result }]) => (
        <section key={store} aria-label={`Store ${store}`}>
          <h3>{store}</h3>
          {result === undefined ? <p class="quiet">{text}</p> : <StorePeople result={result} />}
        </section>
      ))}
    </Panel>
  )
}

function stateOf(line: Extract<ImpactLine, { readonly store: string }>): StoreState {
  if ("impact" in line) return { text: "", result: line }
  if ("reading" in line) return { text: `reading tuples${partText(line.reading)}`, result: undefined }
  return {
    text: "progress" in line ? `comparing${partText(line.progress.part)}` : "comparing",
    result: undefined,
  }
}

function partText(part: number | null): string {
  return part === null ? "" : `: ${Math.round(part * 100)} %`
}

function StorePeople({ result: { impact, tuples, whole, revision } }: { readonly result: ImpactResult }) {
  return (
    <>
      <p class="quiet">
        {counted(tuples, "tuple")}
        {whole ? "" : " that the change concerns"}, at revision {revision}
        {impact.compared < impact.candidates &&
          `; a sample: ${impact.compared.toLocaleString("en")} of ${counted(impact.candidates, "object")} were compared`}
      </p>
      {impact.relations.length === 0 ? (
        <Empty title="Nobody gains or loses access" />
      ) : (
        <>
          <p class="summary">
            {columns
              .filter(([change]) => impact.users[change] > 0)
              .map(([change, title, tone]) => (
                <Badge key={change} tone={tone}>
                  {counted(impact.users[change], "user")}: {title.toLowerCase()}
                </Badge>
              ))}
          </p>
          <Relations relations={impact.relations} />
        </>
      )}
      {impact.tuples.length > 0 && (
        <ul class="plain-list">
          {impact.tuples.map((each) => (
            <li key={`${each.user} ${each.relation} ${each.type} ${each.condition} ${each.becomes}`}>
              {counted(each.tuples, "tuple")} <code>{`${each.user} ${each.relation} ${each.type}`}</code> will
              be {each.becomes}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A row for each relation, with whom it concerns as a whole and some examples below. */
function Relations({ relations }: { readonly relations: readonly RelationRow[] }) {
  const used = columns.filter(([change]) => relations.some((each) => each.users[change] > 0))
  return (
    <Scroll label="Relations">
      <table>
        <thead>
          <tr>
            <th>Relation</th>
            <th class="number">Objects</th>
            {used.map(([change, title]) => (
              <th class="number" key={change}>
                {title}
              </th>
            ))}
            <th>Who</th>
          </tr>
        </thead>
        <tbody>
          {relations.map((each) => (
            <tr key={each.relation}>
              <th scope="row">
                <code>{each.relation}</code>
              </th>
              <td class="number">{each.objects.toLocaleString("en")}</td>
              {used.map(([change]) => (
                <td class="number" key={change}>
                  {each.users[change].toLocaleString("en")}
                </td>
              ))}
              <td>
                <Whom relation={each} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** Everybody and groups as such, then examples of named users. */
function Whom({ relation }: { readonly relation: RelationRow }) {
  const { everyone, groups, samples, conditions, exceptions } = relation
  return (
    <ul class="plain-list">
      <WholeChanges {...{ everyone, groups, exceptions }} />
      {samples.map(({ user, change, object }) => (
        <li key={`${user} ${change} ${object}`}>
          <AccessBadge change={change} /> <code>{user}</code> on <code>{object}</code>
        </li>
      ))}
      {conditions.length > 0 && <li class="quiet">depends on {conditions.join(", ")}</li>}
    </ul>
  )
}
