import { computed, signal } from "@preact/signals"

/** What all addresses of these pages begin with, as their `index.html` says. */
const base = document.getElementById("app")?.dataset["base"] ?? "/console/"

/** Where the reader is: the path below the base, decoded by segment, and the query. Every view has an address. */
export interface ViewPlace {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

function here(): ViewPlace {
  const { pathname, search } = location
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : ""
  return {
    segments: path
      .split("/")
      .filter((each) => each !== "")
      .map(decoded),
    query: new URLSearchParams(search),
  }
}

/** A segment that a person typed may be no valid encoding. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The current place. */
export const place = signal<ViewPlace>(here())

/** The first segment: the page. */
export const pageName = computed(() => place.value.segments[0] ?? "overview")

addEventListener("popstate", () => {
  place.value = here()
})

/** The address of a view; undefined and empty values of the query are left out. */
export function addressOf(
  segments: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const text = new URLSearchParams(given).toString()
  return base + segments.map(encodeURIComponent).join("/") + (text === "" ? "" : `?${text}`)
}

/** Shows another view. `replace`: the back button does not return to this one. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, "", address)
  else history.pushState(null, "", address)
  place.value = here()
}

/** Changes values of the query of this view, without a step of the back button. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = { ...Object.fromEntries(place.peek().query), ...changes }
  go(addressOf(place.peek().segments, query), true)
}

/** Follows links within the console without loading the page again. Clicks with a modifier stay those of the browser. */
export function followLinks(root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest("a")
    if (link === null || link.target !== "" || link.rel === "external" || link.hasAttribute("download"))
      return
    if (link.origin !== location.origin || !link.pathname.startsWith(base)) return
    event.preventDefault()
    go(link.pathname + link.search)
  })
}
