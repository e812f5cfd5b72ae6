import type { RouteCounts, RouteSummary, RoutesAnswer, VersionSummary } from "../../../api.ts"
import { addedCounts } from "../../../route-counts.ts"
import { counted, digits, msText } from "../format.ts"
import { useLiveCounts } from "../live-counts.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Failed, Loading, PageHead, Scroll } from "../parts/basic.tsx"
import { QueryField } from "../parts/query-field.tsx"
import type { Rate } from "../rates.ts"
import { addressOf, place, setQuery } from "../router.ts"
import RoutePage from "./route.tsx"

/** With more routes than this, all versions are closed first. */
const shownFirst = 200
const shownMax = 1_000
/** In the address: all versions are closed. It is the name of none. */
const nothingOpen = "-"

/** The routes of the newest plan with their traffic, or one of them. */
export default function Routes() {
  const key = place.value.segments[1]
  return key === undefined ? <List /> : <RoutePage key={key} name={key} />
}

function List() {
  const text = place.value.query.get("text") ?? ""
  const asked = place.value.query.get("open") ?? undefined
  const path = `/v1/routes?${new URLSearchParams({
    ...(asked !== undefined && { in: asked }),
    ...{ text, limit: String(asked === undefined ? shownFirst : shownMax) },
  })}`
  const { answer, error, reload } = useLoaded<RoutesAnswer>(path)
  const { newest: found = answer.value, rates } = useLiveCounts(answer.value, path, countsOf)
  return (
    <>
      <PageHead
        title="Routes"
        about={
          found &&
          `${counted(found.total, "route")}${found.serial === null ? "" : ` of plan ${found.serial}`}`
        }
      />
      <div class="filters">
        <QueryField name="text" label="Path, API, version or operation" isLive isWide />
      </div>
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined ? (
        error.value === undefined && <Loading />
      ) : found.total === 0 ? (
        <NoRoute text={text} serial={found.serial} />
      ) : (
        <Tree found={found} counts={countsOf(found)} rates={rates} open={openOf(found, asked)} />
      )}
    </>
  )
}

/** The name of a version in the address and in questions. */
function nameOf({ api, version }: Pick<VersionSummary, "api" | "version">): string {
  return version === null ? api : `${api}.${version}`
}

/** The versions whose routes are shown. Without a choice of the reader they are all, unless there are too many routes. */
function openOf({ versions, next }: RoutesAnswer, asked: string | undefined): ReadonlySet<string> {
  if (asked !== undefined) return new Set(asked.split(" "))
  return new Set(next === null ? versions.map(nameOf) : [])
}

function NoRoute({ text, serial }: { readonly text: string; readonly serial: number | null }) {
  if (text !== "")
    return <Empty title="No route matches">Every word must be a part of its path or names.</Empty>
  return serial === null ? (
    <Empty title="No plan was applied yet">
      <code>sallyport apply</code> applies one.
    </Empty>
  ) : (
    <Empty title="The plan has no routes" />
  )
}

/** By the key of a route, and the name of an API and of a version: no key is a name, because a key has a path. */
function countsOf(answer: RoutesAnswer | undefined): ReadonlyMap<string, RouteCounts> {
  const found = new Map<string, RouteCounts>()
  for (const { key, counts } of answer?.routes ?? []) if (counts !== null) found.set(key, counts)
  for (const { api, version, counts } of answer?.versions ?? []) {
    if (counts === null) continue
    found.set(api, addedCounts(found.get(api), counts))
    if (version !== null) found.set(nameOf({ api, version }), counts)
  }
  return found
}

interface TreeProps {
  readonly found: RoutesAnswer
  readonly counts: ReadonlyMap<string, RouteCounts>
  readonly rates: ReadonlyMap<string, Rate>
  /** Names of versions. */
  readonly open: ReadonlySet<string>
}

/** APIs, their versions, and the routes of those that are open. */
function Tree(tree: TreeProps) {
  const { found, open } = tree
  const apis = [...new Set(found.versions.map(({ api }) => api))]
  return (
    <div class="panel">
      <Scroll label="Routes">
        <table class="list">
          <thead>
            <tr>
              <th>Route</th>
              <th class="number">Requests</th>
              <th class="number">Rate</th>
              <th class="number">Errors</th>
              <th class="number">p95</th>
              <th>Text</th>
            </tr>
          </thead>
          {apis.map((api) => (
            <Api key={api} api={api} {...tree} />
          ))}
        </table>
      </Scroll>
      {found.next !== null && open.size > 0 && (
        <p class="quiet">
          Only the first {shownMax.toLocaleString("en")} routes of what is open are shown. Close versions, or
          search for a path.
        </p>
      )}
    </div>
  )
}

/** An API. Its versions are rows of their own, if it has versions. */
function Api({ api, ...tree }: TreeProps & { readonly api: string }) {
  const { found, counts, rates, open } = tree
  const versions = found.versions.filter((each) => each.api === api)
  const names = versions.map(nameOf)
  const isOpen = names.some((name) => open.has(name))
  const hasVersions = versions.some(({ version }) => version !== null)
  return (
    <tbody>
      <GroupRow
        title={api}
        about={counted(
          versions.reduce((sum, { routes }) => sum + routes, 0),
          "route",
        )}
        level={0}
        counts={counts.get(api)}
        rate={rates.get(api)}
        isOpen={isOpen}
        onToggle={() => toggle(open, names, !isOpen)}
      />
      {isOpen &&
        versions.map((each) => (
          <Version
            key={nameOf(each)}
            shown={each}
            isOpen={open.has(nameOf(each))}
            hasOwnRow={hasVersions}
            {...tree}
          />
        ))}
    </tbody>
  )
}

function Version(
  props: TreeProps & {
    readonly shown: VersionSummary
    readonly isOpen: boolean
    readonly hasOwnRow: boolean
  },
) {
  const { shown, isOpen, hasOwnRow, found, counts, rates, open } = props
  const { api, version, routes } = shown
  const name = nameOf(shown)
  return (
    <>
      {hasOwnRow && (
        <GroupRow
          title={version ?? "no version"}
          about={counted(routes, "route")}
          level={1}
          counts={counts.get(name)}
          rate={rates.get(name)}
          isOpen={isOpen}
          onToggle={() => toggle(open, [name], !isOpen)}
        />
      )}
      {isOpen &&
        found.routes
          .filter((route) => route.api === api && route.version === version)
          .map((route) => (
            <Row key={route.key} route={route} rate={rates.get(route.key)} level={hasOwnRow ? 2 : 1} />
          ))}
    </>
  )
}

/** Opens or closes versions; the address says which are open. */
function toggle(open: ReadonlySet<string>, names: readonly string[], isOpening: boolean): void {
  const others = [...open].filter((each) => !names.includes(each) && each !== nothingOpen)
  const next = isOpening ? [...others, ...names] : others
  setQuery({ open: next.length === 0 ? nothingOpen : next.join(" ") })
}

function GroupRow(props: {
  readonly title: string
  readonly about: string
  readonly level: number
  readonly counts: RouteCounts | undefined
  readonly rate: Rate | undefined
  readonly isOpen: boolean
  onToggle(): void
}) {
  const { title, about, level, counts, rate, isOpen, onToggle } = props
  return (
    <tr class={level === 0 ? "group" : undefined}>
      <th scope="rowgroup" class={`level-${level}`}>
        <button type="button" class="branch" aria-expanded={isOpen} onClick={onToggle}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
          {title}
        </button>{" "}
        <span class="quiet">{about}</span>
      </th>
      <Numbers counts={counts} rate={rate} />
      <td />
    </tr>
  )
}

function Row(props: {
  readonly route: RouteSummary
  readonly rate: Rate | undefined
  readonly level: number
}) {
  const { route, rate, level } = props
  return (
    <tr>
      <td class={`level-${level}`}>
        <a href={addressOf(["routes", route.key])} class="route">
          <code>
            <span class="method">{route.method === "*" ? "ANY" : route.method}</span> {route.hosts.join(",")}
            {route.path}
          </code>
        </a>
      </td>
      <Numbers counts={route.counts} rate={rate} />
      <td>
        <code class="quiet">{route.place}</code>
      </td>
    </tr>
  )
}

function Numbers(props: {
  readonly counts: RouteCounts | null | undefined
  readonly rate: Rate | undefined
}) {
  const { counts, rate } = props
  const all = counts?.requests.reduce((sum, count) => sum + count, 0) ?? 0
  return (
    <>
      <td class="number">{all.toLocaleString("en")}</td>
      <td class="number">{rate === undefined ? "–" : `${digits(rate.perSecond)}/s`}</td>
      <td class="number">{rate === undefined ? "–" : `${digits(rate.errorShare * 100)} %`}</td>
      <td class="number">{msText(rate?.p95 ?? null)}</td>
    </>
  )
}
