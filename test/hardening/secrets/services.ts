import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import type { Outputs } from "./canary.ts"

/** The services that the process calls. What it sends to those that store it (collector, audit) is an output; requests to the others carry credentials. */
export interface CalledServices {
  readonly url: string
  /** Paths of requests since the start. */
  readonly asked: string[]
  /** Whether services answer with what they were sent, as the worst of them do in descriptions of errors. */
  repeats: boolean
  close(): Promise<void>
}

/** `accessToken`: what the token endpoint gives. */
export async function startServices(outputs: Outputs, accessToken: string): Promise<CalledServices> {
  const asked: string[] = []
  const state = { repeats: false }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const [path = ""] = (request.url ?? "").split("?")
    asked.push(path)
    const json = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    if (path.startsWith("/collector/")) {
      outputs.add(`body of ${path}`, body)
      json(200, {})
    } else if (path === "/audit") {
      outputs.add("body of the audit sink", body)
      json(200, {})
    } else if (state.repeats && path !== "/service/alive/")
      json(400, { error: "invalid_client", error_description: `${request.rawHeaders.join(" ")} ${body}` })
    else if (path.endsWith("/introspect")) json(200, { active: true, sub: "ann" })
    else if (path.endsWith("/token"))
      json(200, { access_token: accessToken, token_type: "Bearer", expires_in: 60 })
    else if (path.includes("/access/v1/evaluation")) json(200, { decision: true })
    else response.end("fine")
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  })
}
