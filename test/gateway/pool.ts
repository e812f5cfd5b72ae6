import type { Backend } from "../../runtime/plan/resources.ts"
import { type Answering, type Running, startGateway, startUpstream } from "./harness.ts"
import { cel, closers } from "./one-route.ts"

const settled = { connectMs: 2_000, totalMs: null, tls: { insecure: false } }
export const breaker: NonNullable<Backend["breaker"]> = {
  calls: 2,
  windowMs: 60_000,
  openMs: 60_000,
  statuses: [500, 503],
  ejectedMaxPercent: 100,
}

export async function serve(backend: Partial<Backend>, urls: readonly string[]): Promise<Running> {
  const targets = urls.map((url) => ({ url, weight: 1 }))
  const running = await startGateway({
    backends: { main: { ...settled, targets, ...backend } },
    routes: [{ method: "*", path: "/{rest*}", hashKey: cel("request.header('x-key')") }],
  })
  closers.push(() => running.close())
  return running
}

/** A gateway before backends that answer with their own name, or as they are told. */
export async function start(
  names: readonly string[],
  backend: Partial<Backend>,
  answer: (name: string) => Answering = named,
) {
  const upstreams = new Map<string, Awaited<ReturnType<typeof startUpstream>>>()
  for (const name of names) upstreams.set(name, await startUpstream(answer(name)))
  closers.push(...[...upstreams.values()].map((each) => () => each.close()))
  const running = await serve(
    backend,
    [...upstreams.values()].map(({ url }) => url),
  )
  return { running, upstreams, ask: askFor.bind(undefined, running) }
}

export const named = (name: string): Answering => statusOf(() => 200)(name)

export const statusOf =
  (choose: (name: string) => number) =>
  (name: string): Answering =>
  (request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => {
      body += chunk
    })
    request.on("end", () => response.writeHead(choose(name)).end(name + body))
  }

export async function askFor(
  running: Running,
  method = "GET",
  body?: string,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${running.url}/x`, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}

export const statesOf = (running: Running) => running.gateway.state().backends["main"] ?? []
