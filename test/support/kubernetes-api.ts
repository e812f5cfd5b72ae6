import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Authority } from "./certificates.ts"

/** An endpoint of a slice, by its address and conditions. */
export interface TestEndpoint {
  readonly address: string
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

/** A slice as a test writes it. */
export interface TestSlice {
  readonly service?: string
  readonly addressType?: "IPv4" | "IPv6"
  readonly ports?: readonly { readonly name: string; readonly port: number }[]
  readonly endpoints: readonly TestEndpoint[]
}

interface SliceEvent {
  readonly version: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly object: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } }
}

let certificate: ReturnType<typeof newCertificate> | undefined

/** Made once, because openssl takes longer than most tests. */
function newCertificate(folder: string) {
  const authority = new Authority(folder)
  const pair = authority.sign("apiserver", ["localhost"])
  return { cert: readFileSync(pair.cert), key: readFileSync(pair.key), ca: authority.pem }
}

/** Starts an API server without slices. */
export async function startKubernetesApi(): Promise<KubernetesApi> {
  const api = new KubernetesApi()
  await api.start()
  return api
}

/**
 * The part of an API server that serves EndpointSlices, over HTTPS: lists with their version, and watches that begin with the events after a version. The
 * bodies have the form of those that kube-apiserver 1.31 sends.
 */
export class KubernetesApi {
  /** Files with the token that it accepts, and with its authority. */
  readonly tokenFile: string
  readonly caFile: string
  /** Paths and queries so far. */
  readonly requests: string[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), "sallyport-kubernetes-"))
  readonly #slices = new Map<string, SliceEvent["object"]>()
  readonly #watches = new Map<ServerResponse, string>()
  readonly #server: Server
  #events: SliceEvent[] = []
  #version = 1000
  #oldest = 0
  #expiry: "event" | "status" = "event"
  #refused: 401 | 403 | 500 | undefined
  #token = ""

  constructor() {
    certificate ??= newCertificate(this.#folder)
    const { cert, key, ca } = certificate
    this.tokenFile = join(this.#folder, "token")
    this.caFile = join(this.#folder, "ca.pem")
    writeFileSync(this.caFile, ca)
    this.renewToken("token-1", true)
    this.#server = createServer({ cert, key }, (request, response) => this.#answer(request, response))
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
  }

  async stop(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true })
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`
  }

  /** Watches that are open. */
  watches(): number {
    return this.#watches.size
  }

  put(name: string, slice: TestSlice): void {
    this.#version += 1
    const type = this.#slices.has(name) ? "MODIFIED" : "ADDED"
    const object = objectOf(name, slice, this.#version)
    this.#slices.set(name, object)
    this.#add({ version: this.#version, type, object })
  }

  remove(name: string): void {
    const object = this.#slices.get(name)
    if (object === undefined) return
    this.#version += 1
    this.#slices.delete(name)
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) }
    this.#add({ version: this.#version, type: "DELETED", object: { ...object, metadata } })
  }

  /** Sends a bookmark with the newest version to all watches. */
  bookmark(): void {
    this.#version += 1
    const metadata = { resourceVersion: String(this.#version), creationTimestamp: null }
    const object = { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1", metadata }
    for (const response of this.#watches.keys())
      response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`)
  }

  /** Breaks all connections. */
  cut(): void {
    this.#server.closeAllConnections()
  }

  /** Forgets all events until now: watches of earlier versions get 410, as an event or as the status of the response. */
  expire(as: "event" | "status"): void {
    this.#expiry = as
    this.#events = []
    this.#version += 1
    this.#oldest = this.#version
  }

  /** Responds with this status instead, until it is undefined. */
  refuse(status: 401 | 403 | 500 | undefined): void {
    this.#refused = status
  }

  /** The token that is accepted from now on; `isWritten`: and is in the file. */
  renewToken(token: string, isWritten: boolean): void {
    this.#token = token
    if (isWritten) writeFileSync(this.tokenFile, `${token}\n`)
  }

  #answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    this.requests.push(url)
    const { pathname, searchParams } = new URL(url, "https://localhost")
    const isAllowed = headers.authorization === `Bearer ${this.#token}`
    const selector = searchParams.get("labelSelector") ?? ""
    const service = /^kubernetes\.io\/service-name=(.+)$/.exec(selector)?.[1]
    if (this.#refused === 401 || !isAllowed) refuse(response, 401, "Unauthorized", "Unauthorized")
    else if (this.#refused === 403) refuse(response, 403, "Forbidden", forbidden)
    else if (this.#refused !== undefined)
      refuse(response, this.#refused, "InternalError", "etcdserver: request timed out")
    else if (pathname !== "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices" || service === undefined)
      refuse(response, 404, "NotFound", "the server could not find the requested resource")
    else if (searchParams.get("watch") === "1") this.#watch(service, searchParams, response)
    else this.#list(service, searchParams, response)
  }

  #list(service: string, query: URLSearchParams, response: ServerResponse): void {
    const all = [...this.#slices.values()].filter((each) => serviceOf(each) === service)
    // Pages of one slice, so that every list with several slices is read in pages.
    const at = Number(query.get("continue") ?? 0)
    const next = at + 1 < all.length ? { continue: String(at + 1) } : {}
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify({
        kind: "EndpointSliceList",
        apiVersion: "discovery.k8s.io/v1",
        metadata: { resourceVersion: String(this.#version), ...next },
        items: all.slice(at, at + 1),
      }),
    )
  }

  #watch(service: string, query: URLSearchParams, response: ServerResponse): void {
    const since = Number(query.get("resourceVersion"))
    const message = `too old resource version: ${since} (${this.#oldest})`
    if (since < this.#oldest && this.#expiry === "status") {
      refuse(response, 410, "Expired", message)
      return
    }
    response.writeHead(200, { "content-type": "application/json" })
    response.flushHeaders()
    if (since < this.#oldest) {
      response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(410, "Expired", message) })}\n`)
      return
    }
    this.#watches.set(response, service)
    response.once("close", () => this.#watches.delete(response))
    for (const event of this.#events) if (event.version > since) send(service, event, response)
  }

  #add(event: SliceEvent): void {
    this.#events.push(event)
    for (const [response, service] of this.#watches) send(service, event, response)
  }
}

function serviceOf({ metadata }: SliceEvent["object"]): string | undefined {
  return metadata.labels["kubernetes.io/service-name"]
}

function send(service: string, { type, object }: SliceEvent, response: ServerResponse): void {
  if (serviceOf(object) === service) response.write(`${JSON.stringify({ type, object })}\n`)
}

const forbidden =
  'endpointslices.discovery.k8s.io is forbidden: User "system:serviceaccount:shop:sallyport" cannot list resource "endpointslices" in API group "discovery.k8s.io" in the namespace "shop"'

function statusOf(code: number, reason: string, message: string) {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code }
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  response.writeHead(code, { "content-type": "application/json" })
  response.end(JSON.stringify(statusOf(code, reason, message)))
}

function objectOf(name: string, slice: TestSlice, version: number): SliceEvent["object"] {
  const { service = "orders", addressType = "IPv4", ports = [], endpoints } = slice
  const metadata = {
    name,
    namespace: "shop",
    uid: "5b0d9f7e-3d1e-4f5c-9a53-0c2b6a1f0d11",
    resourceVersion: String(version),
    generation: 1,
    labels: {
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      "kubernetes.io/service-name": service,
    },
  }
  return {
    ...{ kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1", metadata, addressType },
    ...{
      ports: ports.map((port) => ({ ...port, protocol: "TCP" })),
      endpoints: endpoints.map(({ address, ready = true, serving = ready, terminating = false }) => ({
        addresses: [address],
        conditions: { ready, serving, terminating },
        nodeName: "node-1",
        targetRef: { kind: "Pod", namespace: "shop", name: `orders-${address}` },
      })),
    },
  } as SliceEvent["object"]
}
