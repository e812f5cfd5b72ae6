import { hostname } from "node:os"
import type { FastifyInstance } from "fastify"
import { type EventsQuestion, eventsQuery, type LoggedRequest, type TrafficAnswer } from "./api.ts"
import { bodyOf } from "./body.ts"
import type { ConsoleSessions } from "./console/sessions.ts"
import { ConsoleStream } from "./event-stream.ts"
import { credentialOf, type OperatorAccess } from "./operators.ts"
import type { ControlPorts } from "./ports.ts"

type EventPorts = Pick<ControlPorts, "status" | "traffic">

/** What decides whether an open stream may continue. */
interface StreamAccess {
  readonly access: OperatorAccess
  readonly sessions: ConsoleSessions
}

const tickMs = 1_000
/** Seconds between two looks at the status of the fleet: three statements in the database, however many streams are open. */
const statusTicks = 2
/** Seconds between two comments, each with a new check of the credential. */
const commentTicks = 15

/** The open streams of events. It does nothing while no stream is open. */
export class EventDesk {
  readonly #ports: EventPorts
  readonly #streams = new Map<ConsoleStream, () => Promise<string | undefined>>()
  readonly #statusReaders = new Set<ConsoleStream>()
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  #lastStatus = ""

  constructor(ports: EventPorts) {
    this.#ports = ports
  }

  /** A new stream. `check`: why the reader may not read any more; undefined: it may. */
  open(question: EventsQuestion, check: () => Promise<string | undefined>): ConsoleStream {
    const stream = new ConsoleStream({ highWaterMark: 16 * 1024 })
    const ends: (() => void)[] = []
    const { traffic } = this.#ports
    for (const topic of new Set(question.topics)) {
      if (topic === "traffic") ends.push(traffic.history.watch((point) => stream.state(topic, point)))
      else if (topic === "log") ends.push(traffic.listen((line) => fits(question, line) && stream.line(line)))
      else this.#statusReaders.add(stream)
    }
    stream.push("retry: 2000\n\n")
    this.#streams.set(stream, check)
    stream.once("close", () => {
      for (const end of ends) end()
      this.#statusReaders.delete(stream)
      this.#streams.delete(stream)
      if (this.#streams.size === 0) this.#stop()
    })
    if (this.#timer === undefined) this.#start()
    if (this.#statusReaders.has(stream)) {
      this.#lastStatus = ""
      void this.#readStatus()
    }
    return stream
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#streams.keys()) stream.destroy()
    this.#stop()
  }

  #start(): void {
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#timer.unref()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    this.#ticks += 1
    for (const stream of this.#streams.keys()) stream.tick()
    if (this.#ticks % statusTicks === 0 && this.#statusReaders.size > 0) void this.#readStatus()
    if (this.#ticks % commentTicks === 0)
      for (const [stream, check] of this.#streams) void keep(stream, check)
  }

  async #readStatus(): Promise<void> {
    const status = await this.#ports.status().catch(() => undefined)
    if (status === undefined) return
    const text = JSON.stringify(status)
    if (text === this.#lastStatus) return
    this.#lastStatus = text
    for (const stream of this.#statusReaders) stream.state("status", status)
  }
}

/** A credential that was revoked, or a session that was ended, ends its streams. A database that is unavailable does not. */
async function keep(stream: ConsoleStream, check: () => Promise<string | undefined>): Promise<void> {
  const reason = await check().catch(() => undefined)
  if (stream.destroyed) return
  if (reason === undefined) stream.comment()
  else stream.finish(reason)
}

function fits(question: EventsQuestion, line: LoggedRequest): boolean {
  const { route, status, caller, problem, refused } = question
  if (refused === "true" && line.problem === undefined && line.status < 400) return false
  if (route !== undefined && !(line.route ?? line.path).toLowerCase().includes(route.toLowerCase()))
    return false
  if (problem !== undefined && line.problem !== problem && line.reason !== problem) return false
  if (caller !== undefined && !callersOf(line).some((name) => name.includes(caller.toLowerCase())))
    return false
  if (status === undefined) return true
  return status.endsWith("xx")
    ? Math.floor(line.status / 100) === Number(status[0])
    : line.status === Number(status)
}

function callersOf({ user, subscription, ip }: LoggedRequest): string[] {
  return [user, subscription, ip].flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]))
}

/** `GET /v1/events`: a stream of server-sent events. `GET /v1/traffic`: the last ten minutes of this process. */
export function addEventRoutes(
  app: FastifyInstance,
  desk: EventDesk,
  ports: EventPorts,
  { access, sessions }: StreamAccess,
): void {
  app.get("/v1/traffic", async (): Promise<TrafficAnswer> => {
    const { processId, history } = ports.traffic
    const points = history.points
    return {
      process: { id: processId, host: hostname(), pid: process.pid },
      points: points === undefined ? null : [...points],
    }
  })
  app.get("/v1/events", async (request, reply) => {
    const question = bodyOf(eventsQuery, request.query, reply)
    if (question === undefined) return reply
    const { authorization, cookie } = request.headers
    const isSession = authorization === undefined && sessions.find(cookie) !== undefined
    const credential = credentialOf(request.raw)
    const stream = desk.open(question, async () => {
      if (isSession && !sessions.continues(cookie)) return "the session has ended"
      // A token of an issuer expires, and then the browser opens a new stream, whose session has a new one.
      const found = await access.identify(credential)
      return "denied" in found && found.denied !== "issuer-unavailable" ? found.detail : undefined
    })
    request.raw.once("close", () => stream.destroy())
    return reply
      .type("text/event-stream")
      .header("cache-control", "no-store")
      .header("x-accel-buffering", "no")
      .send(stream)
  })
}
