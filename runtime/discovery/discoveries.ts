import type { HostNames } from "../http/names/host-names.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { Discovery, type DiscoveryNote, type DiscoveryTarget, type TargetSource } from "./discovery.ts"
import { nameSource, serviceSource } from "./dns-sources.ts"
import { kubernetesSource } from "./kubernetes/kubernetes-source.ts"

/** A discovery that several backends may share. */
export interface HeldDiscovery {
  readonly discovery: Discovery
  /** Ends the discovery with its last holder. */
  release(): void
}

/** The discoveries of the process. A new plan that keeps one keeps what it has found. */
export class Discoveries {
  readonly #names: HostNames
  readonly #note: (note: DiscoveryNote) => void
  readonly #entries = new Map<string, { readonly discovery: Discovery; holders: number }>()

  constructor(names: HostNames, note: (note: DiscoveryNote) => void = () => undefined) {
    this.#names = names
    this.#note = note
  }

  take(settings: DiscoveryTarget): HeldDiscovery {
    const key = canonicalJson(settings)
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = { discovery: new Discovery(settings, this.#sourceOf(settings), this.#note), holders: 0 }
      this.#entries.set(key, entry)
    }
    const held = entry
    held.holders += 1
    let released = false
    return {
      discovery: held.discovery,
      release: () => {
        if (released) return
        released = true
        held.holders -= 1
        if (held.holders > 0) return
        this.#entries.delete(key)
        held.discovery.close()
      },
    }
  }

  /** Ends all of them. */
  close(): void {
    for (const { discovery } of this.#entries.values()) discovery.close()
    this.#entries.clear()
  }

  #sourceOf(settings: DiscoveryTarget): TargetSource {
    const { questions } = this.#names
    if (settings.by === "dns") return nameSource(settings, questions)
    if (settings.by === "srv") return serviceSource(settings, questions)
    return kubernetesSource(settings, this.#names)
  }
}
