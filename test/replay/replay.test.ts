import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { replayDocument, replayText } from "../../compiler/render/replay.ts"
import type { Replay } from "../../compiler/replay/replay.ts"
import { replayRecord } from "../../compiler/replay/replay-record.ts"
import { openRecord } from "../../runtime/record/read-record.ts"
import {
  bearer,
  environment,
  planOfText,
  projectText,
  type RecordedGateway,
  startForTest,
} from "../record/recorded-gateway.ts"

/** Replays what a gateway recorded through its own plan and one whose text is edited. */
async function replayed(world: RecordedGateway, edit: (text: string) => string): Promise<Replay> {
  await world.recorded()
  const record = await openRecord(join(world.folder, "traffic"), environment.TRAFFIC_KEY)
  const located = { environment, folder: world.folder }
  const found = await replayRecord(record, {
    before: { plan: world.plan, ...located },
    after: { plan: planOfText(edit(projectText(world.project))), ...located },
  })
  if (typeof found === "string") throw new Error(found)
  return found
}

const causes = ({ groups }: Replay) =>
  groups.map(({ effect, before, after, requests, callers }) => [
    effect,
    before.words,
    after.words,
    requests,
    callers,
  ])

describe("a replay", () => {
  test("finds who is refused now, by cause, with shares and an example", async () => {
    const world = await startForTest({ rules: 'claims "sub" "scope"' })
    const reader = { sub: "ann", scope: "read" }
    for (let at = 0; at < 3; at += 1) await world.ask(`/shop/orders/1?page=${at}`, bearer(reader))
    await world.ask("/shop/orders/1", bearer({ sub: "ann", scope: "write" }))
    await world.ask("/shop/orders/2", bearer(reader))
    await world.ask("/shop/open")
    await world.ask("/shop/partner", { "x-partner-key": environment.PARTNER_KEY })
    await world.ask("/shop/nothing")
    const replay = await replayed(world, (text) =>
      text.replace("auth jwt own", 'auth jwt own { claim scope has "write" }'),
    )
    expect(replay).toMatchObject({
      recorded: { requests: 8, callers: 3 },
      ...{ unchanged: 2, sent: 6, ofOtherPlans: 0, notReplayed: [] },
      differing: { requests: 4, callers: 1 },
      blast: { requests: 6 },
    })
    expect(causes(replay)).toEqual([
      ["closes", "200 from backend orders", "403 insufficient-scope", 3, 1],
      ["changes", "403 forbidden", "403 insufficient-scope", 1, 1],
    ])
    expect(replay.groups[0]?.example).toMatchObject({ method: "GET", target: "/shop/orders/1?page=0" })
    const text = replayText(replay, { colour: false })
    expect(text).toContain(
      "4 of 8 recorded requests (50 %), of 1 of 3 callers (33 %), are treated differently",
    )
    expect(text).toContain("200 from backend orders → 403 insufficient-scope (validate-jwt, gateway.conf:15)")
    expect(text).not.toMatch(/eyJ/)
  })

  test("says the same every time, byte for byte", async () => {
    const world = await startForTest({ rules: 'claims "sub"' })
    for (let at = 0; at < 4; at += 1) await world.ask(`/shop/orders/${at}`, bearer({ sub: "ann" }))
    const edit = (text: string) => text.replace("auth jwt own", 'auth jwt own { claim scope has "write" }')
    const said: string[] = []
    for (let at = 0; at < 2; at += 1) {
      const replay = await replayed(world, edit)
      said.push(replayText(replay, { colour: false }) + JSON.stringify(replayDocument(replay)))
    }
    expect(said[0]).toBe(said[1])
  })

  test("has no differences between equal plans, and sends nothing", async () => {
    const world = await startForTest()
    await world.ask("/shop/orders/1", bearer({ sub: "ann" }))
    await world.ask("/shop/open")
    const replay = await replayed(world, (text) => text)
    expect(replay).toMatchObject({ unchanged: 2, sent: 0, differing: { requests: 0 } })
  })

  test("takes a pseudonym for a subject that is not recorded, and reproduces what happened", async () => {
    const world = await startForTest()
    await world.ask("/shop/orders/1", bearer({ sub: "ann" }))
    await world.ask("/shop/orders/2", bearer({ sub: "ann" }))
    const replay = await replayed(world, (text) => text.replace("trust none", "trust none; errors apim"))
    expect(replay).toMatchObject({ sent: 2, notReplayed: [] })
    expect(causes(replay)).toEqual([["changes", "403 forbidden", "403 forbidden", 1, 1]])
  })

  test("answers as backends did, and tells what opens", async () => {
    const world = await startForTest({ rules: 'claims "sub"' }, (request, response) => {
      request.resume()
      response.setHeader("etag", '"v1"')
      response.writeHead(request.url?.includes("missing") === true ? 404 : 200).end("content")
    })
    await world.ask("/shop/orders/1", bearer({ sub: "ann" }))
    await world.ask("/shop/open?missing")
    await world.ask("/shop/orders/2", bearer({ sub: "bob" }))
    const replay = await replayed(world, (text) =>
      text
        .replace('require viewer of "order:${path.id}" for "user:${jwt.sub}" in shop', "")
        .replace('GET "/open" { auth none', 'GET "/open" { auth none; outbound { header remove "etag" }'),
    )
    expect(causes(replay)).toEqual([
      ["opens", "403 forbidden", "sent to backend orders", 1, 1],
      ["changes", "404 from backend orders", "404 from backend orders", 1, 1],
    ])
    expect(replay.groups[1]?.facts).toEqual(["response header etag"])
  })
})

describe("what cannot be replayed is counted, with the reason", () => {
  const reasons = async (world: RecordedGateway, edit: (text: string) => string) => {
    const { notReplayed, differing } = await replayed(world, edit)
    expect(differing.requests).toBe(0)
    return notReplayed.map(({ reason, requests }) => [requests, reason])
  }

  test("new questions, and questions about another model", async () => {
    const world = await startForTest({ rules: 'claims "sub"' })
    await world.ask("/shop/orders/1", bearer({ sub: "ann" }))
    const edit = (text: string) => text.replace("require viewer", "require editor")
    expect(await reasons(world, edit)).toEqual([
      [1, "a question about a relation was not asked when it was recorded"],
    ])
  })

  test("claims, headers and bodies that are not recorded", async () => {
    const world = await startForTest({ rules: 'claims "sub"' })
    await world.ask("/shop/orders/1", { ...bearer({ sub: "ann", org: "acme" }), "x-kind": "a" })
    await world.ask("/shop/open", { "x-kind": "a" })
    expect(
      await reasons(world, (text) =>
        text
          .replace("auth jwt own", 'auth jwt own { claim org is "acme" }')
          .replace('GET "/open" { auth none', 'GET "/open" { auth none; check header "x-kind" is "a"'),
      ),
    ).toEqual([
      [1, "the plan reads the claim `org`, which is not recorded"],
      [1, "the plan reads the header `x-kind`, which is not recorded"],
    ])
  })

  test("credentials that the recorded plan did not check", async () => {
    const world = await startForTest()
    await world.ask("/shop/open", bearer({ sub: "ann" }))
    expect(await reasons(world, (text) => text.replace('GET "/open" { auth none', 'GET "/open" {'))).toEqual([
      [1, "the caller sent a credential that the old plan did not check"],
    ])
  })

  test("refusals of limits, and outcomes that the plan does not reproduce", async () => {
    const world = await startForTest({
      api: 'auth none; backend orders; limit 1 per 1h by ip; GET "/"',
    })
    await world.ask("/shop/")
    await world.ask("/shop/")
    const found = await reasons(world, (text) => text.replace("trust none", "trust 10.0.0.0/8"))
    expect(found).toEqual([[1, "a limit refused it when it was recorded: limits are not replayed"]])
  })

  test("smaller networks than those that are recorded", async () => {
    const world = await startForTest()
    await world.ask("/shop/open")
    const edit = (text: string) =>
      text.replace('GET "/open" { auth none', 'GET "/open" { auth none; deny ip 127.0.0.1')
    expect(await reasons(world, edit)).toEqual([
      [1, "the plan judges small networks, and only networks of addresses are recorded"],
    ])
  })
})
