import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { bodies } from "./hostile-bodies.ts"

/** A request to be sent; its body is made in the peer's process, and so is what its backend answers. */
export interface Asked {
  readonly port: number
  readonly path: string
  readonly body: string
  readonly bytes: number
}

/** The caller and the backend of the gateway that is measured, in a process of their own. Over IPC: its port first, then a status for each request. */
export function playPeer(): void {
  let answers = { media: "text/plain", content: Buffer.from("ok") }
  const backend = createServer((asked, response) => {
    asked.resume().once("end", () => {
      response.writeHead(200, { "content-type": answers.media, "content-length": answers.content.length })
      response.end(answers.content)
    })
  })
  backend.listen(0, "127.0.0.1", () => process.send?.((backend.address() as AddressInfo).port))
  process.on("message", ({ port, path, body, bytes }: Asked) => {
    const kind = bodies[body] as (typeof bodies)[string]
    const content = Buffer.from(kind.make(bytes))
    const isAnswer = path.startsWith("/answer")
    answers = isAnswer ? { media: kind.media, content } : { media: "text/plain", content: Buffer.from("ok") }
    const headers = { "content-type": kind.media, "content-length": isAnswer ? 0 : content.length }
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      response.resume().once("close", () => process.send?.(response.statusCode))
    })
    sent.on("error", () => process.send?.(0))
    sent.end(isAnswer ? undefined : content)
  })
}
