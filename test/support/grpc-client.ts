import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf"
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
} from "@grpc/grpc-js"
import { registry } from "../../runtime/authz/grpc/descriptors.ts"

/** How a call of gRPC ended: the JSON of its messages (one, unless it is a stream), its status and its metadata. */
export interface Ended {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly json: any
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly all: readonly any[]
  readonly code: number
  readonly message: string
  readonly headers: Metadata
  readonly trailers: Metadata
}

export const openfga = "openfga.v1.OpenFGAService"

/** A client by @grpc/grpc-js, with messages by @bufbuild/protobuf, so that it shares no code with the server but the descriptors. */
export class GrpcClient {
  readonly #client: Client

  constructor(address: string, channel: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new Client(address, channel)
  }

  close(): void {
    this.#client.close()
  }

  /** Calls a method, with one message or a stream of them, and waits for the status. */
  call(
    method: string,
    json: JsonValue | readonly JsonValue[],
    { metadata = {}, service = openfga, ...options }: CallOptions & Asked = {},
  ): Promise<Ended> {
    const found = registry.getService(service)?.methods.find(({ name }) => name === method)
    if (found === undefined) throw new Error(`no method ${method}`)
    const sent = new Metadata()
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
    const stream = this.#client.makeBidiStreamRequest(
      `/${service}/${method}`,
      (message: JsonValue) => Buffer.from(toBinary(found.input, fromJson(found.input, message))),
      (bytes) => toJson(found.output, fromBinary(found.output, bytes), { registry }),
      sent,
      options,
    )
    const messages = Array.isArray(json) ? (json as JsonValue[]) : [json as JsonValue]
    for (const message of messages) stream.write(message)
    stream.end()
    return endedOf(stream)
  }
}

interface Asked {
  readonly metadata?: Readonly<Record<string, string>>
  readonly service?: string
}

function endedOf(stream: ClientDuplexStream<JsonValue, JsonValue>): Promise<Ended> {
  const all: unknown[] = []
  let headers = new Metadata()
  stream.on("data", (json: unknown) => all.push(json))
  stream.on("metadata", (found: Metadata) => {
    headers = found
  })
  stream.on("error", () => undefined)
  return new Promise((resolve) => {
    stream.on("status", ({ code, details, metadata }) =>
      resolve({ json: all[0], all, code, message: details, headers, trailers: metadata }),
    )
  })
}
