import { expect, test } from "vitest"
import { addRefusals, findRefusal, forgetRefusals, listRefusals } from "../../runtime/store/refusals.ts"
import { describeDatabase } from "./databases.ts"

describeDatabase("refusals", (database) => {
  const run = (text: string) => database().query<[string]>({ name: "", text })
  const kept = async () =>
    (await run('select id from sallyport.refusals order by id collate "C"')).map(([id]) => id)
  const age = (id: string, minutes: number) =>
    run(
      `update sallyport.refusals set kept_at = kept_at - interval '${minutes} minutes' where id = '${id}' returning id`,
    )

  test("are found by their id for an hour; a later one with the same id replaces the first", async () => {
    await addRefusals(database(), [
      { id: "a", json: '{"n":1}', subscription: "s" },
      { id: "b", json: '{"n":2}', subscription: "s" },
    ])
    await addRefusals(database(), [{ id: "b", json: '{"n":3}', subscription: "t" }])
    expect(await findRefusal(database(), "a")).toBe('{"n":1}')
    expect(await findRefusal(database(), "b")).toBe('{"n":3}')
    expect(await findRefusal(database(), "c")).toBeUndefined()
    expect(await findRefusal(database(), "\u0000".repeat(5_000))).toBeUndefined()
    expect(await listRefusals(database(), "s", 10)).toEqual(['{"n":1}'])
    expect(await listRefusals(database(), "t", 10)).toEqual(['{"n":3}'])
    await age("a", 61)
    expect(await listRefusals(database(), "s", 10)).toEqual([])
    expect(await findRefusal(database(), "a")).toBeUndefined()
    await forgetRefusals(database())
    expect(await kept()).toEqual(["b"])
  })

  test("the oldest beyond the number that is kept are deleted", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `n${index + 10}`)
    await addRefusals(
      database(),
      ids.map((id) => ({ id, json: "{}", subscription: "" })),
    )
    for (const [index, id] of ids.entries()) await age(id, 20 - index)
    await forgetRefusals(database(), 4)
    // The row of the first test is the newest.
    expect(await kept()).toEqual(["b", ...ids.slice(-4)])
  })
})
