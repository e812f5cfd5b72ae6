import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import { controlMark } from "../../runtime/control/api.ts"

/** A request as the fake control API got it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: unknown
}

/** Answer of the fake: a status and JSON, or text that is none. */
export interface Answer {
  readonly status?: number
  readonly json?: unknown
  readonly text?: string
  /** It is another service that answers. */
  readonly other?: true
}

/** A control API on a real socket that answers what a test tells it to, by `METHOD /path`; everything else is 404. */
export interface FakeControl {
  readonly env: Readonly<Record<string, string>>
  readonly seen: readonly Seen[]
  readonly answers: Record<string, Answer | ((seen: Seen) => Answer)>
}

export const token = "a-control-token-of-tests"

/** Starts one; it ends with the test. */
export async function fakeControl(answers: FakeControl["answers"]): Promise<FakeControl> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const one: Seen = {
      method: request.method ?? "",
      path: request.url ?? "",
      authorization: request.headers.authorization,
      body: body === "" ? undefined : JSON.parse(body),
    }
    seen.push(one)
    const found = answers[`${one.method} ${one.path}`]
    const answer: Answer =
      one.authorization !== `Bearer ${token}`
        ? { status: 401, json: { title: "Authentication required" } }
        : typeof found === "function"
          ? found(one)
          : (found ?? { status: 404, json: { title: "Not found", detail: `there is no ${one.path}` } })
    response.writeHead(answer.status ?? 200, {
      "content-type": "application/json",
      ...(answer.other === true ? {} : { [controlMark]: "1" }),
    })
    response.end(answer.text ?? JSON.stringify(answer.json ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${port}`, SALLYPORT_CONTROL_TOKEN: token }
  return { env, seen, answers }
}
