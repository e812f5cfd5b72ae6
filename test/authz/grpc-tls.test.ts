import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { credentials } from "@grpc/grpc-js"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type AuthzListeners, startAuthz } from "../../runtime/authz/server.ts"
import { ClientTrust } from "../../runtime/http/server/client-trust.ts"
import { ListenerTls } from "../../runtime/http/server/tls.ts"
import { describeDatabase } from "../store/databases.ts"
import { Authority } from "../support/certificates.ts"
import { GrpcClient } from "../support/grpc-client.ts"
import { serve } from "./harness.ts"

let folder: string
let http: Awaited<ReturnType<typeof serve>>
const clients: GrpcClient[] = []

const read = (name: string) => readFileSync(join(folder, name))

describeDatabase("the engine's gRPC by TLS", (database) => {
  const opened: AuthzListeners[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "grpc-tls-"))
    const authority = new Authority(folder)
    authority.sign("own", ["localhost"])
    authority.signClient("caller", "/CN=caller")
    http = await serve(database())
    for (const isAsked of [false, true]) {
      const own = { name: "own", cert: String(read("own.pem")), key: String(read("own.key")) }
      const trust = new ClientTrust({
        ...{ demand: "require", hosts: undefined, revoked: undefined },
        authorities: [{ file: "ca.pem", text: String(read("ca.pem")) }],
      })
      const tls = new ListenerTls({
        ...{ certificates: [own], profile: "intermediate", refusesUnknownHosts: false, http2: true },
        clientTrusts: isAsked ? [trust] : [],
      })
      opened.push(
        await startAuthz({
          api: http.api,
          listen: [{ host: "127.0.0.1", port: 0 }],
          transport: { tls, grpc: true },
        }),
      )
    }
  })

  afterAll(async () => {
    for (const client of clients) client.close()
    for (const listeners of opened) await listeners.close()
    await http.listeners.close()
    rmSync(folder, { recursive: true })
  })

  /** The code of a check by a client on one of the listeners, and what it says. */
  async function check(at: number, ca: string, client?: string) {
    const pair = client === undefined ? [] : [read(`${client}.key`), read(`${client}.pem`)]
    const channel = credentials.createSsl(read(ca), ...pair)
    const caller = new GrpcClient(`localhost:${opened[at]?.addresses[0]?.port}`, channel)
    clients.push(caller)
    const tuple_key = { user: "user:ann", relation: "viewer", object: "document:1" }
    const { code, json } = await caller.call("Check", { store_id: "acme", tuple_key })
    return { code, json }
  }

  test("a call is answered to a client that trusts the certificate, and to no other", async () => {
    expect(await check(0, "ca.pem")).toMatchObject({ code: 0 })
    // UNAVAILABLE: the client found no connection.
    expect(await check(0, "caller.pem")).toMatchObject({ code: 14 })
  })

  test("a required client certificate", async () => {
    expect(await check(1, "ca.pem", "caller")).toMatchObject({ code: 0 })
    // OpenFGA's code for missing credentials: the connection is served, so that the client learns the reason.
    expect(await check(1, "ca.pem")).toMatchObject({ code: 1500 })
  })
})
