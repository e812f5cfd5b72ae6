import { existsSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Text } from "../../runtime/plan/text.ts"
import { serve } from "../authz/harness.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { sendRaw, startGateway, startUpstream } from "../gateway/harness.ts"
import { issuers, jwt, tokenOf, verifier } from "../gateway/one-route.ts"
import type { StepDraft } from "../gateway/plan-builder.ts"
import { openTestDatabase } from "../store/databases.ts"
import { makeStore } from "./make-store.ts"

const shared = new URL("../../../shared/conformance/authzen/", import.meta.url)

interface Question {
  readonly subject: { readonly id: string }
  readonly action: { readonly name: string }
  readonly resource: Resource
}
interface Resource {
  readonly type: string
  readonly id: string
  readonly properties?: { readonly ownerID?: string }
  /** Where the first form of the scenario has it; a gateway asks in the form of 1.0 alone, which has it among the properties. */
  readonly ownerID?: string
}
interface Decided {
  readonly request: Question
  readonly expected: boolean
}
interface DecidedTogether {
  readonly request: Omit<Question, "resource"> & {
    readonly evaluations: readonly { readonly resource: Resource }[]
  }
  readonly expected: readonly { readonly decision: boolean }[]
}

const read = (name: string): { evaluation: Decided[]; evaluations?: DecidedTogether[] } =>
  JSON.parse(readFileSync(new URL(`decisions-authorization-api-1_0-${name}.json`, shared), "utf8"))

const cel = (text: string) => ({ expression: { lang: "cel", text, type: "string" } }) as const
const value = (text: string) => ({ lang: "cel", text, type: "dyn" }) as const
const user: Text = { text: ["user:", cel("jwt.sub")] }
const actions = ["can_read_user", "can_read_todos", "can_create_todo", "can_update_todo", "can_delete_todo"]

const required = (action: string): StepDraft => ({
  ...{ kind: "require", pdp: "own", relation: action, user },
  object: { text: [action === "can_read_user" ? "user:" : "todo:", cel("path.id")] },
  properties: { resource: [{ key: "ownerID", value: value('request.query("ownerID")') }] },
})
const filtered = (action: string): StepDraft => ({
  ...{ kind: "filter", pdp: "own", relation: action, user, items: "" },
  object: { text: ["todo:", cel("item.id")] },
  properties: { resource: [{ key: "ownerID", value: value("item.ownerID") }] },
})

/** The store of the scenario, a gateway that asks it, and a backend that answers with `items`. */
async function open() {
  const database = await openTestDatabase()
  const served = await serve(database)
  const store = await makeStore(served, "todo.fga.yaml")
  const backend = await startUpstream((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(world.items))
  })
  const running = await startGateway(
    {
      issuers,
      backends: { main: backend.url },
      pdps: {
        own: {
          // Its metadata says where its store is asked.
          ...{ url: `${served.base}/${store}`, discover: true, timeoutMs: 30_000, cacheMs: 0, batchMax: 2 },
          tls: { insecure: false },
        },
      },
      routes: actions.flatMap((action) => [
        { path: `/${action}/{id}`, inbound: [jwt, required(action)] },
        { path: `/lists/${action}`, inbound: [jwt], outbound: [filtered(action)] },
      ]),
    },
    {
      ...verifier,
      authorizerOf: () => authorizerOf(() => Promise.reject(new Error("the engine was asked directly"))),
    },
  )
  const world = {
    running,
    items: [] as unknown,
    async close() {
      await running.close()
      await backend.close()
      await served.listeners.close()
      await database.close()
    },
  }
  return world
}

describe.runIf(existsSync(shared))("our gateway before our engine, by AuthZEN alone", () => {
  let world: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    world = await open()
  })
  afterAll(() => world?.close())

  const get = (path: string, sub: string) =>
    sendRaw(
      world.running.port,
      `GET ${path} HTTP/1.1\r\nHost: gw\r\n${tokenOf({ sub, scope: "read" })}\r\n`,
      250,
    )

  const single = ["00", "01", "02"].flatMap((name) => (existsSync(shared) ? read(name).evaluation : []))
  test(`${single.length} decisions of the interop scenario`, async () => {
    expect(single.length).toBeGreaterThan(100)
    const wrong: unknown[] = []
    for (const { request, expected } of single) {
      const { subject, action, resource } = request
      const owner = encodeURIComponent(resource.properties?.ownerID ?? resource.ownerID ?? "")
      const { status } = await get(`/${action.name}/${resource.id}?ownerID=${owner}`, subject.id)
      if (status !== (expected ? 200 : 403)) wrong.push({ status, request })
    }
    expect(wrong).toEqual([])
  })

  const together = existsSync(shared) ? (read("02").evaluations ?? []) : []
  test(`${together.length} lists, of which callers see what they may`, async () => {
    expect(together.length).toBeGreaterThan(0)
    for (const { request, expected } of together) {
      const all = request.evaluations.map(({ resource }) => ({
        id: resource.id,
        ownerID: resource.properties?.ownerID ?? "",
      }))
      // Several requests, and one that is left over.
      world.items = [...all, ...all, ...all]
      const seen = all.filter((_, at) => expected[at]?.decision === true)
      const { status, body } = await get(`/lists/${request.action.name}`, request.subject.id)
      expect([status, JSON.parse(body)]).toEqual([200, [...seen, ...seen, ...seen]])
    }
  })
})
