import { ApiError } from "./api-error.ts"
import type { ApiRoute } from "./route.ts"

/** A route and its parameters from the path. */
export interface RouteMatch {
  readonly route: ApiRoute
  readonly store: string
  readonly id: string
}

interface Place {
  readonly words: Map<string, Place>
  /** The next place for any parameter value. */
  any: Place | undefined
  readonly routes: Map<string, ApiRoute>
}

const knownMax = 1_000
const knownLengthMax = 256

/** Finds routes by method and path. A path with an empty part does not match. */
export class Router {
  readonly #root = newPlace()
  /** Paths that were found before, by method, because services ask about the same few stores. */
  readonly #found = new Map<string, Map<string, RouteMatch>>()

  constructor(routes: readonly ApiRoute[]) {
    for (const route of routes) {
      let place = this.#root
      for (const word of route.path.slice(1).split("/")) place = step(place, word)
      place.routes.set(route.method, route)
    }
  }

  /**
   * `path` is without the query.
   * @throws ApiError when it cannot be decoded
   */
  find(method: string, path: string): RouteMatch | undefined {
    const known = this.#found.get(method)?.get(path)
    if (known !== undefined) return known
    const match = this.#search(method, path)
    if (match !== undefined && path.length <= knownLengthMax) this.#keep(method, path, match)
    return match
  }

  /** Whether another method has a route at a path for which `find` found none. */
  hasPath(path: string): boolean {
    return ["GET", "POST", "PUT", "PATCH", "DELETE"].some((method) => this.find(method, path) !== undefined)
  }

  #keep(method: string, path: string, match: RouteMatch): void {
    const paths = this.#found.get(method) ?? new Map<string, RouteMatch>()
    if (paths.size >= knownMax) paths.clear()
    this.#found.set(method, paths.set(path, match))
  }

  #search(method: string, path: string): RouteMatch | undefined {
    let place: Place | undefined = this.#root
    let store = ""
    let id = ""
    for (let from = 1; ; ) {
      const slash = path.indexOf("/", from)
      const word = slash < 0 ? path.slice(from) : path.slice(from, slash)
      const next: Place | undefined = place.words.get(word)
      if (next !== undefined) place = next
      else if (place.any === undefined || word === "") return undefined
      else {
        const value = word.includes("%") ? decoded(word, path) : word
        if (store === "") store = value
        else id = value
        place = place.any
      }
      if (slash < 0) break
      from = slash + 1
    }
    const route = place.routes.get(method)
    return route === undefined ? undefined : { route, store, id }
  }
}

function newPlace(): Place {
  return { words: new Map(), any: undefined, routes: new Map() }
}

function step(place: Place, word: string): Place {
  if (word.startsWith("{")) {
    place.any ??= newPlace()
    return place.any
  }
  const known = place.words.get(word)
  if (known !== undefined) return known
  const made = newPlace()
  place.words.set(word, made)
  return made
}

function decoded(word: string, path: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    throw new ApiError("validation_error", `'${path}' is not a valid url component`)
  }
}
