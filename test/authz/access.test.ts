import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Access, createAccess, type Grants } from "../../runtime/authz/access.ts"
import { routes } from "../../runtime/authz/routes.ts"
import type { TokenVerifier, Verification } from "../../runtime/identity/verifier.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openTestDatabase } from "../store/databases.ts"
import { documentModel, serve } from "./harness.ts"

const all: Grants = { read: "*", write: "*", manage: true }
const grants = (read: string[], write: string[] = [], manage = false): Grants => ({
  read: new Set(read),
  write: new Set(write),
  manage,
})
const keys: Record<string, Grants> = {
  ops: all,
  reader: grants(["acme"]),
  writer: grants([], ["acme"]),
  manager: grants([], [], true),
  stranger: grants(["elsewhere"], ["elsewhere"]),
}
const keyText = (name: string) => `key-of-${name}`

/** Knows its tokens by heart: `a.NAME.b`. */
function verifierOf(
  tokens: Record<string, Verification>,
  later = false,
): TokenVerifier & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    verify(token) {
      asked.push(token)
      const found = tokens[token] ?? {
        kind: "invalid",
        reason: "the token is from another issuer",
        fault: "TokenIssuerNotAllowed",
        claim: "iss",
      }
      return later ? Promise.resolve(found) : found
    },
    issuer: () => undefined,
    state: () => ({ ready: true, lastError: undefined, keys: [], ageMs: 0 }),
    close: () => undefined,
  }
}

const token = (payload: object) => `e30.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.c2ln`

describe("access to the engine's listener", () => {
  let database: Database
  let served: Awaited<ReturnType<typeof serve>>
  let access: Access | undefined
  let store = ""
  let acme = ""
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database, undefined, {
      access: () => access,
      authzen: () => ({ store: "acme", url: undefined }),
    })
    access = undefined
    store = (await served.call("POST", "/stores", { name: "made by the API" })).json.id
    acme = (await served.call("GET", "/stores/acme")).json.id
    await served.call("POST", `/stores/${store}/authorization-models`, documentModel)
    access = createAccess(
      Object.entries(keys).map(([name, given]) => ({ name, key: keyText(name), grants: given })),
      [],
    )
  })
  afterAll(async () => {
    await served.listeners.close()
    await database.close()
  })

  const ask = (method: string, path: string, key: string | undefined, body?: string) =>
    fetch(served.base + path, {
      method,
      headers: {
        "content-type": "application/json",
        ...(key === undefined ? {} : { authorization: key }),
      },
      ...(method === "GET" || method === "DELETE" ? {} : { body: body ?? "{}" }),
    })

  // Every way in: the table of routes, the check with a path that is taken off before the table and one that is not, and paths that lead nowhere.
  const ways = [
    ...routes.map(({ method, path, right }) => [method, path, right] as const),
    ["POST", "/stores/:store/check", "read"] as const,
    ["POST", "/stores/%61cme/check", "read"] as const,
    ["POST", "/stores/:store/check/", "caller"] as const,
    ["POST", "/stores/:store/check?x=1", "read"] as const,
    ["POST", "//stores/:store/check", "caller"] as const,
    ["GET", "/nowhere", "caller"] as const,
    ["PUT", "/stores/:store", "caller"] as const,
    ["POST", "/Stores/:store/check", "caller"] as const,
    ["GET", "/healthz/x", "caller"] as const,
    ["POST", "/healthz", "caller"] as const,
    ["GET", "/healthz/../stores", "caller"] as const,
  ]
  const guarded = ways.filter(([, , right]) => right !== "open")
  // A watcher's answer would only come after half a minute without changes.
  const pathOf = (path: string, name: string) =>
    path
      .replace(/:store|\{store\}/, name)
      .replace("{id}", "0".repeat(26))
      .replace(/\/watch$/, "/watch?wait=0s")

  /** Its failures have the form of OpenFGA's streams. */
  const isStream = (path: string) => path.endsWith("/streamed-list-objects")

  test.each(guarded)("%s %s without or with a wrong credential is 401", async (method, path) => {
    for (const name of ["acme", acme, store]) {
      for (const [key, code, challenge] of [
        [undefined, "bearer_token_missing", "Bearer"],
        ["Basic a2V5LW9mLW9wczo=", "bearer_token_missing", "Bearer"],
        ["Bearer", "bearer_token_missing", "Bearer"],
        [`Bearer ${keyText("ops")} x`, "bearer_token_missing", "Bearer"],
        [`Bearer ${keyText("nobody")}`, "unauthenticated", 'Bearer error="invalid_token"'],
        [`Bearer ${"k".repeat(2000)}`, "unauthenticated", 'Bearer error="invalid_token"'],
        [`Bearer ${token({ sub: "ops" })}`, "unauthenticated", 'Bearer error="invalid_token"'],
      ] as const) {
        const answer = await ask(method, pathOf(path, name), key)
        expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, challenge])
        const inStream = { error: { code: 16, message: expect.any(String), details: [] } }
        expect(await answer.json()).toMatchObject(isStream(path) ? inStream : { code })
      }
    }
  })

  test.each(guarded)("%s %s with a key but without its grant is 403", async (method, path, right) => {
    const without = Object.entries(keys).filter(([, given]) => {
      if (right === "manage") return !given.manage
      if (right !== "read" && right !== "write") return false
      return given[right] !== "*" && !given[right].has("acme")
    })
    for (const name of ["acme", acme]) {
      for (const [key] of without) {
        const answer = await ask(method, pathOf(path, name), `Bearer ${keyText(key)}`)
        const message = expect.stringContaining("grant")
        expect([key, answer.status, await answer.json()]).toEqual([
          key,
          403,
          isStream(path) ? { error: { code: 7, message, details: [] } } : { code: "forbidden", message },
        ])
      }
    }
  })

  test.each(guarded)(
    "%s %s with its grant is answered as if nobody was asked",
    async (method, path, right) => {
      if (method === "DELETE") return
      for (const name of ["acme", acme]) {
        for (const [key, given] of Object.entries(keys)) {
          const has =
            right === "caller" ||
            (right === "manage"
              ? given.manage
              : given[right as "read"] === "*" || (given[right as "read"] as Set<string>).has("acme"))
          if (!has) continue
          const answer = await ask(method, pathOf(path, name), `bearer ${keyText(key)}`)
          await answer.text()
          const kept = access
          access = undefined
          const open = await ask(method, pathOf(path, name), undefined)
          await open.text()
          access = kept
          expect([name, key, answer.status]).toEqual([name, key, open.status])
          expect(answer.status).not.toBe(401)
          expect(answer.status).not.toBe(403)
        }
      }
    },
  )

  test("a grant by name opens neither the API's own stores nor those that do not exist, and does not tell them apart", async () => {
    const body = JSON.stringify({ tuple_key: { user: "user:a", relation: "viewer", object: "document:1" } })
    for (const name of [store, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nobody", "ACME"]) {
      const answer = await ask("POST", `/stores/${name}/check`, `Bearer ${keyText("reader")}`, body)
      expect([name, answer.status]).toEqual([name, 403])
      await answer.text()
    }
    const answer = await ask("POST", `/stores/${store}/check`, `Bearer ${keyText("ops")}`, body)
    expect([answer.status, await answer.json()]).toEqual([200, { allowed: false, resolution: "" }])
  })

  test("a list of stores has those that the caller has a grant for", async () => {
    const listed = async (key: string, query = "") => {
      const answer = await ask("GET", `/stores${query}`, `Bearer ${keyText(key)}`)
      const { stores } = (await answer.json()) as { stores: { id: string }[] }
      return [answer.status, stores.map(({ id }) => id)]
    }
    const everything = [200, [store, acme].sort()]
    expect((await listed("ops")).flat().sort()).toEqual(everything.flat().sort())
    expect((await listed("manager")).flat().sort()).toEqual(everything.flat().sort())
    for (const key of ["reader", "writer"]) {
      expect(await listed(key)).toEqual([200, [acme]])
      expect(await listed(key, "?name=acme")).toEqual([200, [acme]])
      expect(await listed(key, "?name=made%20by%20the%20API")).toEqual([200, []])
    }
    expect(await listed("stranger")).toEqual([200, []])
  })

  test("a refusal names the grant that the caller lacks", async () => {
    for (const [method, path, key, lacks] of [
      ["POST", "/stores/acme/write", "reader", "`write` on store 'acme'"],
      ["POST", `/stores/${store}/check`, "reader", `\`read\` on store '${store}'`],
      ["POST", "/stores", "reader", "`manage stores`"],
    ] as const) {
      const answer = await ask(method, path, `Bearer ${keyText(key)}`)
      const message = `the caller lacks ${lacks}; \`auth\` in \`authz\` of gateway.conf grants it`
      expect(await answer.json()).toEqual({ code: "forbidden", message })
    }
  })

  test("health is told to everybody", async () => {
    const answer = await ask("GET", "/healthz", undefined)
    expect([answer.status, await answer.json()]).toEqual([200, { status: "SERVING" }])
  })

  test("a body is not read before its sender is known", async () => {
    const answer = await ask("POST", "/stores/acme/write", undefined, "x".repeat(700_000))
    expect(answer.status).toBe(401)
    await answer.text()
    const check = await ask("POST", "/stores/acme/check", undefined, "x".repeat(700_000))
    expect(check.status).toBe(401)
    await check.text()
  })
})

describe("who calls", () => {
  const verified = (claims: object): Verification => ({ kind: "verified", claims: { ...claims }, header: {} })
  const anna = token({ iss: "https://a", sub: "anna" })
  const bert = token({ iss: "https://b", sub: "bert" })
  const identify = async (access: Access, credential: string) => {
    try {
      return await access.identify(`Bearer ${credential}`)
    } catch (error) {
      return [(error as { status: number }).status, (error as { code: string }).code]
    }
  }
  const issuer = (
    tokens: Record<string, Verification>,
    subjects: Record<string, Grants>,
    anySubject?: Grants,
  ) => ({
    verifier: verifierOf(tokens, true),
    subjects: new Map(Object.entries(subjects)),
    anySubject,
  })

  test("subjects have their own grants, others those of any subject, or none", async () => {
    const tokens = {
      [anna]: verified({ iss: "https://a", sub: "anna" }),
      [bert]: verified({ iss: "https://a", sub: "bert" }),
    }
    const some = createAccess([], [issuer(tokens, { anna: all })])
    expect(await identify(some, anna)).toEqual({ name: "anna", grants: all })
    expect(await identify(some, bert)).toEqual([401, "auth_failed_invalid_subject"])
    const any = createAccess([], [issuer(tokens, { anna: all }, grants(["acme"]))])
    expect(await identify(any, bert)).toEqual({ name: "bert", grants: grants(["acme"]) })
  })

  test("a subject named like a part of every object is nobody", async () => {
    const odd = token({ iss: "https://a", sub: "constructor" })
    const access = createAccess(
      [],
      [issuer({ [odd]: verified({ iss: "https://a", sub: "constructor" }) }, { anna: all })],
    )
    expect(await identify(access, odd)).toEqual([401, "auth_failed_invalid_subject"])
  })

  test("the codes say what was wrong with a token", async () => {
    const bad = (reason: string, claim?: string): Verification => ({
      kind: "invalid",
      reason,
      fault: "JwtInvalid",
      claim,
    })
    for (const [verification, expected] of [
      [bad("x", "aud"), [401, "auth_failed_invalid_audience"]],
      [bad("x", "iss"), [401, "auth_failed_invalid_issuer"]],
      [bad("x", "exp"), [401, "invalid_claims"]],
      [bad("x"), [401, "auth_failed_invalid_bearer_token"]],
      [{ kind: "unavailable", retryAfterSeconds: 3 }, [503, "unavailable"]],
    ] as const) {
      const access = createAccess([], [issuer({ [anna]: verification }, { anna: all })])
      expect(await identify(access, anna)).toEqual(expected)
    }
  })

  test("of several issuers the token's own is asked first once it is known, and the nearest refusal is told", async () => {
    const a = issuer({ [anna]: verified({ iss: "https://a", sub: "anna" }) }, { anna: all })
    const b = issuer({ [bert]: verified({ iss: "https://b", sub: "bert" }) }, { bert: grants(["acme"]) })
    const access = createAccess([], [a, b])
    expect(await identify(access, bert)).toMatchObject({ name: "bert" })
    expect(await identify(access, anna)).toMatchObject({ name: "anna" })
    expect(await identify(access, bert)).toMatchObject({ name: "bert" })
    expect(a.verifier.asked).toEqual([bert, anna])
    const late = token({ iss: "https://b", sub: "bert", exp: 1 })
    const expired = issuer(
      { [late]: { kind: "invalid", reason: "the token has expired", fault: "TokenExpired", claim: "exp" } },
      {},
    )
    expect(await identify(createAccess([], [expired, a]), late)).toEqual([401, "invalid_claims"])
    expect(await identify(createAccess([], [a, expired]), late)).toEqual([401, "invalid_claims"])
  })

  test("a key is not a token and a token no key", async () => {
    const a = issuer({ [anna]: verified({ iss: "https://a", sub: "anna" }) }, { anna: all })
    const access = createAccess([{ name: "ops", key: "no.key.here", grants: grants(["acme"]) }], [a])
    expect(access.identify("Bearer no.key.here")).toMatchObject({ name: "ops" })
    expect(await identify(access, "some-key")).toEqual([401, "unauthenticated"])
    expect(a.verifier.asked).toEqual([])
  })

  test("equal, empty and endless keys are refused", () => {
    const key = (name: string, text: string) => ({ name, key: text, grants: all })
    expect(() => createAccess([key("a", "same"), key("b", "same")], [])).toThrow(
      "the keys `a` and `b` of the engine are the same",
    )
    expect(() => createAccess([key("a", "")], [])).toThrow("the key `a` of the engine is empty")
    expect(() => createAccess([key("a", "k".repeat(600))], [])).toThrow("longer than 512")
  })
})
