import {
  ClientWriteRequestOnDuplicateWrites,
  ClientWriteRequestOnMissingDeletes,
  CredentialsMethod,
  FgaApiError,
  FgaApiNotFoundError,
  FgaApiValidationError,
  OpenFgaClient,
  type WriteAuthorizationModelRequest,
} from "@openfga/sdk"
import { expect, test } from "vitest"
import { describeServed, documentModel } from "./harness.ts"

/** OpenFGA's own client, unchanged, against our port. */
describeServed("@openfga/sdk", (served) => {
  const client = (storeId?: string) =>
    new OpenFgaClient({
      apiUrl: served().base,
      credentials: { method: CredentialsMethod.None },
      retryParams: { maxRetry: 0 },
      ...(storeId === undefined ? {} : { storeId }),
    })
  const model = documentModel as unknown as WriteAuthorizationModelRequest
  const ann = { user: "user:ann", relation: "owner", object: "document:1" }

  async function newStore(): Promise<OpenFgaClient> {
    const { id } = await client().createStore({ name: "sdk store" })
    const made = client(id)
    await made.writeAuthorizationModel(model)
    return made
  }

  test("stores: create, get, list, delete", async () => {
    const { id, name, created_at } = await client().createStore({ name: "sdk listed" })
    expect(name).toBe("sdk listed")
    expect(Number.isNaN(Date.parse(created_at))).toBe(false)
    const own = client(id)
    expect(await own.getStore()).toMatchObject({ id, name })
    expect((await own.listStores({ name: "sdk listed" })).stores.map((store) => store.id)).toEqual([id])
    await own.deleteStore()
    await expect(own.getStore()).rejects.toMatchObject({
      constructor: FgaApiNotFoundError,
      statusCode: 404,
      apiErrorCode: "store_id_not_found",
    })
  })

  test("models: write, read, latest, list", async () => {
    const own = await newStore()
    const latest = await own.readLatestAuthorizationModel()
    const { authorization_model } = await own.readAuthorizationModel({
      authorizationModelId: latest.authorization_model?.id ?? "",
    })
    expect(authorization_model).toEqual(latest.authorization_model)
    expect(authorization_model?.type_definitions).toHaveLength(4)
    expect(authorization_model?.conditions?.["in_office"]?.expression).toBe("floor > 3 && city == 'Bonn'")
    expect((await own.readAuthorizationModels()).authorization_models).toHaveLength(1)
  })

  test("write, read, check, delete", async () => {
    const own = await newStore()
    await own.write({ writes: [ann, { user: "team:x#member", relation: "viewer", object: "document:1" }] })
    await own.writeTuples([{ user: "user:carol", relation: "member", object: "team:x" }])
    expect(await own.check({ ...ann, relation: "viewer" })).toMatchObject({ allowed: true })
    expect(await own.check({ ...ann, user: "user:carol", relation: "viewer" })).toMatchObject({
      allowed: true,
    })
    expect(await own.check({ ...ann, user: "user:bob" })).toMatchObject({ allowed: false })
    expect(
      await own.check({ ...ann, user: "user:bob", contextualTuples: [{ ...ann, user: "user:bob" }] }),
    ).toMatchObject({ allowed: true })
    const { tuples } = await own.read({ object: "document:1" })
    expect(tuples.map(({ key }) => key.user)).toEqual(["user:ann", "team:x#member"])
    await own.deleteTuples([ann])
    expect(await own.check(ann)).toMatchObject({ allowed: false })
  })

  test("its non-transactional mode, with duplicates told one by one", async () => {
    const own = await newStore()
    await own.write({ writes: [ann] })
    const bob = { ...ann, user: "user:bob" }
    const { writes } = await own.write({ writes: [ann, bob] }, { transaction: { disable: true } })
    expect(writes.map(({ tuple_key, status }) => `${tuple_key.user} ${status}`).sort()).toEqual([
      "user:ann failure",
      "user:bob success",
    ])
  })

  test("batch: the server's, and the client's own", async () => {
    const own = await newStore()
    await own.write({ writes: [ann] })
    const bob = { ...ann, user: "user:bob" }
    const { result } = await own.batchCheck({
      checks: [
        { ...ann, correlationId: "ann" },
        { ...bob, correlationId: "bob" },
        { ...bob, correlationId: "bob-with", contextualTuples: { tuple_keys: [bob] } },
        { ...ann, relation: "reader", correlationId: "wrong" },
      ],
    })
    expect(
      Object.fromEntries(
        result.map(({ correlationId, allowed, error }) => [correlationId, error ?? allowed]),
      ),
    ).toEqual({
      ann: true,
      bob: false,
      "bob-with": true,
      wrong: { input_error: "validation_error", message: "relation 'document#reader' not found" },
    })
    // More than the server takes at once: the client splits them.
    const many = Array.from({ length: 120 }, (_, at) => ({
      ...ann,
      user: at % 2 === 0 ? "user:ann" : `user:u${at}`,
    }))
    const split = await own.batchCheck({ checks: many })
    expect(split.result.filter(({ allowed }) => allowed)).toHaveLength(60)
    const single = await own.clientBatchCheck([ann, bob])
    expect(single.result.map(({ allowed }) => allowed)).toEqual([true, false])
  })

  test("lists: objects, streamed objects, users, relations", async () => {
    const own = await newStore()
    const documents = Array.from({ length: 60 }, (_, at) => `document:${at}`)
    await own.write({ writes: documents.map((object) => ({ ...ann, object })) })
    await own.write({ writes: [{ user: "user:*", relation: "viewer", object: "folder:f" }] })
    const question = { user: "user:ann", relation: "viewer", type: "document" }
    expect((await own.listObjects(question)).objects.sort()).toEqual([...documents].sort())
    const streamed: string[] = []
    for await (const { object } of own.streamedListObjects(question)) streamed.push(object)
    expect(streamed.sort()).toEqual([...documents].sort())
    expect(
      (
        await own.listObjects({
          ...question,
          user: "user:bob",
          contextualTuples: [{ ...ann, user: "user:bob" }],
        })
      ).objects,
    ).toEqual(["document:1"])
    const users = await own.listUsers({
      object: { type: "document", id: "1" },
      relation: "viewer",
      user_filters: [{ type: "user" }],
    })
    expect(users.users).toEqual([{ object: { type: "user", id: "ann" } }])
    const everybody = await own.listUsers({
      object: { type: "folder", id: "f" },
      relation: "viewer",
      user_filters: [{ type: "user" }],
    })
    expect(everybody.users).toEqual([{ wildcard: { type: "user" } }])
    const { relations } = await own.listRelations({
      user: "user:ann",
      object: "document:1",
      relations: ["owner", "viewer", "parent"],
    })
    expect(relations.sort()).toEqual(["owner", "viewer"])
    await expect(async () => {
      for await (const _ of own.streamedListObjects({ ...question, relation: "reader" }));
    }).rejects.toMatchObject({ statusCode: 400 })
  })

  test("changes, by type, by pages and from a time on", async () => {
    const own = await newStore()
    await own.write({ writes: [ann, { user: "user:*", relation: "viewer", object: "folder:f" }] })
    await own.write({ deletes: [ann] })
    const first = await own.readChanges({ type: "" }, { pageSize: 2 })
    expect(first.changes.map(({ operation }) => operation)).toEqual([
      "TUPLE_OPERATION_WRITE",
      "TUPLE_OPERATION_WRITE",
    ])
    const second = await own.readChanges({ type: "" }, { continuationToken: first.continuation_token ?? "" })
    expect(second.changes.map(({ operation, tuple_key }) => [operation, tuple_key.object])).toEqual([
      ["TUPLE_OPERATION_DELETE", "document:1"],
    ])
    const nothing = await own.readChanges(
      { type: "" },
      { continuationToken: second.continuation_token ?? "" },
    )
    expect(nothing).toMatchObject({ changes: [], continuation_token: second.continuation_token })
    expect((await own.readChanges({ type: "folder" })).changes).toHaveLength(1)
    expect((await own.readChanges({ type: "", startTime: "2020-01-01T00:00:00Z" })).changes).toHaveLength(3)
  })

  test("assertions and expand", async () => {
    const own = await newStore()
    const { authorization_model } = await own.readLatestAuthorizationModel()
    const options = { authorizationModelId: authorization_model?.id ?? "" }
    await own.writeAssertions(
      [
        { ...ann, expectation: true },
        { ...ann, user: "user:bob", expectation: false },
      ],
      options,
    )
    const { assertions } = await own.readAssertions(options)
    expect(assertions?.map(({ tuple_key, expectation }) => [tuple_key.user, expectation])).toEqual([
      ["user:ann", true],
      ["user:bob", false],
    ])
    await own.write({ writes: [ann] })
    const { tree } = await own.expand({ relation: "viewer", object: "document:1" })
    expect(tree?.root?.union?.nodes.map(({ leaf }) => Object.keys(leaf ?? {}))).toEqual([
      ["users"],
      ["computed"],
      ["tupleToUserset"],
    ])
  })

  test("conflict options of writes", async () => {
    const own = await newStore()
    await own.write({ writes: [ann] })
    await own.write(
      { writes: [ann] },
      { conflict: { onDuplicateWrites: ClientWriteRequestOnDuplicateWrites.Ignore } },
    )
    const missing = { ...ann, user: "user:nobody" }
    await own.write(
      { deletes: [missing] },
      { conflict: { onMissingDeletes: ClientWriteRequestOnMissingDeletes.Ignore } },
    )
    await expect(own.write({ deletes: [missing] })).rejects.toMatchObject({
      apiErrorCode: "write_failed_due_to_invalid_input",
    })
  })

  test("errors arrive as the client's own classes, with code and message", async () => {
    const own = await newStore()
    await own.write({ writes: [ann] })
    await expect(own.write({ writes: [ann] })).rejects.toMatchObject({
      constructor: FgaApiValidationError,
      statusCode: 400,
      apiErrorCode: "write_failed_due_to_invalid_input",
    })
    await expect(own.check({ ...ann, relation: "reader" })).rejects.toMatchObject({
      apiErrorCode: "validation_error",
      apiErrorMessage: "relation 'document#reader' not found",
    })
    await expect(
      own.check(ann, { authorizationModelId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }),
    ).rejects.toMatchObject({ apiErrorCode: "authorization_model_not_found" })
    const failure = await own.write({ writes: [{ ...ann, user: "bob" }] }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(FgaApiError)
    expect((failure as FgaApiError).requestId ?? (failure as FgaApiError).message).toBeTruthy()
  })
})
