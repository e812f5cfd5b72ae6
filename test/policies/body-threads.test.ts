import { describe, expect, test } from "vitest"
import { inlineBytesMax, runBodyJob } from "../../runtime/policies/bodies/body-threads.ts"
import { Refused } from "../../runtime/policies/messages/answer.ts"

const asker = { whenOver: () => undefined }
const plain = {
  parseDates: false,
  namespaceSeparator: "_",
  namespacePrefix: undefined,
  attributeBlock: undefined,
}
const listOf = (bytes: number) => `{"a":[${"1,".repeat(bytes / 2 - 4)}1]}`

describe("work on a body", () => {
  test("of a small one is done at once", () => {
    const text = listOf(1000)
    const made = runBodyJob("json-to-xml", { text, options: plain }, text.length, asker)
    expect(made).not.toBeInstanceOf(Promise)
  })

  test("of a large one is done while the event loop turns, with the same result", async () => {
    const text = listOf(2_000_000)
    let turns = 0
    let done = false
    const count = (): void => {
      turns += 1
      if (!done) setTimeout(count, 1)
    }
    count()
    const made = runBodyJob("json-to-xml", { text, options: plain }, text.length, asker)
    expect(made).toBeInstanceOf(Promise)
    const { content } = await made
    done = true
    expect(turns).toBeGreaterThan(3)
    expect(content?.toString()).toBe(`<Document>${"<a>1</a>".repeat(999_997)}</Document>`)
  })

  test.each([
    ["xml-to-json", { text: `<a>${"<b/>".repeat(9000)}`, options: { style: "direct", alwaysArray: false } }],
    ["json-to-xml", { text: `[${"1,".repeat(9000)}`, options: plain }],
    ["read-xml", { text: `<a>${"<b/>".repeat(9000)}` }],
  ] as const)("of a large one that is bad says what is wrong: %s", async (kind, input) => {
    const whole = await runBodyJob(kind, input as never, inlineBytesMax + 1, asker)
    expect(whole).toEqual(runBodyJob(kind, input as never, inlineBytesMax, asker))
    expect(whole.problem).toMatch(/is not JSON|cannot be converted|is not well-formed/)
  })

  test("bytes are replaced, and what would be too large is not made", async () => {
    const content = Buffer.from("ab".repeat(50_000))
    const replace = (put: Buffer | undefined) =>
      runBodyJob(
        "replace",
        { content, sought: Buffer.from("b"), put, isForeign: true },
        content.length,
        asker,
      )
    const made = await replace(Buffer.from("-+"))
    expect(made.content?.equals(Buffer.from("a-+".repeat(50_000)))).toBe(true)
    expect(await replace(undefined)).toEqual({ isFound: true })
    expect((await replace(Buffer.alloc(5_000))).problem).toBe(
      "would have 250050000 bytes after the replacement",
    )
  })

  test("many wait for few threads, those without an exchange are not begun, and more than may wait are refused", async () => {
    const text = listOf(400_000)
    let gone = (): void => undefined
    const leaving = {
      whenOver: (release: () => void) => {
        gone = release
      },
    }
    const running = Array.from({ length: 8 }, () =>
      runBodyJob("json-to-xml", { text, options: plain }, text.length, asker),
    )
    const left = runBodyJob("json-to-xml", { text, options: plain }, text.length, leaving) as Promise<unknown>
    gone()
    expect(() => runBodyJob("json-to-xml", { text, options: plain }, 200_000_000, asker)).toThrow(Refused)
    await expect(left).rejects.toThrow("the request has ended")
    const [first, ...others] = await Promise.all(running)
    for (const { content } of others) expect(content?.equals(first?.content as Buffer)).toBe(true)
  })
})
