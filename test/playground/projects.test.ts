import { unzipSync } from "fflate"
import { describe, expect, test } from "vitest"
import { fragmentOf, isPath, textsOfFragment } from "../../compiler/playground/link.ts"
import { zipOf } from "../../compiler/playground/zip.ts"

const texts = {
  "models/docs.fga": "model\n  schema 1.1\ntype user\n",
  "tests/größe – 大.fga.yaml": "tests: []\n",
  "empty.txt": "",
}
const linkOf = async (value: unknown) => (await fragmentOf(value as typeof texts)).slice(2)

describe("links", () => {
  test("hold a project", async () => {
    const fragment = await fragmentOf(texts)
    expect(fragment).toMatch(/^p=[\w-]+$/)
    expect(await textsOfFragment(fragment.slice(2))).toEqual(texts)
  })

  test.each([
    ["is cut", async () => (await linkOf(texts)).slice(0, -9), /damaged/],
    ["is no base64", async () => "%%%", /damaged/],
    ["holds a list", () => linkOf([1]), /no project/],
    ["holds numbers", () => linkOf({ "a.fga": 1 }), /no project/],
    ["leaves its folder", () => linkOf({ "../a.fga": "" }), /no project/],
    ["is absolute", () => linkOf({ "/etc/a.fga": "" }), /no project/],
    ["expands to 5 MB", () => linkOf({ "a.fga": "a".repeat(5_000_000) }), /larger than 4 MB/],
  ])("are refused when one %s", async (_, make, message) => {
    await expect(make().then(textsOfFragment)).rejects.toThrow(message)
  })

  test("have relative paths", () => {
    expect(["a.fga", "b/a.fga", "..a"].map(isPath)).toEqual([true, true, true])
    expect(["", "a//b", "./a", "a/..", "/a", "a".repeat(201)].some(isPath)).toBe(false)
  })
})

describe("archives", () => {
  test("are read by others", () => {
    const found = unzipSync(zipOf(texts))
    const read = Object.entries(found).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])
    expect(Object.fromEntries(read)).toEqual(texts)
  })

  test("of equal projects are equal", () => {
    expect(zipOf(texts)).toEqual(zipOf({ ...texts }))
    expect(zipOf({})).toHaveLength(22)
  })
})
