import { expect, test } from "vitest"
import type { Io } from "../../compiler/cli/io.ts"
import { hostsOf } from "../../compiler/cli/settings.ts"

const of = (text: string | undefined) =>
  hostsOf({ env: text === undefined ? {} : { SALLYPORT_HOSTS: text } } as unknown as Io)

test.each([
  [undefined, []],
  ["", []],
  ["sallyport", ["sallyport"]],
  [" Authz.Internal, *.svc.cluster.local\n10.1.2.3 ", ["authz.internal", "*.svc.cluster.local", "10.1.2.3"]],
  ["[2001:db8::1],*", ["[2001:db8::1]", "*"]],
])("SALLYPORT_HOSTS %j is a list of names", async (text, names) => {
  expect(await of(text)).toEqual(names)
})

test.each(["http://authz.internal", "authz.internal:8080", "a*.example", "a/b", "-"])(
  "%s is refused with what to write",
  async (text) => {
    await expect(of(text)).rejects.toMatchObject({
      message: `SALLYPORT_HOSTS contains an invalid host name: ${text}`,
      help: expect.stringContaining("without scheme and port"),
    })
  },
)
