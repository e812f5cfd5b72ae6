import { expect, it } from "vitest"
import { FoundNames } from "../../runtime/control/console/page/names.ts"

it("searches names in slices, those too that arrive during the search", () => {
  let now = 0
  const slices: (() => void)[] = []
  const names = new FoundNames(
    () => (now += 5),
    (slice) => slices.push(slice),
  )
  names.add(Array.from({ length: 10_000 }, (_, at) => `user:${at}`))
  expect([names.count, names.at(7), names.isSearched]).toEqual([10_000, "user:7", true])
  names.search("USER:99")
  expect([names.count, names.isSearched]).toEqual([0, false])
  slices.shift()?.()
  expect([names.count, names.isSearched]).toEqual([11, false])
  names.add(["user:99x"])
  while (slices.length > 0) slices.shift()?.()
  expect([names.count, names.all, names.isSearched]).toEqual([112, 10_001, true])
  expect([names.at(0), names.at(111), names.at(112)]).toEqual(["user:99", "user:99x", undefined])
  names.search("")
  expect(names.count).toBe(10_001)
})
