import { afterAll, beforeAll, describe } from "vitest"
import { AuthzApi } from "../../runtime/authz/api.ts"
import type { AuthzParts } from "../../runtime/authz/ports.ts"
import { type AuthzListeners, startAuthz } from "../../runtime/authz/server.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { readModel } from "../../runtime/model/read.ts"
import type { ModelPlan } from "../../runtime/plan/authorization-model.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Database } from "../../runtime/store/database.ts"
import { declareStores } from "../../runtime/store/plans.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { describeDatabase } from "../store/databases.ts"

/** A served API over an own database. */
export interface Served {
  readonly database: Database
  readonly base: string
  /** Sends JSON (or a body as it is) and reads JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Called>
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly json: any
}

/** The model that the cases are about. */
export const documentModel = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "team",
      relations: { member: { this: {} } },
      metadata: {
        relations: {
          member: { directly_related_user_types: [{ type: "user" }, { type: "team", relation: "member" }] },
        },
      },
    },
    {
      type: "folder",
      relations: { viewer: { this: {} } },
      metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user", wildcard: {} }] } } },
    },
    {
      type: "document",
      relations: {
        parent: { this: {} },
        owner: { this: {} },
        guest: { this: {} },
        viewer: {
          union: {
            child: [
              { this: {} },
              { computedUserset: { relation: "owner" } },
              {
                tupleToUserset: {
                  tupleset: { relation: "parent" },
                  computedUserset: { relation: "viewer" },
                },
              },
            ],
          },
        },
      },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          owner: { directly_related_user_types: [{ type: "user" }] },
          guest: { directly_related_user_types: [{ type: "user", condition: "in_office" }] },
          viewer: { directly_related_user_types: [{ type: "user" }, { type: "team", relation: "member" }] },
        },
      },
    },
  ],
  conditions: {
    in_office: {
      name: "in_office",
      expression: "floor > 3 && city == 'Bonn'",
      parameters: { floor: { type_name: "TYPE_NAME_INT" }, city: { type_name: "TYPE_NAME_STRING" } },
    },
  },
}

export function modelPlanOf(json: unknown): ModelPlan {
  const read = readModel(json)
  if ("findings" in read) throw new Error(JSON.stringify(read.findings))
  return lowerModel(read.model)
}

/** Serves on a database; declares the store `acme` with `documentModel`. */
export async function serve(
  database: Database,
  maxStalenessMs = 10_000,
  more: Partial<AuthzParts> = {},
): Promise<Served & { readonly api: AuthzApi; listeners: AuthzListeners }> {
  const plan = modelPlanOf(documentModel)
  const digest = digestOf(plan.model)
  await declareStores(database, {
    authz: { stores: { acme: { model: digest } } },
    models: { [digest]: plan },
  } as unknown as PlanBody)
  const engine = new Engine(createTupleSource(database), { maxStalenessMs })
  const api = new AuthzApi({
    database,
    engine,
    maxStalenessMs: () => maxStalenessMs,
    planModel: (asked) => (asked === digest ? plan : undefined),
    ...more,
  })
  const opened = await startAuthz({ api, listen: [{ host: "127.0.0.1", port: 0 }] })
  const close = async () => {
    await opened.close()
    engine.close()
  }
  const listeners = { ...opened, close }
  const base = `http://127.0.0.1:${listeners.addresses[0]?.port}`
  return { database, api, base, listeners, call: (...request) => call(base, ...request) }
}

/** Sends JSON (or a body as it is) and reads JSON. */
export async function call(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Called> {
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(base + path, {
    method,
    ...(raw === undefined ? {} : { body: raw as string }),
    headers: { ...(raw === undefined ? {} : { "content-type": "application/json" }), ...headers },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === "" ? undefined : JSON.parse(text),
  }
}

/** Tests against the API on a database. */
export function describeServed(name: string, body: (served: () => Served) => void): void {
  describeDatabase(name, (database) => {
    describe("served", () => {
      let served: Served & { listeners: AuthzListeners }
      beforeAll(async () => {
        served = await serve(database())
      })
      afterAll(() => served.listeners.close())
      body(() => served)
    })
  })
}
