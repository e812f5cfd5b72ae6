import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { AuthzenSettings } from "../../runtime/authz/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { serve } from "../authz/harness.ts"
import { openTestDatabase } from "../store/databases.ts"

describe("AuthZEN's own paths", () => {
  let database: Database
  let served: Awaited<ReturnType<typeof serve>>
  let settings: AuthzenSettings = { store: undefined, url: undefined }
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database, undefined, { authzen: () => settings })
    const tuple = { user: "user:ann", relation: "owner", object: "document:1" }
    await served.call("POST", "/stores/acme/write", { writes: { tuple_keys: [tuple] } })
  })
  afterAll(async () => {
    await served.listeners.close()
    await database.close()
  })

  const question = {
    subject: { type: "user", id: "ann" },
    action: { name: "viewer" },
    resource: { type: "document", id: "1" },
  }

  test("mean the default store", async () => {
    settings = { store: "acme", url: undefined }
    expect(await served.call("POST", "/access/v1/evaluation", question)).toMatchObject({
      status: 200,
      json: { decision: true },
    })
    expect(await served.call("POST", "/access/v1/evaluations", question)).toMatchObject({
      json: { decision: true },
    })
    expect(await served.call("POST", "/access/v1/search/action", question)).toMatchObject({
      json: { results: [{ name: "owner" }, { name: "viewer" }] },
    })
    expect(await served.call("POST", "/access/v1/search/resource", question)).toMatchObject({
      json: { results: [{ type: "document", id: "1" }] },
    })
    expect(await served.call("POST", "/access/v1/search/subject", question)).toMatchObject({
      json: { results: [{ type: "user", id: "ann" }] },
    })
  })

  test("are not there without one", async () => {
    settings = { store: undefined, url: undefined }
    for (const [method, path] of [
      ["POST", "/access/v1/evaluation"],
      ["GET", "/.well-known/authzen-configuration"],
    ] as const)
      expect(await served.call(method, path, method === "POST" ? question : undefined)).toMatchObject({
        status: 404,
        json: { code: "store_id_not_found" },
      })
  })

  const endpoints = (at: string) => ({
    access_evaluation_endpoint: `${at}/access/v1/evaluation`,
    access_evaluations_endpoint: `${at}/access/v1/evaluations`,
    search_subject_endpoint: `${at}/access/v1/search/subject`,
    search_resource_endpoint: `${at}/access/v1/search/resource`,
    search_action_endpoint: `${at}/access/v1/search/action`,
  })

  test("and metadata: of the default store, and of any store, by the URL that is set", async () => {
    settings = { store: "acme", url: "https://pdp.example/" }
    const standard = await served.call("GET", "/.well-known/authzen-configuration")
    expect([standard.status, standard.headers.get("content-type"), standard.json]).toEqual([
      200,
      "application/json",
      { policy_decision_point: "https://pdp.example", ...endpoints("https://pdp.example") },
    ])
    const ofStore = await served.call("GET", "/.well-known/authzen-configuration/acme")
    expect(ofStore.json).toEqual({
      policy_decision_point: "https://pdp.example/acme",
      ...endpoints("https://pdp.example/stores/acme"),
    })
  })

  test("by the address the request has reached where none is set; its endpoints answer", async () => {
    settings = { store: "acme", url: undefined }
    for (const path of ["", "/acme"]) {
      const { json } = await served.call("GET", `/.well-known/authzen-configuration${path}`)
      expect(json.access_evaluation_endpoint).toMatch(served.base)
      const answer = await fetch(json.access_evaluation_endpoint, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(question),
      })
      expect(await answer.json()).toEqual({ decision: true })
    }
    expect(await served.call("GET", "/.well-known/authzen-configuration/no%20store")).toMatchObject({
      status: 404,
    })
  })
})
