import { LRUCache } from "lru-cache"
import type { BackendHandle } from "../../policies/exchange.ts"
import type { BackendsByUrl } from "../../policies/ports.ts"
import { plainBackend } from "./backend-settings.ts"
import { BackendClient } from "./backends.ts"
import type { Pools } from "./pools.ts"

/** Backends at computed URLs are kept with their connections; the least recently used one is removed first. */
const backendsMax = 200
const connectMs = 5_000

/** Makes backends for URLs that are computed per request. They have no timeout of their own; the route's applies. */
export class UrlBackends implements BackendsByUrl {
  readonly #pools: Pools
  readonly #backends = new LRUCache<string, BackendClient>({
    max: backendsMax,
    dispose: (backend) => backend.release(),
  })

  constructor(pools: Pools) {
    this.#pools = pools
  }

  /** The backend of a URL that a step computes. Backends are kept by address, because connections can be shared. */
  at(url: string): BackendHandle {
    const known = this.#backends.get(url)
    if (known !== undefined) return known
    const { origin, pathname } = new URL(url)
    const address = origin + pathname
    // One backend for all queries, because each request may have another query.
    if (address !== url) return this.at(address)
    const settings = { ...plainBackend, targets: [{ url, weight: 1 }], connectMs }
    const made = new BackendClient(origin, settings, this.#pools)
    this.#backends.set(url, made)
    return made
  }
}
