import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { hiddenLine } from "../../compiler/cli/hidden-line.ts"
import { UserTable } from "../../runtime/identity/users.ts"
import { run } from "./run.ts"

const cwd = process.cwd()

async function judged(hash: string, password: string): Promise<boolean | "busy"> {
  return new UserTable("u", [{ user: "ann", secret: hash.trim() }]).verify("ann", password)
}

test.each([
  ["typed twice", { hidden: ["pass:wörd", "pass:wörd"] }],
  ["piped", { input: ["pass:wörd"] }],
])("a password that is %s: its hash lets in who has it, and nobody else", async (_, world) => {
  const { code, out, err } = await run({ cwd, ...world }, "hash-password", "--cost", "1024")
  expect([code, err.replaceAll(/Password: |Once more: /g, "")]).toEqual([0, ""])
  expect(out).toMatch(/^scrypt:1024:8:1:[\w-]{22}:[\w-]{43}\n$/)
  expect(await judged(out, "pass:wörd")).toBe(true)
  expect(await judged(out, "pass:word")).toBe(false)
})

test("two hashes of one password differ, and cost what is said when nothing is", async () => {
  const one = await run({ cwd, input: ["x"] }, "hash-password")
  const other = await run({ cwd, input: ["x"] }, "hash-password")
  expect(one.out).toMatch(/^scrypt:16384:/)
  expect(one.out).not.toBe(other.out)
})

test.each<[string, object, string[], RegExp]>([
  ["nothing is typed", { hidden: [""] }, [], /the password is empty\n/],
  ["something else is typed the second time", { hidden: ["a", "b"] }, [], /the two passwords differ/],
  ["nothing is piped", { input: [] }, [], /no password in the input/],
  ["an empty line is piped", { input: [""] }, [], /no password in the input/],
  ["several lines are piped", { input: ["a", "b"] }, [], /several lines/],
  ["there is a tab in it", { input: ["a\tb"] }, [], /control characters/],
  [
    "the cost is not a power of two",
    { input: ["a"] },
    ["--cost", "20000"],
    /not a power of two from 1024 to 65536: 20000/,
  ],
  ["the cost is too high", { input: ["a"] }, ["--cost", "131072"], /not a power of two/],
  ["the cost is not a number", { input: ["a"] }, ["--cost", "much"], /not a whole number/],
])("%s: refused", async (_, world, flags, message) => {
  const { code, out, err } = await run({ cwd, ...world }, "hash-password", ...flags)
  expect([code, out]).toEqual([1, ""])
  expect(err).toMatch(message)
})

test("what is typed is not shown", async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ""
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString()
  })
  const line = hiddenLine("Password: ", input, output)
  input.write("secret")
  input.write("\u007f\u007fd\r")
  expect(await line).toBe("secrd")
  expect(shown).toBe("Password: \n")
})

test("Ctrl-C takes it back", async () => {
  const input = new PassThrough()
  const line = hiddenLine("Password: ", input, new PassThrough())
  input.write("sec\u0003")
  expect(await line).toBe("")
})
