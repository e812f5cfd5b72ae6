import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { PlanAnswer } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { Changelog } from "../../runtime/portal/changelog.ts"
import { Published } from "../../runtime/portal/published.ts"
import { compile } from "../compile.ts"

function planOf(v1: string, api = ""): Plan {
  const text = `gateway g { trust none; listen 127.0.0.1:8000 }
portal { listen 127.0.0.1:8090; apis all; gateway "https://api.acme.example:8443"; external "https://dev.acme.example"; try-it }
api orders { path "/orders"; ${api}; auth none; version v1 { ${v1} GET "/" { respond 200 } }; version v2 { GET "/" { respond 200 } } }
api plain { path "/plain"; auth none; GET "/" { respond 200 } }`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return plan
}

function publishedOf({ plan }: Plan): Published {
  if (plan.portal === undefined) throw new Error("no portal")
  return new Published(plan, plan.portal, plan.portal.gateway as string)
}

/** The changelog of plans that were applied one after the other. */
function changelogOf(plans: readonly Plan[]): Changelog {
  const records = plans.map((_, at) => ({
    serial: at + 1,
    stamp: `stamp ${at}`,
    at: `2026-01-0${at + 1}T00:00:00Z`,
  }))
  return new Changelog({
    list: async () => records.toReversed() as unknown as readonly PlanAnswer["record"][],
    plan: async (serial) =>
      ({ record: records[serial - 1], plan: plans[serial - 1] }) as unknown as PlanAnswer,
  })
}

test("announces deprecations, sunsets, and every change of them", async () => {
  const plans = [
    planOf(""),
    planOf("deprecated 2026-05-01; successor v2;"),
    planOf("deprecated 2026-05-01; sunset 2027-05-01; successor v2;"),
    planOf("deprecated 2026-05-01; sunset 2027-02-01; successor v2;"),
    planOf(""),
  ]
  const { ends, entries } = await changelogOf(plans).read(publishedOf(plans[3] as Plan), "orders")
  const said = entries.map(({ notes }) =>
    notes.filter(({ operation }) => operation === null).map(({ kind, text }) => `${kind}: ${text}`),
  )
  expect(said).toEqual([
    ["changed: orders v1 is no longer deprecated, and does not end"],
    ["breaking: orders v1 is deprecated from 2026-05-01 on and ends on 2027-02-01: use v2 instead"],
    ["deprecated: orders v1 is deprecated from 2026-05-01 on and ends on 2027-05-01: use v2 instead"],
    ["deprecated: orders v1 is deprecated from 2026-05-01 on: use v2 instead"],
  ])
  expect(ends).toMatchObject([{ api: "orders", version: "v1", lifecycle: { sunset: "2027-02-01" } }])
})

test("names the API's own host in examples, and lets pages call it", () => {
  const published = publishedOf(planOf("", 'host "orders.acme.example"'))
  const [operation] = published.api("orders", "v1")?.list ?? []
  const shown = published.operation("orders", "v1", operation?.id ?? "")
  expect(shown?.gateway).toBe("https://orders.acme.example:8443")
  expect(shown?.examples.curl).toContain("https://orders.acme.example:8443/v1/orders")
  expect(published.document("orders", "v1")).toMatchObject({
    servers: [{ url: "https://orders.acme.example:8443/v1/orders" }],
  })
  expect(published.origins).toEqual(["https://orders.acme.example:8443", "https://api.acme.example:8443"])
  const pattern = publishedOf(planOf("", 'host "*.acme.example"'))
  expect(pattern.origins).toEqual(["https://api.acme.example:8443"])
})
