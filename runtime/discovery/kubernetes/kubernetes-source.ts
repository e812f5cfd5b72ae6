import { setTimeout as sleep } from "node:timers/promises"
import * as z from "zod"
import type { HostNames } from "../../http/names/host-names.ts"
import type { DiscoveryTarget, SourceReport, TargetSource } from "../discovery.ts"
import { ApiServer, ApiServerError } from "./api-server.ts"
import { type EndpointSlice, endpointSlice, targetsOf } from "./endpoint-slices.ts"

/** After failures, and after watches that end at once, the server is asked at growing intervals. */
const pauseMsMin = 200
const pauseMsMax = 30_000
/** The server is asked to end a watch after 4 to 5 minutes, as clients of Kubernetes do: connections then spread over its replicas. */
const watchSecondsMin = 240
const watchSecondsMax = 300
/** A watch that the server does not end is given up after this additional time: its connection may be dead. */
const deadMs = 15_000
const pageMax = 500

const sliceList = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(endpointSlice).nullish(),
})

const watchEvent = z.looseObject({ type: z.string(), object: z.unknown() })
const versioned = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) })
const apiStatus = z.looseObject({ code: z.number().optional(), message: z.string().optional() })

/** The events since the version are no longer known to the server (410): everything has to be listed again. */
class Expired extends Error {
  override readonly name = "Expired"
}

type Settings = Extract<DiscoveryTarget, { by: "kubernetes" }>

/** Follows the EndpointSlices of a service: lists them, then watches for changes from that version on. */
export function kubernetesSource(settings: Settings, names: HostNames): TargetSource {
  return async (report, signal) => {
    const server = new ApiServer(settings, names)
    const watch = new SliceWatch(server, settings, report, signal)
    try {
      await watch.run()
    } finally {
      await server.close()
    }
  }
}

/** One service, as long as it is followed. */
class SliceWatch {
  readonly #server: ApiServer
  readonly #settings: Settings
  readonly #report: SourceReport
  readonly #signal: AbortSignal
  readonly #slices = new Map<string, EndpointSlice>()
  /** Undefined: a list is needed. */
  #version: string | undefined
  #pauseMs = pauseMsMin

  constructor(server: ApiServer, settings: Settings, report: SourceReport, signal: AbortSignal) {
    this.#server = server
    this.#settings = settings
    this.#report = report
    this.#signal = signal
  }

  /** Runs until the signal is aborted. A failure keeps what is known, and the version, so that missed events are delivered later. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list()
        await this.#watch()
      } catch (error) {
        if (error instanceof Expired || (error instanceof ApiServerError && error.status === 410)) {
          this.#version = undefined
          continue
        }
        this.#report.failed((error as Error).message)
      }
      await this.#pause()
    }
  }

  /** Reads all slices, in pages. */
  async #list(): Promise<void> {
    const slices = new Map<string, EndpointSlice>()
    let next: string | undefined
    let version: string | undefined
    do {
      const page = next === undefined ? "" : `&continue=${encodeURIComponent(next)}`
      const read = sliceList.safeParse(
        await this.#server.get(`${this.#path}&limit=${pageMax}${page}`, this.#signal),
      )
      if (!read.success) throw new ApiServerError(0, "the API server did not send a list of EndpointSlices")
      for (const slice of read.data.items ?? []) slices.set(slice.metadata.name, slice)
      version = read.data.metadata.resourceVersion
      next = read.data.metadata.continue
    } while (next !== undefined && next !== "")
    this.#slices.clear()
    for (const [name, slice] of slices) this.#slices.set(name, slice)
    this.#version = version
    this.#tell()
  }

  /** Follows changes until the watch ends. */
  async #watch(): Promise<void> {
    const seconds = Math.round(watchSecondsMin + Math.random() * (watchSecondsMax - watchSecondsMin))
    const path = `${this.#path}&watch=1&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(this.#version ?? "")}&timeoutSeconds=${seconds}`
    const began = performance.now()
    let isBusy = false
    await this.#server.watch(
      path,
      {
        onOpen: () => this.#tell(),
        onLine: (line) => {
          isBusy = true
          this.#take(line)
        },
      },
      { signal: this.#signal, limitMs: seconds * 1000 + deadMs },
    )
    // A proxy that ends each watch at once must not be asked without a pause.
    if (isBusy || performance.now() - began > 10_000) this.#pauseMs = pauseMsMin
  }

  /** One event of a watch. */
  #take(line: string): void {
    const { type, object } = eventOf(line)
    if (type === "ERROR") {
      const { code, message = "no reason" } = apiStatus.safeParse(object).data ?? {}
      if (code === 410) throw new Expired(message)
      throw new ApiServerError(code ?? 0, `the API server has ended the watch: ${message}`)
    }
    const read = type === "BOOKMARK" ? versioned.safeParse(object) : endpointSlice.safeParse(object)
    if (!read.success) throw new Expired("an event that is no EndpointSlice")
    const { data } = read
    if (type !== "BOOKMARK") {
      const slice = data as EndpointSlice
      if (type === "DELETED") this.#slices.delete(slice.metadata.name)
      else this.#slices.set(slice.metadata.name, slice)
    }
    this.#version = data.metadata.resourceVersion ?? this.#version
    this.#tell()
  }

  #tell(): void {
    try {
      this.#report.found(targetsOf(this.#slices.values(), this.#settings.port))
    } catch (error) {
      const { namespace, service } = this.#settings
      this.#report.failed(`service ${namespace}/${service}: ${(error as Error).message}`)
    }
  }

  async #pause(): Promise<void> {
    // Random, so that processes that lost the server together do not return together.
    const ms = this.#pauseMs * (0.5 + Math.random())
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMsMax)
    await sleep(ms, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
  }

  get #path(): string {
    const { namespace, service } = this.#settings
    const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`)
    return `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`
  }
}

function eventOf(line: string): z.infer<typeof watchEvent> {
  try {
    return watchEvent.parse(JSON.parse(line))
  } catch {
    throw new Expired("a line that is no event")
  }
}
