import { EventEmitter } from "node:events"
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http"
import type { Socket } from "node:net"
import type { IncomingRequest, Reply } from "../../http/server/incoming.ts"
import { asksForWebSocket, withoutUpgrade } from "../../http/server/upgrades.ts"
import { WholeMessage } from "./whole-message.ts"
import type { ClientRequest, FieldLine } from "./world.ts"

/** The response as the client got it. */
export interface ClientResponse {
  readonly status: number
  readonly reason: string | undefined
  readonly headers: readonly FieldLine[]
  readonly body: Buffer
  /** It ended before it was complete. */
  readonly isCut: boolean
}

/** A request that has arrived, without a connection. */
export class ArrivedRequest extends WholeMessage implements IncomingRequest {
  readonly method: string
  readonly url: string
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly rawHeaders: string[]
  readonly complete = true
  readonly socket: Socket
  /** Asks for a WebSocket, as the listener of a server understands it. */
  readonly asksForWebSocket: boolean
  #headers: IncomingHttpHeaders | undefined

  constructor(sent: ClientRequest, cut: () => void) {
    super(sent.body)
    this.method = sent.method
    this.url = sent.target
    const fields = fieldsOf(sent)
    const upgrade = upgradeOf(fields)
    this.asksForWebSocket = upgrade !== undefined && asksForWebSocket(sent.method, upgrade)
    this.rawHeaders = upgrade === undefined || this.asksForWebSocket ? fields : withoutUpgrade(fields)
    const { ip = "127.0.0.1" } = sent
    this.socket = { remoteAddress: ip, destroy: cut, destroySoon: cut } as unknown as Socket
  }

  get headers(): IncomingHttpHeaders {
    this.#headers ??= joinedFields(this.rawHeaders)
    return this.#headers
  }
}

function joinedFields(fields: readonly string[]): IncomingHttpHeaders {
  const joined: Record<string, string> = {}
  for (let at = 0; at < fields.length; at += 2)
    joined[(fields[at] as string).toLowerCase()] ??= fields[at + 1] as string
  return joined
}

/** A body without Content-Length gets one, as from any client. */
function fieldsOf({ headers, body }: ClientRequest): string[] {
  const fields: string[] = []
  let [hasHost, hasLength] = [false, false]
  for (const [name, value] of headers) {
    fields.push(name, value)
    const lower = name.toLowerCase()
    hasHost ||= lower === "host"
    hasLength ||= lower === "content-length" || lower === "transfer-encoding"
  }
  if (!hasHost) fields.unshift("host", "localhost")
  if (body !== undefined && !hasLength) fields.push("content-length", String(body.length))
  return fields
}

/** What a request asks to upgrade to; undefined: it does not ask. */
function upgradeOf(fields: readonly string[]): string | undefined {
  const valuesOf = (wanted: string) =>
    fields.filter((_, at) => at % 2 === 1 && fields[at - 1]?.toLowerCase() === wanted)
  const nominates = valuesOf("connection").some((value) => /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(value))
  const upgrade = valuesOf("upgrade")
  return nominates && upgrade.length > 0 ? upgrade.join(", ") : undefined
}

/** A response that is kept instead of sent. */
export class KeptReply extends EventEmitter implements Reply {
  readonly req: IncomingRequest
  shouldKeepAlive = true
  headersSent = false
  writableEnded = false
  destroyed = false
  readonly #content: Uint8Array[] = []
  #status = 0
  #reason: string | undefined
  #lines: readonly string[] = []
  #isOver = false

  constructor(request: IncomingRequest) {
    super()
    this.req = request
  }

  get writableFinished(): boolean {
    return this.writableEnded && !this.destroyed
  }

  get response(): ClientResponse {
    const headers: FieldLine[] = []
    for (let at = 0; at < this.#lines.length; at += 2)
      headers.push([(this.#lines[at] as string).toLowerCase(), this.#lines[at + 1] as string])
    const isCut = !this.writableEnded || this.destroyed
    return { status: this.#status, reason: this.#reason, headers, body: Buffer.concat(this.#content), isCut }
  }

  /** @throws TypeError for a field that cannot be sent, as `node:http` does */
  writeHead(status: number, reasonOrLines: string | string[], maybeLines?: string[]): void {
    const lines = typeof reasonOrLines === "string" ? (maybeLines ?? []) : reasonOrLines
    for (let at = 0; at < lines.length; at += 2) {
      validateHeaderName(lines[at] as string)
      validateHeaderValue(lines[at] as string, lines[at + 1] as string)
    }
    this.#status = status
    this.#reason = typeof reasonOrLines === "string" ? reasonOrLines : undefined
    this.#lines = lines
    this.headersSent = true
  }

  writeContinue(): void {}

  flushHeaders(): void {}

  write(content: Uint8Array | string): boolean {
    this.#content.push(typeof content === "string" ? Buffer.from(content) : content)
    return true
  }

  addTrailers(): void {}

  end(content?: Uint8Array | string): void {
    if (this.writableEnded) return
    if (content !== undefined && content.length > 0) this.write(content)
    this.writableEnded = true
    this.#close()
  }

  destroy(): void {
    this.destroyed = true
    this.#close()
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    queueMicrotask(() => this.emit("close"))
  }
}

/** The response that a tunnel wrote to its connection before anything else. */
export function responseOf(head: Buffer): ClientResponse {
  const [first = "", ...lines] = head.toString("latin1").trimEnd().split("\r\n")
  const headers = lines.map((line): FieldLine => {
    const at = line.indexOf(": ")
    return [line.slice(0, at).toLowerCase(), line.slice(at + 2)]
  })
  const status = Number(first.split(" ")[1])
  return { status, reason: undefined, headers, body: Buffer.alloc(0), isCut: false }
}
