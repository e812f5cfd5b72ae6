import { once } from "node:events"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { describeServed } from "./harness.ts"

describeServed("request targets", (served) => {
  /** Status and body of one request, as it is over a socket of its own. */
  async function ask(line: string, headers = "Host: localhost\r\n"): Promise<readonly [number, string]> {
    const { hostname, port } = new URL(served().base)
    const socket = connect(Number(port), hostname)
    let received = ""
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      received += chunk
    })
    socket.write(`${line}\r\n${headers}Connection: close\r\n\r\n`)
    await once(socket, "close")
    return [Number(received.split(" ")[1]), received.split("\r\n\r\n")[1] ?? ""]
  }

  test("a path with scheme and host before it is that path, with its query", async () => {
    await served().call("POST", "/stores", { name: "first of targets" })
    for (const target of [
      "/healthz",
      "http://localhost/healthz",
      "HTTP://LOCALHOST/healthz?a=/b",
      "https://localhost/healthz",
    ])
      expect(await ask(`GET ${target} HTTP/1.1`)).toEqual([200, '{"status":"SERVING"}'])
    const [status, body] = await ask("GET http://localhost/stores?name=first%20of%20targets HTTP/1.1")
    expect([status, JSON.parse(body).stores.length]).toEqual([200, 1])
  })

  test("HTTP/1.0 and a missing Host are answered as HTTP says", async () => {
    expect(await ask("GET /healthz HTTP/1.0", "")).toEqual([200, '{"status":"SERVING"}'])
    expect((await ask("GET /healthz HTTP/1.1", ""))[0]).toBe(400)
  })

  test.each([
    "*",
    "*stores",
    "*/stores",
    "http://localhost",
    "http://localhost?/stores",
    "http:///stores",
    "http://localhost//stores",
    "http://other/stores",
  ])("%s leads nowhere", async (target) => {
    const [status, body] = await ask(`GET ${target} HTTP/1.1`)
    if (status !== 400) expect([status, JSON.parse(body).code]).toEqual([404, "undefined_endpoint"])
  })
})
