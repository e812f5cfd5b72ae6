import { describe, expect, it } from "vitest"
import { canonicalJson, digestOf, stepIdOf } from "../../runtime/plan/canonical.ts"
import { planJsonSchema } from "../../runtime/plan/json-schema.ts"
import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import { readPlan, readSealedPlan } from "../../runtime/plan/read.ts"
import { type PlanSeal, sealPlan } from "../../runtime/plan/seal.ts"

type Json = Record<string, unknown>

const unspecified = { query: "prevent", header: "ignore" }
const judging = { kind: "validate-parameters", parameters: [], unspecified, withBody: true }
const forward = { kind: "forward", backend: "orders" }

function body(): PlanBody {
  return {
    gateway: {
      name: "acme",
      listen: [{ host: "127.0.0.1", port: 8000 }],
      trust: [],
      errors: "problem",
      limits: {
        bufferBytesMax: 1024,
        bodyBytesMax: 1024,
        headerBytesMax: 16_384,
        headersMax: 100,
        timeoutMs: null,
      },
    },
    authz: null,
    values: {},
    secrets: { ci_key: { env: "CI_KEY" } },
    issuers: {},
    backends: {
      orders: {
        targets: [{ url: "http://127.0.0.1:1", weight: 1 }],
        connectMs: 1000,
        totalMs: null,
        tls: { insecure: false },
      },
    },
    products: { partner: { apis: ["orders"] } },
    subscriptions: { ci: { scope: { product: "partner" }, key: "ci_key" } },
    routes: {
      "GET /orders": {
        api: "orders",
        version: null,
        operation: "GET /",
        method: "GET",
        path: "/orders",
        stripPrefix: "/orders",
        timeoutMs: null,
        sections: { inbound: [], backend: [stepIdOf(forward)], outbound: [], onError: [] },
      },
    },
    steps: { [stepIdOf(forward)]: forward as never },
    models: {},
    schemas: {},
  }
}

/** A plan of `body()` after `change`, sealed with the digest of what it then is. */
function planOf(change: (plan: Record<string, Json>) => void = () => {}): Json {
  const plan = structuredClone(body()) as unknown as Record<string, Json>
  change(plan)
  return { format: 1, digest: digestOf(plan), plan, origins: {} }
}

const problemsOf = (json: unknown) => {
  const read = readPlan(json)
  return "problems" in read ? read.problems.map(({ path, message }) => `${path}: ${message}`) : []
}

const step = (value: Json) => ({ [stepIdOf(value)]: value })
const use = (plan: Record<string, Json>, ...steps: Json[]): void => {
  plan["steps"] = Object.assign({}, ...steps.map(step))
  const route = (plan["routes"] as Json)["GET /orders"] as { sections: { backend: string[] } }
  route.sections.backend = steps.map((each) => stepIdOf(each))
}

describe("reading a plan", () => {
  it("accepts a whole one and gives it back unchanged", () => {
    const read = readPlan(planOf())
    expect(read).toEqual({ plan: planOf() })
  })

  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /^: is not a plan/],
    ["text", "plan", /^: is not a plan/],
    ["a list", [], /^: is not a plan/],
    ["no format", { plan: {} }, /^format: has no `format`/],
    [
      "a later format",
      { ...planOf(), format: 2 },
      /^format: plan format 2 is not supported; this version reads format 1/,
    ],
    ["an unknown key at the top", { ...planOf(), extra: 1 }, /extra/],
    ["a digest that is none", { ...planOf(), digest: "x" }, /^digest: /],
    [
      "content changed by hand",
      { ...planOf(), plan: { ...body(), secrets: { ci_key: { env: "OTHER" } } } },
      /^digest: the digest does not match/,
    ],
    [
      "an unknown key deep inside",
      planOf((plan) => {
        ;(plan["backends"]?.["orders"] as Json)["pool"] = 1
      }),
      /plan\.backends\.orders.*pool/s,
    ],
    [
      "a wrong type",
      planOf((plan) => {
        ;(plan["gateway"] as Json)["listen"] = "8000"
      }),
      /plan\.gateway\.listen/,
    ],
    [
      "a null where text is due",
      planOf((plan) => {
        plan["secrets"] = { ci_key: { env: null } }
      }),
      /plan\.secrets\.ci_key/,
    ],
    [
      "a reserved name",
      planOf((plan) => {
        plan["secrets"] = { ci_key: { env: "A" }, constructor: { env: "A" } }
      }),
      /constructor/,
    ],
    [
      "a missing backend",
      planOf((plan) => {
        plan["backends"] = {}
      }),
      /there is no backend `orders`/,
    ],
    [
      "a missing step",
      planOf((plan) => {
        plan["steps"] = {}
      }),
      /plan\.routes\["GET \/orders"\]\.sections\.backend\[0\]: there is no step/,
    ],
    [
      "a step nobody uses",
      planOf((plan) => {
        Object.assign(plan["steps"] as Json, step({ kind: "forward", backend: "orders" }))
        ;(plan["routes"] as Json)["GET /orders"] = {
          ...((plan["routes"] as Json)["GET /orders"] as Json),
          sections: { inbound: [], backend: [], outbound: [], onError: [] },
        }
      }),
      /no route uses this step/,
    ],
    [
      "a step under another id",
      planOf((plan) => {
        const id = stepIdOf(forward)
        plan["steps"] = { [id]: { kind: "forward", backend: "orders2" } }
        plan["backends"] = { ...plan["backends"], orders2: (plan["backends"] as Json)["orders"] }
      }),
      /the id does not match the content/,
    ],
    [
      "a model under another digest",
      planOf((plan) => {
        const model = { schema_version: "1.1", type_definitions: [{ type: "user" }] }
        plan["models"] = {
          [digestOf({ ...model, type_definitions: [] })]: {
            model,
            relations: { subjects: [], conditions: [], relations: [], slots: [] },
          },
        }
      }),
      /^plan\.models\["sha256:[0-9a-f]{64}"\]: the digest does not match the model, which has sha256:/,
    ],
    ["an unknown step", planOf((plan) => use(plan, { kind: "teleport" })), /steps/],
    [
      "a missing issuer",
      planOf((plan) =>
        use(plan, {
          kind: "validate-jwt",
          issuers: ["acme"],
          from: { header: "authorization", scheme: "Bearer" },
          claims: [],
          requireExpiration: true,
          status: 401,
          claimStatus: 403,
        }),
      ),
      /there is no issuer `acme`/,
    ],
    [
      "a listener's missing certificate",
      planOf((plan) => {
        const { listen } = plan["gateway"] as unknown as NonNullable<PlanBody["gateway"]>
        listen.push({ host: "::1", port: 8443, tls: { certificates: ["shop"] } })
      }),
      /plan\.gateway\.listen\[1\]\.tls\.certificates: there is no certificate `shop`/,
    ],
    [
      "a missing store",
      planOf((plan) =>
        use(plan, { kind: "require", store: "acme", relation: "viewer", object: "o:1", user: "u:1" }),
      ),
      /there is no store `acme`/,
    ],
    [
      "a missing value",
      planOf((plan) =>
        use(plan, {
          kind: "rewrite",
          path: { text: [{ value: "nope" }] },
          raw: false,
          keepQuery: true,
        }),
      ),
      /there is no value `nope`/,
    ],
    [
      "a missing secret",
      planOf((plan) =>
        use(plan, {
          kind: "set-header",
          message: "request",
          action: "set",
          name: "x",
          values: [{ text: [{ secret: "nope" }] }],
        }),
      ),
      /there is no secret `nope`/,
    ],
    [
      "a step inside `when` that is not there",
      planOf((plan) =>
        use(plan, {
          kind: "when",
          test: { lang: "cel", text: "true", type: "bool" },
          matched: ["0123456789abcdef"],
          otherwise: [],
        }),
      ),
      /matched\[0\]: there is no step/,
    ],
    [
      "faults that nobody tells, which would let the request through",
      planOf((plan) => use(plan, judging, forward)),
      /backend\[0\]: its errors are to be reported with those of the body/,
    ],
    [
      "a product of an API that is not there",
      planOf((plan) => {
        plan["products"] = { partner: { apis: ["nope"] } }
      }),
      /no route belongs to an API `nope`/,
    ],
    [
      "a subscription to a product that is not there",
      planOf((plan) => {
        plan["products"] = {}
      }),
      /there is no product `partner`/,
    ],
    [
      "a route under another key",
      planOf((plan) => {
        plan["routes"] = { "GET /x": (plan["routes"] as Json)["GET /orders"] } as Json
      }),
      /its key must be `GET \/orders`/,
    ],
    [
      "nesting without end",
      JSON.parse(`${'{"plan":'.repeat(50_000)}1${"}".repeat(50_000)}`),
      /nested deeper than 200 levels/,
    ],
  ])("refuses %s", (_, json, message) => {
    expect(problemsOf(json).join("\n")).toMatch(message)
  })

  it.each<[string, Json, RegExp]>([
    ["what is not there", { format: 1 }, /^digest: is missing \(expected string\)$/],
    ["a key nobody knows", { ...planOf(), ["k".repeat(1e5)]: 1 }, /^: unknown key "k{60}…"$/],
    [
      "a value of another type, in a union",
      planOf((plan) => use(plan, { kind: "set-query", name: "x", values: [{ text: [{ value: 5 }] }] })),
      /^plan\.steps\.[0-9a-f]{16}\.values\[0\]\.text\[0\]\.value: expected string, found number$/,
    ],
    [
      "a name that is long",
      planOf((plan) => {
        plan["products"] = { partner: { apis: ["a".repeat(128)] } }
      }),
      /no route belongs to an API `a{60,128}…?`$/,
    ],
    [
      "a reserved name",
      JSON.parse(
        JSON.stringify(planOf()).replace('"values":{}', '"values":{"__proto__":{"text":"x"}}'),
      ) as Json,
      /^plan\.values: unknown key "__proto__"$/,
    ],
  ])("says briefly, for people: %s", (_, json, message) => {
    const found = problemsOf(json)
    expect(found.find((problem) => message.test(problem))).toBeDefined()
    for (const problem of found) expect(problem).not.toMatch(/undefined|Invalid|.{600}/)
  })

  it("refuses steps that are inside of each other without end, in whatever order they are come by", () => {
    const chain = (length: number) => {
      const steps: Json[] = [forward]
      for (let at = 1; at < length; at++) {
        const test = { lang: "cel", text: "true", type: "bool" }
        steps.push({ kind: "when", test, matched: [stepIdOf(steps.at(-1) as never)], otherwise: [] })
      }
      return steps
    }
    const read = (length: number, inOrder: boolean) => {
      const steps = chain(length)
      const json = planOf((plan) => {
        use(plan, ...steps)
        const route = (plan["routes"] as Json)["GET /orders"] as { sections: { backend: string[] } }
        const ids = steps.map((each) => stepIdOf(each as never))
        route.sections.backend = inOrder ? ids : ids.slice(-1)
      })
      return problemsOf(json)
    }
    for (const inOrder of [true, false]) {
      expect(read(200, inOrder)).toEqual([])
      for (const length of [201, 900]) {
        const [problem, ...more] = read(length, inOrder)
        expect(problem).toMatch(/steps are nested more than 200 levels deep/)
        expect(more).toEqual([])
      }
    }
  })

  it("names every problem of a run", () => {
    const problems = problemsOf(
      planOf((plan) => {
        plan["backends"] = {}
        plan["products"] = {}
        plan["secrets"] = {}
      }),
    )
    expect(problems).toHaveLength(3)
  })

  it("leaves no prototype changed", () => {
    readPlan(JSON.parse(`{"format":1,"__proto__":{"x":1},"plan":{"__proto__":{"x":1}}}`))
    expect(({} as Json)["x"]).toBeUndefined()
  })
})

describe("reading a sealed plan", () => {
  const base = { serial: 4, stamp: "abc", digest: digestOf(1) }
  const about = (over: Partial<PlanSeal> = {}): Omit<PlanSeal, "digest"> => ({
    ...{ history: "here", base, at: "2026-01-02T03:04:05.678Z" },
    author: { who: "ann", commit: null, message: null },
    ...over,
  })
  const made = (over?: Partial<PlanSeal>) => sealPlan(about(over), planOf() as unknown as Plan)
  const sealed = (change: Json = {}) => ({ ...made(), ...change })

  it("accepts one with and one without a base", () => {
    expect(readSealedPlan(sealed())).toHaveProperty("sealed")
    expect(readSealedPlan(made({ base: null }))).toHaveProperty("sealed")
  })

  it.each<[string, unknown, RegExp]>([
    ["a bare plan", planOf(), /sealed|plan/],
    ["another format", sealed({ plan: { ...planOf(), format: 9 } }), /plan\.format: plan format 9/],
    [
      "content changed by hand",
      sealed({ plan: { ...planOf(), plan: { ...body(), values: { a: { text: "b" } } } } }),
      /plan\.digest: the digest/,
    ],
    [
      "another base",
      sealed({ seal: made({ base: { ...base, serial: 5 } }).seal }),
      /^checksum: the checksum/,
    ],
    ["another stamp", sealed({ seal: made({ base: { ...base, stamp: "x" } }).seal }), /^checksum: /],
    ["another author", sealed({ seal: { ...made().seal, author: { who: "eve" } } }), /seal\.author/],
    ["another history", sealed({ seal: made({ history: "there" }).seal }), /^checksum: /],
    ["a bad base", sealed({ seal: { ...made().seal, base: { serial: 0, digest: "x" } } }), /base/],
    [
      "the seal of another plan",
      { ...sealPlan(about(), { digest: digestOf(2) } as Plan), plan: planOf() },
      /^seal\.digest: the seal is that of another plan/,
    ],
    ["one of an earlier version", sealed({ sealed: 2 }), /earlier version/],
  ])("refuses %s", (_, json, message) => {
    const read = readSealedPlan(json)
    expect(
      "problems" in read
        ? read.problems.map(({ path, message: text }) => `${path}: ${text}`).join("\n")
        : "accepted",
    ).toMatch(message)
  })
})

describe("canonical bytes", () => {
  it("do not depend on the order of keys, and keep the order of lists", () => {
    expect(canonicalJson({ b: [2, 1], a: { d: undefined, c: "é\n" } })).toBe('{"a":{"c":"é\\n"},"b":[2,1]}')
    expect(digestOf({ a: 1, b: 2 })).toBe(digestOf({ b: 2, a: 1 }))
  })

  it("schema is published for the format that is read", () => {
    expect(planJsonSchema()).toMatchObject({
      $id: "urn:sallyport:plan:1",
      type: "object",
      additionalProperties: false,
    })
  })

  it("names no format that JSON Schema does not have: strict validators refuse the whole schema for one", () => {
    const formats = JSON.stringify(planJsonSchema()).matchAll(/"format":"([^"]*)"/g)
    expect(new Set([...formats].map(([, format]) => format))).toEqual(new Set(["date", "date-time"]))
  })
})
