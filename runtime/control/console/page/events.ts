import { signal } from "@preact/signals"
import type { EventTopic, LoggedRequest, StatusAnswer, TrafficPoint } from "../../api.ts"
import { loadWho, who } from "./client.ts"

/** What happens to the stream of events: `paused` while the page is not visible. */
export type LinkState = "connecting" | "open" | "lost" | "paused"

/** The state of the stream. */
export const linkState = signal<LinkState>("connecting")
/** The newest status of the fleet. */
export const status = signal<StatusAnswer | undefined>(undefined)

/** What a page gets of the stream. */
export interface Watcher {
  readonly traffic?: (point: TrafficPoint) => void
  readonly log?: (line: LoggedRequest) => void
  /** Lines that the process left out, because there were too many. */
  readonly dropped?: (lines: number) => void
  /** Filters of the log. */
  readonly filters?: Readonly<Record<string, string | undefined>>
}

const watchers = new Set<Watcher>()
const retryMs = 3_000
let source: EventSource | undefined
let openedWith = ""
let retry: ReturnType<typeof setTimeout> | undefined

/** Gives events to a watcher until the returned function is called. All watchers share one connection: browsers allow only six to one server. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher)
  queueMicrotask(follow)
  return () => {
    watchers.delete(watcher)
    queueMicrotask(follow)
  }
}

/** Opens the stream as it is needed now: for a signed-in operator, while the page is visible. */
export function follow(): void {
  if (!who.peek() || document.hidden) {
    close(document.hidden ? "paused" : "connecting")
    return
  }
  const address = addressOfStream()
  if (source !== undefined && address === openedWith) return
  close("connecting")
  openedWith = address
  source = new EventSource(address)
  source.addEventListener("open", () => {
    linkState.value = "open"
  })
  source.addEventListener("error", lost)
  listen(source)
}

document.addEventListener("visibilitychange", follow)

function addressOfStream(): string {
  const topics = new Set<EventTopic>(["status"])
  let filters: Watcher["filters"] = {}
  for (const watcher of watchers) {
    if (watcher.traffic !== undefined) topics.add("traffic")
    if (watcher.log === undefined) continue
    topics.add("log")
    filters = watcher.filters ?? {}
  }
  const given = Object.entries(filters).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return `/v1/events?${new URLSearchParams([["topics", [...topics].join(",")], ...given])}`
}

function listen(stream: EventSource): void {
  const on = <Content>(name: string, take: (content: Content) => void) =>
    stream.addEventListener(name, (event) => take(JSON.parse(event.data as string) as Content))
  on<StatusAnswer>("status", (content) => {
    status.value = content
  })
  on<TrafficPoint>("traffic", (point) => {
    for (const each of watchers) each.traffic?.(point)
  })
  on<LoggedRequest>("log", (line) => {
    for (const each of watchers) each.log?.(line)
  })
  on<{ lines: number }>("dropped", ({ lines }) => {
    for (const each of watchers) each.dropped?.(lines)
  })
  on("ended", () => void loadWho().catch(() => undefined))
}

/** The browser opens a connection that broke again by itself, but not one that was refused: then the session may be over. */
function lost(): void {
  linkState.value = "lost"
  if (source?.readyState !== EventSource.CLOSED) return
  close("lost")
  clearTimeout(retry)
  retry = setTimeout(() => {
    loadWho().then(follow, lost)
  }, retryMs)
}

function close(state: LinkState): void {
  source?.close()
  source = undefined
  openedWith = ""
  linkState.value = state
}
