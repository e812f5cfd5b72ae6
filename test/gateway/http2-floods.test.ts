import { constants } from "node:http2"
import { afterEach, describe, expect, test } from "vitest"
import {
  FrameClient,
  fieldBlock,
  frame,
  frameFlags,
  frameTypes,
  requestFrame,
  resetFrame,
} from "../support/http2-frames.ts"
import { until } from "../support/until.ts"
import { type Answering, type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"

afterEach(closeAll)

interface Started {
  readonly running: Running
  readonly upstream: Upstream
  readonly client: FrameClient
}

async function start(answering?: Answering, headMs = 60_000): Promise<Started> {
  const upstream = await startUpstream(answering)
  const routes = [{ method: "*", path: "/a/{id}" }]
  const running = await startGateway(
    { http2: true, backends: { main: upstream.url }, routes },
    { patience: { headMs, readerMs: 50 } },
  )
  const client = new FrameClient(running.port)
  closers.push(
    async () => void client.socket.destroy(),
    () => running.close(),
    () => upstream.close(),
  )
  return { running, upstream, client }
}

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** Sends pieces until the connection closes or all are sent, a few in each turn of the event loop. */
async function flood(
  client: FrameClient,
  pieces: number,
  piece: (at: number) => readonly Buffer[],
): Promise<void> {
  for (let at = 0; at < pieces && !client.closed; at += 1) {
    client.send(...piece(at))
    if (at % piecesInTurn === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** In one turn nghttp2 would stop most floods by itself: its replies wait for the end of the turn. */
const piecesInTurn = 20
const streamAt = (at: number) => 2 * at + 1

describe("a connection is closed that sends", () => {
  test.each([
    ["in one packet", 0],
    ["10 ahead", 10],
  ])("requests and resets them, %s", async (_, ahead) => {
    const { running, upstream, client } = await start(() => undefined)
    await flood(client, 2_000, (at) => [
      requestFrame(streamAt(at), "/a/7"),
      ...(at < ahead ? [] : [resetFrame(streamAt(at - ahead), NGHTTP2_CANCEL)]),
    ])
    await until(() => client.closed)
    expect(client.goaways).toEqual([NGHTTP2_ENHANCE_YOUR_CALM])
    expect(running.gateway.state().floods.get("resets")).toBe(1)
    expect(upstream.requests.length).toBeLessThan(300)
    await until(() => running.gateway.state().running === 0)
  })

  test.each([
    ["PING", frame(frameTypes.ping, 0, 0, Buffer.alloc(8))],
    ["SETTINGS", frame(frameTypes.settings, 0, 0)],
    ["PRIORITY", frame(frameTypes.priority, 0, 3, Buffer.from([0, 0, 0, 1, 16]))],
  ])("more %s frames than any client needs", async (_, piece) => {
    const { running, client } = await start()
    await flood(client, 20_000, () => [piece])
    await until(() => client.closed)
    expect(client.goaways).toEqual([NGHTTP2_ENHANCE_YOUR_CALM])
    expect(running.gateway.state().floods.get("control-frames")).toBe(1)
  })

  test("fields without an end", async () => {
    const { upstream, client } = await start()
    const more = frame(frameTypes.continuation, 0, 1, fieldBlock("x-more", "y".repeat(100)))
    client.send(frame(frameTypes.headers, frameFlags.endStream, 1, fieldBlock(":method", "GET")))
    await flood(client, 20_000, () => [more])
    await until(() => client.closed)
    expect(upstream.requests).toEqual([])
  })

  test("pieces of a body without content", async () => {
    const { client } = await start(() => undefined)
    client.send(
      frame(
        frameTypes.headers,
        frameFlags.endHeaders,
        1,
        fieldBlock(":method", "POST", ":scheme", "http", ":path", "/a/7", ":authority", "a"),
      ),
    )
    await flood(client, 20_000, () => [frame(frameTypes.data, 0, 1)])
    await until(() => client.closed)
  })

  test("more streams than it may, again and again", async () => {
    const { upstream, client, running } = await start(() => undefined)
    await flood(client, 2_000, (at) => [requestFrame(streamAt(at), "/a/7")])
    await until(() => client.closed)
    expect(upstream.requests.length).toBeLessThanOrEqual(100)
    await until(() => running.gateway.state().running === 0)
  })
})

/** A request in stream 1 with more fields. */
function requestFrameWith(more: Buffer): Buffer {
  const block = fieldBlock(":method", "GET", ":scheme", "http", ":path", "/a/7", ":authority", "a")
  return frame(
    frameTypes.headers,
    frameFlags.endStream | frameFlags.endHeaders,
    1,
    Buffer.concat([block, more]),
  )
}

describe("a stream is refused", () => {
  test("that is the 101st of its connection", async () => {
    const { upstream, client } = await start(() => undefined)
    for (let at = 0; at < 110; at += 1) client.send(requestFrame(streamAt(at), "/a/7"))
    await until(() => client.resets.size >= 10 && upstream.requests.length >= 100)
    expect([...client.resets.values()].every((code) => code === NGHTTP2_REFUSED_STREAM)).toBe(true)
    expect(client.closed).toBe(false)
  })

  test("whose fields are too large, with 431", async () => {
    const { upstream, client, running } = await start()
    const fields = Array.from({ length: 90 }, (_, at) => [`x-${at}`, "y".repeat(120)]).flat()
    const block = fieldBlock(
      ":method",
      "GET",
      ":scheme",
      "http",
      ":path",
      "/a/7",
      ":authority",
      "a",
      ...fields,
    )
    const more = fieldBlock(...Array.from({ length: 8 }, () => ["x-more", "y".repeat(120)]).flat())
    const rest = Array.from({ length: 6 }, () => more)
    client.send(
      frame(frameTypes.headers, frameFlags.endStream, 1, block),
      frame(frameTypes.continuation, frameFlags.endHeaders, 1, Buffer.concat(rest)),
      requestFrame(3, "/nowhere"),
    )
    await until(() => running.log.length === 2)
    expect(running.log[0]).toMatchObject({ problem: "header-too-large", status: 431 })
    expect(upstream.requests).toEqual([])
    expect(running.log[1]).toMatchObject({ problem: "not-found" })
  })

  test("with far too many fields", async () => {
    const { client, running } = await start()
    const many = fieldBlock(...Array.from({ length: 2_100 }, () => ["x", "y"]).flat())
    client.send(requestFrameWith(many), requestFrame(3, "/nowhere"))
    await until(() => client.resets.has(1) && running.log.length === 1)
    expect(client.resets.get(1)).toBe(NGHTTP2_ENHANCE_YOUR_CALM)
    expect(running.log[0]).toMatchObject({ problem: "not-found" })
  })

  test("that has too many fields, with 431", async () => {
    const { running, client } = await start()
    const fields = Array.from({ length: 120 }, (_, at) => [`x-${at}`, "y"]).flat()
    client.send(requestFrame(1, "/a/7", ...fields))
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({ problem: "header-too-large", status: 431 })
  })
})

test("a request that is reset without an error does not reach the backend as a complete one", async () => {
  const { running, upstream, client } = await start()
  const block = fieldBlock(":method", "POST", ":scheme", "http", ":path", "/a/7", ":authority", "a")
  client.send(
    frame(frameTypes.headers, frameFlags.endHeaders, 1, block),
    frame(frameTypes.data, 0, 1, Buffer.alloc(16_000)),
    frame(frameTypes.data, 0, 1, Buffer.alloc(16_000)),
  )
  await until(() => (upstream.requests[0]?.body.length ?? 0) > 0)
  client.send(resetFrame(1, NGHTTP2_NO_ERROR))
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ aborted: true, status: 0 })
  expect(upstream.requests[0]?.complete).toBe(false)
})

test("a head without an end ends its connection, and one that is refused does not", async () => {
  const block = fieldBlock(":method", "GET", ":scheme", "http", ":path", "/a/7", ":authority", "a")
  const headers = (stream: number, flags: number, fields = block) =>
    frame(frameTypes.headers, frameFlags.endStream | flags, stream, fields)
  const { running, client } = await start(() => undefined, 300)
  client.send(headers(1, frameFlags.endHeaders), headers(3, 0))
  const other = new FrameClient(running.port)
  closers.push(async () => void other.socket.destroy())
  const twice = Buffer.concat([fieldBlock(":method", "GET"), block])
  other.send(headers(1, frameFlags.endHeaders), headers(3, frameFlags.endHeaders, twice))
  await until(() => {
    // Every PING gets its reply.
    for (const { payload } of other.received.filter(
      ({ type, flags }) => type === frameTypes.ping && flags === 0,
    ))
      other.send(frame(frameTypes.ping, frameFlags.ack, 0, payload))
    other.received.splice(0)
    return client.closed
  })
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ aborted: true })
  expect(other.closed).toBe(false)
  other.send(requestFrame(5, "/nowhere"))
  await until(() => running.log.length === 2)
  expect(running.log[1]).toMatchObject({ problem: "not-found" })
})

test("a client that never takes the response is cut off", async () => {
  const { running, client } = await start()
  // The window of each stream is 0 bytes.
  client.send(frame(frameTypes.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])), requestFrame(1, "/a/7"))
  await until(() => running.log.length === 1 && client.resets.has(1))
  expect(running.log[0]).toMatchObject({ aborted: true })
})
