import {
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js"
import { afterEach, describe, expect, test } from "vitest"
import { grpcStatusIn } from "../../runtime/gateway/exchange/grpc.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import type { RouteDraft } from "./plan-builder.ts"

afterEach(closeAll)

const text = {
  requestSerialize: (value: string) => Buffer.from(value),
  requestDeserialize: (bytes: Buffer) => bytes.toString(),
  responseSerialize: (value: string) => Buffer.from(value),
  responseDeserialize: (bytes: Buffer) => bytes.toString(),
}
/** Messages are texts: the gateway does not look into them. */
const definition = {
  Say: { path: "/talk.Talk/Say", requestStream: false, responseStream: false, ...text },
  Count: { path: "/talk.Talk/Count", requestStream: false, responseStream: true, ...text },
  Chat: { path: "/talk.Talk/Chat", requestStream: true, responseStream: true, ...text },
} satisfies ServiceDefinition

interface Client {
  Say(
    message: string,
    metadata: Metadata,
    options: object,
    done: (e: ServiceError | null, value?: string) => void,
  ): void
  Count(message: string): ClientReadableStream<string>
  Chat(): ClientDuplexStream<string, string>
  close(): void
}

interface Started {
  readonly running: Running
  readonly client: Client
  /** Calls that the server gets. */
  readonly calls: ServerUnaryCall<string, string>[]
  stopServer(): void
}

async function start(route: Partial<RouteDraft> = {}): Promise<Started> {
  const calls: ServerUnaryCall<string, string>[] = []
  const server = new Server()
  server.addService(definition, {
    Say: (call: ServerUnaryCall<string, string>, done: sendUnaryData<string>) => {
      calls.push(call)
      if (call.request === "fail")
        done({ code: status.FAILED_PRECONDITION, details: "not möglich", metadata: new Metadata() })
      else if (call.request !== "wait") done(null, `${call.request}!`)
    },
    Count: (call: ServerWritableStream<string, string>) => {
      for (let at = 0; at < Number(call.request); at += 1) call.write(String(at))
      call.end()
    },
    Chat: (call: ServerDuplexStream<string, string>) => {
      call.on("data", (message: string) => call.write(`re: ${message}`))
      call.on("end", () => call.end())
      call.on("error", () => undefined)
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  const backend = {
    ...{ targets: [{ url: `http://127.0.0.1:${port}`, weight: 1 }], connectMs: 5_000, totalMs: null },
    ...{ tls: { insecure: false }, http2: "h2c" as const },
  }
  const routes = [{ method: "POST", path: "/talk.Talk/{method}", backend: "main", ...route }]
  const running = await startGateway({ http2: true, backends: { main: backend }, routes })
  const Talk = makeGenericClientConstructor(definition, "Talk")
  const client = new Talk(`127.0.0.1:${running.port}`, credentials.createInsecure()) as unknown as Client
  closers.push(
    async () => client.close(),
    () => running.close(),
    async () => server.forceShutdown(),
  )
  return { running, client, calls, stopServer: () => server.forceShutdown() }
}

/** The reply, or the error. */
function say(client: Client, message: string, options: object = {}): Promise<string | ServiceError> {
  return new Promise((resolve) => {
    client.Say(message, new Metadata(), options, (error, value) => resolve(error ?? value ?? ""))
  })
}

describe("gRPC through the gateway", () => {
  test("unary calls, several at once", async () => {
    const { client, running } = await start()
    const messages = Array.from({ length: 30 }, (_, at) => `message ${at}`)
    expect(await Promise.all(messages.map((message) => say(client, message)))).toEqual(
      messages.map((message) => `${message}!`),
    )
    await until(() => running.log.length === 30)
    for (const line of running.log)
      expect(line).toMatchObject({ protocol: "HTTP/2", status: 200, grpcStatus: 0, aborted: false })
  })

  test("a status and its message come as the server sent them", async () => {
    const { client, running } = await start()
    expect(await say(client, "fail")).toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: "not möglich",
    })
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({ status: 200, grpcStatus: status.FAILED_PRECONDITION })
  })

  test("streams of the server", async () => {
    const { client } = await start()
    const received: string[] = []
    const stream = client.Count("1000")
    stream.on("data", (value: string) => received.push(value))
    await new Promise((resolve) => stream.on("end", resolve))
    expect([received.length, received.at(-1)]).toEqual([1000, "999"])
  })

  test("streams both ways: each message is answered before the next one is sent", async () => {
    const { client } = await start({ timeoutMs: null })
    const stream = client.Chat()
    for (const message of ["a", "b", "c"]) {
      const reply = new Promise((resolve) => stream.once("data", resolve))
      stream.write(message)
      expect(await reply).toBe(`re: ${message}`)
    }
    const ended = new Promise((resolve) => stream.on("status", resolve))
    stream.on("data", () => undefined)
    stream.end()
    expect(await ended).toMatchObject({ code: status.OK })
  })

  test("a client that cancels ends the call of the server", async () => {
    const { client, calls, running } = await start()
    void say(client, "wait", { deadline: Date.now() + 60_000 })
    await until(() => calls.length === 1)
    client.close()
    await running.close()
    await until(() => calls[0]?.cancelled === true)
  })
})

test("`grpc-status` of fields is read as clients read it", () => {
  expect(grpcStatusIn(["Grpc-Message", "x", "Grpc-Status", "14"])).toBe(14)
  expect(grpcStatusIn(["grpc-status", "0"])).toBe(0)
  for (const odd of ["17", "-1", "1.5", "", "OK", "999"])
    expect(grpcStatusIn(["grpc-status", odd])).toBe(status.UNKNOWN)
  expect(grpcStatusIn(["content-type", "application/grpc"])).toBeUndefined()
})

describe("a refusal of the gateway to gRPC", () => {
  test.each([
    [401, status.UNAUTHENTICATED],
    [403, status.PERMISSION_DENIED],
    [429, status.RESOURCE_EXHAUSTED],
    [503, status.UNAVAILABLE],
  ])("of status %i has code %i", async (httpStatus, code) => {
    const { client, running } = await start({
      inbound: [{ kind: "respond", status: httpStatus, headers: [], media: null }],
    })
    expect(await say(client, "a")).toMatchObject({ code })
    expect(running.log[0]).toMatchObject({ status: httpStatus, grpcStatus: code })
  })

  test("of an unknown method has UNIMPLEMENTED, with the text of the problem", async () => {
    const { client, running } = await start({ path: "/other.Other/{method}" })
    expect(await say(client, "a")).toMatchObject({
      code: status.UNIMPLEMENTED,
      details: "No route matches this path.",
    })
    expect(running.log[0]).toMatchObject({ status: 404, problem: "not-found" })
  })

  test("at its deadline: the backend's call ends, and the gateway does not wait longer", async () => {
    const { client, calls, running } = await start({ timeoutMs: null })
    expect(await say(client, "wait", { deadline: Date.now() + 300 })).toMatchObject({
      code: status.DEADLINE_EXCEEDED,
    })
    await until(() => calls[0]?.cancelled === true && running.log.length === 1)
  })

  test("when the timeout of the route is earlier has DEADLINE_EXCEEDED", async () => {
    const { client, running } = await start({ timeoutMs: 200 })
    expect(await say(client, "wait")).toMatchObject({
      code: status.DEADLINE_EXCEEDED,
      details: "There was no response in time.",
    })
    expect(running.log[0]).toMatchObject({ status: 504, problem: "gateway-timeout" })
  })

  test("when the server is away has UNAVAILABLE", async () => {
    const { client, running, stopServer } = await start()
    stopServer()
    expect(await say(client, "a")).toMatchObject({ code: status.UNAVAILABLE })
    expect(running.log[0]).toMatchObject({
      status: 502,
      problem: "bad-gateway",
      grpcStatus: status.UNAVAILABLE,
    })
  })
})
