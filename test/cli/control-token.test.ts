import { expect, test } from "vitest"
import { controlTokenOf } from "../../compiler/cli/control-token.ts"
import type { Io } from "../../compiler/cli/io.ts"
import { fakeControl } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

const token = "a-token-of-twenty-characters"
const files = {
  "token.txt": `${token}\n`,
  "windows.txt": `${token}\r\n`,
  "bare.txt": token,
  "empty.txt": "\n",
  "two.txt": `${token}\n${token}\n`,
  "short.txt": "short",
}
const of = (env: Record<string, string>, cwd = folderWith(files)) =>
  controlTokenOf({ cwd, env } as unknown as Io)

test.each(["token.txt", "windows.txt", "bare.txt"])("the token in the file %s", async (file) => {
  const cwd = folderWith(files)
  for (const path of [file, `${cwd}/${file}`])
    expect(await of({ SALLYPORT_CONTROL_TOKEN_FILE: path }, cwd)).toEqual({ token, made: false })
})

test("a variable that is empty is not set", async () => {
  const file = { SALLYPORT_CONTROL_TOKEN: "", SALLYPORT_CONTROL_TOKEN_FILE: "token.txt" }
  expect(await of(file)).toEqual({ token, made: false })
  expect(await of({ SALLYPORT_CONTROL_TOKEN: token, SALLYPORT_CONTROL_TOKEN_FILE: "" })).toEqual({
    token,
    made: false,
  })
})

/** Commands that connect and `serve` read the same file: both say the same about it. */
test.each([
  [
    "missing.txt",
    /^error: the control token file .*missing\.txt cannot be read \(ENOENT\)\nhelp: Set SALLYPORT_CONTROL_TOKEN_FILE to a file /,
  ],
  ["empty.txt", /^error: the control token file .*empty\.txt is empty\nhelp: Write the token into it/],
  [
    "two.txt",
    /^error: the control token in .*two\.txt is too short or contains spaces\nhelp: Use at least 16 characters/,
  ],
  ["short.txt", /^error: the control token in .*short\.txt is too short/],
])("SALLYPORT_CONTROL_TOKEN_FILE=%s is refused with place, reason and remedy", async (file, said) => {
  const env = { SALLYPORT_CONTROL_TOKEN_FILE: file }
  for (const words of [["status"], ["serve"]]) {
    const outcome = await run({ cwd: folderWith(files), env }, ...words)
    expect(outcome, words[0]).toMatchObject({ code: 1, out: "" })
    expect(outcome.err, words[0]).toMatch(said)
  }
})

test("token and file together are refused", async () => {
  const env = { SALLYPORT_CONTROL_TOKEN: token, SALLYPORT_CONTROL_TOKEN_FILE: "token.txt" }
  for (const words of [["status"], ["serve"]])
    expect(await run({ cwd: folderWith(files), env }, ...words)).toMatchObject({
      code: 1,
      err: "error: SALLYPORT_CONTROL_TOKEN and SALLYPORT_CONTROL_TOKEN_FILE are both set\nhelp: Remove one of them.\n",
    })
})

test("commands send the token of the file", async () => {
  const control = await fakeControl({ "GET /v1/plans?limit=20": { json: { plans: [] } } })
  const { SALLYPORT_CONTROL_TOKEN: own = "", ...rest } = control.env
  const cwd = folderWith({ secret: `${own}\n` })
  expect(
    await run({ cwd, env: { ...rest, SALLYPORT_CONTROL_TOKEN_FILE: "secret" } }, "history"),
  ).toMatchObject({ code: 0, err: "" })
})
