import { type DescMethod, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf"
import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { ApiError } from "../../runtime/authz/api-error.ts"
import { registry } from "../../runtime/authz/grpc/descriptors.ts"
import { callStatusOf } from "../../runtime/authz/grpc/status.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { type ContractCall, questions } from "../long/peer/contract-calls.ts"
import { randomCall } from "../long/peer/contract-changes.ts"
import { conformanceYaml, describeConformance } from "../model/conformance.ts"
import { Random } from "../naive/random.ts"
import { type Ended, openfga } from "../support/grpc-client.ts"
import { firstSeed, sampled, scaled } from "../support/random-run.ts"
import { describeGrpc, type GrpcServed } from "./grpc-served.ts"
import { type Called, documentModel } from "./harness.ts"

// The same questions over HTTP and gRPC, valid and not: the same answers, and errors with the same message.

const randomCalls = scaled(300, 0.2)

const methodNames: Readonly<Record<string, string>> = {
  check: "Check",
  "batch-check": "BatchCheck",
  expand: "Expand",
  "list-objects": "ListObjects",
  "streamed-list-objects": "StreamedListObjects",
  "list-users": "ListUsers",
  read: "Read",
}

const methodOf = (name: string): DescMethod => {
  const found = registry.getService(openfga)?.methods.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no method ${name}`)
  return found
}

/** A store with the model and tuples that `questions` ask about. */
async function fill({ http }: GrpcServed): Promise<{ store: string; model: string }> {
  const { json } = await http.call("POST", "/stores", { name: "contract" })
  const model = await http.call("POST", `/stores/${json.id}/authorization-models`, documentModel)
  const tuple_keys = [
    ["user:ann", "viewer", "document:1"],
    ["user:ann", "owner", "document:2"],
    ["team:red#member", "viewer", "document:2"],
    ["user:bob", "member", "team:red"],
    ["folder:a", "parent", "document:3"],
    ["user:*", "viewer", "folder:a"],
  ].map(([user, relation, object]) => ({ user, relation, object }))
  await http.call("POST", `/stores/${json.id}/write`, { writes: { tuple_keys } })
  return { store: json.id, model: model.json.authorization_model_id }
}

/** What both say, in one form. Undefined: the body is no JSON of the message, so gRPC cannot be asked. */
async function askBoth(
  { http, client }: GrpcServed,
  { path, body }: ContractCall,
  { store, model }: { readonly store: string; readonly model: string },
): Promise<readonly [byHttp: unknown, byGrpc: unknown] | undefined> {
  const name = methodNames[path.slice(path.lastIndexOf("/") + 1)]
  if (name === undefined || typeof body !== "object" || body === null) return undefined
  const method = methodOf(name)
  const json = JSON.parse(JSON.stringify(body).replaceAll("{model}", model)) as JsonObject
  const message = { ...json, store_id: store }
  try {
    fromJson(method.input, message)
  } catch {
    return undefined
  }
  const streams = method.methodKind === "server_streaming"
  const called = await http.call("POST", path.replace("{store}", store), json).catch(() => undefined)
  const byHttp = called ?? (await lines(http.base + path.replace("{store}", store), json))
  return [httpOutcome(method, streams, byHttp), grpcOutcome(streams, await client.call(name, message))]
}

/** A stream of several lines is no JSON. */
async function lines(url: string, body: JsonObject): Promise<Pick<Called, "status" | "text" | "json">> {
  const headers = { "content-type": "application/json" }
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers })
  return { status: response.status, text: await response.text(), json: undefined }
}

function httpOutcome(
  method: DescMethod,
  streams: boolean,
  { status, text }: Pick<Called, "status" | "text">,
): unknown {
  const own = (json: JsonValue): unknown =>
    toJson(method.output, fromJson(method.output, json, { ignoreUnknownFields: true }))
  if (!streams) {
    const json = JSON.parse(text)
    return status === 200 ? own(json) : statusOf(json)
  }
  const all = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  const failed = all.find((each) => each.error !== undefined || each.code !== undefined)
  if (failed !== undefined) return { message: failed.error?.message ?? failed.message }
  return all.map(({ result }) => own(result))
}

function statusOf({ code, message }: { code: ConstructorParameters<typeof ApiError>[0]; message: string }) {
  return callStatusOf(new ApiError(code, message))
}

function grpcOutcome(streams: boolean, { code, message, json, all }: Ended): unknown {
  if (code !== 0) return streams ? { message } : { code, message }
  return streams ? all : json
}

describeGrpc("gRPC and HTTP", (served) => {
  test("say the same to the same questions", async () => {
    const names = await fill(served())
    const random = new Random(firstSeed)
    const changed = Array.from({ length: randomCalls }, () => randomCall(random, questions))
    let asked = 0
    for (const call of [...questions, ...changed]) {
      const both = await askBoth(served(), call, names)
      if (both === undefined) continue
      asked += 1
      expect(both[1], JSON.stringify(call)).toEqual(both[0])
    }
    expect(asked).toBeGreaterThanOrEqual(questions.length)
  })

  describeConformance("OpenFGA's check assertions", () => {
    test("have the same outcome by both", async () => {
      const all = ["consolidated_1_1_tests.yaml", "abac_tests.yaml"].flatMap((file) =>
        sampled(conformanceYaml<{ tests: Case[] }>(`openfga/${file}`).tests, 5),
      )
      let count = 0
      for (const { name, stages } of all) count += await runCase(served(), name, stages)
      expect(count).toBeGreaterThan(10)
    })
  })
})

interface Case {
  readonly name: string
  readonly stages: readonly {
    readonly model: string
    readonly tuples?: readonly TupleKey[] | null
    readonly checkAssertions?:
      | readonly {
          readonly tuple: TupleKey
          readonly contextualTuples?: readonly TupleKey[]
          readonly context?: Readonly<Record<string, unknown>>
          readonly expectation?: boolean
          readonly errorCode?: number
        }[]
      | null
  }[]
}

/** Runs the assertions of a case in a store of its own; returns their number. */
async function runCase({ http, client }: GrpcServed, name: string, stages: Case["stages"]): Promise<number> {
  const { json: store } = await http.call("POST", "/stores", { name: "conformance" })
  const store_id: string = store.id
  let count = 0
  for (const { model: text, tuples, checkAssertions } of stages) {
    const compiled = compileModel(new SourceFile("model.fga", text), new Report())
    const written = await http.call("POST", `/stores/${store_id}/authorization-models`, compiled?.model)
    expect(written.status, written.text).toBe(201)
    for (const tuple of tuples ?? [])
      await client.call("Write", { store_id, writes: { tuple_keys: [tuple] } } as unknown as JsonObject)
    for (const { tuple, contextualTuples = [], context, expectation, errorCode } of checkAssertions ?? []) {
      count += 1
      const { user, relation, object } = tuple
      const body = {
        ...{ tuple_key: { user, relation, object }, contextual_tuples: { tuple_keys: contextualTuples } },
        ...(context === undefined ? {} : { context }),
      }
      const byHttp = await http.call("POST", `/stores/${store_id}/check`, body)
      const byGrpc = await client.call("Check", { store_id, ...body } as unknown as JsonObject)
      const what = `${name}: ${JSON.stringify(body)}`
      if (errorCode === undefined) {
        expect([byGrpc.code, byGrpc.json?.allowed ?? false], what).toEqual([0, expectation])
        expect(byHttp.json.allowed, what).toBe(expectation)
      } else {
        expect({ code: byGrpc.code, message: byGrpc.message }, what).toEqual(statusOf(byHttp.json))
        // A field that breaks its rule has no number of OpenFGA's.
        expect([errorCode, 3], what).toContain(byGrpc.code)
      }
    }
  }
  return count
}
