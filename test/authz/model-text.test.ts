import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { modelText } from "../../compiler/model/model-text.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openTestDatabase } from "../store/databases.ts"
import { type Served, serve } from "./harness.ts"

const text = `model
  schema 1.1

type user

type document
  relations
    define owner: [user]
    define viewer: [user, user:* with open] or owner

condition open(hour: int) {
  hour > 8
}
`

describe("models as text", () => {
  let database: Database
  let served: Served & { listeners: { close(): Promise<void> } }
  let jsonOnly: Served & { listeners: { close(): Promise<void> } }
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database, 10_000, { modelText })
    jsonOnly = await serve(database, 10_000)
  })
  afterAll(async () => {
    await Promise.all([served, jsonOnly].map(({ listeners }) => listeners.close()))
    await database.close()
  })

  async function newStore(): Promise<string> {
    return (await served.call("POST", "/stores", { name: "text" })).json.id
  }
  const post = (store: string, body: string | Uint8Array, type = "text/plain", at = served) =>
    fetch(`${at.base}/stores/${store}/authorization-models`, {
      method: "POST",
      body: body as string,
      headers: { "content-type": type },
    })

  test.each(["text/plain", "Text/Plain; charset=utf-8"])(
    "taken with %s, given as JSON and as text",
    async (type) => {
      const store = await newStore()
      const answer = await post(store, text, type)
      expect(answer.status).toBe(201)
      const { authorization_model_id: id } = (await answer.json()) as { authorization_model_id: string }
      const { json } = await served.call("GET", `/stores/${store}/authorization-models/${id}`)
      expect(json.authorization_model.type_definitions.map(({ type }: { type: string }) => type)).toEqual([
        "user",
        "document",
      ])
      expect(json.authorization_model.conditions.open.expression).toBe("hour > 8")
      const printed = await fetch(`${served.base}/stores/${store}/authorization-models/${id}?format=dsl`)
      expect(printed.headers.get("content-type")).toBe("text/plain; charset=utf-8")
      expect(printed.headers.get("openfga-authorization-model-id")).toBe(id)
      expect(await printed.text()).toBe(text)
      const same = await served.call("GET", `/stores/${store}/authorization-models/${id}?format=json`)
      expect(same.json).toEqual(json)
    },
  )

  test("comes back as it was written, with its comments and in its order; one that came as JSON is printed", async () => {
    const store = await newStore()
    const written = `# Acme's.\r\n${text.replace("type user", "# people\ntype user # all").replace("  relations", "  relations\n    # first\n    define z: owner")}`
    const answer = await post(store, written)
    expect(answer.status).toBe(201)
    const { authorization_model_id: id } = (await answer.json()) as { authorization_model_id: string }
    const models = `/stores/${store}/authorization-models`
    const printed = await fetch(`${served.base}${models}/${id}?format=dsl`)
    expect(await printed.text()).toBe(written)
    const { id: _, ...model } = (await served.call("GET", `${models}/${id}`)).json.authorization_model
    const { authorization_model_id: again } = (await served.call("POST", models, model)).json
    const plain = await (await fetch(`${served.base}${models}/${again}?format=dsl`)).text()
    expect(plain).not.toContain("#")
    expect(plain).toContain("define z: owner")
  })

  test("JSON under text/plain is JSON: that is what fetch says of any text", async () => {
    const json = JSON.stringify({ schema_version: "1.1", type_definitions: [{ type: "user" }] })
    expect((await post(await newStore(), `  ${json}`, "text/plain;charset=UTF-8")).status).toBe(201)
    expect((await post(await newStore(), json, "text/plain", jsonOnly)).status).toBe(201)
  })

  test("what is wrong is told with its place", async () => {
    const wrong = await post(
      await newStore(),
      text.replace("or owner", "or ownr").replace("hour > 8", "hour >"),
    )
    expect(wrong.status).toBe(400)
    const { code, message } = (await wrong.json()) as { code: string; message: string }
    expect(code).toBe("invalid_authorization_model")
    expect(message).toMatch(/^9:\d+: .*ownr/m)
    expect(message).toMatch(/^12:\d+: /m)
  })

  test.each([
    ["nothing", ""],
    ["prose", "no model at all"],
    ["bytes that are no UTF-8", new Uint8Array([0x6d, 0xff, 0xfe])],
    ["a NUL", "model\n  schema 1.1\ntype user\0\n"],
    ["a NUL in a comment", `# \0\n${text}`],
  ])("%s is not a model", async (_, body) => {
    const answer = await post(await newStore(), body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: "invalid_authorization_model" })
  })

  test("an unknown format is refused", async () => {
    const store = await newStore()
    const { authorization_model_id: id } = (await (await post(store, text)).json()) as Record<string, string>
    const answer = await served.call("GET", `/stores/${store}/authorization-models/${id}?format=xml`)
    expect(answer).toMatchObject({
      status: 400,
      json: { code: "validation_error", message: "format: json or dsl is expected" },
    })
  })

  test("a server without the language says 415", async () => {
    const store = await newStore()
    const { authorization_model_id: id } = (await (await post(store, text)).json()) as Record<string, string>
    const refused = await post(store, text, "text/plain", jsonOnly)
    const wanted = {
      code: "unsupported_media_type",
      message: "this server accepts and returns models only as JSON",
    }
    expect([refused.status, await refused.json()]).toEqual([415, wanted])
    const printed = await jsonOnly.call("GET", `/stores/${store}/authorization-models/${id}?format=dsl`)
    expect(printed).toMatchObject({ status: 415, json: wanted })
  })
})
