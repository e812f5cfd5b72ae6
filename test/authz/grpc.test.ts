import { fromBinary, type JsonObject } from "@bufbuild/protobuf"
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt"
import { describe, expect, test } from "vitest"
import { createAccess, type Grants } from "../../runtime/authz/access.ts"
import { registry } from "../../runtime/authz/grpc/descriptors.ts"
import type { EndedRequest } from "../../runtime/authz/observed.ts"
import { openfga } from "../support/grpc-client.ts"
import { describeGrpc, type GrpcServed } from "./grpc-served.ts"
import { documentModel } from "./harness.ts"

const key = { user: "user:ann", relation: "viewer", object: "document:1" }
const noId = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
const health = "grpc.health.v1.Health"

/** A new store with the model and some tuples. */
async function newStore({
  client,
}: GrpcServed): Promise<{ store_id: string; authorization_model_id: string }> {
  const store_id: string = (await client.call("CreateStore", { name: "by gRPC" })).json.id
  const { json } = await client.call("WriteAuthorizationModel", {
    store_id,
    ...(documentModel as JsonObject),
  })
  const tuple_keys = [
    { user: "user:ann", relation: "owner", object: "document:1" },
    { user: "user:bob", relation: "viewer", object: "document:2" },
    {
      ...{ user: "user:gus", relation: "guest", object: "document:1" },
      condition: { name: "in_office", context: { floor: 4 } },
    },
  ]
  expect(await client.call("Write", { store_id, writes: { tuple_keys } })).toMatchObject({
    code: 0,
    json: {},
  })
  return { store_id, authorization_model_id: json.authorization_model_id }
}

describeGrpc("OpenFGA's gRPC service", (served) => {
  test("stores: create, get, list, rename, delete", async () => {
    const { client } = served()
    const { json: store } = await client.call("CreateStore", { name: "first" })
    expect(store).toMatchObject({ id: expect.stringMatching(/^[0-9A-Z]{26}$/), name: "first" })
    expect(await client.call("UpdateStore", { store_id: store.id, name: "second" })).toMatchObject({
      code: 0,
    })
    const { json: got } = await client.call("GetStore", { store_id: store.id })
    expect(got).toMatchObject({ id: store.id, name: "second", created_at: store.created_at })
    const { json: page } = await client.call("ListStores", { page_size: 1 })
    expect(page).toMatchObject({ stores: [{}], continuation_token: expect.stringMatching(/./) })
    const { json: named } = await client.call("ListStores", { name: "second" })
    expect(named.stores).toEqual([got])
    expect(await client.call("DeleteStore", { store_id: store.id })).toMatchObject({ code: 0, json: {} })
    expect(await client.call("GetStore", { store_id: store.id })).toMatchObject({
      ...{ code: 5002, message: "Store ID not found" },
    })
  })

  test("models: write, read one, read all", async () => {
    const { client } = served()
    const { store_id, authorization_model_id: id } = await newStore(served())
    const { json: one, headers } = await client.call("ReadAuthorizationModel", { store_id, id })
    expect(one.authorization_model).toMatchObject({ id, schema_version: "1.1" })
    expect(one.authorization_model.conditions).toMatchObject(documentModel.conditions)
    expect(one.authorization_model.type_definitions[3].relations).toEqual(
      documentModel.type_definitions[3]?.relations,
    )
    expect(headers.get("openfga-authorization-model-id")).toEqual([id])
    const { json: all } = await client.call("ReadAuthorizationModels", { store_id, page_size: 5 })
    expect(all.authorization_models).toEqual([one.authorization_model])
  })

  test("tuples: write, delete, read, changes", async () => {
    const { client } = served()
    const { store_id } = await newStore(served())
    const { json: read } = await client.call("Read", { store_id, tuple_key: { object: "document:1" } })
    expect(read.tuples.map(({ key: each }: { key: object }) => each)).toEqual([
      {
        ...{ user: "user:gus", relation: "guest", object: "document:1" },
        condition: { name: "in_office", context: { floor: 4 } },
      },
      { user: "user:ann", relation: "owner", object: "document:1" },
    ])
    const tuple = { user: "user:bob", relation: "viewer", object: "document:2" }
    await client.call("Write", { store_id, deletes: { tuple_keys: [tuple] } })
    const { json: first } = await client.call("ReadChanges", { store_id, type: "document", page_size: 3 })
    expect(first.changes).toHaveLength(3)
    const { json: rest } = await client.call("ReadChanges", {
      ...{ store_id, type: "document", continuation_token: first.continuation_token },
    })
    expect(rest.changes).toMatchObject([{ operation: "TUPLE_OPERATION_DELETE", tuple_key: tuple }])
    const { json: later } = await client.call("ReadChanges", {
      ...{ store_id, start_time: new Date(Date.now() - 3_600_000).toISOString() },
    })
    expect(later.changes).toHaveLength(4)
    const { json: ignored } = await client.call("Write", {
      ...{ store_id, deletes: { tuple_keys: [tuple], on_missing: "ignore" } },
    })
    expect(ignored).toEqual({})
  })

  test("questions: check, batch check, expand, lists", async () => {
    const { client } = served()
    const terms = await newStore(served())
    const { headers, ...check } = await client.call("Check", { ...terms, tuple_key: key })
    expect(check).toMatchObject({ code: 0, json: { allowed: true } })
    expect(headers.get("openfga-store-id")).toEqual([terms.store_id])
    expect(headers.get("sallyport-revision")[0]).toMatch(/^\d+$/)
    const context = { floor: 5, city: "Bonn" }
    const guest = { user: "user:gus", relation: "guest", object: "document:1" }
    expect((await client.call("Check", { ...terms, tuple_key: guest, context })).json).toEqual({
      allowed: true,
    })
    const denied = await client.call("Check", { ...terms, tuple_key: { ...key, user: "user:eve" } })
    expect(denied).toMatchObject({ code: 0, json: {} })
    const given = { tuple_keys: [{ ...key, user: "user:eve" }] }
    const contextual = await client.call("Check", {
      ...{ ...terms, tuple_key: { ...key, user: "user:eve" }, contextual_tuples: given },
      consistency: "HIGHER_CONSISTENCY",
    })
    expect(contextual.json).toEqual({ allowed: true })
    const batch = await client.call("BatchCheck", {
      ...terms,
      checks: [
        { tuple_key: key, correlation_id: "one" },
        { tuple_key: { ...key, user: "user:eve" }, correlation_id: "two" },
        { tuple_key: { ...key, relation: "nothing" }, correlation_id: "three" },
      ],
    })
    expect(batch.json.result).toMatchObject({
      ...{ one: { allowed: true }, two: { allowed: false } },
      three: { error: { input_error: "validation_error", message: expect.stringMatching(/nothing/) } },
    })
    const expand = await client.call("Expand", {
      ...{ ...terms, tuple_key: { relation: "owner", object: "document:1" } },
    })
    expect(expand.json.tree.root).toEqual({
      ...{ name: "document:1#owner", leaf: { users: { users: ["user:ann"] } } },
    })
    const list = { ...terms, type: "document", relation: "viewer", user: "user:ann" }
    expect((await client.call("ListObjects", list)).json).toEqual({ objects: ["document:1"] })
    const streamed = await client.call("StreamedListObjects", { ...list, user: "user:bob" })
    expect(streamed).toMatchObject({ code: 0, all: [{ object: "document:2" }] })
    const users = await client.call("ListUsers", {
      ...{ ...terms, object: { type: "document", id: "1" }, relation: "viewer" },
      user_filters: [{ type: "user" }],
    })
    expect(users.json).toEqual({ users: [{ object: { type: "user", id: "ann" } }] })
  })

  test("assertions: write and read", async () => {
    const { client } = served()
    const terms = await newStore(served())
    const assertions = [
      { tuple_key: key, expectation: true },
      { tuple_key: { ...key, user: "user:eve" }, expectation: false, context: { floor: 1 } },
    ]
    expect(await client.call("WriteAssertions", { ...terms, assertions })).toMatchObject({
      code: 0,
      json: {},
    })
    const { json } = await client.call("ReadAssertions", terms)
    expect(json).toMatchObject({
      authorization_model_id: terms.authorization_model_id,
      assertions: [assertions[0], { tuple_key: { user: "user:eve" }, context: { floor: 1 } }],
    })
  })

  test("health, open to all: the server and its service", async () => {
    const { client } = served()
    for (const service of ["", openfga])
      expect(await client.call("Check", { service }, { service: health })).toMatchObject({
        ...{ code: 0, json: { status: "SERVING" } },
      })
    expect(await client.call("Check", { service: "shop.Orders" }, { service: health })).toMatchObject({
      ...{ code: 5, message: "service 'shop.Orders' is not registered with the Health server" },
    })
    expect(await client.call("Watch", {}, { service: health })).toMatchObject({ code: 12 })
  })

  for (const version of ["v1", "v1alpha"])
    test(`reflection ${version}: services, files, symbols`, async () => {
      const { client } = served()
      const questions = [
        { listServices: "" },
        { fileContainingSymbol: openfga },
        { fileContainingSymbol: `${openfga}.Check` },
        { fileContainingSymbol: "openfga.v1.CheckRequest.tuple_key" },
        { fileByFilename: "openfga/v1/openfga.proto" },
        { fileByFilename: "nowhere.proto" },
        { fileContainingSymbol: "nothing.At.all" },
        { allExtensionNumbersOfType: "openfga.v1.CheckRequest" },
      ]
      const service = `grpc.reflection.${version}.ServerReflection`
      const { all, code } = await client.call("ServerReflectionInfo", questions, { service })
      expect(code).toBe(0)
      const [services, file, ofMethod, ofField, byName, ...missing] = all
      const named = services.listServicesResponse.service.map(({ name }: { name: string }) => name)
      expect(named).toEqual([
        ...["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"],
        ...["grpc.reflection.v1alpha.ServerReflection", openfga],
      ])
      const namesIn = (answer: typeof file): string[] =>
        answer.fileDescriptorResponse.fileDescriptorProto.map(
          (text: string) => fromBinary(FileDescriptorProtoSchema, Buffer.from(text, "base64")).name,
        )
      expect(namesIn(file)).toContain("openfga/v1/openfga_service.proto")
      expect(namesIn(file)).toContain("google/protobuf/struct.proto")
      expect(namesIn(ofMethod)).toEqual(namesIn(file))
      expect(namesIn(ofField)).toEqual(namesIn(file))
      expect(namesIn(byName)[0]).toBe("openfga/v1/openfga.proto")
      for (const each of missing) expect(each.errorResponse).toMatchObject({ errorCode: 5 })
    })
})

/** What each method says to a wrong message. */
const refusals: readonly [method: string, message: JsonObject, code: number][] = [
  ["CreateStore", { name: "x" }, 3],
  ["UpdateStore", { store_id: noId, name: "other" }, 5002],
  ["DeleteStore", {}, 3],
  ["GetStore", { store_id: noId }, 5002],
  ["ListStores", { page_size: 1000 }, 3],
  ["ListStores", { continuation_token: "bm90aGluZw" }, 2007],
  ["WriteAuthorizationModel", { store_id: "{store}", schema_version: "1.1" }, 3],
  ["WriteAuthorizationModel", { store_id: "{acme}", ...(documentModel as JsonObject) }, 9],
  ["ReadAuthorizationModel", { store_id: "{store}", id: noId }, 2001],
  ["ReadAuthorizationModels", { store_id: noId }, 5002],
  ["Write", { store_id: "{store}" }, 2003],
  ["Write", { store_id: "{store}", writes: { tuple_keys: [{ ...key, relation: "nothing" }] } }, 2000],
  ["Read", { store_id: "{store}", tuple_key: { user: "user:ann" } }, 2000],
  ["ReadChanges", { store_id: "{store}", page_size: 0 }, 3],
  ["ReadChanges", { store_id: "{store}", start_time: "1960-01-01T00:00:00Z" }, 2059],
  ["Check", { store_id: noId, tuple_key: key }, 5002],
  ["Check", { store_id: "{store}" }, 3],
  ["Check", { store_id: "{store}", tuple_key: key, authorization_model_id: noId }, 2001],
  ["Check", { store_id: "{store}", tuple_key: { ...key, relation: "a b" } }, 3],
  ["BatchCheck", { store_id: "{store}" }, 3],
  ["Expand", { store_id: "{store}", tuple_key: { relation: "viewer", object: "" } }, 2010],
  ["ListObjects", { store_id: "{store}", type: "nothing", relation: "viewer", user: "user:ann" }, 2021],
  [
    "StreamedListObjects",
    { store_id: "{store}", type: "nothing", relation: "viewer", user: "user:ann" },
    2021,
  ],
  ["ListUsers", { store_id: "{store}", object: { type: "document", id: "1" }, relation: "viewer" }, 3],
  ["ReadAssertions", { store_id: "{store}", authorization_model_id: "x" }, 3],
  ["WriteAssertions", { store_id: "{store}", authorization_model_id: noId, assertions: [] }, 2001],
]

describeGrpc("refusals of OpenFGA's gRPC service", (served) => {
  test("have OpenFGA's numbers", async () => {
    const { client, acme } = served()
    const { store_id } = await newStore(served())
    const found: unknown[] = []
    for (const [method, message] of refusals) {
      const text = JSON.stringify(message).replace("{store}", store_id).replace("{acme}", acme)
      const { code, message: said, all } = await client.call(method, JSON.parse(text))
      found.push([method, message, code])
      expect(said, method).not.toBe("")
      expect(all).toEqual([])
    }
    expect(found).toEqual(refusals)
  })

  test("every method of the service has one", () => {
    const methods = new Set(registry.getService(openfga)?.methods.map(({ name }) => name))
    expect(new Set(refusals.map(([method]) => method))).toEqual(methods)
  })
})

const grants: Record<string, Grants> = {
  ops: { read: "*", write: "*", manage: true },
  reader: { read: new Set(["acme"]), write: new Set(), manage: false },
}
const access = createAccess(
  Object.entries(grants).map(([name, granted]) => ({ name, key: `key-of-${name}`, grants: granted })),
  [],
)
const refused: { code: string; caller: string | undefined; path: string }[] = []

describeGrpc(
  "authentication of calls",
  (served) => {
    const as = (name: string) => ({ metadata: { authorization: `Bearer key-of-${name}` } })
    const check = { tuple_key: key }

    describe("by the metadata `authorization`", () => {
      test("admits callers with a grant for the store, by its id and its name", async () => {
        const { client, acme } = served()
        for (const store_id of [acme, "acme"])
          expect(await client.call("Check", { store_id, ...check }, as("reader"))).toMatchObject({ code: 0 })
      })

      test("refuses missing, wrong and insufficient ones", async () => {
        const { client, acme } = served()
        expect(await client.call("Check", { store_id: acme, ...check })).toMatchObject({ code: 1010 })
        expect(await client.call("Check", { store_id: acme, ...check }, as("nobody"))).toMatchObject({
          code: 1500,
        })
        const writes = { tuple_keys: [key] }
        expect(await client.call("Write", { store_id: acme, writes }, as("reader"))).toMatchObject({
          code: 1600,
        })
        expect(await client.call("CreateStore", { name: "mine" }, as("reader"))).toMatchObject({ code: 1600 })
        expect(await client.call("GetStore", { store_id: noId }, as("reader"))).toMatchObject({ code: 1600 })
        expect(refused).toContainEqual({
          ...{ code: "forbidden", caller: "reader", path: "/openfga.v1.OpenFGAService/Write" },
        })
      })

      test("is needed for reflection, and not for health", async () => {
        const { client } = served()
        const service = "grpc.reflection.v1.ServerReflection"
        const question = { listServices: "" }
        expect(await client.call("ServerReflectionInfo", question, { service })).toMatchObject({ code: 1010 })
        const known = await client.call("ServerReflectionInfo", question, { service, ...as("reader") })
        expect(known).toMatchObject({ code: 0 })
        expect(await client.call("Check", {}, { service: health })).toMatchObject({ code: 0 })
      })
    })
  },
  {
    access: () => access,
    onRefusal: ({ code, caller, path }) => refused.push({ code, caller, path }),
  },
)

const ended: EndedRequest[] = []

describeGrpc(
  "what is reported about a call",
  (served) => {
    test("the model and the revision, as of a request of HTTP", async () => {
      const { client, http, acme } = served()
      const call = await client.call("Check", { store_id: acme, tuple_key: key })
      expect(call.code).toBe(0)
      await http.call("POST", `/stores/${acme}/check`, { tuple_key: key })
      const [byGrpc, byHttp] = ended.filter(({ method }) => method === "Check").map(({ sent }) => sent)
      expect(byGrpc).toContain("Openfga-Authorization-Model-Id")
      expect(byGrpc).toContain("Sallyport-Revision")
      expect(byGrpc).toEqual(byHttp)
    })
  },
  { observer: { ended: (request) => ended.push(request), decided: () => undefined } },
)
