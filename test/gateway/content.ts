import type { Answering, Running, Upstream } from "./harness.ts"
import { type RawAnswer, sendRaw, startGateway, startUpstream } from "./harness.ts"
import { cel, closers } from "./one-route.ts"
import type { RouteDraft, StepDraft } from "./plan-builder.ts"

export const value = (text: string, type = "dyn") => ({ expression: { lang: "cel" as const, text, type } })
export const set = (name: string, text: string): StepDraft => ({
  kind: "set-variable",
  name,
  value: value(text),
})
export const tell = (name: string, text: string): StepDraft => ({
  kind: "set-header",
  message: "response",
  action: "set",
  name,
  values: [cel(text)],
})
export const post = (body: string, type = "application/json", more = "") =>
  `POST /a/7 HTTP/1.1\r\nHost: gw:81\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`

/** A gateway before a backend that answers as it is told; whoever starts it closes it. */
export async function inFrontOf(
  answer: Answering,
  route: Partial<RouteDraft>,
  more: object = {},
  options: Parameters<typeof startGateway>[1] = {},
): Promise<{
  running: Running
  upstream: Upstream
  get: (headers?: string, method?: string) => Promise<RawAnswer>
}> {
  const upstream = await startUpstream(answer)
  const running = await startGateway(
    {
      backends: { main: upstream.url },
      routes: [{ method: "*", path: "/a/{id}", ...route }],
      ...more,
    },
    options,
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  const get = (headers = "", method = "GET") =>
    sendRaw(running.port, `${method} /a/7?q=1 HTTP/1.1\r\nHost: gw:81\r\n${headers}\r\n`, 60)
  return { running, upstream, get }
}
