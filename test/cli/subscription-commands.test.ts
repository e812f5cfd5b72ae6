import { describe, expect, test } from "vitest"
import type { Subscription } from "../../runtime/control/api.ts"
import { fakeControl } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

const made = "2026-01-02T03:04:05.678Z"
const ann: Subscription = {
  name: "ann",
  source: "issued",
  scope: { product: "partner" },
  state: "active",
  owner: "ann@example.com",
  note: "",
  primary: { prefix: "sp_4tQz81Lb", createdAt: made, lastUsedAt: made },
  secondary: { prefix: "sp_0000aaaa", createdAt: made, lastUsedAt: null },
  expiresAt: null,
  createdAt: made,
  changedAt: made,
}
const ofText: Subscription = {
  ...ann,
  name: "ci",
  source: "text",
  owner: "",
  scope: { api: "orders" },
  primary: null,
  secondary: null,
  createdAt: null,
  changedAt: null,
}

describe("sallyport subscription", () => {
  test("create asks for the keys and shows them with a warning; as JSON it is the answer", async () => {
    const keys = { primary: "sp_one", secondary: "sp_two" }
    const control = await fakeControl({
      "POST /v1/subscriptions": { status: 201, json: { subscription: { ...ann, state: "submitted" }, keys } },
    })
    const words = ["subscription", "create", "ann", "--product", "partner", "--expires", "2030-01-31"]
    const { code, out } = await run({ cwd: "/", env: control.env }, ...words)
    expect(code).toBe(0)
    expect(out).toContain("`ann` gives access to product partner and is submitted.")
    expect(out).toContain("sallyport subscription approve ann")
    expect(out).toContain("primary    sp_one\nsecondary  sp_two\nSave the keys now")
    expect(control.seen[0]?.body).toEqual({
      name: "ann",
      scope: { product: "partner" },
      expiresAt: "2030-01-31T00:00:00.000Z",
    })
    const json = await run({ cwd: "/", env: control.env }, ...words, "--format", "json")
    expect(JSON.parse(json.out)).toMatchObject({ keys })
  })

  test("create takes keys that were made elsewhere from files, never from words", async () => {
    const cwd = folderWith({
      one: "0123456789abcdef0123456789abcdef\n",
      two: "fedcba9876543210fedcba9876543210",
    })
    const control = await fakeControl({
      "POST /v1/subscriptions": { status: 201, json: { subscription: ann, keys: {} } },
    })
    const files = ["--primary-key-file", "one", "--secondary-key-file", "two"]
    const { out } = await run({ cwd, env: control.env }, "subscription", "create", "ann", "--all", ...files)
    expect(out).not.toMatch(/0123456789|Keep them/)
    expect(control.seen[0]?.body).toMatchObject({
      keys: { primary: "0123456789abcdef0123456789abcdef", secondary: "fedcba9876543210fedcba9876543210" },
    })
    const one = await run(
      { cwd, env: control.env },
      "subscription",
      "create",
      "a",
      "--all",
      ...files.slice(0, 2),
    )
    expect(one).toMatchObject({ code: 1, err: expect.stringContaining("must be given together") })
    const none = await run(
      { cwd, env: control.env },
      "subscription",
      "create",
      "a",
      "--all",
      "--primary-key-file",
      "x",
      "--secondary-key-file",
      "two",
    )
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("x cannot be read (ENOENT)") })
  })

  test("list shows a page and how to get the next; show all of one", async () => {
    const control = await fakeControl({
      "GET /v1/subscriptions?state=active&limit=2": {
        json: { gateway: "acme", subscriptions: [ann, ofText], next: "ci" },
      },
      "GET /v1/subscriptions": { json: { gateway: null, subscriptions: [], next: null } },
      "GET /v1/subscriptions/ann": { json: ann },
    })
    const io = { cwd: "/", env: control.env }
    const page = await run(io, "subscription", "list", "--state", "active", "--limit", "2")
    expect(page.out).toBe(
      "Gateway acme\n" +
        "NAME  OPENS            STATE   OWNER            PRIMARY          SECONDARY     LAST USED   EXPIRES\n" +
        "ann   product partner  active  ann@example.com  sp_4tQz81Lb…     sp_0000aaaa…  2026-01-02  -\n" +
        "ci    api orders       active  -                in gateway.conf  -             -           -\n" +
        "More: `--after ci`.\n",
    )
    expect((await run(io, "subscription", "list")).out).toBe("No subscription matches.\n")
    const one = await run(io, "subscription", "show", "ann")
    expect(one.out).toContain(
      "primary    sp_4tQz81Lb…  made 2026-01-02 03:04:05Z, last used 2026-01-02 03:04:05Z",
    )
    expect(one.out).toContain("secondary  sp_0000aaaa…  made 2026-01-02 03:04:05Z, never used")
  })

  test("every step is one request", async () => {
    const acts = ["approve", "reject", "suspend", "activate", "cancel"]
    const answers = acts.map((action) => [`POST /v1/subscriptions/ann/${action}`, { json: ann }] as const)
    const control = await fakeControl({
      ...Object.fromEntries(answers),
      "POST /v1/subscriptions/ann/rotate": { json: { subscription: ann, keys: { secondary: "sp_new" } } },
      "DELETE /v1/subscriptions/ann": { status: 200, text: "" },
    })
    const io = { cwd: "/", env: control.env }
    for (const action of acts)
      expect(await run(io, "subscription", action, "ann")).toMatchObject({
        code: 0,
        out: "`ann` is active.\n",
      })
    expect((await run(io, "subscription", "rotate", "secondary", "ann")).out).toContain("secondary  sp_new\n")
    expect((await run(io, "subscription", "delete", "ann")).out).toBe("Deleted `ann`.\n")
    await run(io, "subscription", "activate", "ann", "--expires", "never")
    expect(control.seen.at(-1)?.body).toEqual({ expiresAt: null })
  })

  test("what cannot be meant is told before anybody is asked, and a refusal as the API says it", async () => {
    const control = await fakeControl({
      "POST /v1/subscriptions/ann/approve": {
        status: 409,
        json: { title: "Conflict with the current state", detail: "`ann` is active and cannot be approved" },
      },
    })
    const io = { cwd: "/", env: control.env }
    const refused = async (...words: string[]) => (await run(io, "subscription", ...words)).err
    expect(await refused("create", "ann")).toContain("exactly one of --product, --api and --all")
    expect(await refused("create", "ann", "--api", "a", "--all")).toContain(
      "exactly one of --product, --api and --all",
    )
    expect(await refused("create", "9a", "--all")).toContain("`9a` is not a valid name of a subscription")
    expect(await refused("create", "ann", "--all", "--expires", "soon")).toContain(
      "--expires soon is not a date",
    )
    expect(await refused("create", "ann", "--all", "--state", "expired")).toContain("submitted, active")
    expect(await refused("list", "--state", "sleeping")).toContain("--state has the unknown value sleeping")
    expect(await refused("rotate", "third", "ann")).toContain("`third` is neither")
    expect(control.seen).toHaveLength(0)
    expect(await refused("approve", "ann")).toBe(
      "error: Conflict with the current state: `ann` is active and cannot be approved\n",
    )
  })
})
