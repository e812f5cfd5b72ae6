import { expect, test } from "vitest"
import { CliError } from "../../compiler/cli/command.ts"
import type { Io } from "../../compiler/cli/io.ts"
import { webhooksOf } from "../../compiler/cli/settings.ts"

const secret = "a secret of 24 characters"

function read(urls: string | undefined, given: string | undefined = secret): ReturnType<typeof webhooksOf> {
  return webhooksOf({ env: { SALLYPORT_WEBHOOKS: urls, SALLYPORT_WEBHOOK_SECRET: given } } as unknown as Io)
}

test.each([
  ["https://a.example/hook", ["https://a.example/hook"]],
  ["http://a.example:8080/x?y=1", ["http://a.example:8080/x?y=1"]],
  ["https://a.example/1,https://b.example/2", ["https://a.example/1", "https://b.example/2"]],
  [" https://a.example/1 ,\n\thttps://b.example/2, ", ["https://a.example/1", "https://b.example/2"]],
])("SALLYPORT_WEBHOOKS `%s` names URLs", (text, urls) => {
  expect(read(text)).toEqual({ urls, secret })
})

test.each([undefined, "", " , "])("SALLYPORT_WEBHOOKS `%s` names none, and needs no secret", (text) => {
  expect(read(text, "")).toBeUndefined()
})

test.each([
  ["ftp://a.example/", "ftp://a.example/"],
  ["a.example/hook", "a.example/hook"],
  ["https://", "https://"],
  ["https://a.example:port/", "https://a.example:port/"],
  ["https://a.example/1;https://b.example/2 stdout", "stdout"],
  // What is printed has no password.
  ["https://ann:hunter2@a.example/hook", "https://a.example/hook"],
])("SALLYPORT_WEBHOOKS `%s` is refused", (text, shown) => {
  const refused = () => read(text)
  expect(refused).toThrow(CliError)
  expect(refused).toThrow(`SALLYPORT_WEBHOOKS contains what is no URL without user and password: ${shown}`)
  expect(refused).not.toThrow("hunter2")
})

test.each(["", "23 characters are not en"])("SALLYPORT_WEBHOOK_SECRET `%s` is too short", (given) => {
  expect(() => read("https://a.example/", given.slice(0, 23))).toThrow(
    "SALLYPORT_WEBHOOKS needs SALLYPORT_WEBHOOK_SECRET with at least 24 characters",
  )
})
