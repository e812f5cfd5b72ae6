import { isIP } from "node:net"
import type { Discoveries } from "../../discovery/discoveries.ts"
import type { Connections, Endpoint } from "../../http/client/connections.ts"
import { Http1Pool } from "../../http/client/http1/pool.ts"
import { Http2Pool } from "../../http/client/http2/pool.ts"
import { NegotiatedConnections } from "../../http/client/negotiated-connections.ts"
import {
  type OpeningWebSocket,
  requestWebSocket,
  type UpgradeReceiver,
  type UpgradeRequest,
} from "../../http/client/web-socket.ts"
import { type HostNames, hostNames } from "../../http/names/host-names.ts"
import { canonicalJson } from "../../plan/canonical.ts"
import { type Clock, systemClock } from "../../policies/clock.ts"
import { Uploads } from "../exchange/uploads.ts"
import type { BackendSettings } from "./backend-settings.ts"
import type { TargetPlace } from "./target.ts"

/** Maximum number of connections to one target. Further requests wait: more connections make a service slower, not faster. */
const connectionsMax = 256
/** Less than the idle timeout of common servers (Node: 5 s), so that the gateway closes first. */
const keepAliveMs = 4_000
/** Older connections are not used for new requests, so that DNS changes take effect. */
const connectionAgeMs = 60_000
/** Maximum number of streams on one HTTP/2 connection. */
const streamsMax = 100

/** Connections that several backends may use. */
export interface SharedPool {
  readonly connections: Connections
  readonly uploads: Uploads
  release(): void
}

/** The connections of the process, by address and settings. A new plan that keeps a target keeps its connections. */
export class Pools {
  readonly #entries = new Map<
    string,
    { readonly connections: Connections; readonly uploads: Uploads; holders: number }
  >()
  /** Absent: backends use the URL of the plan as their target. */
  readonly discoveries: Discoveries | undefined
  readonly clock: Clock
  readonly #names: HostNames

  constructor(names: HostNames = hostNames, discoveries?: Discoveries, clock: Clock = systemClock) {
    this.#names = names
    this.discoveries = discoveries
    this.clock = clock
  }

  /** A pool for each origin and its settings, shared by all backends that use it and closed with the last of them. */
  take(place: TargetPlace, settings: BackendSettings): SharedPool {
    const { connectMs, ca, insecure, http2, certificate } = settings
    const { origin, servername, authority } = place
    const key = canonicalJson({ origin, servername, authority, connectMs, ca, insecure, http2, certificate })
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = {
        connections: this.connections(place, settings, connectionsMax),
        uploads: new Uploads(http2 !== false ? connectionsMax * streamsMax : connectionsMax),
        holders: 0,
      }
      this.#entries.set(key, entry)
    }
    const held = entry
    held.holders += 1
    let released = false
    return {
      connections: held.connections,
      uploads: held.uploads,
      release: () => {
        if (released) return
        released = true
        held.holders -= 1
        if (held.holders > 0) return
        this.#entries.delete(key)
        held.connections.close().catch(() => undefined)
      },
    }
  }

  /** Connections of their own to a target: HTTP/2 needs one for many requests, HTTP/1.1 one for each. */
  connections(place: TargetPlace, settings: BackendSettings, connectionsMax: number): Connections {
    const { http2 } = settings
    const endpoint = this.endpoint(place, settings)
    const { authority } = place
    const common = { endpoint, authority, connectionsMax, idleMs: keepAliveMs, ageMs: connectionAgeMs }
    // Without TLS HTTP/2 cannot be negotiated: it is used only where the server is known to have it (RFC 9113 §3.3).
    if (http2 === false || (http2 === true && endpoint.tls === undefined)) return new Http1Pool(common)
    const shared = { ...common, streamsMax }
    return endpoint.tls === undefined ? new Http2Pool(shared) : new NegotiatedConnections(shared)
  }

  /** Requests a WebSocket from a target, on a connection of its own. */
  openWebSocket(
    place: TargetPlace,
    settings: BackendSettings,
    request: UpgradeRequest,
    receiver: UpgradeReceiver,
  ): OpeningWebSocket {
    return requestWebSocket(this.endpoint(place, settings), request, receiver)
  }

  /** Where and how to connect to a target. SNI has no IP addresses (RFC 6066, section 3). */
  endpoint(
    { origin, hostname, servername = "" }: TargetPlace,
    { connectMs, ca, insecure, certificate }: BackendSettings,
  ): Endpoint {
    const { protocol, port } = new URL(origin)
    const isSecure = protocol === "https:"
    const verified = isIP(servername) === 0 ? servername : undefined
    return {
      hostname,
      port: port === "" ? (isSecure ? 443 : 80) : Number(port),
      tls: isSecure ? { ca, insecure, certificate, servername: verified } : undefined,
      connectMs,
      names: this.#names,
    }
  }

  get size(): number {
    return this.#entries.size
  }

  /** Ends all connections at once. */
  async destroy(): Promise<void> {
    this.discoveries?.close()
    const ended = [...this.#entries.values()].map(({ connections }) =>
      connections.destroy().catch(() => undefined),
    )
    this.#entries.clear()
    await Promise.all(ended)
  }
}
