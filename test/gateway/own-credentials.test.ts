import { createPrivateKey, generateKeyPairSync } from "node:crypto"
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { until } from "../support/until.ts"
import { type Answering, sendRaw, startGateway, startUpstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import { forwardTo, planOf, type RouteDraft, type StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

/** Leaves only the first line of a PEM block in a file, between its frame. */
function damage(path: string, label: string): void {
  const [, first = ""] = readFileSync(path, "utf8").split("\n")
  writeFileSync(path, `-----BEGIN ${label}-----\n${first}\n-----END ${label}-----\n`)
}

const folder = fileURLToPath(new URL("certificates/", import.meta.url))
type Backend = PlanBody["backends"][string]

/** A token endpoint that numbers its tokens, and a backend that takes only some of them. */
async function world(
  route: Partial<RouteDraft>,
  own: Partial<Backend> = {},
  options: { taken?: (token: string) => boolean; endpoint?: Answering } = {},
) {
  let given = 0
  const identity = await startUpstream(
    options.endpoint ??
      ((request, response) => {
        given += 1
        request.resume()
        const body = JSON.stringify({ access_token: `t${given}`, token_type: "Bearer", expires_in: 600 })
        response.writeHead(200, { "content-length": body.length }).end(body)
      }),
  )
  const upstream = await startUpstream((request, response, seen) => {
    const token = seen.headers.authorization ?? ""
    request.resume().on("end", () => {
      const fine = options.taken?.(token) ?? true
      response.writeHead(fine ? 200 : 401, { "content-length": token.length }).end(token)
    })
  })
  const backend: Backend = {
    targets: [{ url: upstream.url, weight: 1 }],
    connectMs: 2_000,
    totalMs: null,
    tls: { insecure: false },
    ...own,
  }
  const running = await startGateway(
    {
      secrets: { s: { env: "S" } },
      tokenClients: { stock: { endpoint: { url: `${identity.url}/token` }, client: "gateway", secret: "s" } },
      backends: { main: backend },
      routes: [{ method: "*", path: "/a", ...route }],
    },
    { environment: { S: "geheim" } },
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
    () => identity.close(),
  )
  const ask = (method = "GET", more = "", body = "") =>
    sendRaw(
      running.port,
      `${method} /a HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer of-the-caller\r\n${more}\r\n${body}`,
      60,
    )
  return { running, upstream, identity, ask }
}

const token: StepDraft = { kind: "authenticate", authentication: { scheme: "token", client: "stock" } }

describe("a backend's own credentials", () => {
  test("basic: in place of what the caller says", async () => {
    const { ask } = await world({}, { authentication: { scheme: "basic", user: "änn", password: "s" } })
    expect((await ask()).body).toBe(`Basic ${Buffer.from("änn:geheim").toString("base64")}`)
  })

  test("a token: got once, for all", async () => {
    const { ask, identity } = await world({}, { authentication: { scheme: "token", client: "stock" } })
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(answers.map(({ body }) => body)).toEqual(["Bearer t1", "Bearer t1", "Bearer t1"])
    expect(identity.requests).toHaveLength(1)
    expect(identity.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("gateway:geheim").toString("base64")}`,
    )
  })

  test("without them the caller's own goes through", async () => {
    const { ask } = await world({})
    expect((await ask()).body).toBe("Bearer of-the-caller")
  })

  const both: readonly [string, Partial<RouteDraft>, Partial<Backend>][] = [
    ["of the backend", {}, { authentication: { scheme: "token", client: "stock" } }],
    ["of a step", { inbound: [token] }, {}],
  ]
  describe.each(both)("a refused token %s", (_, route, own) => {
    test("is replaced and the request sent once more", async () => {
      const { ask, upstream } = await world(route, own, { taken: (said) => said === "Bearer t2" })
      const answer = await ask()
      expect([answer.status, answer.body, upstream.requests.length]).toEqual([200, "Bearer t2", 2])
    })

    test("once only; what may not be repeated is not, but the next one has a fresh token", async () => {
      const never = await world(route, own, { taken: () => false })
      expect((await never.ask()).status).toBe(401)
      expect(never.upstream.requests).toHaveLength(2)
      const post = await world(route, own, { taken: (said) => said === "Bearer t2" })
      const head = "Content-Length: 2\r\n"
      expect((await post.ask("POST", head, "{}")).status).toBe(401)
      expect(post.upstream.requests).toHaveLength(1)
      expect((await post.ask("POST", head, "{}")).status).toBe(200)
    })
  })

  test("no token: 502 when the endpoint refuses, 503 when it does not answer; the backend is not asked", async () => {
    const refusing = await world(
      { inbound: [token] },
      {},
      {
        endpoint: (_, response) => response.writeHead(401).end(),
      },
    )
    expect((await refusing.ask()).status).toBe(502)
    expect(refusing.upstream.requests).toHaveLength(0)
    await until(() => refusing.running.log.length === 1)
    expect(refusing.running.log[0]?.cause).toContain("token client `stock`")
    const authentication = { scheme: "token", client: "stock" } as const
    const away = await world(
      {},
      { authentication },
      {
        endpoint: (request) => request.socket.destroy(),
      },
    )
    const answer = await away.ask()
    expect([answer.status, answer.head.toLowerCase().includes("retry-after")]).toEqual([503, true])
    expect(away.upstream.requests).toHaveLength(0)
  })

  test("as a variable, and for a request of our own", async () => {
    const { ask, upstream } = await world({
      inbound: [
        { ...(token as Extract<StepDraft, { kind: "authenticate" }>), output: "t" },
        {
          kind: "set-header",
          message: "request",
          action: "set",
          name: "x-token",
          values: [{ text: [{ expression: { lang: "cel", text: "string(var.t)", type: "string" } }] }],
        },
      ],
    })
    expect((await ask()).body).toBe("Bearer of-the-caller")
    expect(upstream.requests[0]?.headers["x-token"]).toBe("t1")
  })

  test("a request of our own with a refused token is sent once more", async () => {
    const other = await startUpstream((request, response, seen) => {
      request.resume()
      response.writeHead(seen.headers.authorization === "Bearer t2" ? 204 : 401).end()
    })
    closers.push(() => other.close())
    const { ask, upstream } = await world({
      inbound: [
        {
          kind: "send-request",
          mode: "new",
          url: other.url,
          headers: [],
          media: null,
          authentication: { scheme: "token", client: "stock" },
          timeoutSeconds: 5,
          variable: "r",
          ignoreError: false,
          wait: true,
        },
        {
          kind: "set-header",
          message: "request",
          action: "set",
          name: "x-status",
          values: [{ text: [{ expression: { lang: "cel", text: "string(var.r.status)", type: "string" } }] }],
        },
      ],
    })
    expect((await ask()).status).toBe(200)
    expect([upstream.requests[0]?.headers["x-status"], other.requests.length]).toEqual(["204", 2])
  })

  test("a client that stays in the next plan keeps its token", async () => {
    const { ask, running, identity, upstream } = await world({ inbound: [token] })
    await ask()
    const plan = planOf({
      port: running.port,
      secrets: { s: { env: "S" } },
      tokenClients: { stock: { endpoint: { url: `${identity.url}/token` }, client: "gateway", secret: "s" } },
      backends: { main: upstream.url },
      routes: [{ method: "*", path: "/a", inbound: [token] }, { path: "/b" }],
    })
    await running.gateway.apply(plan)
    expect((await ask()).body).toBe("Bearer t1")
    expect(identity.requests).toHaveLength(1)
  })
})

describe("certificates", () => {
  /** A backend that answers with the name on the certificate it was shown, and wants one. */
  async function startTls(): Promise<string> {
    const read = (name: string) => readFileSync(`${folder}${name}`)
    const server = createServer(
      {
        cert: read("good.pem"),
        key: read("server.key"),
        ca: read("ca.pem"),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (request, response) => {
        const shown = (request.socket as TLSSocket).getPeerCertificate().fingerprint256.replaceAll(":", "")
        response.writeHead(200, { "content-length": shown.length }).end(shown)
      },
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(async () => {
      server.closeAllConnections()
      server.close()
    })
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }

  async function gateway(own: { onBackend: boolean; steps?: StepDraft[] }, files: string) {
    const url = await startTls()
    const running = await startGateway(
      {
        certificates: { edge: { cert: { file: "edge.pem" }, key: { file: "edge.key" } } },
        backends: {
          main: {
            targets: [{ url, weight: 1 }],
            connectMs: 2_000,
            totalMs: null,
            tls: {
              ca: { file: `${folder}ca.pem` },
              insecure: false,
              ...(own.onBackend ? { certificate: "edge" } : {}),
            },
          },
        },
        routes: [{ path: "/a", backendSteps: [...(own.steps ?? []), forwardTo("main")] }],
      },
      { folder: files, filesEveryMs: 50 },
    )
    closers.push(() => running.close())
    return () => sendRaw(running.port, "GET /a HTTP/1.1\r\nHost: gw\r\n\r\n", 60)
  }

  function files(certificate = "good.pem", key = "server.key"): string {
    const made = mkdtempSync(join(tmpdir(), "own-"))
    closers.push(async () => rmSync(made, { recursive: true }))
    copyFileSync(`${folder}${certificate}`, join(made, "edge.pem"))
    copyFileSync(`${folder}${key}`, join(made, "edge.key"))
    return made
  }

  const step: StepDraft = {
    kind: "authenticate",
    authentication: { scheme: "certificate", certificate: "edge" },
  }

  test("of the backend, of a step, and none", async () => {
    const made = files()
    const ofBackend = await (await gateway({ onBackend: true }, made))()
    expect([ofBackend.status, ofBackend.body.length]).toEqual([200, 64])
    const ofStep = await (await gateway({ onBackend: false, steps: [step] }, made))()
    expect([ofStep.status, ofStep.body]).toEqual([200, ofBackend.body])
    expect((await (await gateway({ onBackend: false, steps: [] }, made))()).status).toBe(502)
  })

  const wrong: readonly [string, (made: string) => void, RegExp][] = [
    [
      "no file",
      (made) => rmSync(join(made, "edge.key")),
      /edge\.key` cannot be read: there is no such file; create it/,
    ],
    ["no certificate", (made) => writeFileSync(join(made, "edge.pem"), "x"), /contains no PEM certificate/],
    [
      "no key",
      (made) => copyFileSync(join(made, "edge.pem"), join(made, "edge.key")),
      /certificate `edge`: `edge\.key` contains no PEM key; one starts with `-----BEGIN PRIVATE KEY-----`/,
    ],
    [
      "a key with a password",
      (made) => {
        const key = createPrivateKey(readFileSync(join(made, "edge.key")))
        const protection = { cipher: "aes-256-cbc", passphrase: "secret" }
        writeFileSync(join(made, "edge.key"), key.export({ type: "pkcs8", format: "pem", ...protection }))
      },
      /`edge\.key` contains a key with a password; remove the password with `openssl pkey`/,
    ],
    [
      "a damaged key",
      (made) => damage(join(made, "edge.key"), "PRIVATE KEY"),
      /`edge\.key` contains a damaged key; copy the key again/,
    ],
    [
      "a key of another certificate",
      (made) => {
        const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
        writeFileSync(join(made, "edge.key"), privateKey.export({ type: "pkcs8", format: "pem" }))
      },
      /the key in `edge\.key` does not belong to the certificate in `edge\.pem`/,
    ],
    [
      "a damaged certificate in the chain",
      (made) => {
        copyFileSync(`${folder}good.pem`, join(made, "next.pem"))
        damage(join(made, "next.pem"), "CERTIFICATE")
        appendFileSync(join(made, "edge.pem"), readFileSync(join(made, "next.pem")))
      },
      /`edge\.pem` contains a damaged certificate, number 2; copy the certificate again/,
    ],
  ]
  test.each(wrong)("%s: the plan is refused with the reason", async (_, spoil, reason) => {
    const made = files()
    spoil(made)
    await expect(gateway({ onBackend: true }, made)).rejects.toThrow(reason)
  })

  test("read again when it changes", async () => {
    const made = files("expired.pem")
    const ask = await gateway({ onBackend: true }, made)
    expect((await ask()).status).toBe(502)
    copyFileSync(`${folder}good.pem`, join(made, "edge.pem"))
    const later = new Date(Date.now() + 5_000)
    utimesSync(join(made, "edge.pem"), later, later)
    await expect.poll(async () => (await ask()).status, { interval: 200 }).toBe(200)
  })
})
