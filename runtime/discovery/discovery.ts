/** What finds the targets of a backend, with its values resolved. `name` without the port. */
export type DiscoveryTarget =
  | { readonly by: "dns"; readonly name: string; readonly port: number }
  | { readonly by: "srv"; readonly name: string }
  | {
      readonly by: "kubernetes"
      readonly namespace: string
      readonly service: string
      /** The name of a port of the service, or the number of a port of its pods; undefined: its only port. */
      readonly port: string | number | undefined
      /** URL of the API server. */
      readonly server: string
      /** Files with a token and with certificate authorities. */
      readonly tokenFile: string | undefined
      readonly caFile: string | undefined
    }

/** An address that requests can go to. */
export interface FoundTarget {
  /** IP address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Its share of the requests; may be a fraction. */
  readonly weight: number
  /** Targets with a greater number only get requests when none with a smaller one is available. */
  readonly priority: number
}

/** The state of a discovery, for status and metrics. */
export interface DiscoveryState {
  readonly by: DiscoveryTarget["by"]
  /** What is asked: a name, or a service. */
  readonly source: string
  /** Undefined: never found. */
  readonly targets: number | undefined
  /** Why the last attempt failed; undefined: it succeeded, or is the first one. */
  readonly failure: string | undefined
  readonly failures: number
  /** Since the source last confirmed the targets, in milliseconds. */
  readonly ageMs: number | undefined
}

/** Where a source reports. */
export interface SourceReport {
  /** The targets are exactly these; none means that requests have nowhere to go. */
  found(targets: readonly FoundTarget[]): void
  /** The source cannot say: the last targets stay in use. */
  failed(reason: string): void
}

/** Reports the targets of one discovery until the signal is aborted. */
export type TargetSource = (report: SourceReport, signal: AbortSignal) => Promise<void>

/** Something to log about a discovery. `failed` and `recovered` alternate for the same reason. */
export type DiscoveryNote = {
  readonly source: string
} & (
  | { readonly kind: "changed"; readonly added: readonly string[]; readonly removed: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string; readonly targets: number }
  | { readonly kind: "recovered" }
)

/** `10.0.0.1:8080`, `[2001:db8::1]:8080`. */
export function addressOf({ host, port }: FoundTarget): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}

/** What a source has found, kept while the source fails. */
export class Discovery implements SourceReport {
  readonly settings: DiscoveryTarget
  readonly #source: string
  readonly #note: (note: DiscoveryNote) => void
  readonly #listeners = new Set<(found: readonly FoundTarget[]) => void>()
  readonly #ending = new AbortController()
  #found: readonly FoundTarget[] | undefined
  #failure: string | undefined
  #failures = 0
  #confirmedMs = 0
  #settle: (() => void) | undefined
  /** Resolves when the source has reported for the first time, targets or a failure. */
  readonly reported = new Promise<void>((resolve) => {
    this.#settle = resolve
  })

  constructor(settings: DiscoveryTarget, source: TargetSource, note: (note: DiscoveryNote) => void) {
    this.settings = settings
    this.#source = sourceName(settings)
    this.#note = note
    void source(this, this.#ending.signal)
  }

  /** Undefined: nothing was ever found. */
  get targets(): readonly FoundTarget[] | undefined {
    return this.#found
  }

  state(): DiscoveryState {
    return {
      by: this.settings.by,
      source: this.#source,
      targets: this.#found?.length,
      failure: this.#failure,
      failures: this.#failures,
      ageMs: this.#found === undefined ? undefined : Math.round(performance.now() - this.#confirmedMs),
    }
  }

  /** Calls back with the targets whenever they change. Returns what ends it. */
  subscribe(listener: (found: readonly FoundTarget[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  found(targets: readonly FoundTarget[]): void {
    if (this.#ending.signal.aborted) return
    const before = this.#found
    this.#confirmedMs = performance.now()
    if (this.#failure !== undefined) this.#note({ kind: "recovered", source: this.#source })
    this.#failure = undefined
    if (before === undefined || !sameTargets(before, targets)) {
      this.#found = targets
      this.#noteChange(before ?? [], targets)
      for (const listener of this.#listeners) listener(targets)
    }
    this.#settle?.()
  }

  failed(reason: string): void {
    if (this.#ending.signal.aborted) return
    this.#failures += 1
    if (reason !== this.#failure) {
      this.#failure = reason
      this.#note({ kind: "failed", source: this.#source, reason, targets: this.#found?.length ?? 0 })
    }
    this.#settle?.()
  }

  close(): void {
    this.#ending.abort()
    this.#listeners.clear()
  }

  #noteChange(before: readonly FoundTarget[], after: readonly FoundTarget[]): void {
    const [old, next] = [new Set(before.map(addressOf)), new Set(after.map(addressOf))]
    const added = [...next].filter((each) => !old.has(each))
    const removed = [...old].filter((each) => !next.has(each))
    if (added.length + removed.length > 0)
      this.#note({ kind: "changed", source: this.#source, added, removed })
  }
}

function sourceName(settings: DiscoveryTarget): string {
  if (settings.by === "dns") return `${settings.name}:${settings.port}`
  if (settings.by === "srv") return settings.name
  const { namespace, service, port } = settings
  return `${namespace}/${service}${port === undefined ? "" : `:${port}`}`
}

/** Whether two lists are equal apart from their order, which name servers rotate. */
function sameTargets(one: readonly FoundTarget[], other: readonly FoundTarget[]): boolean {
  const keys = (targets: readonly FoundTarget[]) =>
    targets.map((each) => `${addressOf(each)} ${each.weight} ${each.priority}`).sort()
  const [ours, theirs] = [keys(one), keys(other)]
  return ours.length === theirs.length && ours.every((key, index) => key === theirs[index])
}
