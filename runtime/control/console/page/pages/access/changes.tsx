import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { CallFailure, get } from "../../client.ts"
import { type ListedTuple, storePath } from "../../engine.ts"
import { agoText, counted, momentText } from "../../format.ts"
import { Badge, Empty, Failed } from "../../parts/basic.tsx"
import { tupleText } from "../../parts/proof.tsx"
import { WindowList } from "../../parts/window-list.tsx"
import { addressOf, place } from "../../router.ts"
import { Question } from "./question.tsx"
import type { AccessView } from "./view.ts"

/** Shorter than proxies wait for a response. */
const wait = "20s"
const againMs = 2_000
/** Between two requests while tuples change all the time: each has rows in the audit log. */
const restMs = 1_000
const shownMax = 5_000
/** Changes that are read of the past, at most. */
const pastMax = 1_000
/** The shortest past that is looked for, in hours. */
const hoursLeast = 1 / 240
const hoursDefault = 1
const pageSize = 100

interface TupleChangeShown {
  readonly tuple_key: ListedTuple["key"]
  readonly operation: "TUPLE_OPERATION_WRITE" | "TUPLE_OPERATION_DELETE"
  readonly timestamp: string
}

interface ChangesPage {
  readonly changes: readonly TupleChangeShown[]
  readonly continuation_token: string
}

type FeedState = "connecting" | "live" | "lost" | "paused"

/** The changes of a store as they are committed, the newest first, after those of the last hour. */
export default function Changes({ store, types }: AccessView) {
  const { query } = place.value
  return (
    <>
      <section class="panel" aria-label="Filter">
        <Question
          view="changes"
          button="Follow"
          fields={[
            {
              ...{ name: "type", label: "Objects of type", placeholder: "all", isOptional: true },
              choices: [...types.keys()],
            },
            {
              name: "hours",
              label: "Begin so many hours ago",
              placeholder: String(hoursDefault),
              isOptional: true,
            },
          ]}
        />
      </section>
      <Feed
        key={query.toString()}
        store={store.id}
        type={query.get("type") ?? ""}
        hours={Number(query.get("hours") || hoursDefault)}
      />
    </>
  )
}

function Feed(props: { readonly store: string; readonly type: string; readonly hours: number }) {
  const { store, type, hours } = props
  const rows = useSignal<readonly TupleChangeShown[]>([])
  const state = useSignal<FeedState>("connecting")
  const error = useSignal<unknown>(undefined)
  useEffect(() => {
    const gone = new AbortController()
    const parts = { store, type, hours, rows, state, signal: gone.signal }
    follow(parts).catch((reason: unknown) => {
      if (!gone.signal.aborted) error.value = reason
    })
    return () => gone.abort()
  }, [])
  if (error.value !== undefined) return <Failed error={error.value} />
  return (
    <section class="panel" aria-label="Changes">
      <div class="list-head">
        <p role="status">
          <StateBadge state={state.value} /> <span class="quiet">{counted(rows.value.length, "change")}</span>
        </p>
      </div>
      {rows.value.length === 0 ? (
        <Empty title={state.value === "live" ? "Nothing has changed in this time" : "Reading the changes …"}>
          {state.value === "live" && "New changes appear here as they are committed."}
        </Empty>
      ) : (
        <WindowList
          label="Changes"
          narrowLines={2}
          columns={[{ title: "Tuple", class: "wide" }, { title: "Change" }, { title: "When" }]}
          count={rows.value.length}
          cells={(index) => cellsOf(rows.value[index])}
        />
      )}
    </section>
  )
}

function StateBadge({ state }: { readonly state: FeedState }) {
  if (state === "live") return <Badge tone="good">live</Badge>
  if (state === "lost") return <Badge tone="warn">not live: the connection was lost, trying again …</Badge>
  return <Badge tone="plain">{state === "paused" ? "paused" : "connecting …"}</Badge>
}

function cellsOf(row: TupleChangeShown | undefined) {
  if (row === undefined) return []
  const { condition, ...key } = row.tuple_key
  const text = tupleText({ ...key, condition: condition ?? undefined })
  const store = place.value.query.get("store") ?? undefined
  return [
    <a key="tuple" href={addressOf(["access", "check"], { store, ...key })} title={text}>
      {text}
    </a>,
    row.operation === "TUPLE_OPERATION_WRITE" ? (
      <Badge tone="good">added</Badge>
    ) : (
      <Badge tone="bad">removed</Badge>
    ),
    <span key="when" title={momentText(row.timestamp)}>
      {agoText(row.timestamp)}
    </span>,
  ]
}

interface FeedParts {
  readonly store: string
  readonly type: string
  readonly hours: number
  readonly rows: Signal<readonly TupleChangeShown[]>
  readonly state: Signal<FeedState>
  readonly signal: AbortSignal
}

/** Reads what was, then what comes. The place in the feed is taken first, so that nothing between the two is missing; what is read twice is shown once. */
async function follow(parts: FeedParts): Promise<void> {
  const { store, type, rows, state, signal } = parts
  const filter = type === "" ? {} : { type }
  const watch = (more: Readonly<Record<string, string>>) =>
    get<ChangesPage>(storePath(store, `watch?${new URLSearchParams({ ...filter, ...more })}`), signal)
  let { continuation_token: after } = await watch({ wait: "0s" })
  add(rows, await past(parts, filter))
  while (!signal.aborted) {
    if (document.hidden) {
      state.value = "paused"
      await visible(signal)
      continue
    }
    try {
      // The first response of a connection comes at once, and shows that it works.
      const found = await watch({ after, wait: state.peek() === "live" ? wait : "0s" })
      state.value = "live"
      after = found.continuation_token
      if (found.changes.length === 0) continue
      add(rows, found.changes)
      await pause(restMs, signal)
    } catch (error) {
      const isPassing = error instanceof CallFailure && (error.status === 0 || error.status >= 500)
      if (signal.aborted || !isPassing) throw error
      state.value = "lost"
      await pause(againMs, signal)
    }
  }
}

/** The changes of the last hours; of a shorter time when they are more than are shown, because the feed is read forwards. */
async function past(
  parts: FeedParts,
  filter: Readonly<Record<string, string>>,
): Promise<readonly TupleChangeShown[]> {
  for (let { hours } = parts; hours > 0; hours /= 4) {
    const { changes, isWhole } = await since(parts, filter, hours)
    if (isWhole || hours < hoursLeast) return changes
  }
  return []
}

async function since(
  { store, signal }: FeedParts,
  filter: Readonly<Record<string, string>>,
  hours: number,
): Promise<{ readonly changes: readonly TupleChangeShown[]; readonly isWhole: boolean }> {
  const changes: TupleChangeShown[] = []
  let place: Readonly<Record<string, string>> = {
    start_time: new Date(Date.now() - hours * 3_600_000).toISOString(),
  }
  while (changes.length < pastMax) {
    const query = new URLSearchParams({ ...filter, ...place, page_size: String(pageSize) })
    const page = await get<ChangesPage>(storePath(store, `changes?${query}`), signal)
    changes.push(...page.changes)
    const token = page.continuation_token
    if (token === "" || token === place["continuation_token"] || page.changes.length === 0)
      return { changes, isWhole: true }
    place = { continuation_token: token }
  }
  return { changes, isWhole: false }
}

function add(rows: Signal<readonly TupleChangeShown[]>, changes: readonly TupleChangeShown[]): void {
  const idOf = (row: TupleChangeShown) => `${row.timestamp} ${row.operation} ${JSON.stringify(row.tuple_key)}`
  const known = new Set(rows.peek().map(idOf))
  const fresh = changes.filter((row) => !known.has(idOf(row))).toReversed()
  if (fresh.length > 0) rows.value = [...fresh, ...rows.peek()].slice(0, shownMax)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const seen = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener("visibilitychange", seen)
      resolve()
    }
    document.addEventListener("visibilitychange", seen)
    signal.addEventListener("abort", seen)
  })
}
