import type { Route } from "../../runtime/plan/resources.ts"
import { isGuardKind } from "./auth-changes.ts"
import type { StepWords } from "./step-words.ts"

type Segment = { readonly kind: "static"; readonly text: string } | { readonly kind: "parameter" | "tail" }

/** A route's key with the names of parameters left out: routes of equal shape match the same requests. */
export function shapeOf({ method, path, hosts = [] }: Route): string {
  return `${method} ${hosts.join(",")}${path.replace(/\{[^}*]*(\*?)\}/g, "{$1}")}`
}

/** Names of the path's parameters, in order. */
export function parametersOf({ path }: Route): string[] {
  return [...path.matchAll(/\{([^}*]*)\*?\}/g)].map(([, name]) => name ?? "")
}

/** Finds the route that matches all requests another one matches. */
export class RouteCover {
  /** By first segment; routes whose first segment is a parameter or tail are under the empty text. */
  readonly #byFirst = new Map<string, { route: Route; key: string; segments: readonly Segment[] }[]>()

  constructor(routes: Readonly<Record<string, Route>>) {
    for (const [key, route] of Object.entries(routes)) {
      const segments = segmentsOf(route.path)
      const first = firstOf(segments)
      const known = this.#byFirst.get(first)
      if (known === undefined) this.#byFirst.set(first, [{ route, key, segments }])
      else known.push({ route, key, segments })
    }
  }

  /** The most specific route that matches every request `route` matches; undefined when there is none. */
  of(route: Route): { readonly key: string; readonly route: Route } | undefined {
    const segments = segmentsOf(route.path)
    const candidates = [...new Set([firstOf(segments), ""])].flatMap(
      (first) => this.#byFirst.get(first) ?? [],
    )
    return candidates
      .filter(
        (each) =>
          each.route !== route &&
          servesHostsOf(each.route, route) &&
          takes(each.route.method, route.method) &&
          covers(each.segments, segments),
      )
      .sort((a, b) => specificity(b.segments) - specificity(a.segments) || (a.key < b.key ? -1 : 1))[0]
  }
}

/** What a route asks of callers before it serves them, in words: `auth`, `limit`, `require`. */
export function guardsOf({ sections }: Route, words: StepWords): string[] {
  return sections.inbound.flatMap((id) => {
    const step = words.body.steps[id]
    return step !== undefined && isGuardKind(step) ? [words.of(id)] : []
  })
}

/** A route of every host, or of all of the other's. */
function servesHostsOf({ hosts }: Route, other: Route): boolean {
  return hosts === undefined || (other.hosts?.every((host) => hosts.includes(host)) ?? false)
}

/** HEAD is answered by GET where no route names it. */
function takes(general: string, specific: string): boolean {
  return general === "*" || general === specific || (general === "GET" && specific === "HEAD")
}

function segmentsOf(path: string): Segment[] {
  return path
    .split("/")
    .slice(1)
    .map((text) => {
      if (!/^\{.*\}$/.test(text)) return { kind: "static", text }
      return { kind: text.endsWith("*}") ? "tail" : "parameter" }
    })
}

function firstOf([first]: readonly Segment[]): string {
  return first?.kind === "static" ? `/${first.text}` : ""
}

function covers(general: readonly Segment[], specific: readonly Segment[]): boolean {
  for (const [at, segment] of general.entries()) {
    if (segment.kind === "tail") return specific.length >= at
    const other = specific[at]
    if (other === undefined || other.kind === "tail") return false
    if (segment.kind === "static" && (other.kind !== "static" || other.text !== segment.text)) return false
  }
  return general.length === specific.length
}

/** More static segments first, then fewer tails. */
function specificity(segments: readonly Segment[]): number {
  return segments.reduce((sum, { kind }) => sum + (kind === "static" ? 4 : kind === "parameter" ? 2 : 1), 0)
}
