import autocannon from "autocannon"
import { type BenchTuple, model, type Scenario, tuples } from "./world.ts"

const connections = 32

/** Creates a store with the bench's model and tuples by the API; answers its id. */
export async function fillStore(url: string): Promise<string> {
  const { id = "" } = await post(url, "/stores", { name: "bench" })
  await post(url, `/stores/${id}/authorization-models`, model)
  const all = tuples()
  const chunks: BenchTuple[][] = []
  for (let at = 0; at < all.length; at += 100) chunks.push(all.slice(at, at + 100))
  const writeSome = async () => {
    for (let chunk = chunks.pop(); chunk !== undefined; chunk = chunks.pop())
      await post(url, `/stores/${id}/write`, { writes: { tuple_keys: chunk } })
  }
  await Promise.all(Array.from({ length: 4 }, writeSome))
  return id
}

/** Asks some of a scenario's questions and looks at the answers. */
export async function requireRight(
  url: string,
  store: string,
  { name, path, bodies, right }: Scenario,
): Promise<void> {
  for (const body of bodies.slice(0, 5)) {
    const answer = await post(url, `/stores/${store}/${path}`, JSON.parse(body))
    if (!right(answer, body))
      throw new Error(`${name}: ${body.slice(0, 200)} is answered ${JSON.stringify(answer).slice(0, 300)}`)
  }
}

/** What a round of load came to. */
export interface Load {
  readonly perSecond: number
  readonly answered: number
}

/** 32 connections, each with one request at a time. Only answers with a 2xx count. */
export async function load(
  url: string,
  path: string,
  bodies: readonly string[],
  seconds: number,
  lenient: boolean,
): Promise<Load> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    timeout: 60,
    requests: bodies.map((body) => ({ method: "POST" as const, path, body })),
    headers: { "content-type": "application/json" },
  })
  if (!lenient && result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`)
  return { perSecond: result["2xx"] / result.duration, answered: result["2xx"] }
}

async function post(url: string, path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, string>
}
