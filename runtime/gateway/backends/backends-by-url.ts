import { LRUCache } from "lru-cache"
import type { BackendHandle } from "../../policies/exchange.ts"
import type { BackendsByUrl } from "../../policies/ports.ts"
import { BackendClient, type Pools, plainBackend } from "./backends.ts"

/** Backends that expressions name, kept with their connections; the one not used for the longest time leaves first. */
const backendsMax = 200
const connectMs = 5_000

/** Makes backends of URLs that are found per request. Their time is that of the route. */
export class UrlBackends implements BackendsByUrl {
  readonly #pools: Pools
  readonly #backends = new LRUCache<string, BackendClient>({
    max: backendsMax,
    dispose: (backend) => backend.release(),
  })

  constructor(pools: Pools) {
    this.#pools = pools
  }

  at(url: string): BackendHandle {
    const known = this.#backends.get(url)
    if (known !== undefined) return known
    const { origin, pathname } = new URL(url)
    const address = origin + pathname
    // One backend for all queries: they may be another in each request.
    if (address !== url) return this.at(address)
    const settings = { ...plainBackend, targets: [{ url, weight: 1 }], connectMs }
    const made = new BackendClient(origin, settings, this.#pools)
    this.#backends.set(url, made)
    return made
  }
}
