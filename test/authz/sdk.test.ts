import {
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
