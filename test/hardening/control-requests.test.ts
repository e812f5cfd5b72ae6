import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ControlPorts } from "../../runtime/control/ports.ts"
import { type Control, startControl } from "../../runtime/control/server.ts"
import { createLog } from "../../runtime/telemetry/log.ts"

const token = "0123456789abcdef0123456789abcdef"
const author = { who: "ann", commit: null, message: null }

const audit = { append: async () => 1, onLost: () => undefined }

// Nothing here may get as far as another port than that of the audit log: each call of one fails the request with 500.
const ports = new Proxy({} as ControlPorts, {
  get: (_, name) =>
    name === "audit"
      ? audit
      : () => {
          throw new Error(`the port ${String(name)} was asked`)
        },
})

let control: Control
beforeAll(async () => {
  control = await startControl(
    { listen: { host: "127.0.0.1", port: 0 }, token, log: createLog({ level: "silent" }) },
    ports,
  )
})
afterAll(() => control.close())

const deep = "[".repeat(50_000) + "]".repeat(50_000)
const plan = (json: string) => `{"base":null,"author":${JSON.stringify(author)},"plan":${json}}`

/** `[what, method, path, body, status, detail]` */
const rows: [string, string, string, string | Buffer<ArrayBuffer> | undefined, number, RegExp][] = [
  ["a path that is not a path", "GET", "/v1/%zz", undefined, 400, /path of the request is malformed/],
  ["a path nobody knows", "GET", "/v1/nope", undefined, 404, /there is no GET \/v1\/nope/],
  ["no JSON", "PUT", "/v1/plan", "{", 400, /not valid JSON/],
  ["HTML", "PUT", "/v1/plan", "<html>", 400, /not valid JSON/],
  ["UTF-16", "PUT", "/v1/plan", Buffer.from("{}", "utf16le"), 400, /not valid JSON/],
  ["nothing", "PUT", "/v1/plan", "null", 400, /the body: expected object, found null/],
  ["an empty object", "PUT", "/v1/plan", "{}", 400, /is missing/],
  [
    "an unknown key",
    "POST",
    "/v1/rollback",
    '{"serial":1,"base":1,"author":{"who":"a","x":1}}',
    400,
    /author/,
  ],
  ["a serial of another type", "POST", "/v1/rollback", '{"serial":"1"}', 400, /serial: expected number/],
  ["a serial that is not a number", "GET", "/v1/plans/abc", undefined, 404, /no plan with serial abc/],
  [
    "a limit out of range",
    "GET",
    "/v1/plans?limit=501",
    undefined,
    400,
    /`limit` must be a number from 1 to 500/,
  ],
  ["text in place of a plan", "PUT", "/v1/plan", plan('"gateway g {}"'), 422, /a JSON object is expected/],
  ["an unknown format", "PUT", "/v1/plan", plan('{"format":9}'), 422, /plan format 9 is not supported/],
  ["depth", "PUT", "/v1/plan", plan(deep), 422, /nested deeper than 200 levels/],
  ["a key that changes prototypes", "PUT", "/v1/plan", plan('{"format":1,"__proto__":{"x":1}}'), 400, /JSON/],
]

async function ask(
  method: string,
  path: string,
  body: string | Buffer<ArrayBuffer> | undefined,
  bearer = token,
) {
  const response = await fetch(control.url + path, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, problem: (await response.json()) as Record<string, unknown> }
}

describe("a request to the control API", () => {
  test.each(rows)("with %s is refused with its reason", async (_, method, path, body, status, detail) => {
    const { status: got, problem } = await ask(method, path, body)
    expect({ status: got, detail: problem["detail"] }).toEqual({
      status,
      detail: expect.stringMatching(detail),
    })
    expect(problem["type"]).toMatch(/^urn:sallyport:control:/)
    expect(JSON.stringify(problem)).not.toMatch(/FST_|undefined|Invalid input|\bat .*:\d+:\d+/)
  })

  test.each(["", "x", `${token}x`])("with the token %j gets nothing", async (bearer) => {
    for (const [, method, path, body] of rows)
      expect([400, 401, 429]).toContain((await ask(method, path, body, bearer)).status)
  })
})

test("a client that goes before the engine has answered is not a failure", async () => {
  const engine = createServer()
  await once(engine.listen(0, "127.0.0.1"), "listening")
  const door = { url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`, authorization: "" }
  const written: string[] = []
  const log = createLog({ stream: { write: (line) => void written.push(line) } })
  const settings = { listen: { host: "127.0.0.1", port: 0 }, token, log }
  const carrying = await startControl(settings, { engine: () => door, audit } as unknown as ControlPorts)
  try {
    const client = new AbortController()
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const asked = once(engine, "request")
    const read = { method: "POST", headers, body: "{}", signal: client.signal }
    const gone = fetch(`${carrying.url}/authz/stores/s/read`, read)
    const [, answer] = (await asked) as [unknown, ServerResponse]
    client.abort()
    await expect(gone).rejects.toThrow(/aborted/)
    // By the time this is answered it has been seen that the other one went.
    await fetch(`${carrying.url}/healthz`)
    answer.end("{}")
    await once(answer, "close")
    await fetch(`${carrying.url}/healthz`)
    expect(written).toEqual([])
  } finally {
    await carrying.close()
    engine.close()
  }
})
